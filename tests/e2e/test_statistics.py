"""The statistics of docs/statistics.md: NeMo Gym's figures, and a second opinion on all others."""

from __future__ import annotations

import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import duckdb
import pytest
from scipy import stats

from tests import reference
from tests.reference import Figures, Rollout
from tests.support import ROOT, Profiled, Row, key, run_profile, write_run

GOLDEN = sorted((ROOT / "tests" / "fixtures" / "pass_at_k").iterdir())
ABSENT = object()
SLICE = ("agent_name", "slice_by", "slice_value")
KEYS = {
    "pass_at_k": (*SLICE, "k"),
    "agent_scores": (*SLICE, "score"),
    "agent_reliability": ("agent_name",),
    "failures": ("agent_name", "failure_class"),
    "task_bands": ("task_index", "agent_name"),
    "reward_histograms": ("agent_name", "metric", "bin_index"),
    "reward_by_length": ("agent_name",),
    "rollout_health": ("task_index", "rollout_index"),
}
Key = tuple[Any, ...]


# --- running and comparing


def profiled(run: Profiled, *options: str) -> Profiled:
    result = run_profile(run.rollouts, *options, cwd=run.rollouts.parent)
    assert result.returncode == 0, result.stderr
    return run


def table(run: Profiled, sql: str) -> list[Row]:
    with duckdb.connect(str(run.warehouse), read_only=True) as connection:
        result = connection.execute(sql)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def inputs_of(rows: Iterable[Row]) -> list[Row]:
    names = ("agent_ref", "_ng_task_index", "_ng_rollout_index")
    return [{name: row[name] for name in names} for row in rows]


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


# --- NeMo Gym's own figures


@pytest.fixture(scope="module")
def golden_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All golden cases, profiled in one batch."""
    folder = tmp_path_factory.mktemp("golden")
    for case in GOLDEN:
        lines = (case / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        write_run(folder, rows, inputs=inputs_of(rows), name=case.name)
    result = run_profile(folder, "--slice-by", "category", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder


def gym_names(row: Row) -> Figures:
    """The gym's columns of a row, under the names NeMo Gym gives them."""
    k = row["k"]
    figures: Figures = {}
    for score, prefix in (("accuracy", "gym_"), ("no_answer", "gym_no_answer_")):
        names = {
            f"pass@{k}/{score}": "pass_at_k",
            f"pass@1[avg-of-{k}]/{score}": "avg_of_k",
            f"majority@{k}/{score}": "majority_at_k",
            f"per_sample_aggregate/{score}/{k}": "run_average",
        }
        for column in ("std_dev_across_runs", "std_err_across_runs", "avg_sample_std_dev"):
            names[f"pass@1[avg-of-{k}]/{score}/{column}"] = column
        figures |= {name: row[prefix + column] for name, column in names.items()}
    return figures


def flat_metrics(metrics: Row) -> Figures:
    """The metrics of a golden case, with the lists of run averages taken apart."""
    lists = metrics["per_sample_aggregate"]
    flat = {name: value for name, value in metrics.items() if name != "per_sample_aggregate"}
    for score, averages in lists.items():
        for index, average in enumerate(averages):
            flat[f"per_sample_aggregate/{score}/{index + 1}"] = average
    return flat


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case.name)
def test_the_gyms_figures_equal_nemo_gyms(case: Path, golden_folder: Path) -> None:
    run = Profiled(golden_folder / f"{case.name}.jsonl")
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    rows = table(
        run,
        "select pass_at_k.* from pass_at_k inner join runs using (run_id)"
        f" where rollouts_path like '%/{case.name}.jsonl' order by k",
    )
    overall: Figures = {}
    subsets: Figures = {}
    headline: Figures = {}
    for row in rows:
        named = gym_names(row)
        if row["slice_by"] == "all":
            overall |= named
            headline |= named if row["is_headline"] else {}
        else:
            subsets |= {f"{row['slice_value']}/{name}": value for name, value in named.items()}
    assert_figures(overall, flat_metrics(expected["metrics"]))
    # of a subset, NeMo Gym reports neither the run averages nor the spread within tasks
    left_out = ("per_sample_aggregate", "avg_sample_std_dev")
    assert_figures(
        {name: x for name, x in subsets.items() if not any(part in name for part in left_out)},
        expected["subsets"],
    )
    assert {name: headline.get(name) for name in expected["headline"]} == pytest.approx(
        expected["headline"], rel=1e-9, abs=1e-9
    )


