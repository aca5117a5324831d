"""A second implementation of the comparison figures, with numpy and scipy."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from hashlib import md5

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Values = NDArray[np.float64]
POWER = 0.8


def t_test(differences: Values, alpha: float) -> tuple[float, float, float]:
    """The bounds of Student's interval of a mean, and the p-value of 0."""
    result = stats.ttest_1samp(differences, 0.0)
    interval = result.confidence_interval(1 - alpha)
    return float(interval.low), float(interval.high), float(result.pvalue)


def wilson(passes: int, trials: int, alpha: float) -> tuple[float, float]:
    interval = stats.binomtest(passes, trials).proportion_ci(1 - alpha, method="wilson")
    return float(interval.low), float(interval.high)


def newcombe(both: int, first: int, second: int, neither: int, alpha: float) -> tuple[float, float]:
    """Newcombe's method 10 for the second share minus the first, from the four counts."""
    count = both + first + second + neither
    share_1, share_2 = (both + first) / count, (both + second) / count
    low_1, high_1 = wilson(both + first, count, alpha)
    low_2, high_2 = wilson(both + second, count, alpha)
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    product = both * neither - first * second
    phi = 0.0
    if margins:
        phi = (max(product - count / 2, 0) if product > 0 else product) / math.sqrt(margins)
    down, up = share_2 - low_2, high_1 - share_1
    left, right = high_2 - share_2, share_1 - low_1
    difference = share_2 - share_1
    return (
        difference - math.sqrt(max(0, down**2 - 2 * phi * down * up + up**2)),
        difference + math.sqrt(max(0, left**2 - 2 * phi * left * right + right**2)),
    )


def mcnemar(lost: int, gained: int) -> tuple[float, float]:
    """The exact and the mid-p value of McNemar's test."""
    if lost + gained == 0:
        return 1.0, 1.0
    exact = float(stats.binomtest(gained, lost + gained).pvalue)
    seen = float(stats.binom.pmf(gained, lost + gained, 0.5))
    tail = float(stats.binom.cdf(min(lost, gained), lost + gained, 0.5))
    return exact, min(1.0, 2 * tail - seen)


def permutation(differences: Values) -> float:
    """The sign-flip test: all ways up to 14 tasks, else the draws that MD5 gives."""
    count = len(differences)
    if count <= 14:
        signs = np.array(list(itertools.product((1, -1), repeat=count)))
    else:
        signs = np.array([_drawn_signs(count, flip) for flip in range(1, 10_000)])
    room = 1e-12 * np.abs(differences).sum()
    far = int(np.sum(np.abs(signs @ differences) >= abs(differences.sum()) - room))
    return far / len(signs) if count <= 14 else (far + 1) / (len(signs) + 1)


def _drawn_signs(count: int, flip: int) -> list[int]:
    digest = md5(f"{count}:{flip}".encode(), usedforsecurity=False).digest()
    return [-1 if digest[place // 8] >> place % 8 & 1 else 1 for place in range(count)]


def holm(p_values: Sequence[float]) -> list[float]:
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = floor
    return adjusted


def cluster_error(differences: Values, clusters: Sequence[str]) -> float:
    """The standard error of a mean whose members come in clusters."""
    sums: dict[str, float] = {}
    for deviation, cluster in zip(differences - differences.mean(), clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + float(deviation)
    count = len(sums)
    return math.sqrt(count / (count - 1) * math.fsum(s * s for s in sums.values())) / len(
        differences
    )


def noise_sum(rewards: Sequence[Sequence[float]]) -> float | None:
    """The sum over tasks of the variance of their means; null without any repeated task."""
    variances = [np.var(task, ddof=1) for task in rewards if len(task) > 1]
    if not variances:
        return None
    mean = np.mean(variances)
    terms = [np.var(task, ddof=1) / len(task) if len(task) > 1 else mean for task in rewards]
    return float(np.sum(terms))


def normal_p(difference: float, error: float) -> float:
    return float(2 * stats.norm.sf(abs(difference) / error))


def detectable(error: float, alpha: float) -> float:
    return float((stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(POWER)) * error)


def welch(first: Sequence[float], second: Sequence[float], alpha: float) -> tuple[float, float]:
    result = stats.ttest_ind(second, first, equal_var=False)
    interval = result.confidence_interval(1 - alpha)
    return float(interval.low), float(interval.high)


@functools.cache
def _nodes() -> tuple[Values, Values]:
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return nodes, weights


def rise_chance(first: tuple[int, int], second: tuple[int, int]) -> float:
    """P(the second rate is higher) for passes and failures, by quadrature."""
    nodes, weights = _nodes()
    x, w = (nodes + 1) / 2, weights / 2
    density = stats.beta.pdf(x, second[0] + 1, second[1] + 1)
    return float(np.sum(w * density * stats.beta.cdf(x, first[0] + 1, first[1] + 1)))


def log_interval(ratios: Values, alpha: float) -> tuple[float, float, float]:
    """The geometric mean of ratios and its interval."""
    low, high, _ = t_test(np.log(ratios), alpha)
    return math.exp(float(np.log(ratios).mean())), math.exp(low), math.exp(high)


def filled(
    rewards: Sequence[float], unknown: int, extremes: Mapping[str, float]
) -> dict[str, float]:
    """The mean of a task's rollouts with its unknown ones at each extreme."""
    return {
        name: float(np.mean([*rewards, *[value] * unknown])) for name, value in extremes.items()
    }
