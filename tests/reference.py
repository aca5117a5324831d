"""A second implementation of every statistic, from its definition in docs/statistics.md.

Slow and simple on purpose: it lists subsets instead of counting them, and takes distributions from
scipy.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from statistics import fmean, stdev, variance
from statistics import mean as exact_mean
from typing import Any

import numpy as np
from scipy import stats

Row = Mapping[str, Any]
Figures = dict[str, Any]
Pairs = list[tuple[float, float]]
GROUP_SIZES = (4, 8, 16, 32)
BANDS = {"learnable": (0.1, 0.9), "solved": (0.8, 1.0), "unsolved": (0.0, 0.2)}
BINS = 20
RERUN = ("rerun_std_error", "rerun_ratio", "between_task_std", "std_error_double_repeats")


@dataclass(frozen=True)
class Rollout:
    """The fields of a completed rollout that statistics use; NaN means that a number is absent."""

    agent: str
    task: int
    index: int
    reward: float
    answer: str | None
    tokens: float
    row: Row


Task = list[Rollout]
Tasks = list[Task]


def read(row: Row, answer_field: str = "extracted_answer") -> Rollout:
    usage = (row.get("response") or {}).get("usage") or {}
    answer = row.get(answer_field)
    return Rollout(
        agent=row["agent_ref"]["name"],
        task=row["_ng_task_index"],
        index=row["_ng_rollout_index"],
        reward=number(row.get("reward")),
        answer=None if answer is None else json.dumps(answer),
        tokens=number(usage.get("output_tokens")),
        row=row,
    )


def is_measured(row: Row) -> bool:
    """Tell whether a rollout counts in statistics: the environment did not mask it."""
    return not row.get("mask_sample")


def number(value: object) -> float:
    is_number = isinstance(value, (int, float)) and math.isfinite(value)
    return float(value) if is_number else math.nan  # type: ignore[arg-type]


def by_agent(rollouts: Iterable[Rollout]) -> dict[str, Tasks]:
    """Group rollouts by agent and task, each task in the order of its rollouts."""
    groups: dict[str, dict[int, Task]] = defaultdict(lambda: defaultdict(list))
    for one in sorted(rollouts, key=lambda one: one.index):
        groups[one.agent][one.task].append(one)
    return {agent: list(tasks.values()) for agent, tasks in groups.items()}


def scored(rollouts: Iterable[Rollout]) -> list[Rollout]:
    return [one for one in rollouts if not math.isnan(one.reward)]


def rewards(task: Task) -> list[float]:
    return [one.reward for one in task]


def passes(task: Task, threshold: float) -> list[float]:
    return [float(reward >= threshold) for reward in rewards(task)]


def mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def over_subsets(values: Sequence[float], k: int, pick: Callable[..., float]) -> float:
    """Average a function over all subsets of k values."""
    return fmean([pick(subset) for subset in combinations(values, k)])


def elect(ballots: Sequence[tuple[Any, float]]) -> float:
    """Average the mean rewards of the most frequent answers; return 0 without any answer."""
    votes = Counter(candidate for candidate, _ in ballots)
    winners = [name for name, count in votes.items() if count == max(votes.values())]
    by_winner = [exact_mean([x for name, x in ballots if name == winner]) for winner in winners]
    return exact_mean(by_winner) if by_winner else 0.0


def vote(task: Task, k: int) -> float:
    return elect([(one.answer, one.reward) for one in task[:k] if one.answer is not None])


def interval(
    values: Sequence[float], *, is_share: bool, trials: int, floor: float = 0.0
) -> Figures:
    """Return the error bars of a mean over tasks with so many rollouts and so much rerun noise."""
    names, count = ("std_error", "low", "high", "interval_method"), len(values)
    if count < 2:
        return dict.fromkeys(names)
    error = max(stdev(values) / math.sqrt(count), floor)
    if is_share:
        bars = (error, *score_interval(fmean(values), error, count, trials), "wilson")
        return dict(zip(names, bars, strict=True))
    if error == 0:
        return {**dict.fromkeys(names), "std_error": 0.0}
    low, high = stats.t.interval(0.95, count - 1, loc=fmean(values), scale=error)
    return dict(zip(names, (error, float(low), float(high), "t"), strict=True))


def score_interval(share: float, error: float, count: int, trials: int) -> tuple[float, float]:
    """Solve Wilson's quadratic at the number of trials that would have this standard error."""
    square = stats.t.ppf(0.975, count - 1) ** 2
    n = min(trials, max(1.0, share * (1 - share) / error**2)) if error else count
    # (share - p)^2 = square * p * (1 - p) / n
    a, b, c = 1 + square / n, -(2 * share + square / n), share**2
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    return max(0.0, (-b - root) / (2 * a)), min(1.0, (-b + root) / (2 * a))


