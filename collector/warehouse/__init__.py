"""The DuckDB file that holds the marts: open it, lock it, query it, write SQL for it."""
