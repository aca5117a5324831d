"""`spotter test`, also `ng_test`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import print_json
from collector.errors import InvariantError, UsageError
from collector.overrides import FLAG_ONLY

if TYPE_CHECKING:
    from collector.servers.selftest import SelfTest

SHOWN = 10


def self_test(
    environment: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            help="The environment: resources_servers/<name>, or a Python file of your own."
            "  [default: each that comes with spotter]",
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
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON."), FLAG_ONLY
    ] = False,
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
    from collector.terminal import counted_noun, say, show
    from collector.terminal.blocks import Line, Styled

    name = environment or entrypoint
    if not name and (input_jsonl_fpath or write):
        raise UsageError("which environment are the tasks for? Name it before them")
    names = [name] if name else bundled_environments()
    results = {one: _test_environment(one, input_jsonl_fpath, count, write) for one in names}
    if json:
        data = [{"environment": one, **asdict(result)} for one, result in results.items()]
        print_json(data[0] if name else data)
    if problems := [_problems(one, test) for one, test in results.items() if test.problems]:
        raise InvariantError("\n".join(problems))
    for one, result in results.items():
        tasks = counted_noun(result.task_count, "task")
        if write:
            say(f"wrote {tasks} to {write}")
        if not json:
            tools = counted_noun(result.tool_count, "tool")
            fine = Styled(f"{tasks} and {tools} are fine", "good")
            show([Line((f"{one}: ", fine))])


def _test_environment(name: str, tasks: Path | None, count: int, write: Path | None) -> SelfTest:
    import asyncio

    from collector.servers.implementations import environment_named, tasks_of, write_tasks
    from collector.servers.selftest import check_environment

    environment = environment_named(name)
    result = asyncio.run(check_environment(environment, tasks_of(environment, tasks, count)))
    if write and not result.problems:
        write_tasks(write.absolute(), tasks_of(environment, tasks, count))
    return result


def _problems(name: str, result: SelfTest) -> str:
    more = len(result.problems) - SHOWN
    shown = [*result.problems[:SHOWN], *([f"… and {more} more"] if more > 0 else [])]
    return "\n  ".join([f"{len(result.problems)} problems in {name}", *shown])
