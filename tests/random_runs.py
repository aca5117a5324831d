"""Generate random runs with agents of every kind, and the options to profile them."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import reference
from tests.reference import Rollout
from tests.responses import says
from tests.support import Profiled, Row, key, profiled, write_run

ABSENT = object()
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Kind:
    """How to generate the rollouts of an agent."""

    reward: Callable[[random.Random], Any]
    tasks: int = 6
    repeats: tuple[int, int] = (4, 4)
    answer: Callable[[random.Random], Any] = lambda rng: rng.choice("AB")
    tokens: Callable[[random.Random], Any] = lambda rng: rng.randrange(50, 900)
    mask: Callable[[random.Random], Any] = lambda _: ABSENT
    missing_ratio: float = 0.0


def coin(rng: random.Random) -> float:
    return float(rng.random() < 0.5)


def always(value: Any) -> Callable[[random.Random], Any]:
    return lambda _: value


def one_of(*values: Any) -> Callable[[random.Random], Any]:
    return lambda rng: rng.choice(values)


def alternating() -> Callable[[random.Random], float]:
    """Return rewards 0 and 1 in turn: tasks with an even number of rollouts have the same mean."""
    state = iter(range(10**6))
    return lambda _: float(next(state) % 2)


MASKS = (True, 1, "yes", False, 0, "", None, ABSENT)
GRADES = (0.0, 0.25, 0.5, 0.75, 1.0)
ODD = (None, ABSENT, math.nan, math.inf, "1.0", [1], 0.0, 1.0)
NUMBERS = (7, "7", 7.5, True, "")
KINDS = {
    "binary": Kind(coin),
    "eight_repeats": Kind(coin, repeats=(8, 8)),
    "single_rollouts": Kind(coin, tasks=9, repeats=(1, 1)),
    "one_task": Kind(coin, tasks=1, repeats=(5, 5)),
    "one_task_once": Kind(always(1), tasks=1, repeats=(1, 1)),
    "all_pass": Kind(always(1.0)),
    "all_fail": Kind(always(0)),
    "uneven": Kind(coin, tasks=12, repeats=(1, 7)),
    "uneven_grades": Kind(one_of(*GRADES), tasks=12, repeats=(1, 6)),
    "grades": Kind(one_of(*GRADES), answer=one_of("A", "A", "B", "C")),
    "continuous": Kind(lambda rng: rng.gauss(0.4, 0.6), tasks=9),
    "negative": Kind(lambda rng: -rng.random()),
    "large": Kind(lambda rng: rng.gauss(1e4, 1), repeats=(1, 5)),
    "same_large": Kind(always(1234.1), repeats=(3, 3)),
    "booleans": Kind(lambda rng: rng.random() < 0.5),
    "mostly_fail": Kind(lambda rng: float(rng.random() < 0.1), tasks=10),
    "odd_rewards": Kind(one_of(*ODD), tasks=14, repeats=(1, 6)),
    "never_scored": Kind(one_of(None, ABSENT, math.nan)),
    "same_fraction": Kind(always(0.1), repeats=(1, 7)),
    "same_means": Kind(alternating(), repeats=(4, 4)),
    "no_answers": Kind(coin, answer=always(ABSENT)),
    "null_answers": Kind(coin, answer=one_of(None, ABSENT)),
    "few_answers": Kind(coin, answer=one_of(None, ABSENT, "A", "B"), repeats=(2, 6)),
    "numbers_as_answers": Kind(one_of(*GRADES), answer=one_of(*NUMBERS), repeats=(3, 7)),
    "tied_answers": Kind(one_of(*GRADES), answer=one_of("A", "B", "C"), repeats=(2, 6)),
    "no_tokens": Kind(coin, tokens=always(ABSENT)),
    "some_tokens": Kind(coin, tokens=one_of(10, 20, 30, ABSENT, None), repeats=(3, 6)),
    "equal_tokens": Kind(coin, tokens=always(64)),
    "fraction_tokens": Kind(always(0.1), tokens=lambda rng: rng.random(), repeats=(3, 3)),
    "some_masked": Kind(coin, tasks=10, mask=one_of(*MASKS)),
    "masked_grades": Kind(one_of(*GRADES), tasks=12, repeats=(1, 6), mask=one_of(*MASKS)),
    "mostly_masked": Kind(one_of(*ODD), tasks=12, mask=one_of(1, 1, 1, ABSENT)),
    "masked_answers": Kind(coin, answer=always(ABSENT), mask=one_of(*MASKS)),
    "all_masked": Kind(coin, mask=one_of("yes", "no")),
    "gaps": Kind(coin, tasks=10, missing_ratio=0.4),
    "masked_and_missing": Kind(
        one_of(*GRADES, None), tasks=12, mask=one_of(*MASKS), missing_ratio=0.3
    ),
    "negative_and_missing": Kind(
        lambda rng: rng.gauss(0, 2), tasks=8, mask=one_of(0, 1), missing_ratio=0.3
    ),
}
# further agents on the tasks of an agent, with the first index of their rollouts
SHARED = {
    "uneven": (("another_on_the_same_tasks", 10),),
    "masked_grades": (("masked_on_the_same_tasks", 10), ("third_on_the_same_tasks", 20)),
    "masked_and_missing": (("missing_on_the_same_tasks", 10),),
}


@dataclass(frozen=True)
class Setting:
    """The options of the command, and their values for the reference."""

    options: tuple[str, ...] = ()
    threshold: float = 1.0
    answer_field: str = "extracted_answer"
    fields: tuple[str, ...] = ()
    has_answers: bool = True


SETTINGS = {
    "defaults": Setting(),
    "slices": Setting(
        ("--slice-by", "category", "--slice-by", "level"), fields=("category", "level")
    ),
    "graded": Setting(
        ("--pass-threshold", "0.5", "--answer-field", "other"), threshold=0.5, answer_field="other"
    ),
    "no_answers": Setting(
        ("--pass-threshold", "0", "--slice-by", "level"),
        threshold=0.0,
        fields=("level",),
        has_answers=False,
    ),
}


@dataclass(frozen=True)
class Written:
    """A random run: its lines as text and as parsed rows."""

    setting: Setting
    run: Profiled
    rows: list[Row]
    inputs: list[Row]

    @property
    def measured(self) -> list[Row]:
        return [row for row in self.rows if reference.is_measured(row)]

    @property
    def rollouts(self) -> list[Rollout]:
        return [reference.read(row, self.setting.answer_field) for row in self.measured]

    def has_answers(self, agent: str) -> bool:
        own = (row for row in self.measured if row["agent_ref"]["name"] == agent)
        return any(self.setting.answer_field in row for row in own)

    def slices(self) -> dict[Key, reference.Tasks]:
        """Return the tasks of every agent and slice."""
        asked = {row["_ng_task_index"]: row for row in self.inputs}
        groups: dict[Key, reference.Tasks] = defaultdict(list)
        for agent, tasks in reference.by_agent(reference.scored(self.rollouts)).items():
            for task in tasks:
                groups[agent, "all", "all"].append(task)
                for field in self.setting.fields:
                    value = slice_value(field, asked[task[0].task], task[0].row)
                    groups[agent, field, value].append(task)
        return groups


def slice_value(field: str, *sources: Mapping[str, Any]) -> str:
    for source in sources:
        value = source.get(field)
        if isinstance(value, (str, int, float)):
            return value if isinstance(value, str) else json.dumps(value)
    return "(none)"


def without_absent(**fields: Any) -> Row:
    return {name: value for name, value in fields.items() if value is not ABSENT}


def write_random_run(folder: Path, seed: int, setting: Setting) -> Written:
    """Generate a run with an agent of every kind, each with its own tasks."""
    rng = random.Random(seed)
    rows: list[Row] = []
    inputs: list[Row] = []
    tasks = iter(range(10**6))
    for name, kind in KINDS.items():
        for task in (next(tasks) for _ in range(kind.tasks)):
            asked, found = slice_fields(rng)
            asked |= source_name(task)
            for agent, first in ((name, 0), *SHARED.get(name, ())):
                for index in range(first, first + rng.randint(*kind.repeats)):
                    inputs.append(key(task, index, agent_ref={"name": agent}, **asked))
                    if rng.random() >= kind.missing_ratio:
                        rows.append(random_rollout(rng, inputs[-1], kind, found))
    if not setting.has_answers:
        rows = [{name: row[name] for name in row if name != setting.answer_field} for row in rows]
    rng.shuffle(rows)
    run = write_run(folder, rows, inputs=inputs)
    return Written(setting, profiled(run, "--allow-partial", *setting.options), rows, inputs)


def random_rollout(rng: random.Random, asked: Row, kind: Kind, found: Row) -> Row:
    reward = kind.reward(rng)
    is_scored = not math.isnan(reference.number(reward))
    fields = without_absent(
        reward=reward,
        mask_sample=kind.mask(rng),
        extracted_answer=kind.answer(rng),
        other=kind.answer(rng),
        response={
            "usage": without_absent(output_tokens=kind.tokens(rng)),
            **random_output(asked["_ng_task_index"], asked["_ng_rollout_index"]),
        },
    )
    is_measured = reference.is_measured(fields)
    if not is_measured:
        fields |= masked_fields(rng)
    # a rollout that is masked or has no reward must not decide the slice of its task
    decoy = found if is_scored and is_measured else dict.fromkeys(found, "decoy")
    names = ("agent_ref", "_ng_task_index", "_ng_rollout_index")
    return {**{name: asked[name] for name in names}, **fields, **decoy}


def random_output(task: int, rollout: int) -> Row:
    """Return what the model said: nothing in some rollouts, and only a beginning in others."""
    said = [] if (task + rollout) % 5 == 0 else [says(f"done in {rollout} ways")]
    return {"output": said, "status": "incomplete" if (task + rollout) % 7 == 0 else "completed"}


def masked_fields(rng: random.Random) -> Row:
    """Return values so extreme that any figure which wrongly used them would differ."""
    return {
        "reward": rng.choice([99.0, -99.0, 1.0, None]),
        "extracted_answer": "masked",
        "other": "masked",
        "failure_kind": rng.choice(["judge_failed", "session_lost", None]),
        "failure_reason": f"reason {rng.randrange(9)}",
        "response": {"usage": {"output_tokens": 10**6}},
    }


def source_name(task: int) -> Row:
    """Return what an import adds to an input: the framework's name, of tasks that have one."""
    return {"_ng_source_task": f'task "{task}" é'} if task % 3 else {}


def slice_fields(rng: random.Random) -> tuple[Row, Row]:
    """Return the fields to slice by, for the input and for the rollouts of a task."""
    asked: Row = {}
    found: Row = {}
    for field, values in (("category", ["x", "y", "the z"]), ("level", [1, 2.5, True, "1"])):
        value = rng.choice(values)
        match rng.choice(["input", "rollout", "both", "null", "object", "nowhere"]):
            case "input":
                asked[field] = value
            case "rollout":
                found[field] = value
            case "both":
                asked[field], found[field] = value, "the input decides"
            case "null":
                asked[field], found[field] = None, value
            case "object":
                asked[field] = {"name": value}
    return asked, found