def wilson(successes: int, trials: int) -> tuple[float, float]:
    bounds = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    return float(bounds.low), float(bounds.high)


def pass_at_k(tasks: Tasks, k: int, threshold: float, *, has_answers: bool) -> Figures:
    """Return one row of the mart, without its key."""
    full = [task for task in tasks if len(task) >= k]
    flags = [passes(task, threshold) for task in full]
    columns: Figures = {"task_count": len(full), "all_task_count": len(tasks)}
    columns["is_headline"] = k == max(map(len, tasks))
    for name, pick in (("pass_at_k", max), ("pass_hat_k", min)):
        values = [over_subsets(task, k, pick) for task in flags]
        bars = interval(values, is_share=True, trials=sum(map(len, full)))
        columns[name] = fmean(values)
        columns |= {f"{name}_{bar}": bars[bar] for bar in ("std_error", "low", "high")}
    for name, pick in (("max_at_k", max), ("min_at_k", min)):
        columns[name] = fmean([over_subsets(rewards(task), k, pick) for task in full])
    columns["majority_at_k"] = fmean([vote(task, k) for task in full]) if has_answers else None
    answers = [[rollout.answer for rollout in task] for task in tasks]
    silent = [[float(answer is None) for answer in task] for task in answers]
    accuracy = gym([rewards(task) for task in tasks], answers, k)
    no_answer = gym(silent, answers, k)
    if not has_answers:
        accuracy["majority_at_k"] = None
        no_answer = dict.fromkeys(no_answer)
    columns |= {f"gym_{name}": value for name, value in accuracy.items()}
    return columns | {f"gym_no_answer_{name}": value for name, value in no_answer.items()}


def gym(tasks: list[list[float]], answers: list[list[str | None]], k: int) -> Figures:
    """Return NeMo Gym's figures of one score."""
    full = [task for task in tasks if len(task) >= k]
    best = [
        over_subsets(task, k, max) if set(task) <= {0.0, 1.0} else max(task[:k]) for task in full
    ]
    ballots = [list(zip(*pair, strict=True))[:k] for pair in zip(answers, tasks, strict=True)]
    votes = [elect([(x, x[1]) for x in own if x[0] is not None]) for own in ballots]
    runs = [100 * fmean([task[i] for task in tasks if len(task) > i]) for i in range(k)]
    spreads = [stdev(task[:k]) for task in tasks if len(task) >= 2 and k >= 2]
    across = stdev(runs) if k >= 2 else None
    return {
        "pass_at_k": 100 * fmean(best),
        "avg_of_k": 100 * fmean([fmean(task[:k]) for task in tasks]),
        "majority_at_k": 100 * fmean(votes),
        "run_average": runs[-1],
        "std_dev_across_runs": across,
        "std_err_across_runs": None if across is None else across / math.sqrt(k),
        "avg_sample_std_dev": mean(spreads),
    }


def agent_scores(tasks: Tasks, threshold: float, *, has_answers: bool) -> dict[str, Figures]:
    """Return the rows of one agent and slice, by score."""
    most = max(map(len, tasks))
    full = [task for task in tasks if len(task) == most]
    flags = [passes(task, threshold) for task in full]
    is_unit = all(0 <= reward <= 1 for task in tasks for reward in rewards(task))
    of_k = partial(score, trials=most * len(full))
    figures = {
        "mean_reward": repeated([rewards(task) for task in tasks], is_share=is_unit),
        "pass_rate": repeated([passes(task, threshold) for task in tasks], is_share=True),
        "pass_at_k": of_k([max(task) for task in flags], is_share=True),
        "pass_hat_k": of_k([min(task) for task in flags], is_share=True),
        "max_at_k": of_k([max(rewards(task)) for task in full], is_share=is_unit),
        "min_at_k": of_k([min(rewards(task)) for task in full], is_share=is_unit),
    }
    if has_answers:
        figures["majority_at_k"] = of_k([vote(task, most) for task in full], is_share=is_unit)
    for name, columns in figures.items():
        columns["k"] = most if name.endswith("_k") else None
    return figures


