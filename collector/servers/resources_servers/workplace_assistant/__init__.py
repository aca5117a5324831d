"""The workplace assistant: emails, events, tasks and customers of a company, and 27 tools on them.

It has the interface of NeMo Gym's environment of that name, and a company of its own.
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
    calls_of,
)
from collector.servers.resources_servers.workplace_assistant.records import Refusal
from collector.servers.resources_servers.workplace_assistant.tables import (
    Company,
    State,
    load_company,
)
from collector.servers.resources_servers.workplace_assistant.tools import TOOLS

__all__ = ["WorkplaceAssistant"]

LOG = logging.getLogger("spotter")

# beside a config, as in NeMo Gym; the company that comes with spotter is laid out alike
TABLES = Path("csv_data", "processed")
OWN_TABLES = Path(__file__).parent / TABLES
BY_NAME = {tool.name: tool for tool in TOOLS}


class WorkplaceAssistant(Environment[State]):
    """Judge by what the tables hold in the end."""

    tools: ClassVar[Sequence[Tool[Any]]] = TOOLS
    reverify_mode: ClassVar[str] = "stateless"

    def __init__(self, settings: Row) -> None:
        """Read the tables of `data_dir`: by default those beside the config, or else our own."""
        super().__init__(settings)
        self.folder = _tables(settings)
        self.company = load_company(self.folder)
        self._has_told = False

    def description(self) -> str:
        """Say which tables are used."""
        return f"tables of {'spotter' if self.folder == OWN_TABLES else self.folder}"

    def new_session(self, row: Row) -> State:
        """Begin with fresh tables; refuse a row that could not be judged in the end."""
        ground_truth(row)
        return self.company.state()

    def verify(self, row: Row, response: Row, state: State | None) -> Row:  # noqa: ARG002
        """Compare what the calls of the response change with what the ground truth changes."""
        wanted, refusals = replay(self.company, ground_truth(row))
        if refusals and not self._has_told:
            self._has_told = True
            LOG.warning(
                "a call of a ground_truth was refused on the tables of %s (told once): %s\n"
                "  do these tasks belong to other tables? Name their folder as data_dir",
                *(self.folder, refusals[0]),
            )
        found, _ = replay(self.company, calls_of(response))
        return {"reward": float(found.content() == wanted.content())}

    def solution(self, row: Row) -> Solution:
        """Return the ground truth."""
        return Solution(ground_truth(row))

    def tasks(self, seed: int, count: int) -> Iterator[Row]:
        """Make tasks on our own company."""
        from collector.servers.resources_servers.workplace_assistant.tasks import make_tasks

        return make_tasks(seed, count)


def ground_truth(row: Row) -> list[Call]:
    """Return the calls that solve a task."""
    found = row.get("ground_truth")
    if not isinstance(found, list) or not all(isinstance(call, dict) for call in found):
        raise ValueError("the row's ground_truth is not a list of calls")
    items = [{"type": "function_call", **call} for call in found]
    calls = calls_of({"output": items})
    if len(calls) != len(items):
        raise ValueError(
            "the arguments of each call in the row's ground_truth must be the text of a JSON object"
        )
    return calls


def replay(company: Company, calls: Iterable[Call]) -> tuple[State, list[str]]:
    """Run calls on fresh tables; return these and the answers to calls that changed nothing."""
    state = company.state()
    known = [call for call in calls if call.name in BY_NAME]
    answers = [BY_NAME[call.name].function(state, call.arguments) for call in known]
    return state, [str(answer) for answer in answers if isinstance(answer, Refusal)]


def _tables(settings: Row) -> Path:
    origin = Path(settings[ORIGIN]) if ORIGIN in settings else None
    given = settings.get("data_dir")
    if given is None:
        beside = origin.parent / TABLES if origin else OWN_TABLES
        return beside if beside.is_dir() else OWN_TABLES
    if not isinstance(given, str) or not given:
        raise ValueError("data_dir must name a folder")
    near = [origin, origin.parent, *origin.parents[2:3]] if origin else []
    places = [Path(given), *(folder / given for folder in near)]
    return next(filter(Path.is_dir, places), places[0])
