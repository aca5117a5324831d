"""Make tasks: one to three requests whose answer is certain and independent of their order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from collector.servers.resources_servers.environment import Call
from collector.servers.resources_servers.workplace.calendar_requests import CALENDAR_KINDS
from collector.servers.resources_servers.workplace.company import ME, NOW, fresh_state
from collector.servers.resources_servers.workplace.customer_requests import CUSTOMER_KINDS
from collector.servers.resources_servers.workplace.email_requests import EMAIL_KINDS
from collector.servers.resources_servers.workplace.mixed_requests import MIXED_KINDS
from collector.servers.resources_servers.workplace.project_requests import PROJECT_KINDS
from collector.servers.resources_servers.workplace.requests import Draw, Kind, Slots
from collector.servers.resources_servers.workplace.state import State, changes
from collector.servers.resources_servers.workplace.tools import TOOLS, replay

Row = dict[str, Any]
CATEGORIES = ("email", "calendar", "project", "customers", "mixed")
DIFFICULTIES = ("easy", "medium", "hard")
CALL_COUNTS = {"easy": (2, 2), "medium": (3, 4), "hard": (5, 8)}
PART_COUNTS = {"easy": (1,), "medium": (1, 2), "hard": (1, 2, 2, 3)}
PLAIN_KINDS = (*EMAIL_KINDS, *CALENDAR_KINDS, *PROJECT_KINDS, *CUSTOMER_KINDS)
STATEMENTS = ("The ", "I ", "All ")  # what cannot follow "please"
SYSTEM = (
    "You are the assistant of {name} ({email}) and speak for nobody else. "
    "Today is {today}; the time is {time}. "
    "Use the tools to do exactly what is asked, and nothing else: what you write, copy word for "
    "word. Look addresses and ids up, never guess them. When everything is done, say so briefly."
)


@dataclass(frozen=True)
class Part:
    """One request of a task."""

    kind: Kind
    slots: Slots
    text: str

    def calls(self, state: State) -> list[Call]:
        """Return what the request asks for in this state."""
        return self.kind.calls(state, self.slots)

    @cached_property
    def wanted(self) -> list[Call]:
        """Return what it asks for at the beginning."""
        return self.calls(fresh_state())


def make_tasks(seed: int, count: int) -> Iterator[Row]:
    """Make task rows, going round through categories and difficulties."""
    rng = Random(f"workplace {seed}")  # noqa: S311
    tools = [tool.schema() for tool in TOOLS]
    seen: set[str] = set()
    for number in range(count):
        # 5 and 3 have no common factor: every 15 rows hold every pair once
        category, difficulty = CATEGORIES[number % 5], DIFFICULTIES[number % 3]
        parts = _parts(rng, category, difficulty)
        while (text := _joined(rng, parts)) in seen:
            parts = _parts(rng, category, difficulty)
        seen.add(text)
        yield {
            "id": f"workplace-{seed}-{number:04d}",
            "category": category,
            "difficulty": difficulty,
            "responses_create_params": {
                "input": [
                    {"role": "system", "content": _system()},
                    {"role": "user", "content": text},
                ],
                "tools": tools,
                "parallel_tool_calls": False,
                "temperature": 1.0,
            },
            "ground_truth": [
                {"name": call.name, "arguments": json.dumps(call.arguments)}
                for part in parts
                for call in part.wanted
            ],
            "environment_name": "workplace",
        }


def _system() -> str:
    today = f"{NOW:%A}, {NOW.day} {NOW:%B %Y}"
    return SYSTEM.format(name=ME.name, email=ME.email, today=today, time=f"{NOW:%H:%M}")


def _parts(rng: Random, category: str, difficulty: str) -> list[Part]:
    fewest, most = CALL_COUNTS[difficulty]
    while True:
        count = rng.choice(PART_COUNTS[difficulty])
        parts = [_part(rng, rng.choice(kinds)) for kinds in _kinds(category, count)]
        if not all(part.wanted for part in parts):
            continue
        call_count = sum(part.kind.lookups + len(part.wanted) for part in parts)
        if fewest <= call_count <= most and _are_independent(parts):
            return parts


def _kinds(category: str, count: int) -> list[Sequence[Kind]]:
    """Return the kinds to choose from for each part; mixed tasks hold a mixed kind at least."""
    if category == "mixed":
        return [MIXED_KINDS, *([PLAIN_KINDS] * (count - 1))]
    return [[kind for kind in PLAIN_KINDS if kind.category == category]] * count


def _part(rng: Random, kind: Kind) -> Part:
    slots = kind.draw(Draw(rng, fresh_state()))
    texts = {name: slot.text for name, slot in slots.items()}
    text = rng.choice(kind.phrasings).format_map(texts)
    if rng.random() < 0.25 and not text.startswith(STATEMENTS):
        text = f"Please {text[0].lower()}{text[1:]}"
    return Part(kind, slots, text)


def _are_independent(parts: list[Part]) -> bool:
    """Tell whether each call changes one thing, and each part means the same after the others."""
    calls = [call for part in parts for call in part.wanted]
    found = changes(fresh_state(), replay(fresh_state(), calls))
    if found.total() != len(calls) or found != changes(
        fresh_state(), replay(fresh_state(), calls[::-1])
    ):
        return False
    return all(_stands(part, [other for other in parts if other is not part]) for part in parts)


def _stands(part: Part, others: list[Part]) -> bool:
    state = replay(fresh_state(), [call for other in others for call in other.wanted])
    try:
        return part.calls(state) == part.wanted
    except ValueError:  # the one record it names is gone, or there are two now
        return False


def _joined(rng: Random, parts: list[Part]) -> str:
    texts = [part.text for part in parts]
    if len(texts) == 1:
        return texts[0]
    if rng.random() < 0.3:
        return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
    return rng.choice((" ", "\n", " Also: ", " Then: ")).join(texts)
