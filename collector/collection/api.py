"""Rollouts for scripts: rows in, results out, nothing written."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from collector.collection.discovery import find_servers
from collector.collection.dispatch import Dispatcher, Policy
from collector.collection.head_options import DEFAULT_HEAD_PORT
from collector.collection.outcomes import Failure, RolloutAnswer
from collector.collection.requests import Request, request_of
from collector.collection.settings.connection import Connection
from collector.collection.stopping import Stop
from collector.errors import UsageError
from collector.gym_client import GymClient
from collector.jsonl import dump, parse_object
from collector.keys import ROLLOUT, TASK
from collector.validation import validate_settings

Row = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """A row with its answer, which has indices and agent, or with its failure."""

    row: Row
    answer: Row | None
    failure: Failure | None


async def run_rollouts(  # noqa: PLR0913 - each can be left out
    rows: Iterable[Row],
    *,
    agent_urls: Mapping[str, str] | None = None,
    head_host: str = "127.0.0.1",
    head_port: int = DEFAULT_HEAD_PORT,
    parallel: int = 64,
    request_timeout: float = 3600.0,
    max_attempts: int = 3,
) -> AsyncGenerator[Result, None]:
    """Run each row on the agent it names, and yield each result as it arrives.

    Rows are drawn as there is room, so an endless generator works. A row without indices gets its
    position among the rows as its task index. A result has neither answer nor failure if its agent
    asks not to keep it. Raises ServerError when an agent cannot be reached.
    """
    connection = {
        "agent_urls": dict(agent_urls or {}),
        "head_host": head_host,
        "head_port": head_port,
        "request_timeout": request_timeout,
    }
    policy = Policy(parallel=parallel, request_timeout=request_timeout, max_attempts=max_attempts)
    stop = Stop()
    async with GymClient() as client:
        servers = await find_servers(None, validate_settings(Connection, connection), client)
        dispatcher = Dispatcher(servers, client, policy, stop)
        async with contextlib.aclosing(dispatcher.run(_requests(rows))) as outcomes:
            async for outcome in outcomes:
                row = parse_object(outcome.request.line)
                if isinstance(outcome, RolloutAnswer):
                    yield Result(row, parse_object(outcome.line), None)
                elif not isinstance(outcome, Failure):
                    yield Result(row, None, None)
                elif outcome.is_final:
                    yield Result(row, None, outcome)
        if stop.error:
            raise stop.error


def _requests(rows: Iterable[Row]) -> Iterator[Request]:
    for number, row in enumerate(rows):
        try:
            yield request_of(
                dump({**row, TASK: row.get(TASK, number), ROLLOUT: row.get(ROLLOUT, 0)})
            )
        except ValueError as error:
            raise UsageError(f"row {number} cannot be run: {error}") from error