def score(values: Sequence[float], *, is_share: bool, trials: int, floor: float = 0.0) -> Figures:
    """Return the columns that every score has."""
    bars = interval(values, is_share=is_share, trials=trials, floor=floor)
    error = bars["std_error"]
    return {
        "value": fmean(values),
        "task_count": len(values),
        **bars,
        "std_error_double_tasks": None if error is None else error / math.sqrt(2),
        **dict.fromkeys(("rollout_value", *RERUN)),
    }


def repeated(tasks: list[list[float]], *, is_share: bool) -> Figures:
    """Return the columns of a score that every single rollout has."""
    known = [variance(task) for task in tasks if len(task) >= 2]
    noise = [(variance(x) if len(x) >= 2 else fmean(known or [0])) / len(x) for x in tasks]
    count, within = len(tasks), fmean(noise)
    # the exact mean: tasks with equal rewards must have equal values, however many there are
    columns = score(
        [exact_mean(task) for task in tasks],
        is_share=is_share,
        trials=sum(map(len, tasks)),
        floor=math.sqrt(within / count),
    )
    error = columns["std_error"]
    columns["rollout_value"] = fmean([value for task in tasks for value in task])
    if not within and len(known) < count:
        return columns  # no noise in repeated tasks says little about tasks with one rollout
    if known:
        columns["rerun_std_error"] = math.sqrt(within / count)
    if known and error is not None:
        between = max(0.0, error**2 * count - within)
        columns["rerun_ratio"] = min(1.0, within / count / error**2) if error else None
        columns["between_task_std"] = math.sqrt(between)
        columns["std_error_double_repeats"] = min(error, math.sqrt((between + within / 2) / count))
    return columns


def task_slices(
    slices: Mapping[tuple[Any, ...], Tasks], fields: Sequence[str]
) -> dict[tuple[Any, ...], Figures]:
    """Return the rows of a run by task, agent and field, from all tasks."""
    return {
        (task[0].task, agent, field): {"slice_value": value, "slice_by_index": fields.index(field)}
        for (agent, field, value), tasks in slices.items()
        for task in tasks
        if field != "all"
    }


def task_band(task: Task, threshold: float) -> Figures:
    """Return the row of a task, from all its completed rollouts."""
    counted = scored(task)
    n, c = len(counted), int(sum(passes(counted, threshold)))
    low, high = wilson(c, n) if n else (0.0, 1.0)
    fits = [name for name, (least, most) in BANDS.items() if least <= low and high <= most]
    tokens = mean([one.tokens for one in counted if not math.isnan(one.tokens)])
    columns: Figures = {"rollout_count": n, "pass_count": c, "pass_low": low, "pass_high": high}
    columns["pass_ratio"] = c / n if n else None
    columns["learnability"] = c / n * (1 - c / n) if n else None
    columns["band"] = fits[0] if fits else "undecided"
    columns["is_informative"] = len(set(rewards(counted))) > 1
    columns |= {"reward_mean": mean(rewards(counted)), "output_tokens_mean": tokens}
    of_one = 0.0 if n == len(task) == 1 else None
    columns["reward_std"] = stdev(rewards(counted)) if n > 1 else of_one
    for size in GROUP_SIZES:
        share = mixed_share(passes(counted, threshold), size) if n else None
        cost = None if tokens is None or not share else size * tokens / share
        columns |= {
            f"informative_ratio_{size}": share,
            f"tokens_per_informative_group_{size}": cost,
        }
    return columns


