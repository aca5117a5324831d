"""MetricFlow accepts the semantic layer, and its answers are what the marts say."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.profiling.plan import PROJECT_PARTS
from tests.dbt_process import Dbt
from tests.responses import response
from tests.support import ROOT, Row, inputs_of, key, run_profile, write_lines, write_run

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

Figures = dict[tuple[Any, ...], float]
METRICS_FILE = Path("models", "semantic", "_semantic__metrics.yml")
KEYS = ("run", "agent")
CATEGORY = ("task__category_field", "task__category")
FIRST_FIELD = "json_extract_string(runs.slice_by, '$[0]')"
GROUPS: tuple[tuple[str, ...], ...] = (
    (),
    ("run",),
    ("agent",),
    KEYS,
    CATEGORY,
    (*KEYS, *CATEGORY),
    ("run__slice_by", "run__pass_threshold"),
)
# Where else each figure is: rows with an amount and how many tasks or rollouts it stands for
SCORES = f"""
    select
        run_id as run, agent_name as agent, value as amount, scores.task_count as weight,
        nullif(scores.slice_by, 'all') as task__category_field,
        nullif(slice_value, 'all') as task__category
    from agent_scores as scores inner join runs using (run_id)
    where score = '{{0}}'
        and scores.slice_by = coalesce(nullif({FIRST_FIELD}, ''), 'all')
"""
TOKENS = f"""
    select
        infos.run_id as run, infos.agent_name as agent, coalesce({{0}}, 0) as amount,
        ({{0}} is not null)::int as weight,
        slices.slice_by as task__category_field, slice_value as task__category
    from rollout_infos as infos
    inner join runs using (run_id)
    left join task_slices as slices
        on infos.run_id = slices.run_id and infos.task_index = slices.task_index
        and infos.agent_name = slices.agent_name and slices.slice_by = {FIRST_FIELD}
    where infos.is_measured
"""
AGENTS = """
    select
        run_id as run, agent_name as agent, coalesce(clean_ratio, 0) as amount,
        expected_rollout_count as weight
    from agent_reliability
"""
MASKS = """
    select
        run_id as run, agent_name as agent, completed_rollout_count as weight,
        masked_rollout_count / completed_rollout_count as amount
    from agent_reliability
