"""The contents of NeMo Gym 0.7.0's three files for a run, computed from the rules alone.

The code is slow and plain on purpose, and uses the standard library only. Its result has the shape
of the golden cases' `expected.json`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.gym_figures import Row, across_repeats, describe, describe_repeat

Key = tuple[int, int]
K = TypeVar("K", int, str, tuple[int, str])
INDICES = ("_ng_task_index", "_ng_rollout_index")


@dataclass(frozen=True)
class Attempt:
    """One row of the inputs, with its rollout if there is one."""

    asked: Row
    found: Row | None

    @property
    def task(self) -> int:
        return int(self.asked["_ng_task_index"])

    @property
    def index(self) -> int:
        return int(self.asked["_ng_rollout_index"])

    @property
    def agent(self) -> str | None:
        return (self.asked.get("agent_ref") or {}).get("name")

    @property
    def server(self) -> str:
        """Return the environment server that ran the row, or the agent if it names none."""
        stamp = self.asked.get("_ng_environment_server")
        return str(self.agent if stamp is None else stamp)

    @property
    def is_masked(self) -> bool:
        return self.found is not None and bool(self.found.get("mask_sample"))

    @property
    def is_measured(self) -> bool:
        return self.found is not None and not self.is_masked

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics; a field of the usage hides the rollout's field of the same name."""
        found = self.found or {}
        own = {name: value for name, value in found.items() if name != "mask_sample"}
        return {
            name: float(value)
            for name, value in {**own, **usage_of(found)}.items()
            if isinstance(value, (int, float)) and not is_infinite(value) and name[:1] != "_"
        }


def profile(inputs: Sequence[Row], rollouts: Sequence[Row], *, allow_partial: bool) -> Row:
    """Return the expected files and the completion of a run, or the first broken invariant."""
    problem = broken_invariant(inputs, rollouts, allow_partial=allow_partial)
    if problem:
        return problem
    attempts = match(inputs, rollouts)
    unmasked = [one for one in attempts if not one.is_masked]
    labels = label_servers(unmasked)
    by_label = group([one for one in unmasked if one.is_measured], lambda one: labels[one.server])
    repeats = repeat_level_metrics(by_label)
    return {
        "completion": completion(attempts),
        "task_profiles": task_profiles(unmasked, labels),
        "agent_metrics": agent_metrics(by_label, repeats, coverage(attempts)),
        "repeat_level_metrics": repeats,
    }


def group(attempts: Iterable[Attempt], key: Callable[[Attempt], K]) -> dict[K, list[Attempt]]:
    """Group attempts; sort the groups by their keys, and each group by its rollouts."""
    groups: dict[K, list[Attempt]] = defaultdict(list)
    for one in sorted(attempts, key=lambda one: key_of(one.asked)):
        groups[key(one)].append(one)
    return dict(sorted(groups.items()))


def key_of(row: Row) -> Key:
    return row["_ng_task_index"], row["_ng_rollout_index"]


def broken_invariant(
    inputs: Sequence[Row], rollouts: Sequence[Row], *, allow_partial: bool
) -> Row | None:
    """Return the first broken invariant of a run with its keys, or None."""
    asked, found = Counter(map(key_of, inputs)), Counter(map(key_of, rollouts))
    problems = {
        "duplicate_input": [key for key, count in asked.items() if count > 1],
        "duplicate_rollout": [key for key, count in found.items() if count > 1],
        "extra_rollouts": list(found.keys() - asked.keys()),
        "missing_rollouts": [] if allow_partial else list(asked.keys() - found.keys()),
    }
    for kind, keys in problems.items():
        if keys:
            return {"error": kind, "keys": [list(key) for key in sorted(keys)]}
    return None


def match(inputs: Sequence[Row], rollouts: Sequence[Row]) -> list[Attempt]:
    """Pair every input with its rollout, in the order of the inputs."""
    answers = {key_of(row): row for row in rollouts}
    return [Attempt(row, answers.get(key_of(row))) for row in inputs]


def label_servers(attempts: Iterable[Attempt]) -> dict[str, str]:
    """Return a label for every server: its agent's name if no other server has it, else its own."""
    agents: dict[str, str] = {}
    for one in attempts:
        agents.setdefault(one.server, one.agent or one.server)
    fronts = Counter(agents.values())
    labels = {server: agent if fronts[agent] == 1 else server for server, agent in agents.items()}
    while repeated := [name for name, count in Counter(labels.values()).items() if count > 1]:
        labels |= {server: server for server, label in labels.items() if label in repeated}
    return labels


