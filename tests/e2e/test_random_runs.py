"""A second opinion on every statistic of docs/statistics.md, for random runs."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import duckdb
import pytest

from tests import reference, reference_counts
from tests.random_runs import SETTINGS, Key, Written, write_random_run
from tests.reference import Figures
from tests.support import Row, profiled

T = TypeVar("T")
SLICE = ("agent_name", "slice_by", "slice_value")
KEYS = {
    "pass_at_k": (*SLICE, "k"),
    "agent_scores": (*SLICE, "score"),
    "task_slices": ("task_index", "agent_name", "slice_by"),
    "agent_reliability": ("agent_name",),
    "failure_classes": ("agent_name", "failure_class"),
    "task_bands": ("task_index", "agent_name"),
    "rollout_pairs": ("task_index", "agent_name"),
    "metric_histograms": ("agent_name", "metric", "bin_index"),
    "reward_by_length": ("agent_name",),
    "rollout_health": ("task_index", "rollout_index"),
    "rollout_infos": ("task_index", "rollout_index"),
    "mask_kinds": ("agent_name", "failure_kind"),
    "task_profiles": ("task_index", "agent_name"),
}


def differences(
    found: Iterable[Row], expected: Mapping[Key, Figures], names: tuple[str, ...]
) -> list[str]:
    """Say which rows exist on one side only, and which figures differ."""
    by_key = {tuple(row[name] for name in names): row for row in found}
    problems = [f"{one}: no such row" for one in expected.keys() - by_key.keys()]
    problems += [f"{one}: an unexpected row" for one in by_key.keys() - expected.keys()]
    for one in expected.keys() & by_key.keys():
        for column, want in expected[one].items():
            got = by_key[one].get(column, "no such column")
            # the root of a difference that should be 0 may be far larger than its error
            tolerance = 1e-7 if column == "between_task_std" else 1e-9
            if not is_same(got, want, tolerance):
                problems.append(f"{one} {column}: {got}, expected {want}")
    return sorted(problems)[:40]


def is_same(got: object, want: object, tolerance: float) -> bool:
    if isinstance(want, (int, float)) and isinstance(got, (int, float)):
        return math.isclose(got, want, rel_tol=tolerance, abs_tol=tolerance)
    return got == want


def agent_of(row: Row) -> Key:
    return (row["agent_ref"]["name"],)


def task_of(row: Row) -> Key:
    return (row["_ng_task_index"], row["agent_ref"]["name"])


def grouped(rows: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    groups: dict[Key, list[T]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


@pytest.fixture(scope="module", params=SETTINGS)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    setting = SETTINGS[request.param]
    seed = 20 + list(SETTINGS).index(request.param)
    return write_random_run(tmp_path_factory.mktemp(request.param), seed, setting)


def test_pass_at_k_is_the_average_over_all_choices_of_k(written: Written) -> None:
    expected = {
        (*group, k): reference.pass_at_k(
            tasks, k, written.setting.threshold, has_answers=written.has_answers(group[0])
        )
        for group, tasks in written.slices().items()
        for k in range(1, max(map(len, tasks)) + 1)
    }
    found = written.run.table("from pass_at_k")
    assert differences(found, expected, KEYS["pass_at_k"]) == []


def test_agent_scores_have_the_error_bars_that_scipy_gives_them(written: Written) -> None:
    expected = {
        (*group, score): columns
        for group, tasks in written.slices().items()
        for score, columns in reference.agent_scores(
            tasks, written.setting.threshold, has_answers=written.has_answers(group[0])
        ).items()
    }
    found = written.run.table("from agent_scores")
    assert differences(found, expected, KEYS["agent_scores"]) == []


def test_task_slices_say_where_a_task_is(written: Written) -> None:
    expected = reference.task_slices(written.slices(), written.setting.fields)
    found = written.run.table("from task_slices")
    assert differences(found, expected, KEYS["task_slices"]) == []
    assert bool(found) == bool(written.setting.fields)


def test_task_bands_have_wilsons_interval_and_the_expected_share_of_mixed_groups(
    written: Written,
) -> None:
    # a task whose rollouts are all masked is as undecided as one whose rollouts have no reward
    measured = grouped(written.rollouts, lambda one: (one.task, one.agent))
    expected = {
        task: reference.task_band(measured[task], written.setting.threshold)
        for task in grouped(written.rows, task_of)
    }
    found = written.run.table("from task_bands")
    assert differences(found, expected, KEYS["task_bands"]) == []


def test_rollout_pairs_are_the_first_and_last_usable_rollouts_by_reward(written: Written) -> None:
    health = {
        (row["task_index"], row["rollout_index"]): row
        for row in written.run.table("from rollout_health")
    }
    usable = [
        one
        for one in reference.scored(written.rollouts)
        if reference.is_usable(health[one.task, one.index])
    ]
    expected = {
        task: reference.rollout_pair(rollouts, written.setting.threshold)
        for task, rollouts in grouped(usable, lambda one: (one.task, one.agent)).items()
    }
    found = written.run.table("from rollout_pairs")
    assert differences(found, expected, KEYS["rollout_pairs"]) == []
    assert {row["reward_difference"] > 0 for row in found} == {True, False}
    assert len(usable) < len(reference.scored(written.rollouts))


def test_reward_by_length_equals_numpys_correlations(written: Written) -> None:
    counted = [x for x in reference.scored(written.rollouts) if not math.isnan(x.tokens)]
    expected = {
        (agent,): reference.reward_by_length(tasks, written.setting.threshold)
        for agent, tasks in reference.by_agent(counted).items()
    }
    found = written.run.table("from reward_by_length")
    assert differences(found, expected, KEYS["reward_by_length"]) == []


def test_histograms_count_every_value_in_the_bins_of_the_run(written: Written) -> None:
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    metrics = (
        "from rollout_metrics inner join rollout_infos using (run_id, task_index, rollout_index)"
    )
    for row in written.run.table(f"select agent_name, metric, value {metrics}"):
        values[row["agent_name"], row["metric"]].append(row["value"])
    everything: dict[str, list[float]] = defaultdict(list)
    for (_, metric), own in values.items():
        everything[metric] += own
    assert sorted(everything["reward"]) == sorted(
        reference.rewards(reference.scored(written.rollouts))
    )
    expected = {
        (agent, metric, index): columns
        for (agent, metric), own in values.items()
        for index, columns in reference.histogram(own, everything[metric]).items()
    }
    assert {columns["is_single_value"] for columns in expected.values()} == {True, False}
    found = written.run.table("from metric_histograms")
    assert differences(found, expected, KEYS["metric_histograms"]) == []


def test_agent_reliability_bounds_the_mean_with_what_is_masked_or_missing(
    written: Written,
) -> None:
    asked, answered = grouped(written.inputs, agent_of), grouped(written.rows, agent_of)
    expected = {
        agent: reference_counts.agent_reliability(inputs, answered[agent])
        for agent, inputs in asked.items()
    }
    found = written.run.table("from agent_reliability")
    assert differences(found, expected, KEYS["agent_reliability"]) == []


def test_task_profiles_count_what_is_masked_or_missing(written: Written) -> None:
    asked, answered = grouped(written.inputs, task_of), grouped(written.rows, task_of)
    expected = {
        task: reference_counts.task_profile(asked[task], rows) for task, rows in answered.items()
    }
    found = written.run.table("from task_profiles")
    assert differences(found, expected, KEYS["task_profiles"]) == []


def test_mask_kinds_say_why_rollouts_are_masked(written: Written) -> None:
    expected = {
        (*agent, kind): columns
        for agent, rows in grouped(written.rows, agent_of).items()
        for kind, columns in reference_counts.mask_kinds(rows).items()
    }
    found = written.run.table("from mask_kinds")
    assert differences(found, expected, KEYS["mask_kinds"]) == []


def test_rollouts_are_measured_unless_they_are_masked(written: Written) -> None:
    expected = {
        (row["_ng_task_index"], row["_ng_rollout_index"]): {
            "is_measured": reference.is_measured(row),
            "failure_kind": row.get("failure_kind"),
        }
        for row in written.rows
    }
    found = written.run.table("from rollout_infos")
    assert differences(found, expected, KEYS["rollout_infos"]) == []
    measured: dict[Key, Figures] = {
        one: {} for one, columns in expected.items() if columns["is_measured"]
    }
    health = written.run.table("from rollout_health")
    assert differences(health, measured, KEYS["rollout_health"]) == []


def test_histograms_add_up_to_the_counts_of_agent_metrics(written: Written) -> None:
    added = "sum(rollout_count)::bigint as rollout_count, round(sum(rollout_ratio), 9) as ratio"
    found = written.run.query(
        f"select agent_name, metric, {added} from metric_histograms group by all order by all"
    )
    counted = written.run.query(
        "select agent_name, metric, value_count, 1.0 from agent_metrics"
        " where value_count > 0 order by all"
    )
    assert found == counted


@pytest.mark.parametrize("mart", KEYS)
def test_the_key_of_a_mart_is_unique(mart: str, written: Written) -> None:
    names = ", ".join(("run_id", *KEYS[mart]))
    found = written.run.query(
        f"select count(*), count(distinct ({names})), count({KEYS[mart][-1]}) from {mart}"
    )
    rows, keys, filled = found[0]
    assert rows == keys == filled
    assert rows > 0 or mart in ("failure_classes", "task_slices")


def test_settings_are_kept_with_the_run(written: Written) -> None:
    (row,) = written.run.table("from runs")
    assert row["pass_threshold"] == written.setting.threshold
    assert row["answer_field"] == written.setting.answer_field
    assert json.loads(row["slice_by"]) == list(written.setting.fields)


TIMED = ("runs", "run_overviews")
"""The marts that say when a run was profiled."""


def test_profiling_again_gives_the_same_bits(tmp_path: Path) -> None:
    one = write_random_run(tmp_path, 5, SETTINGS["slices"])
    again = ("--warehouse", "again.duckdb")
    profiled(one.run, "--allow-partial", *one.setting.options, *again)
    marts = [name for (name,) in one.run.query("show tables")]
    assert set(marts) >= set(KEYS)
    for mart in marts:
        contents = []
        for name in ("warehouse.duckdb", "again.duckdb"):
            with duckdb.connect(str(tmp_path / name), read_only=True) as connection:
                names = "* exclude (profiled_at)" if mart in TIMED else "*"
                rows = connection.execute(f"select {names} from {mart} order by all").fetchall()
                contents.append(repr(rows))
        assert contents[0] == contents[1], mart
