"""`spotter test`, also `ng_test`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import Json, print_json
from collector.errors import InvariantError, UsageError

if TYPE_CHECKING:
    from collector.servers.selftest import SelfTest

SHOWN = 10


def self_test(
    environment: Annotated[
        str | None,
        typer.Argument(
            show_default="all that come with Spotter",
            help="The environment: `resources_servers/<name>`, or your own Python file.",
        ),
    ] = None,
    *,
    entrypoint: Annotated[str | None, typer.Option(help="The environment, as an option.")] = None,
    input_jsonl_fpath: Annotated[
        Path | None,
        typer.Option(
            "--input-jsonl-fpath",
            "--input",
            "-i",
            readable=False,
            show_default="the environment makes its own",
            help="The tasks to test with.",
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many tasks the environment makes.")] = 100,
    write: Annotated[
        Path | None, typer.Option(help="Write the tasks to this file if they pass.")
    ] = None,
    json: Json = False,
) -> None:
    """Test an environment: the ground truth scores 1, an empty answer 0, tools check their input.

    \b
    spotter test
    spotter test resources_servers/workplace_assistant
    spotter test my_environment.py --input my_tasks.jsonl
    spotter test my_environment.py --write my_tasks.jsonl --count 20
    """
    from dataclasses import asdict

    from collector.servers.implementations import bundled_environments
    from collector.terminal import counted_noun, write_error

    name = environment or entrypoint
    if not name and (input_jsonl_fpath or write):
        raise UsageError("which environment are the tasks for? Name it before them")
    names = [name] if name else bundled_environments()
    results = {one: _tested(one, input_jsonl_fpath, count, write) for one in names}
    if json:
        told = [{"environment": one, **asdict(result)} for one, result in results.items()]
        print_json(told[0] if name else told)
    if wrong := [_problems(one, found) for one, found in results.items() if found.problems]:
        raise InvariantError("\n".join(wrong))
    for one, result in results.items():
        tasks = counted_noun(result.task_count, "task")
        if write:
            write_error(f"wrote {tasks} to {write}\n")
        if not json:
            typer.echo(f"{one}: {tasks} and {counted_noun(result.tool_count, 'tool')} are fine")


def _tested(name: str, tasks: Path | None, count: int, write: Path | None) -> SelfTest:
    import asyncio

    from collector.servers.implementations import environment_named, tasks_of, write_tasks
    from collector.servers.selftest import check_environment

    found = environment_named(name)
    result = asyncio.run(check_environment(found, tasks_of(found, tasks, count)))
    if write and not result.problems:
        write_tasks(write.absolute(), tasks_of(found, tasks, count))
    return result


def _problems(name: str, result: SelfTest) -> str:
    more = len(result.problems) - SHOWN
    shown = [*result.problems[:SHOWN], *([f"… and {more} more"] if more > 0 else [])]
    return "\n  ".join([f"{len(result.problems)} problems in {name}", *shown])