def assert_figures(found: Figures, expected: Figures) -> None:
    """Every expected figure is there, and what NeMo Gym does not report is null."""
    assert {name: x for name, x in found.items() if x is not None} == pytest.approx(
        expected, rel=1e-9, abs=1e-9
    )


# --- random runs


@dataclass(frozen=True)
class Kind:
    """How the rollouts of an agent come about."""

    reward: Callable[[random.Random], Any]
    tasks: int = 6
    repeats: tuple[int, int] = (4, 4)
    answer: Callable[[random.Random], Any] = lambda rng: rng.choice("AB")
    tokens: Callable[[random.Random], Any] = lambda rng: rng.randrange(50, 900)


def coin(rng: random.Random) -> float:
    return float(rng.random() < 0.5)


def always(value: Any) -> Callable[[random.Random], Any]:
    return lambda _: value


def one_of(*values: Any) -> Callable[[random.Random], Any]:
    return lambda rng: rng.choice(values)


def alternating() -> Callable[[random.Random], float]:
    """Rewards that give every task with an even number of rollouts the same mean."""
    state = iter(range(10**6))
    return lambda _: float(next(state) % 2)


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
}
# another agent on the same tasks, and the first index of its rollouts
SHARED = {"uneven": (("another_on_the_same_tasks", 10),)}


@dataclass(frozen=True)
class Setting:
    """Options of the command, and what they mean."""

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
    """A random run: its lines, and what Python reads in them."""

    setting: Setting
    run: Profiled
    rows: list[Row]
    inputs: list[Row]

    @property
    def rollouts(self) -> list[Rollout]:
        return [reference.read(row, self.setting.answer_field) for row in self.rows]

    def has_answers(self, agent: str) -> bool:
        own = (row for row in self.rows if row["agent_ref"]["name"] == agent)
        return any(self.setting.answer_field in row for row in own)

    def slices(self) -> dict[Key, reference.Tasks]:
        """The tasks of every agent and slice."""
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
    """Put an agent of every kind into one run, each with tasks of its own."""
    rng = random.Random(seed)
    rows: list[Row] = []
    inputs: list[Row] = []
    tasks = iter(range(10**6))
    for name, kind in KINDS.items():
        for task in (next(tasks) for _ in range(kind.tasks)):
            asked, found = slice_fields(rng)
            for agent, first in ((name, 0), *SHARED.get(name, ())):
                for index in range(first, first + rng.randint(*kind.repeats)):
                    inputs.append(key(task, index, agent_ref={"name": agent}, **asked))
                    rows.append(random_rollout(rng, inputs[-1], kind, found))
    if not setting.has_answers:
        rows = [{name: row[name] for name in row if name != setting.answer_field} for row in rows]
    rng.shuffle(rows)
    run = write_run(folder, rows, inputs=inputs)
    return Written(setting, profiled(run, *setting.options), rows, inputs)


def random_rollout(rng: random.Random, asked: Row, kind: Kind, found: Row) -> Row:
    reward = kind.reward(rng)
    is_scored = not math.isnan(reference.number(reward))
    fields = without_absent(
        reward=reward,
        extracted_answer=kind.answer(rng),
        other=kind.answer(rng),
        response={"usage": without_absent(output_tokens=kind.tokens(rng))},
    )
    # a rollout without a reward does not say in which slice its task is
    decoy = found if is_scored else dict.fromkeys(found, "decoy")
    names = ("agent_ref", "_ng_task_index", "_ng_rollout_index")
    return {**{name: asked[name] for name in names}, **fields, **decoy}


def slice_fields(rng: random.Random) -> tuple[Row, Row]:
    """Fields to slice by, of the input and of the rollouts of a task."""
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
    found = table(written.run, "from pass_at_k")
    assert differences(found, expected, KEYS["pass_at_k"]) == []


