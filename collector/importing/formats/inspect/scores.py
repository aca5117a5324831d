"""Turn Inspect's scores into a reward, what went wrong in scoring, and metrics."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from collector.importing.attempts import Finding, Json, Mask
from collector.importing.formats.inspect.header import Headline
from collector.importing.json_values import part, text
from collector.importing.reading import RewardChoice
from collector.terminal import counted_noun, label

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
ANSWERS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}

INSTRUMENT = ("grader_failed", "scoring_failed", "grade_parse_failure")
"""The reasons of a score that blame the grader or the scorer; the others blame the model. The last
is that of older logs."""


def number_of(value: Any) -> float | None:
    """Return the value of a score as a number, as Inspect reads it; None if it has none."""
    if isinstance(value, str):
        known = GRADES.get(value, ANSWERS.get(value.lower()))
        return _as_number(value) if known is None else known
    if isinstance(value, bool | int | float):
        number = float(value)
        return number if math.isfinite(number) else None
    return None


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True)
class Scored:
    """What the scores of a sample say."""

    reward: float | None
    metrics: dict[str, float]
    mask: Mask | None = None
    """Why the reward does not count: the grader or the scorer failed."""
    finding: Finding | None = None
    """What the model did wrong, such as a refusal; the reward counts."""


class Scores:
    """Reads the reward and the metrics of each sample, and counts what is not a number."""

    def __init__(self, rewards: RewardChoice, scorers: list[str], headline: Headline) -> None:
        """Take the choice of the user, the scorers that the log names, and its main score."""
        self._rewards = rewards
        self._scorers = scorers
        self._headline = headline
        self._without_number: Counter[str] = Counter()
        self._first_of_several: dict[str, str] = {}

    def read(self, scores: Json) -> Scored:
        """Return the reward of a sample, and its other scores as numbers."""
        values = {name: value for name, _, value in _flat(scores)}
        numbers = {name: number_of(value) for name, value in values.items()}
        for name, value in values.items():
            self._without_number[name] += numbers[name] is None and not _is_unscored(value)
        first = self._first(scores)
        chosen = self._rewards.name or first
        metrics = {
            name: number
            for name, number in numbers.items()
            if name != chosen and number is not None
        }
        reward = self._rewards.choose(numbers, numbers.get(first))
        scorer = next((scorer for name, scorer, _ in _flat(scores) if name == chosen), "")
        finding = _finding(part(scores, scorer))
        if isinstance(finding, Mask):
            return Scored(reward, metrics, mask=finding)
        return Scored(reward, metrics, finding=finding)

    def losses(self) -> list[str]:
        """Say which scores could not be carried over, and what was chosen among several."""
        said = [
            f"the scorer {label(scorer)} gives several values: the reward is {label(name)}"
            " (choose another with --reward)"
            for scorer, name in self._first_of_several.items()
        ]
        return said + [
            f"{counted_noun(count, 'value')} of the score {label(name)} cannot be read as a number"
            for name, count in sorted(self._without_number.items())
            if count
        ]

    def _first(self, scores: Json) -> str:
        """Return the name of the score that stands for the sample; empty if the sample lacks it."""
        for name, scorer, _ in _flat(scores):
            if self._headline.names(scorer, name):
                return name
        known = [name for name in self._scorers if name in scores]
        main = [name for name in (self._headline.scorer,) if name in scores]
        is_lacking = known and not main and self._headline.scorer in self._scorers
        scorer = next(iter([*main, *known, *scores]), "")
        return "" if is_lacking else self._only_value(scores, scorer)

    def _only_value(self, scores: Json, scorer: str) -> str:
        """Return the name of a scorer's value, or of the first if it gives several."""
        names = [name for name, owner, _ in _flat(scores) if owner == scorer]
        if len(names) > 1 and not self._rewards.name:
            self._first_of_several.setdefault(scorer, names[0])
        return next(iter(names), scorer)


def _finding(score: Json) -> Finding | None:
    """Return what went wrong in a score: a Mask if it was not the model."""
    reason = text(score.get("reason")) or text(part(score, "metadata").get("unscored_reason"))
    if reason is None:
        return None
    said = text(score.get("explanation")) or f"Inspect's scorer says {reason}"
    return (Mask if reason in INSTRUMENT else Finding)(f"inspect:{reason}", said)


def _is_unscored(value: Any) -> bool:
    """Tell whether a scorer gave no value: nothing, or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _flat(scores: Json) -> list[tuple[str, str, Any]]:
    """Return name, scorer and value; a score of several values has one name each."""
    found: list[tuple[str, str, Any]] = []
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            found += [(f"{scorer}/{key}", scorer, one) for key, one in value.items()]
        else:
            found.append((scorer, scorer, value))
    return found
