"""Statistics as NeMo Gym 0.7.0 names them, with the standard library only."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from statistics import median
from typing import Any

Row = dict[str, Any]
Numbers = Mapping[str, float]
Values = dict[str, list[float]]
NOT_PRIMARY = (
    *("/max", "/min", "/median", "/p5", "/p25", "/p75", "/p95", "/ci_low_95", "/ci_high_95"),
    *("/ci_lower", "/ci_upper", "_ci_lower", "_ci_upper", "_ci95_lower", "_ci95_upper"),
    *("/std_dev_across_runs", "/std_err_across_runs", "/avg_sample_std_dev"),
    "/_ng_attempt_index",
)


def describe(records: Sequence[Numbers]) -> Row:
    """The five statistics of every metric of a task or an agent, from those of its rollouts."""
    statistics: Row = {}
    for name, values in by_metric(records).items():
        statistics |= {
            f"mean/{name}": mean(values),
            f"max/{name}": max(values),
            f"min/{name}": min(values),
            f"median/{name}": median(values),
        }
        if len(values) > 1 or len(records) == 1:
            statistics[f"std/{name}"] = deviation(values)
    return finite(statistics)


def describe_repeat(records: Iterable[Numbers]) -> Row:
    """The statistics of every metric over the tasks of one repeat."""
    statistics: Row = {}
    for name, values in by_metric(records).items():
        statistics |= {
            f"mean/{name}": mean(values),
            f"median/{name}": median(values),
            f"std/{name}": deviation(values),
            f"sem/{name}": deviation(values) / math.sqrt(len(values)),
            f"min/{name}": min(values),
            f"max/{name}": max(values),
            f"p25/{name}": quantile(values, 0.25),
            f"p75/{name}": quantile(values, 0.75),
        }
        if len(values) > 1:
            bounds = zip(("ci_low_95", "ci_high_95"), interval(values), strict=True)
            statistics |= {f"{bound}/{name}": value for bound, value in bounds}
    return finite(statistics)


def across_repeats(repeats: Iterable[Mapping[str, Any]]) -> Row:
    """How the mean of every metric varies over the repeats of one agent."""
    means: Values = defaultdict(list)
    for entry in repeats:
        for name in filter(is_primary, entry):
            means[name].append(entry[name])
    statistics: Row = {}
    for name, values in means.items():
        figures = {
            "mean": mean(values),
            "median": median(values),
            "std": deviation(values),
            "min": min(values),
            "max": max(values),
            "se": deviation(values) / math.sqrt(len(values)),
        }
        if len(values) > 1:
            figures |= dict(zip(("ci_low_95", "ci_high_95"), interval(values), strict=True))
        statistics |= {f"{kind}_across_repeats/{name}": value for kind, value in figures.items()}
    return finite(statistics)


def is_primary(name: str) -> bool:
    return name.startswith("mean/") and not name.endswith(NOT_PRIMARY)


def by_metric(records: Iterable[Numbers]) -> Values:
    values: Values = defaultdict(list)
    for record in records:
        for name, value in record.items():
            values[name].append(value)
    return values


def finite(statistics: Row) -> Row:
    return {name: value for name, value in statistics.items() if math.isfinite(value)}


def mean(values: Sequence[float]) -> float:
    # add one by one: if the sum overflows, there is no figure
    return sum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """The sample standard deviation around the rounded mean; 0 for one value."""
    if len(values) == 1:
        return 0.0
    centre = mean(values)
    try:
        return math.sqrt(sum((value - centre) ** 2 for value in values) / (len(values) - 1))
    except OverflowError:
        return math.inf


def quantile(values: Sequence[float], share: float) -> float:
    """Interpolate linearly between the two nearest values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Student's interval of 95 % around the mean of at least two values."""
    half = t_quantile(len(values) - 1) * deviation(values) / math.sqrt(len(values))
    return mean(values) - half, mean(values) + half


@cache
def t_quantile(freedom: int) -> float:
    """The t beyond which 2.5 % lie, by halving."""
    low, high = 1.0, 13.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle, freedom) < 0.95 else (low, middle)
    return low


def inside(t: float, freedom: int) -> float:
    """The probability between -t and t: a finite sum, as the degrees of freedom are whole."""
    angle = math.atan(t / math.sqrt(freedom))
    is_odd = freedom % 2
    term = math.cos(angle) if is_odd else 1.0
    total = 0.0
    for power in range(2 + is_odd, freedom + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (power - 1) / power
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if is_odd else total
