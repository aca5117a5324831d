"""The workplace assistant: emails, events, tasks and customers of a company, and 27 tools on them.

It has the interface of NeMo Gym's environment of the same name, and its own company.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from collector.bundled_files import ORIGIN
from collector.servers.resources_servers.environment import (
    Call,
    Environment,
    Row,
    Solution,
    Tool,
    tool_calls,
)
from collector.servers.resources_servers.workplace_assistant.records import CallRefusal
from collector.servers.resources_servers.workplace_assistant.tables import (
    Company,
    WorkplaceState,
    load_company,
)
from collector.servers.resources_servers.workplace_assistant.tools import CHANGING, TOOLS

__all__ = ["WorkplaceAssistant"]

LOG = logging.getLogger("spotter")

# the path beside a config, as in NeMo Gym, and in this package
TABLES = Path("csv_data", "processed")
OWN_TABLES = Path(__file__).parent / TABLES
# each call takes as long as the tables are large; a task needs a handful of calls
MOST_CHANGES = 1000
TOOLS_BY_NAME = {tool.name: tool for tool in TOOLS}


class WorkplaceAssistant(Environment[WorkplaceState]):
    """An environment that judges by the final content of the tables."""

    tools: ClassVar[Sequence[Tool[Any]]] = TOOLS
    reverify_mode: ClassVar[str] = "stateless"

    def __init__(self, settings: Row) -> None:
        """Read the tables of `data_dir`, of the folder beside the config, or else our own."""
        super().__init__(settings)
        self.folder = _find_tables(settings)
        self._has_own_tables = self.folder.resolve() == OWN_TABLES.resolve()
        self.company = load_company(self.folder)
        self._has_warned = False

    def description(self) -> str:
        """Return which tables the environment uses."""
        return "Spotter's own tables" if self._has_own_tables else f"tables in {self.folder}"

    def new_session(self, row: Row) -> WorkplaceState:
        """Return fresh tables; raise ValueError for a row without a valid ground truth."""
        ground_truth(row)
        return self.company.new_state()

    def verify(self, row: Row, response: Row, state: WorkplaceState | None) -> Row:  # noqa: ARG002
        """Return reward 1 if the response changes the tables exactly as the ground truth does.

        A response with more than MOST_CHANGES calls that could change the tables gets reward 0.
        """
        expected, refusals = replay(self.company, ground_truth(row))
        if refusals and not self._has_warned:
            self._has_warned = True
            LOG.warning(
                "the tables of %s do not allow a call of a ground_truth (logged once): %s\n"
                "  what to do: if the tasks belong to other tables, set data_dir to their folder",
                *(self.folder, refusals[0]),
            )
        calls = [call for call in tool_calls(response) if call.name in CHANGING]
        if len(calls) > MOST_CHANGES:
            return {"reward": 0.0}
        actual, _ = replay(self.company, calls)
        return {"reward": float(actual.content() == expected.content())}

    def solution(self, row: Row) -> Solution:
        """Return the ground truth as a solution."""
        return Solution(ground_truth(row))

    def tasks(self, seed: int, count: int) -> Iterator[Row]:
        """Generate tasks on the company that comes with Spotter; on no other tables."""
        if not self._has_own_tables:
            raise NotImplementedError(f"Spotter makes no tasks for the {self.description()}")
        from collector.servers.resources_servers.workplace_assistant.tasks import make_tasks

        return make_tasks(seed, count)


def ground_truth(row: Row) -> list[Call]:
    """Return the calls that solve a task; raise ValueError if the row has no valid ones."""
    truth = row.get("ground_truth")
    if not isinstance(truth, list) or not all(isinstance(call, dict) for call in truth):
        raise ValueError("the row's ground_truth is not a list of calls")
    items = [{"type": "function_call", **call} for call in truth]
    calls = tool_calls({"output": items})
    if len(calls) != len(items):
        raise ValueError(
            "the arguments of each call in the row's ground_truth must be the text of a JSON object"
        )
    return calls


def replay(company: Company, calls: Iterable[Call]) -> tuple[WorkplaceState, list[str]]:
    """Run calls on fresh tables; return the tables and the refusals."""
    state = company.new_state()
    known = [call for call in calls if call.name in TOOLS_BY_NAME]
    answers = [TOOLS_BY_NAME[call.name].function(state, call.arguments) for call in known]
    return state, [str(answer) for answer in answers if isinstance(answer, CallRefusal)]


def _find_tables(settings: Row) -> Path:
    origin = Path(settings[ORIGIN]) if ORIGIN in settings else None
    data_dir = settings.get("data_dir")
    if data_dir is None:
        beside = origin.parent / TABLES if origin else OWN_TABLES
        return beside if beside.is_dir() else OWN_TABLES
    if not isinstance(data_dir, str) or not data_dir:
        raise ValueError("data_dir must name a folder")
    near = [origin, origin.parent, *origin.parents[2:3]] if origin else []
    folders = [Path(data_dir), *(folder / data_dir for folder in near)]
    return next(filter(Path.is_dir, folders), folders[0])