def test_agent_scores_have_the_error_bars_that_scipy_gives_them(written: Written) -> None:
    expected = {
        (*group, score): columns
        for group, tasks in written.slices().items()
        for score, columns in reference.agent_scores(
            tasks, written.setting.threshold, has_answers=written.has_answers(group[0])
        ).items()
    }
    found = table(written.run, "from agent_scores")
    assert differences(found, expected, KEYS["agent_scores"]) == []


def test_bootstrap_intervals_surround_the_value_and_are_not_there_for_slices(
    written: Written,
) -> None:
    for row in table(written.run, "from agent_scores"):
        low, high = row["bootstrap_low"], row["bootstrap_high"]
        # tasks of one value would claim certainty, as in every other interval
        is_there = row["slice_by"] == "all" and (row["std_error"] or 0) > 1e-12
        assert (low is not None, high is not None) == (is_there, is_there), row
        if is_there:
            assert low <= row["value"] + 1e-9, row
            assert high >= row["value"] - 1e-9, row


def test_task_bands_have_wilsons_interval_and_the_expected_share_of_mixed_groups(
    written: Written,
) -> None:
    expected = {
        (task[0].task, agent): reference.task_band(task, written.setting.threshold)
        for agent, tasks in reference.by_agent(written.rollouts).items()
        for task in tasks
    }
    found = table(written.run, "from task_bands")
    assert differences(found, expected, KEYS["task_bands"]) == []


def test_reward_by_length_equals_numpys_correlations(written: Written) -> None:
    counted = [x for x in reference.scored(written.rollouts) if not math.isnan(x.tokens)]
    expected = {
        (agent,): reference.reward_by_length(tasks, written.setting.threshold)
        for agent, tasks in reference.by_agent(counted).items()
    }
    found = table(written.run, "from reward_by_length")
    assert differences(found, expected, KEYS["reward_by_length"]) == []


def test_histograms_count_every_value_in_the_bins_of_the_run(written: Written) -> None:
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in table(written.run, "from rollout_metrics natural join rollout_infos"):
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
    found = table(written.run, "from reward_histograms")
    assert differences(found, expected, KEYS["reward_histograms"]) == []


def test_histograms_add_up_to_the_counts_of_agent_metrics(written: Written) -> None:
    added = "sum(rollout_count)::bigint as rollout_count, round(sum(rollout_ratio), 9) as ratio"
    found = written.run.query(
        f"select agent_name, metric, {added} from reward_histograms group by all order by all"
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
    assert rows > 0 or mart == "failures"


def test_settings_are_kept_with_the_run(written: Written) -> None:
    (row,) = table(written.run, "from runs")
    assert row["pass_threshold"] == written.setting.threshold
    assert row["answer_field"] == written.setting.answer_field
    assert row["slice_by"] == ", ".join(written.setting.fields)


def test_profiling_with_other_settings_replaces_all_figures(tmp_path: Path) -> None:
    rows = [key(task, 0, reward=task / 4, category="x", mine="A") for task in range(4)]
    run = write_run(tmp_path, rows, inputs=inputs_of(rows))
    profiled(run, "--slice-by", "category", "--pass-threshold", "0.5", "--answer-field", "mine")
    assert run.query("select slice_by, pass_at_k from pass_at_k order by all") == [
        ("all", 0.5),
        ("category", 0.5),
    ]
    assert run.query("select majority_at_k is null from pass_at_k where slice_by = 'all'") == [
        (False,)
    ]
    profiled(run)
    assert run.query("select slice_by, pass_at_k, majority_at_k from pass_at_k") == [
        ("all", 0.0, None)
    ]
    assert run.query("select distinct slice_by from agent_scores") == [("all",)]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        pytest.param("--slice-by", "nowhere", id="slice_by_a_field_of_nobody"),
        pytest.param("--slice-by", "nested", id="slice_by_an_object"),
        pytest.param("--slice-by", "all", id="slice_by_all"),
        pytest.param("--slice-by", "", id="slice_by_nothing"),
        pytest.param("--answer-field", "nowhere", id="answer_of_nobody"),
        pytest.param("--pass-threshold", "nan", id="threshold_nan"),
        pytest.param("--pass-threshold", "inf", id="threshold_infinite"),
    ],
)
def test_settings_that_mean_nothing_are_refused(option: str, value: str, tmp_path: Path) -> None:
    rows = [key(task, 0, reward=task, all="all", nested={"a": 1}) for task in range(3)]
    run = write_run(tmp_path, rows, inputs=inputs_of(rows))
    result = run_profile(run.rollouts, option, value, cwd=tmp_path)
    assert result.returncode == 2
    assert option in result.stderr
    assert not run.warehouse.exists()