"""
MEAN = "sum(amount * weight) / nullif(sum(weight), 0)"
EXPECTED = {
    "pass_rate": (SCORES.format("pass_rate"), MEAN),
    "mean_reward": (SCORES.format("mean_reward"), MEAN),
    "task_count": (SCORES.format("pass_rate"), "sum(weight)"),
    "tokens_per_rollout": (TOKENS.format("total_tokens"), MEAN),
    "output_tokens_per_rollout": (TOKENS.format("output_tokens"), MEAN),
    "rollout_count": (TOKENS.format("rollout_index"), "sum(weight)"),
    "masked_rate": (MASKS, MEAN),
    "masked_rollout_count": (MASKS, "sum(amount * weight)"),
    "completed_rollout_count": (MASKS, "sum(weight)"),
    "clean_rate": (AGENTS, MEAN),
    "clean_rollout_count": (AGENTS, "sum(amount * weight)"),
    "expected_rollout_count": (AGENTS, "sum(weight)"),
}
TOKEN_METRICS = ("tokens_per_rollout", "output_tokens_per_rollout")
SAVED = {
    "scores_by_run_and_agent": (
        ("pass_rate", "mean_reward", "task_count", "clean_rate", "masked_rate", *TOKEN_METRICS),
        KEYS,
    ),
    "scores_by_category": (
        ("pass_rate", "mean_reward", "task_count", *TOKEN_METRICS),
        (*KEYS, *CATEGORY),
    ),
    "tokens_by_run": ((*TOKEN_METRICS, "rollout_count"), ("run",)),
}


def groups_of(metric: str) -> list[tuple[str, ...]]:
    """What a metric can be grouped by: those of agents have no category."""
    has_category = EXPECTED[metric][0] not in (AGENTS, MASKS)
    return [group for group in GROUPS if has_category or not {*group} & {*CATEGORY}]


@dataclass(frozen=True)
class Project:
    """A copy of the dbt project, which is where MetricFlow looks for and leaves its files."""

    folder: Path
    warehouse: Path

    def run(
        self, command: str, *arguments: str, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).with_name(command)
        environment = {
            "SPOTTER_WAREHOUSE": str(self.warehouse),
            # mf asks PyPI for its newest version at every start; nobody answers here
            "https_proxy": "http://127.0.0.1:9",
            "no_proxy": "",
            "TMPDIR": str(self.folder),  # and keeps what it was told in a file
        }
        return subprocess.run(
            [str(program), *arguments],
            cwd=self.folder,
            env={**os.environ, **environment},
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def ask(self, queries: Sequence[Row]) -> list[list[Row]]:
        script = str(ROOT / "tests" / "ask_metricflow.py")
        result = self.run("python", script, str(self.folder), text=json.dumps(queries))
        assert result.returncode == 0, result.stderr
        answers: list[list[Row]] = json.loads(result.stdout)
        return answers

    def expected(self, metric: str, group: Iterable[str]) -> Figures:
        """The figure from the marts that define it, by the values of a group."""
        rows, figure = EXPECTED[metric]
        names = ", ".join(group)
        with duckdb.connect(str(self.warehouse), read_only=True) as connection:
            found = connection.execute(f"""
                select {names}{", " * bool(names)} {figure} as figure
                from ({rows}) as one
                inner join (
                    select
                        run_id as run, slice_by as run__slice_by,
                        pass_threshold as run__pass_threshold
                    from runs
                ) as runs using (run)
                group by all
            """).fetchall()
        return {tuple(row[:-1]): row[-1] for row in found if row[-1] is not None}


def found(rows: Iterable[Row], metric: str, group: Iterable[str]) -> Figures:
    """The figures of an answer, without groups of which the marts have no row."""
    names = list(group)
    keyed = [(tuple(row[name] for name in names), row[metric]) for row in rows]
    assert len({one for one, _ in keyed}) == len(keyed)
    absent = (None, 0) if metric == "task_count" else (None,)
    return {one: value for one, value in keyed if value not in absent}


def rollouts(seed: int) -> list[Row]:
    """Two agents on the same tasks, with repeats, rewards, masks and tokens of their own."""
    rows = []
    for agent, first in (("agent_a", 0), ("agent_b", 10)):
        for task in range(7 + seed + first // 5):
            for index in range(1 + (task + first + seed) % 4):
                reward = (task + index + first + seed) % 5 / 4 if task != 6 else None
                tokens = 100 * task + 7 * index + first + seed
                usage = {"output_tokens": tokens, "total_tokens": 3 * tokens}
                if (task + index) % 3 == 0:
                    del usage["output_tokens" if index else "total_tokens"]
                fields = {"category": "xyz"[task % 3]} if task != 4 else {}
                named = key(task, first + index, agent_ref={"name": agent}, reward=reward)
                if (task + 3 * index + first + seed) % 7 == 0:
                    named |= {"mask_sample": True, "failure_kind": "judge_failed"}
                rows.append({**named, **fields, "level": task, **response(usage=usage)})
    return rows


def write_runs(folder: Path) -> Path:
    """Three runs with failures and missing rollouts, sliced by other fields or by none."""
    warehouse = folder / "scores.duckdb"  # another name than the one in the compiled SQL
    fields = {"monday": ("category", "level"), "tuesday": ("level", "category"), "whole": ()}
    for seed, name in enumerate(fields):
        rows = rollouts(seed)
        missing = [key(task, 20, agent_ref={"name": "agent_b"}) for task in (0, 99)]
        run = write_run(folder, rows, inputs=[*inputs_of(rows), *missing], name=name)
        failed = [*inputs_of(rows[seed::4]), missing[0]]
        write_lines(run.failures, [{**row, "_ng_failure_class": "timeout"} for row in failed])
        options = [f"--slice-by={field}" for field in fields[name]]
        options += ["--allow-partial", f"--pass-threshold={0.5 + seed / 4}"]
        result = run_profile(run.rollouts, "--warehouse", warehouse, *options, cwd=folder)
        assert result.returncode == 0, result.stderr
    return warehouse


def copy_project(folder: Path) -> None:
    for part in PROJECT_PARTS:
        source, copy = ROOT / part, folder / part
        copy.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)


@pytest.fixture(scope="module")
def project(dbt: Dbt, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("project")
    copy_project(folder)
    made = Project(folder, write_runs(tmp_path_factory.mktemp("runs")))
    parsed = dbt.parse(folder, warehouse=made.warehouse)
    assert parsed.returncode == 0, parsed.stdout
    return made


@pytest.fixture(scope="module")
def answers(project: Project) -> dict[tuple[str, ...], list[Row]]:
    """What MetricFlow says of each metric in each group, and of each saved query."""
    queries: dict[tuple[str, ...], Row] = {
        (metric, *group): {"metric_names": [metric], "group_by_names": group or None}
        for metric in EXPECTED
        for group in groups_of(metric)
    }
    queries |= {(name,): {"saved_query_name": name} for name in SAVED}
    return dict(zip(queries, project.ask(list(queries.values())), strict=True))


@pytest.mark.parametrize("metric", EXPECTED)
def test_a_metric_is_what_the_marts_say(
    metric: str, project: Project, answers: dict[tuple[str, ...], list[Row]]
) -> None:
    for group in groups_of(metric):
        expected = project.expected(metric, group)
        assert expected
        assert found(answers[metric, *group], metric, group) == pytest.approx(expected), group


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_query_is_what_the_marts_say(
    name: str, project: Project, answers: dict[tuple[str, ...], list[Row]]
) -> None:
    metrics, group = SAVED[name]
    rows = answers[name,]
    assert set(rows[0]) == {*metrics, *group}
    for metric in metrics:
        expected = project.expected(metric, group)
        assert found(rows, metric, group) == pytest.approx(expected), metric


def test_the_runs_have_something_of_everything(project: Project) -> None:
    """Otherwise the comparisons above would prove little."""
    rates = project.expected("pass_rate", CATEGORY)
    assert {field for field, _ in rates} == {"category", "level", None}
    assert {value for field, value in rates if field != "level"} == {"x", "y", "z", "(none)", None}
    for metric in EXPECTED:
        assert len(set(project.expected(metric, KEYS).values())) > 2, metric


def test_every_metric_and_saved_query_is_described_and_compared(project: Project) -> None:
    manifest = json.loads((project.folder / "target" / "manifest.json").read_text())
    for kind, compared in (("metrics", EXPECTED), ("saved_queries", SAVED)):
        nodes = manifest[kind].values()
        assert {node["name"] for node in nodes} == set(compared)
        assert all(node["label"] and node["description"] for node in nodes)


def test_metricflow_accepts_it(project: Project) -> None:
    result = project.run("mf", "validate-configs", "--show-all")
    assert result.returncode == 0, result.stdout + result.stderr
    # six steps, five of them against the warehouse
    assert result.stdout.count("(ERRORS: 0, FUTURE_ERRORS: 0, WARNINGS: 0)") == 6


def test_the_command_writes_a_saved_query(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    result = project.run(
        *("mf", "query", "--saved-query", "scores_by_run_and_agent", "--csv", str(file))
    )
    assert result.returncode == 0, result.stdout + result.stderr
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    rates = {tuple(row[name] for name in KEYS): row["pass_rate"] for row in rows}
    expected = project.expected("pass_rate", KEYS)
    assert {one: float(rate) for one, rate in rates.items()} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("right", "wrong", "is_parsed"),
    [
        pytest.param("expr: total_tokens", "expr: totl_tokens", True, id="column"),
        pytest.param(
            "Dimension('task__category')", "Dimension('task__categry')", False, id="group"
        ),
        pytest.param("measure: pass_ratio_mean", "measure: pass_ratio", False, id="measure"),
    ],
)
def test_a_mistake_is_noticed(
    right: str, wrong: str, is_parsed: bool, project: Project, dbt: Dbt, tmp_path: Path
) -> None:
    copy = Project(tmp_path / "project", project.warehouse)
    shutil.copytree(project.folder, copy.folder)
    file = copy.folder / METRICS_FILE
    text = file.read_text(encoding="utf-8")
    assert right in text
    file.write_text(text.replace(right, wrong), encoding="utf-8")
    parsed = dbt.parse(copy.folder, warehouse=copy.warehouse)
    assert (parsed.returncode == 0) == is_parsed, parsed.stdout
    said = parsed.stdout
    if is_parsed:
        result = copy.run("mf", "validate-configs")
        assert result.returncode == 1
        said = result.stdout
    assert wrong.rsplit(maxsplit=1)[-1] in said
