"""Write staged rows as Parquet, which DuckDB streams."""

from __future__ import annotations

import contextlib
from pathlib import Path

from collector.curating.formats.staging import StagedRows
from collector.errors import SpotterError
from collector.warehouse.scratch import log_defects, open_scratch
from collector.warehouse.sql import literal, quote_name

MEMORY_LIMIT = "1GB"
GROUP_BYTES = 32 << 20
OBJECT_BYTES = 16 << 20
MESSAGE_TYPES = {
    "role": "varchar",
    "content": "varchar",
    "reasoning_content": "varchar",
    "tool_calls": (
        'struct(id varchar, "type" varchar, "function" struct("name" varchar, arguments varchar))[]'
    ),
    "tool_call_id": "varchar",
}
COLUMN_TYPES = {
    "index": "bigint",
    "task_index": "bigint",
    "task_id": "varchar",
    "tools": "varchar",
    "answers": "map(varchar, varchar)",
    "data_source": "varchar",
    "ability": "varchar",
    "row": "varchar",
    "spotter": "varchar",
}


def write_parquet(staged: StagedRows, columns: str, draft: Path) -> None:
    """Write the columns, as SQL on the staged rows, to an existing file; keep the order of rows."""
    with (
        log_defects("curate"),
        contextlib.closing(open_scratch(MEMORY_LIMIT, staged.path.parent / "spill")) as connection,
    ):
        # one thread reads the rows in order. To promise the order, DuckDB would hold at least 2,048
        # rows in memory, however long they are. So the order is checked instead.
        connection.execute("set threads = 1")
        connection.execute("set preserve_insertion_order = false")
        # the draft is written in place: its lock tells other commands that it is in use
        connection.execute(
            f"copy (select {columns} from {_relation(staged)}) to {literal(draft)}"
            f" (format parquet, row_group_size_bytes {GROUP_BYTES}, use_tmp_file false)"
        )
        moved = connection.execute(
            f"select count(*) from read_parquet({literal(draft)}, file_row_number = true)"
            " where extra_info.index is distinct from file_row_number"
        ).fetchone()
    if moved != (0,):
        raise SpotterError(
            "the rows were written in another order\n"
            "  nothing was written. This is a bug in Spotter: please report it"
        )


def answer_sql(staged: StagedRows) -> str:
    """Return the SQL of the answer."""
    path = staged.answer_field
    return "null::varchar" if path is None else f"answers[{literal(path)}]"


def _relation(staged: StagedRows) -> str:
    names = [name for name in MESSAGE_TYPES if name in staged.message_fields | {"role", "content"}]
    message = ", ".join(f"{name} {MESSAGE_TYPES[name]}" for name in names)
    types = {**COLUMN_TYPES, "prompt": f"struct({message})[]"}
    columns = ", ".join(f"{quote_name(name)}: {literal(kind)}" for name, kind in types.items())
    size = max(OBJECT_BYTES, 2 * staged.longest)
    return (
        f"read_json({literal(staged.path)}, format = 'newline_delimited', records = true,"
        f" columns = {{{columns}}}, maximum_object_size = {size})"
    )
