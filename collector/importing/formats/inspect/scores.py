"""Turn Inspect's scores into a reward and metrics."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from collector.importing.attempts import Json
from collector.importing.reading import RewardChoice
from collector.terminal import counted_noun, label

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
ANSWERS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


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


class Scores:
    """Reads the reward and the metrics of each sample, and counts what is not a number."""

    def __init__(self, rewards: RewardChoice, scorers: list[str]) -> None:
        """Take the choice of the user, and the scorers that the log names, in their order."""
        self._rewards = rewards
        self._scorers = scorers
        self._without_number: Counter[str] = Counter()
        self._first_of_several: dict[str, str] = {}

    def read(self, scores: Json) -> tuple[float | None, dict[str, float]]:
        """Return the reward of a sample, and its other scores as numbers."""
        values = dict(_flat(scores))
        numbers = {name: number_of(value) for name, value in values.items()}
        for name, value in values.items():
            self._without_number[name] += numbers[name] is None and not _is_unscored(value)
        first = self._first(scores, values)
        chosen = self._rewards.name or first
        metrics = {
            name: number
            for name, number in numbers.items()
            if name != chosen and number is not None
        }
        return self._rewards.choose(numbers, numbers.get(first)), metrics

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

    def _first(self, scores: Json, values: dict[str, Any]) -> str:
        """Return the name of the first score, or of the first value of a score that has several."""
        names = [name for name in self._scorers if name in scores]
        scorer = next(iter([*names, *scores]), "")
        inner = [name for name in values if name.startswith(f"{scorer}/")]
        if scorer in values or not inner:
            return scorer
        if len(inner) > 1 and not self._rewards.name:
            self._first_of_several.setdefault(scorer, inner[0])
        return inner[0]


def _is_unscored(value: Any) -> bool:
    """Tell whether a scorer gave no value: nothing, or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _flat(scores: Json) -> list[tuple[str, Any]]:
    """Return the values by name; a score of several values has one name each."""
    found: list[tuple[str, Any]] = []
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            found += [(f"{name}/{key}", one) for key, one in value.items()]
        else:
            found.append((name, value))
    return found
