"""Intervals of differences on a common axis, as positions that a template draws."""

from __future__ import annotations

from dataclasses import dataclass

from collector.comparing.wording import confidence, interval_text
from collector.warehouse.sql import Row


@dataclass(frozen=True)
class Axis:
    """A range of differences; it always holds 0 and the margin."""

    low: float
    high: float
    margin: float
    ticks: tuple[float, ...] = ()

    def at(self, value: float) -> str:
        """Return the position of a value as a percentage of the axis."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(1.0, max(0.0, share)):.3f}%"

    def width(self, low: float, high: float) -> str:
        """Return the distance between two values as a percentage of the axis."""
        shares = [(min(self.high, max(self.low, one)) - self.low) for one in (low, high)]
        return f"{100 * (shares[1] - shares[0]) / (self.high - self.low):.3f}%"


@dataclass(frozen=True)
class DrawnInterval:
    """A difference with its interval; `kind` is its look."""

    label: str
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    note: str = ""
    kind: str = ""

    @property
    def text(self) -> str:
        """Return the bounds as text."""
        return "" if self.low is None else interval_text(self.low, self.high)


@dataclass(frozen=True)
class Intervals:
    """Intervals that share an axis."""

    axis: Axis
    rows: list[DrawnInterval]


def difference_rows(row: Row) -> Intervals | None:
    """Return the intervals of a difference, the one of the verdict marked; None without one."""
    if row["difference"] is None:
        return None
    rows = [
        DrawnInterval(
            "for tasks like these",
            row["difference"],
            row["low"],
            row["high"],
            row["p_value"],
            f"The {confidence(row)} interval if the tasks are a sample of all such tasks.",
            "" if row["is_fixed_suite"] else "chosen",
        ),
        DrawnInterval(
            "on these tasks again",
            row["difference"],
            row["fixed_low"],
            row["fixed_high"],
            row["fixed_p_value"],
            "The same if both runs were made again on exactly these tasks.",
            "chosen" if row["is_fixed_suite"] else "",
        ),
        *_references(row),
    ]
    return Intervals(_axis(rows, row["margin"]), rows)


def slice_rows(rows: list[Row]) -> list[tuple[Row, DrawnInterval, Axis]]:
    """Return the slices with their intervals, all on one axis."""
    drawn = [
        DrawnInterval("", row["difference"], row["low"], row["high"], row["p_value"])
        for row in rows
        if row["difference"] is not None
    ]
    known = [row for row in rows if row["difference"] is not None]
    axis = _axis(drawn, known[0]["margin"]) if known else None
    return [(row, one, axis) for row, one in zip(known, drawn, strict=True) if axis]


def _references(row: Row) -> list[DrawnInterval]:
    """Return the intervals that the verdict does not use."""
    references = []
    if row["lowest_low"] is not None:
        label = "with every unknown rollout"
        note = "From the worst to the best case of missing, masked and unscored rollouts."
        bounds = (row["lowest_low"], row["highest_high"])
        references.append(DrawnInterval(label, row["difference"], *bounds, None, note, "quiet"))
    if row["gym_welch_low"] is not None:
        label = "NeMo Gym's interval"
        note = "For reference: not paired by task, over the means of the repeats."
        bounds = (row["gym_welch_low"], row["gym_welch_high"])
        references.append(DrawnInterval(label, row["difference"], *bounds, None, note, "quiet"))
    return references


def _axis(rows: list[DrawnInterval], margin: float) -> Axis:
    ends = [one for row in rows for one in (row.low, row.high, row.difference) if one is not None]
    low, high = min(0.0, -margin, *ends), max(0.0, margin, *ends)
    space = (high - low or 1.0) * 0.06
    return Axis(low - space, high + space, margin)
