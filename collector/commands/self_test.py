"""`spotter test`, also `ng_test`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from collector.commands.common import print_json
from collector.errors import InvariantError, UsageError
from collector.overrides import Override

OVERRIDES = {"entrypoint": Override("--entrypoint"), "input_jsonl_fpath": Override("--input")}
SHOWN = 10


def self_test(
    environment: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            help="The environment: resources_servers/<name>, or a Python file of your own.",
        ),
    ] = None,
    *,
    entrypoint: Annotated[str | None, typer.Option(help="The same, as an option.")] = None,
    input_jsonl_fpath: Annotated[
        Path | None,
        typer.Option(
            "--input-jsonl-fpath",
            "--input",
            "-i",
            readable=False,
            help="Tasks to test with.  [default: what the environment makes itself]",
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many tasks it is to make.")] = 100,
    write: Annotated[
        Path | None, typer.Option(help="Write the tasks to this file, if they are fine.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Test an environment: the ground truth scores 1, an empty answer 0, tools check their input.

    \b
    spotter test resources_servers/workplace
    spotter test my_environment.py --input my_tasks.jsonl
    spotter test my_environment.py --write my_tasks.jsonl --count 20
    """
    import asyncio
    from dataclasses import asdict

    from collector.servers.implementations import environment_named, tasks_of, write_tasks
    from collector.servers.selftest import check_environment
    from collector.terminal import counted_noun, write_error

    name = environment or entrypoint
    if not name:
        raise UsageError("which environment? Name one: spotter test resources_servers/workplace")
    found = environment_named(name)
    result = asyncio.run(check_environment(found, tasks_of(found, input_jsonl_fpath, count)))
    if write and not result.problems:
        write_tasks(write.absolute(), tasks_of(found, input_jsonl_fpath, count))
        write_error(f"wrote {counted_noun(result.task_count, 'task')} to {write}\n")
    if json:
        print_json(asdict(result))
    if result.problems:
        more = len(result.problems) - SHOWN
        shown = [*result.problems[:SHOWN], *([f"… and {more} more"] if more > 0 else [])]
        raise InvariantError("\n  ".join([f"{len(result.problems)} problems in {name}", *shown]))
    if not json:
        tasks = counted_noun(result.task_count, "task")
        typer.echo(f"{name}: {tasks} and {counted_noun(result.tool_count, 'tool')} are fine")