def test_a_slice_that_is_asked_for_twice_is_there_once(tmp_path: Path) -> None:
    rows = [key(task, 0, reward=task, category="x") for task in range(3)]
    run = write_run(tmp_path, rows, inputs=inputs_of(rows))
    profiled(run, "--slice-by", "category", "--slice-by", "category")
    found = run.query("select slice_by, slice_value, k, task_count from pass_at_k order by all")
    assert found == [("all", "all", 1, 3), ("category", "x", 1, 3)]


# --- other properties


def pass_flags(rewards: Sequence[Sequence[Any]], agent: str = "agent_a") -> list[Row]:
    """Rollouts of one agent, from the rewards of its tasks."""
    return [
        key(task, index, agent_ref={"name": agent}, reward=reward)
        for task, own in enumerate(rewards)
        for index, reward in enumerate(own)
    ]


def numbered(agents: Mapping[str, Sequence[Sequence[float]]]) -> list[Row]:
    """Rollouts of several agents, whose tasks have indices of their own."""
    rows = [row for agent, rewards in agents.items() for row in pass_flags(rewards, agent)]
    tasks: dict[Key, int] = {}
    for row in rows:
        own = (row["agent_ref"]["name"], row["_ng_task_index"])
        row["_ng_task_index"] = tasks.setdefault(own, len(tasks))
    return rows


def profile_agents(
    folder: Path, agents: Mapping[str, Sequence[Sequence[float]]], *options: str
) -> Profiled:
    rows = numbered(agents)
    return profiled(write_run(folder, rows, inputs=inputs_of(rows)), *options)


def test_with_equal_repeats_more_attempts_never_hurt(tmp_path: Path) -> None:
    rng = random.Random(3)
    agents = {
        f"{name}_{repeats}": [[reward(rng) for _ in range(repeats)] for _ in range(5)]
        for name, reward in (("binary", coin), ("graded", one_of(*GRADES)))
        for repeats in (2, 5, 8)
    }
    run = profile_agents(tmp_path, agents)
    rows = table(run, "from pass_at_k where slice_by = 'all' order by agent_name, k")
    assert len(rows) == 2 * (2 + 5 + 8)
    for one, other in pairwise(rows):
        if one["agent_name"] == other["agent_name"]:
            for column, sign in (
                ("pass_at_k", 1),
                ("max_at_k", 1),
                ("pass_hat_k", -1),
                ("min_at_k", -1),
            ):
                assert sign * (other[column] - one[column]) >= -1e-12, (column, one["k"])


def test_rewards_of_0_and_1_make_the_best_of_k_the_same_as_pass_at_k(tmp_path: Path) -> None:
    rng = random.Random(4)
    tasks = [[coin(rng) for _ in range(rng.randint(1, 9))] for _ in range(30)]
    run = profile_agents(tmp_path, {"agent_a": tasks})
    rows = table(run, "from pass_at_k")
    assert [row["k"] for row in rows if row["is_headline"]] == [9]
    for row in rows:
        assert row["max_at_k"] == pytest.approx(row["pass_at_k"], abs=1e-12)
        assert row["min_at_k"] == pytest.approx(row["pass_hat_k"], abs=1e-12)


# C(70, 35) does not fit into 64 bits, and C(1100, 550) not into a double
REPEATS = (70, 300, 1100)


