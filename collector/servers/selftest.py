"""Test an environment by itself, through its real endpoints."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from collector.errors import InvariantError, SpotterError
from collector.servers.resources_servers.environment import Environment, Solution, Tool
from collector.servers.resources_servers.server import ResourcesServer
from collector.terminal import counted_noun

Row = dict[str, Any]
ANSWERS = {1.0: "ground truth", 0.0: "empty answer"}


@dataclass
class SelfTestResult:
    """The number of tasks and tools tested, and the problems found."""

    task_count: int = 0
    tool_count: int = 0
    problems: list[str] = field(default_factory=list)


async def check_environment(environment: Environment[Any], tasks: Iterable[Row]) -> SelfTestResult:
    """Answer every task perfectly and not at all, and send each tool an unknown field.

    Raise InvariantError if `tasks()` or `solution()` fails.
    """
    server = ResourcesServer("test", environment)
    result = SelfTestResult()
    transport = httpx.ASGITransport(app=server.app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        for number, row in enumerate(_checked_tasks(tasks)):
            result.task_count += 1
            solutions = {1.0: _find_solution(environment, row), 0.0: Solution(answer="")}
            for expected, solution in solutions.items():
                name = f"task {row.get('id', number)}, {ANSWERS[expected]}"
                problems = [
                    f"{name}: {text}" for text in await _run_task(client, row, solution, expected)
                ]
                result.problems += problems
        result.tool_count = len(environment.tools)
        for tool in environment.tools if result.task_count else ():
            result.problems += await _check_tool(client, row, tool)
    if len(server.sessions):
        result.problems.append(f"did not end {counted_noun(len(server.sessions), 'session')}")
    if not result.task_count:
        result.problems.append("there are no tasks to test with")
    return result


def _checked_tasks(tasks: Iterable[Row]) -> Iterator[Row]:
    try:
        for row in tasks:
            if not isinstance(row, dict):
                raise TypeError(f"a task must be a dict, not {type(row).__name__}")
            yield row
    except SpotterError:
        raise
    except (Exception, SystemExit) as error:
        raise InvariantError(f"tasks() {_describe_error(error)}") from error


def _find_solution(environment: Environment[Any], row: Row) -> Solution:
    try:
        solution = environment.solution(row)
    except (Exception, SystemExit) as error:
        raise InvariantError(
            f"solution() of task {row.get('id')} {_describe_error(error)}"
        ) from error
    if not isinstance(solution, Solution):
        raise InvariantError(f"solution() of task {row.get('id')} did not return a Solution")
    return solution


def _describe_error(error: BaseException) -> str:
    """Return what the environment's code raised, and in which line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"raised {type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"


async def _run_task(
    client: httpx.AsyncClient, row: Row, solution: Solution, expected: float
) -> list[str]:
    """Submit a solution to a task, and return the problems with its tools and verdict."""
    problems: list[str] = []
    client.cookies.clear()
    await client.post("/seed_session", json=row)
    output: list[Row] = []
    for number, call in enumerate(solution.calls):
        reply = await client.post(f"/{call.name}", json=call.arguments)
        if not reply.is_success:
            problems.append(f"{call.name} answered {reply.status_code}: {reply.text}")
        output += _call_items(number, call.name, call.arguments, reply.text)
    if solution.answer:
        content = [{"type": "output_text", "text": solution.answer, "annotations": []}]
        output.append({"type": "message", "role": "assistant", "content": content})
    reply = await client.post("/verify", json={**row, "response": {"output": output}})
    if not reply.is_success:
        problems.append(f"/verify answered {reply.status_code}: {reply.text}")
    else:
        problems += _verdict_problems(reply.json(), expected)
    return problems


def _verdict_problems(verdict: Row, expected: float) -> list[str]:
    if verdict["mask_sample"]:
        return [f"the verdict is masked ({verdict['failure_kind']}: {verdict['failure_reason']})"]
    if verdict["reward"] != expected:
        return [f"the reward is {verdict['reward']}, not {expected:g}"]
    return []


def _call_items(number: int, name: str, arguments: Row, text: str) -> list[Row]:
    call_id = f"call_{number}"
    return [
        {
            "type": "function_call",
            "call_id": call_id,
            "name": name,
            "arguments": json.dumps(arguments),
        },
        {"type": "function_call_output", "call_id": call_id, "output": text},
    ]


async def _check_tool(client: httpx.AsyncClient, row: Row, tool: Tool[Any]) -> list[str]:
    problems: list[str] = []
    if tool.schema()["parameters"].get("additionalProperties") is not False:
        problems.append(f"{tool.name}: the schema allows unknown fields")
    if not tool.description:
        problems.append(f"{tool.name} has no description")
    client.cookies.clear()
    await client.post("/seed_session", json=row)
    reply = await client.post(f"/{tool.name}", json={"no_such_field": 1})
    await client.post("/verify", json={**row, "response": {"output": []}})
    if reply.status_code not in (200, 422) or "no_such_field" not in reply.text:
        problems.append(f"{tool.name} does not refuse an unknown field")
    return problems
