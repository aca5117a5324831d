"""Open, lock and query the DuckDB file that holds the marts."""
