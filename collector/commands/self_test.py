"""`spotter test`, also `ng_test`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import Json, print_json
from collector.errors import InvariantError, UsageError

if TYPE_CHECKING:
    from collector.servers.selftest import SelfTestResult

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
            show_default="the environment makes its own, or has example tasks",
            help="The tasks to test with.",
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many tasks the environment makes.")] = 100,
    write: Annotated[
        Path | None, typer.Option(help="Write the tasks to this file if they pass.")
    ] = None,
    json: Json = False,
) -> None:
    """Test an environment with its own tasks.

    The ground truth must score 1 and an empty answer 0, and tools must check their arguments. In a
    checkout of NeMo Gym, the tables and example tasks there are tested.

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
        raise UsageError("name the environment that the tasks are for, as the first argument")
    names = [name] if name else bundled_environments()
    results = {path: _run_self_test(path, input_jsonl_fpath, count, write) for path in names}
    if json:
        rows = [{"environment": path, **asdict(result)} for path, result in results.items()]
        print_json(rows[0] if name else rows)
    if failed := [_problems_text(path, one) for path, one in results.items() if one.problems]:
        raise InvariantError("\n".join(failed))
    for path, result in results.items():
        tasks = counted_noun(result.task_count, "task")
        if write:
            say(f"wrote {tasks} to {write}")
        if not json:
            tools = counted_noun(result.tool_count, "tool")
            fine = Styled(f"{tasks} and {tools} are fine", "good")
            show([Line((f"{path}: ", fine))])


def _run_self_test(name: str, tasks: Path | None, count: int, write: Path | None) -> SelfTestResult:
    import asyncio

    from collector.atomic_files import Drafts, nothing
    from collector.servers.implementations import find_environment, tasks_for_test
    from collector.servers.selftest import check_environment
    from collector.servers.task_files import write_tasks

    environment = find_environment(name)
    result = asyncio.run(check_environment(environment, tasks_for_test(environment, tasks, count)))
    if write and not result.problems:
        with Drafts() as drafts:
            with drafts.open(write.absolute(), replaces=nothing) as file:
                write_tasks(file, tasks_for_test(environment, tasks, count))
            drafts.publish()
    return result


def _problems_text(name: str, result: SelfTestResult) -> str:
    from collector.terminal import counted_noun

    more = len(result.problems) - SHOWN
    shown = [*result.problems[:SHOWN], *([f"… and {more} more"] if more > 0 else [])]
    return "\n  ".join([f"{counted_noun(len(result.problems), 'problem')} in {name}", *shown])