def many_rewards(repeats: int) -> list[float]:
    rng = random.Random(repeats)
    return [rng.choice(GRADES) for _ in range(repeats)]


@pytest.fixture(scope="module")
def often_repeated(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    agents = {f"repeats_{repeats}": [many_rewards(repeats)] for repeats in REPEATS}
    return profile_agents(tmp_path_factory.mktemp("often"), agents)


@pytest.mark.parametrize("repeats", REPEATS)
def test_many_repeats_stay_exact(repeats: int, often_repeated: Profiled) -> None:
    rewards = sorted(many_rewards(repeats))
    own = f"where agent_name = 'repeats_{repeats}'"
    rows = {row["k"]: row for row in table(often_repeated, f"from pass_at_k {own}")}
    failures = sum(reward < 1 for reward in rewards)
    assert sorted(rows) == list(range(1, repeats + 1))
    for k in (1, 2, 3, repeats // 3, repeats // 2, repeats - 1, repeats):
        choices = math.comb(repeats, k)
        best = sum(Fraction(x) * math.comb(i, k - 1) for i, x in enumerate(rewards)) / choices
        worst = sum(Fraction(x) * math.comb(i, k - 1) for i, x in enumerate(rewards[::-1]))
        expected = {
            "pass_at_k": float(1 - Fraction(math.comb(failures, k), choices)),
            "pass_hat_k": float(Fraction(math.comb(repeats - failures, k), choices)),
            "max_at_k": float(best),
            "min_at_k": float(worst / choices),
        }
        found = {name: rows[k][name] for name in expected}
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), k
    (band,) = table(often_repeated, f"from task_bands {own}")
    for size in reference.GROUP_SIZES:
        same = math.comb(failures, size) + math.comb(repeats - failures, size)
        share = 1 - Fraction(same, math.comb(repeats, size))
        assert band[f"informative_ratio_{size}"] == pytest.approx(float(share), abs=1e-9)


BANDS = {
    (16, 16): "solved",
    (15, 15): "undecided",
    (0, 16): "unsolved",
    (0, 15): "undecided",
    (1, 16): "undecided",
    (2, 4): "learnable",
    (1, 4): "undecided",
    (0, 4): "undecided",
    (4, 16): "learnable",
    (3, 16): "undecided",
}


@pytest.fixture(scope="module")
def banded(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    tasks = [[1.0] * passes + [0.0] * (count - passes) for passes, count in BANDS]
    return profile_agents(tmp_path_factory.mktemp("banded"), {"agent_a": tasks})


@pytest.mark.parametrize(("passes", "count"), BANDS)
def test_a_band_needs_the_whole_interval(passes: int, count: int, banded: Profiled) -> None:
    found = banded.query(
        "select band, pass_low, pass_high from task_bands"
        f" where pass_count = {passes} and rollout_count = {count}"
    )
    low, high = reference.wilson(passes, count)
    assert found == [(BANDS[passes, count], pytest.approx(low), pytest.approx(high))]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Profiled, dict[str, list[float]]]:
    """200 agents that meet tasks drawn from one population, with the chances of each task."""
    rng = random.Random(11)
    chances = {f"agent_{i:03}": [rng.betavariate(2, 2) for _ in range(15)] for i in range(200)}
    agents = {
        name: [[float(rng.random() < chance) for _ in range(3)] for chance in own]
        for name, own in chances.items()
    }
    return profile_agents(tmp_path_factory.mktemp("simulated"), agents), chances


@pytest.mark.parametrize(
    ("score", "truth", "most"),
    [
        pytest.param("mean_reward", 0.5, 0.99, id="mean_reward"),
        pytest.param("pass_rate", 0.5, 0.99, id="pass_rate"),
        # of Beta(2, 2), three attempts fail with chance B(2, 5) / B(2, 2). That 15 tasks are
        # 0 or 1 is too coarse for 95 %: at least 8 of them include 0.8, which 99.6 % of agents have
        pytest.param("pass_at_k", 0.8, 1.0, id="pass_at_k"),
        pytest.param("pass_hat_k", 0.2, 1.0, id="pass_hat_k"),
    ],
)
def test_95_percent_intervals_cover_the_truth_about_as_often(
    score: str, truth: float, most: float, simulated: tuple[Profiled, dict[str, list[float]]]
) -> None:
    rows = table(simulated[0], f"from agent_scores where score = '{score}'")
    covered = fmean([row["low"] <= truth <= row["high"] for row in rows])
    assert len(rows) == 200
    assert 0.9 <= covered <= most


def test_errors_foretell_how_far_values_move(
    simulated: tuple[Profiled, dict[str, list[float]]],
) -> None:
    run, chances = simulated
    rows = table(run, "from agent_scores where score = 'pass_rate'")
    moved = fmean([(row["value"] - 0.5) ** 2 for row in rows])
    assert moved == pytest.approx(fmean([row["std_error"] ** 2 for row in rows]), rel=0.2)
    # against the same tasks, only the rerun's part is left
    rerun = fmean([(row["value"] - fmean(chances[row["agent_name"]])) ** 2 for row in rows])
    assert rerun == pytest.approx(fmean([row["rerun_std_error"] ** 2 for row in rows]), rel=0.2)
    # the chances of Beta(2, 2) have a variance of 1/20
    spread = fmean([row["between_task_std"] ** 2 for row in rows])
    assert spread == pytest.approx(1 / 20, rel=0.2)


@pytest.fixture(scope="module")
def levelled(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """Tasks of the same value, from more or fewer rollouts."""
    agents = {
        "tenths": [[0.1], [0.1] * 3, [0.1] * 7],
        "halves": [[0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0] * 3],
        "thirds": [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0] * 3],
    }
    return profile_agents(tmp_path_factory.mktemp("levelled"), agents)


@pytest.mark.parametrize(
    ("agent", "score"),
    [
        ("tenths", "mean_reward"),
        ("halves", "mean_reward"),
        ("halves", "pass_rate"),
        ("thirds", "mean_reward"),
        ("thirds", "pass_rate"),
    ],
)
def test_tasks_of_equal_value_have_no_interval(agent: str, score: str, levelled: Profiled) -> None:
    (row,) = table(
        levelled, f"from agent_scores where agent_name = '{agent}' and score = '{score}'"
    )
    names = ("low", "high", "interval_method", "rerun_ratio")
    assert {name: row[name] for name in names} == dict.fromkeys(names)
    assert row["std_error"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("agent", ["halves", "thirds"])
def test_tasks_of_equal_pass_at_k_have_no_interval(agent: str, levelled: Profiled) -> None:
    found = levelled.query(
        "select pass_at_k_low, pass_at_k_high, pass_hat_k_low, pass_hat_k_high from pass_at_k"
        f" where agent_name = '{agent}' and k = 1"
    )
    assert found == [(None, None, None, None)]


# values that lie on the bounds of their bins, some of which a double cannot hold
EVEN_STEPS = {
    f"{count}_steps_of_1_{divisor}": [i / divisor for i in range(count)]
    for divisor in (1, 3, 10)
    for count in (41, 61, 101)
}


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """One metric for each of the lists."""
    rows = [
        key(task, 0, **{name: own[task] for name, own in EVEN_STEPS.items() if task < len(own)})
        for task in range(101)
    ]
    folder = tmp_path_factory.mktemp("stepped")
    return profiled(write_run(folder, rows, inputs=inputs_of(rows)))


@pytest.mark.parametrize("metric", EVEN_STEPS)
def test_every_value_lies_in_its_bin(metric: str, stepped: Profiled) -> None:
    rows = table(stepped, f"from reward_histograms where metric = '{metric}' order by bin_index")
    assert [row["bin_index"] for row in rows] == list(range(20))
    for row in rows:
        low, high, is_last = row["bin_low"], row["bin_high"], row["bin_index"] == 19
        inside = [x for x in EVEN_STEPS[metric] if low <= x and (x < high or is_last)]
        assert row["rollout_count"] == len(inside), row


@pytest.fixture(scope="module")
def resampled(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    rng = random.Random(8)
    agents: dict[str, list[list[float]]] = {
        f"tasks_{count}": [[rng.random()] for _ in range(count)]
        for count in (1, 2, 100, 201, 202, 299, 300, 301)
    }
    for place in range(10):
        agents[f"place_{place}"] = [[float(task == place)] for task in range(10)]
    return profile_agents(tmp_path_factory.mktemp("resampled"), agents)


@pytest.mark.parametrize(
    ("count", "is_there"),
    [(1, False), (2, True), (100, True), (299, True), (300, False), (301, False)],
)
def test_bootstrap_needs_2_to_299_tasks(count: int, is_there: bool, resampled: Profiled) -> None:
    found = resampled.query(
        "select distinct bootstrap_low is not null, bootstrap_high is not null"
        f" from agent_scores where agent_name = 'tasks_{count}' and score = 'mean_reward'"
    )
    assert found == [(is_there, is_there)]


@pytest.mark.parametrize("count", [2, 100, 201, 202, 299, 300, 301])
def test_intervals_take_students_quantile_for_any_number_of_tasks(
    count: int, resampled: Profiled
) -> None:
    (row,) = table(
        resampled,
        f"from agent_scores where agent_name = 'tasks_{count}' and score = 'mean_reward'",
    )
    quantile = stats.t.ppf(0.975, count - 1)
    assert (row["high"] - row["low"]) / row["std_error"] == pytest.approx(2 * quantile, rel=1e-9)


@pytest.mark.parametrize("count", [100, 299])
def test_bootstrap_agrees_with_t_where_both_apply(count: int, resampled: Profiled) -> None:
    (row,) = table(
        resampled,
        f"from agent_scores where agent_name = 'tasks_{count}' and score = 'mean_reward'",
    )
    for side in ("low", "high"):
        assert abs(row[f"bootstrap_{side}"] - row[side]) < 0.4 * row["std_error"]


def test_bootstrap_draws_every_task_alike(resampled: Profiled) -> None:
    # of 10 draws among 10 tasks, one certain task comes 0 to 3 times in 95 % of the resamples
    found = resampled.query(
        "select agent_name, bootstrap_low, bootstrap_high from agent_scores"
        " where score = 'mean_reward' and starts_with(agent_name, 'place_') order by all"
    )
    assert found == [(f"place_{i}", 0.0, pytest.approx(0.3)) for i in range(10)]


def test_the_queries_of_the_page_agree_with_the_marts(tmp_path: Path) -> None:
    rng = random.Random(6)
    agents = {
        f"agent_{name}": [[coin(rng) for _ in range(rng.randint(1, 6))] for _ in range(9)]
        for name in "ab"
    }
    run = profile_agents(tmp_path, agents, "--run-id", "demo")
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    at_two, errors, bands = (part.split("```")[0] for part in page.split("```sql\n")[1:])
    assert sorted(run.query(at_two)) == [
        (agent, pytest.approx(value), count)
        for agent, value, count in run.query(
            "select agent_name, pass_at_k, task_count from pass_at_k where k = 2 order by all"
        )
    ]
    assert sorted(run.query(errors)) == [
        (agent, pytest.approx(value), pytest.approx(error))
        for agent, value, error in run.query(
            "select agent_name, value, std_error from agent_scores"
            " where score = 'mean_reward' order by all"
        )
    ]
    assert sum(count for _, count, _ in run.query(bands)) == 18


def test_profiling_again_gives_the_same_bits(tmp_path: Path) -> None:
    one = write_random_run(tmp_path, 5, SETTINGS["slices"])
    again = ("--warehouse", "again.duckdb")
    profiled(one.run, *one.setting.options, *again)
    marts = [name for (name,) in one.run.query("select table_name from duckdb_tables()")]
    assert set(marts) >= set(KEYS)
    for mart in marts:
        contents = []
        for name in ("warehouse.duckdb", "again.duckdb"):
            with duckdb.connect(str(tmp_path / name), read_only=True) as connection:
                names = "* exclude (profiled_at)" if mart == "runs" else "*"
                rows = connection.execute(f"select {names} from {mart} order by all").fetchall()
                contents.append(repr(rows))
        assert contents[0] == contents[1], mart