def is_usable(health: Row) -> bool:
    """Tell whether the findings of a rollout allow training on it."""
    names = (
        "is_output_empty",
        "is_truncated",
        "is_verdict_inconsistent",
        "is_ground_truth_suspect",
    )
    return not any(health[name] for name in names) and health["gym_verdict"] != "unhealthy"


def rollout_pair(task: Task, threshold: float) -> Figures:
    """Return the best and the worst of a task's usable rollouts; tokens are whole numbers."""

    def whole(tokens: float) -> float:
        return tokens if math.isnan(tokens) else math.floor(tokens + 0.5)

    def shortest(reward: float) -> Rollout:
        same = [one for one in task if one.reward == reward]
        return min(same, key=lambda one: (math.isnan(one.tokens), whole(one.tokens), one.index))

    best, worst = shortest(max(rewards(task))), shortest(min(rewards(task)))
    columns: Figures = {"usable_rollout_count": len(task)}
    for name, one in (("best", best), ("worst", worst)):
        columns |= {
            f"{name}_rollout_index": one.index,
            f"{name}_reward": one.reward,
            f"{name}_output_tokens": None if math.isnan(one.tokens) else whole(one.tokens),
            f"is_{name}_pass": one.reward >= threshold,
        }
    difference = best.reward - worst.reward
    columns["reward_difference"] = difference if math.isfinite(difference) else None
    return columns


def mixed_share(flags: Sequence[float], size: int) -> float:
    """Return the (expected) share of groups that have both a pass and a failure."""
    n, c = len(flags), round(sum(flags))
    if size <= n:
        return over_subsets(flags, size, lambda group: float(len(set(group)) > 1))
    return 1 - sum(float(stats.betabinom.pmf(x, size, c + 1, n - c + 1)) for x in (0, size))


def reward_by_length(tasks: Tasks, threshold: float) -> Figures:
    """Return the row of one agent, from its scored rollouts that report tokens."""
    pairs = [[(one.reward, one.tokens) for one in task] for task in tasks]
    passing = [[tokens for reward, tokens in task if reward >= threshold] for task in pairs]
    failing = [[tokens for reward, tokens in task if reward < threshold] for task in pairs]
    both = [(fmean(x), fmean(y)) for x, y in zip(passing, failing, strict=True) if x and y]
    gap = [one - other for one, other in both]
    inside = [pair for task in pairs for pair in centred(task)]
    columns: Figures = {"rollout_count": len(inside), "task_count": len(pairs)}
    columns["pooled_correlation"] = correlation([pair for task in pairs for pair in task])
    columns |= {"within_task_correlation": correlation(inside), "mixed_task_count": len(both)}
    columns["passing_tokens_mean"] = mean([one for one, _ in both])
    columns["failing_tokens_mean"] = mean([other for _, other in both])
    error = stdev(gap) / math.sqrt(len(gap)) if len(gap) > 1 else None
    return columns | {"length_gap": mean(gap), "length_gap_std_error": error}


def centred(pairs: Pairs) -> Pairs:
    """Subtract the exact means, so that values that do not vary become exactly 0."""
    means = [exact_mean(side) for side in zip(*pairs, strict=True)]
    return [(one - means[0], other - means[1]) for one, other in pairs]


def correlation(pairs: Pairs) -> float | None:
    if any(len(set(side)) < 2 for side in zip(*pairs, strict=True)):
        return None
    return float(np.corrcoef(np.transpose(pairs))[0, 1])


def histogram(values: Sequence[float], everything: Sequence[float]) -> dict[int, Figures]:
    """Return the bins of an agent's values by index; `everything` has the values of all agents."""
    distinct = sorted(set(everything))
    is_single = len(distinct) <= BINS
    low, width = distinct[0], (distinct[-1] - distinct[0]) / BINS
    edges = distinct if is_single else [low + width * i for i in range(BINS)]
    found = Counter(int(np.searchsorted(edges, value, side="right")) - 1 for value in values)
    bins: dict[int, Figures] = {}
    for index, count in found.items():
        high = edges[index] if is_single else low + width * (index + 1)
        bins[index] = {"bin_low": edges[index], "bin_high": high, "is_single_value": is_single}
        bins[index] |= {"rollout_count": count, "rollout_ratio": count / len(values)}
    return bins
