"""Choose tasks in a process of its own: the viewer must stay responsive and small.

It reads a request as one line of JSON from standard input, and prints what a recipe makes of a run
as JSON. It writes nothing, and the warehouse is only read.
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from collector.child_process import spotter_command
from collector.curating.manifest import selection_data
from collector.curating.recipe_files import parse_recipe
from collector.curating.selection import read_task_lists, select_tasks
from collector.errors import SpotterError
from collector.temporary_files import temporary_folder
from collector.warehouse.scratch import log_defects, open_scratch

MEMORY_LIMIT = "1GB"
MOST_LISTED = 200
"""How many tasks of each reason are listed."""


@dataclass(frozen=True)
class SelectionRequest:
    """Which tasks to choose of which run; `agent` is needed if several agents ran the same task."""

    run_id: str
    task_count: int
    agent: str | None
    recipe: str
    """The recipe as YAML."""

    def line(self, warehouse: Path) -> bytes:
        """Return the request as the worker reads it."""
        return orjson.dumps({"warehouse": str(warehouse), **asdict(self)}) + b"\n"


def worker_command() -> list[str]:
    """Return the command line that starts this module."""
    return spotter_command(module="collector.curating.worker")


def main() -> None:
    """Answer the request on standard input; print the reason as JSON if that fails."""
    data = orjson.loads(sys.stdin.buffer.readline())
    warehouse = Path(data.pop("warehouse"))
    try:
        with log_defects("curate"):
            answer = choose(warehouse, SelectionRequest(**data))
    except SpotterError as error:
        sys.stdout.buffer.write(orjson.dumps({"error": str(error)}))
        sys.exit(error.exit_code)
    sys.stdout.buffer.write(orjson.dumps(answer))


def choose(warehouse: Path, request: SelectionRequest) -> dict[str, Any]:
    """Return what a recipe makes of a run, as in a manifest, and the tasks of each reason."""
    declaration = {
        "run_id": request.run_id,
        "agent_name": request.agent,
        "since_run_id": None,
        **parse_recipe(request.recipe, shown="recipe.yml").declaration(),
    }
    with (
        temporary_folder() as spill,
        contextlib.closing(open_scratch(MEMORY_LIMIT, spill)) as connection,
    ):
        selection = select_tasks(connection, warehouse, declaration, [], progress=lambda _: None)
        return {
            **selection_data(selection, request.task_count),
            "shaped_task_count": selection.shaped_task_count,
            "tasks": read_task_lists(connection, MOST_LISTED),
        }


if __name__ == "__main__":
    main()