def completion(attempts: Sequence[Attempt]) -> Row:
    """Count the collected rollouts, masked or not, per task and server."""
    groups = group(attempts, lambda one: (one.task, one.server)).values()
    states = [[one.found is not None for one in own] for own in groups]
    completed = sum(map(sum, states))
    return {
        "expected_rollout_rows": len(attempts),
        "completed_rollout_rows": completed,
        "missing_rollout_rows": len(attempts) - completed,
        "extra_rollout_rows": 0,
        "reward_profile_completion_pct": 100 * completed / len(attempts) if attempts else 100.0,
        "total_input_rows": len(states),
        "complete_input_rows": sum(all(own) for own in states),
        "partial_input_rows": sum(any(own) and not all(own) for own in states),
        "missing_input_rows": sum(not any(own) for own in states),
    }


def task_profiles(unmasked: Sequence[Attempt], labels: Mapping[str, str]) -> list[Row]:
    """Return one row per task, or per task and label if any task has several labels."""
    by_task = group(unmasked, lambda one: one.task)
    by_both = group(unmasked, lambda one: (one.task, labels[one.server]))
    named: list[tuple[Row, list[Attempt]]]
    named = [({"_ng_task_index": task}, own) for task, own in by_task.items()]
    if len(by_both) > len(by_task):
        named = [
            ({"_ng_task_index": task, "agent_ref": {"name": label}}, own)
            for (task, label), own in by_both.items()
        ]
    return [
        {**names, **task_profile(own)} for names, own in named if any(x.is_measured for x in own)
    ]


def task_profile(unmasked: Sequence[Attempt]) -> Row:
    measured = [one for one in unmasked if one.is_measured]
    sample = {name: value for name, value in measured[0].asked.items() if name not in INDICES}
    return {
        **describe([one.metrics for one in measured]),
        "sample": sample,
        "num_rollouts": len(measured),
        "expected_num_rollouts": len(unmasked),
        "missing_num_rollouts": len(unmasked) - len(measured),
        "reward_profile_completion_pct": 100 * len(measured) / len(unmasked),
        "rollout_infos": [rollout_info(one) for one in measured],
    }


def rollout_info(one: Attempt) -> Row:
    """Return the compact record of a rollout, with its numbers as written."""
    found = one.found or {}
    own = {name: found[name] for name in found if name[:1] != "_" and name != "mask_sample"}
    record: Row = {"rollout_id": f"{one.task}:{one.index}"}
    record |= {name: one.asked[name] for name in INDICES}
    if "reward" in own:
        record["reward"] = own.pop("reward")
    for source in (usage_of(found), own):
        record |= {
            name: int(value) if isinstance(value, bool) else value
            for name, value in source.items()
            if isinstance(value, (int, float))
        }
    return {name: value for name, value in record.items() if not is_infinite(value)}


def usage_of(found: Row) -> Row:
    response = found.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    return usage if isinstance(usage, dict) else {}


def is_infinite(value: object) -> bool:
    """Tell whether a value is NaN or infinite, which no file may hold."""
    return isinstance(value, float) and not math.isfinite(value)


def repeat_level_metrics(by_label: Mapping[str, Sequence[Attempt]]) -> list[Row]:
    """Return one entry per label and rollout index, for labels with at least two indices."""
    entries = []
    for label, own in by_label.items():
        repeats = group(own, lambda one: one.index)
        tasks = len({one.task for one in own})
        for index, repeat in repeats.items() if len(repeats) > 1 else ():
            present = len({one.task for one in repeat})
            entry: Row = {"agent_ref": {"name": label}, "_ng_rollout_index": index}
            entry |= {"sample_count": present, "missing_count": tasks - present}
            entries.append(entry | describe_repeat([one.metrics for one in repeat]))
    return entries


def agent_metrics(
    by_label: Mapping[str, Sequence[Attempt]],
    repeats: Sequence[Row],
    covered: Mapping[str, Row],
) -> list[Row]:
    """Return one entry per label, and one per agent that has only its coverage."""
    entries = {
        label: {
            **describe([one.metrics for one in own]),
            **across_repeats([row for row in repeats if row["agent_ref"]["name"] == label]),
        }
        for label, own in by_label.items()
    }
    return [
        {"agent_ref": {"name": name}, **entries.get(name, {}), **covered.get(name, {})}
        for name in sorted(entries.keys() | covered.keys())
    ]


def coverage(attempts: Iterable[Attempt]) -> dict[str, Row]:
    """Return the share of measured rollouts of each agent that has masked rollouts.

    The agent counts under its own name, even if its servers have other labels.
    """
    collected = [one for one in attempts if one.found is not None and one.agent is not None]
    covered = {}
    for agent, own in group(collected, lambda one: str(one.agent)).items():
        measured = [one for one in own if one.is_measured]
        tasks = {one.task for one in measured}
        if len(measured) < len(own):
            covered[agent] = {
                "coverage/measured_rollouts": len(measured),
                "coverage/masked_rollouts": len(own) - len(measured),
                "coverage/measured_tasks": len(tasks),
                "coverage/fully_masked_tasks": len({one.task for one in own} - tasks),
            }
    return covered
