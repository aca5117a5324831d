"""The workplace: an assistant with a mailbox, a calendar, project boards and customers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from collector.servers.resources_servers.environment import (
    Call,
    Environment,
    Row,
    Solution,
    Tool,
    ToolError,
    calls_of,
)
from collector.servers.resources_servers.workplace.company import fresh_state
from collector.servers.resources_servers.workplace.state import State, changes
from collector.servers.resources_servers.workplace.tools import TOOLS, replay, run

__all__ = ["WorkplaceEnvironment"]


class WorkplaceEnvironment(Environment[State]):
    """Judge by the final state: any way that leads there is right."""

    tools: ClassVar[Sequence[Tool[Any]]] = TOOLS
    reverify_mode: ClassVar[str] = "stateless"

    def new_session(self, row: Row) -> State:  # noqa: ARG002  # every task begins alike
        """Return the company before anybody did anything."""
        return fresh_state()

    def verify(self, row: Row, response: Row, state: State | None) -> Row:
        """Compare what changed with what should have changed."""
        final = replay(fresh_state(), calls_of(response)) if state is None else state
        wanted = changes(fresh_state(), _truth(row))
        found = changes(fresh_state(), final)
        matches = found == wanted
        return {
            "reward": 1.0 if matches else 0.0,
            "state_matches": matches,
            "missing_change_count": (wanted - found).total(),
            "wrong_change_count": (found - wanted).total(),
        }

    def solution(self, row: Row) -> Solution:
        """Return the ground truth's calls."""
        return Solution(calls=_ground_truth(row))

    def tasks(self, seed: int, count: int) -> Iterator[Row]:
        """Make requests of every category and difficulty."""
        from collector.servers.resources_servers.workplace.tasks import make_tasks

        return make_tasks(seed, count)


def _truth(row: Row) -> State:
    """Return the state after the ground truth's calls, every one of which must work."""
    state = fresh_state()
    for call in _ground_truth(row):
        try:
            run(state, call)
        except ToolError as error:
            raise ValueError(f"the row's ground_truth is wrong: {error}") from error
    return state


def _ground_truth(row: Row) -> list[Call]:
    try:
        return [Call(call["name"], json.loads(call["arguments"])) for call in row["ground_truth"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("the row has no ground_truth: calls with a name and arguments") from error
