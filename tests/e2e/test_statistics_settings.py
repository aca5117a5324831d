"""The settings of the statistics: the pass threshold, the answer field and the slices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import Profiled, inputs_of, key, profiled, run_profile, write_run


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


def test_a_slice_that_is_asked_for_twice_is_there_once(tmp_path: Path) -> None:
    rows = [key(task, 0, reward=task, category="x") for task in range(3)]
    run = write_run(tmp_path, rows, inputs=inputs_of(rows))
    profiled(run, "--slice-by", "category", "--slice-by", "category")
    found = run.query("select slice_by, slice_value, k, task_count from pass_at_k order by all")
    assert found == [("all", "all", 1, 3), ("category", "x", 1, 3)]


def test_each_agent_of_a_task_has_the_slice_of_its_own_input(tmp_path: Path) -> None:
    rows = [
        key(0, index, reward=1, category=f"of_{agent}", agent_ref={"name": agent})
        for index, agent in enumerate("aabb")
    ]
    bare = [{name: row[name] for name in row if name != "category"} for row in rows]
    run = write_run(tmp_path, bare, inputs=rows)
    profiled(run, "--slice-by", "category")
    assert run.query(
        "select agent_name, slice_value, task_count from pass_at_k"
        " where slice_by = 'category' and k = 1 order by all"
    ) == [("a", "of_a", 1), ("b", "of_b", 1)]


# --- as overrides


@pytest.fixture
def graded(tmp_path: Path) -> Profiled:
    """Fields to slice by, of the rollouts and of the inputs, and answers of another name."""
    fields = {"a": "x", "mine": "A", "all": "all", "nested": {"a": 1}}
    rows = [key(task, 0, reward=task / 4, b=task, **fields) for task in range(4)]
    inputs = [{**row, "category": "y"} for row in inputs_of(rows)]
    return write_run(tmp_path, rows, inputs=inputs)


@pytest.mark.parametrize("command", ["spotter", "ng_reward_profile"])
@pytest.mark.parametrize(
    ("overrides", "recorded"),
    [
        pytest.param(
            ("+slice_by=category", "++pass_threshold=0.5", "+answer_field=mine"),
            ('["category"]', 0.5, "mine"),
            id="one_slice",
        ),
        pytest.param(
            ("+slice_by=[a,b]", "+pass_threshold=-1e-3"),
            ('["a","b"]', -0.001, "extracted_answer"),
            id="two_slices_and_a_negative_threshold",
        ),
        pytest.param(
            ("++slice_by=[category, a]", "+pass_threshold=null"),
            ('["category","a"]', 1.0, "extracted_answer"),
            id="a_space_and_no_threshold",
        ),
        pytest.param(("+slice_by=[]",), ("[]", 1.0, "extracted_answer"), id="no_slices"),
    ],
)
def test_settings_can_be_overrides(
    overrides: tuple[str, ...], recorded: tuple[object, ...], command: str, graded: Profiled
) -> None:
    rollouts = f"+rollouts_jsonl_fpath={graded.rollouts}"
    result = run_profile(rollouts, *overrides, cwd=graded.rollouts.parent, command=command)
    assert result.returncode == 0, result.stderr
    assert graded.query("select slice_by, pass_threshold, answer_field from runs") == [recorded]


def test_overrides_decide_the_figures(graded: Profiled) -> None:
    overrides = ("++pass_threshold=0.5", "+answer_field=mine", "+slice_by=[category,b]")
    profiled(graded, *overrides)
    found = graded.query(
        "select slice_by, slice_value, value, task_count from agent_scores"
        " where score = 'pass_rate' order by all"
    )
    by_task = [("b", str(task), float(task >= 2), 1) for task in range(4)]
    assert found == [("all", "all", 0.5, 4), *by_task, ("category", "y", 0.5, 4)]
    votes = "select value from agent_scores where score = 'majority_at_k' and slice_by = 'all'"
    assert graded.query(votes) == [(0.375,)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--slice-by", "nowhere"], "nowhere", id="slice_by_a_field_of_nobody"),
        pytest.param(["--slice-by", "nested"], "nested", id="slice_by_an_object"),
        pytest.param(["--slice-by", "all"], "--slice-by", id="slice_by_all"),
        pytest.param(["--slice-by", ""], "--slice-by", id="slice_by_nothing"),
        pytest.param(["--slice-by", "a", "--slice-by", "c"], "--slice-by c", id="second_slice"),
        pytest.param(["+slice_by=categry"], "category", id="names_the_fields_there_are"),
        pytest.param(["--answer-field", "nowhere"], "--answer-field nowhere", id="answer_field"),
        pytest.param(["+answer_field=answr"], "answr", id="answer_field_as_override"),
        pytest.param(["--pass-threshold", "nan"], "--pass-threshold", id="threshold_nan"),
        pytest.param(["++pass_threshold=-inf"], "inf", id="threshold_infinite"),
        pytest.param(["++pass_threshold=high"], "high", id="threshold_of_text"),
    ],
)
def test_settings_that_mean_nothing_are_refused(
    arguments: list[str], said: str, graded: Profiled
) -> None:
    folder = graded.rollouts.parent
    before = sorted(folder.iterdir())
    result = run_profile(graded.rollouts, *arguments, cwd=folder)
    assert result.returncode == 2
    assert said in result.stderr
    assert result.stdout == ""
    assert sorted(folder.iterdir()) == before


def test_a_refused_setting_leaves_the_last_profile_as_it_is(graded: Profiled) -> None:
    profiled(graded)
    before = {path: path.read_bytes() for path in graded.rollouts.parent.iterdir()}
    result = run_profile(graded.rollouts, "--slice-by", "nowhere", cwd=graded.rollouts.parent)
    assert result.returncode == 2
    assert {path: path.read_bytes() for path in graded.rollouts.parent.iterdir()} == before
