"""`spotter compare`: files and run ids in, verdicts and exit codes out."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest

from collector.comparing.gate import judge
from collector.comparing.policy import read_policy
from collector.comparing.request import CompareRequest, compare_runs
from collector.comparing.results import Comparison
from collector.errors import UsageError
from collector.profiling.sources import RunListener
from tests.compared_runs import Rewards, compare, compared, write_tasks
from tests.comparisons import rows_of
from tests.programs import run_command
from tests.support import ROOT, Row, read_json, run_profile

TOP = ("verdict", "score", "difference", "std_error", "low", "high", "p_value", "task_count")
WEAK: Rewards = {f"{'easy' if n % 2 else 'hard'} {n}": [0, 0, 1, 0] for n in range(40)}
STRONG: Rewards = {text: [1, 1, 1, n % 2] for n, text in enumerate(WEAK)}
PARTLY: Rewards = {**STRONG, "easy 1": [1, 1, None, None]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a warehouse of the runs `weak` and `strong`, sliced by category."""
    folder = tmp_path_factory.mktemp("runs")
    for name, rewards, tokens in (("weak", WEAK, 100), ("strong", STRONG, 150)):
        run = write_tasks(folder, name, rewards, tokens=tokens, model=f"model-{name}")
        words = ("--run-id", name, "--slice-by", "category", "--no-files")
        assert run_profile(run.rollouts, *words, cwd=folder).returncode == 0
    return folder


def test_a_better_run_is_called_better_in_the_first_line(runs: Path) -> None:
    result = compare("weak", "strong", cwd=runs)
    assert result.returncode == 0, result.stderr
    first = result.stdout.splitlines()[0]
    assert first.startswith("strong is better than weak: mean reward 0.875 against 0.250, +0.625")
    assert first.endswith("over 40 common tasks.")
    assert "p by Holm" in result.stdout
    assert "newly passing" not in first
    assert "model-weak" in result.stdout  # the models differ, which comes before the figures


def test_json_has_the_figures_of_the_verdict_at_its_top(runs: Path) -> None:
    data = compared("weak", "strong", cwd=runs)
    assert tuple(data)[: len(TOP)] == TOP
    assert (data["verdict"], data["score"], data["task_count"]) == ("better", "mean_reward", 40)
    assert data["low"] < data["difference"] < data["high"]
    assert {"primary", "scores", "slices", "efforts", "tasks", "setting_differences"} <= set(data)
    assert {"name": "model", "baseline": "model-weak", "candidate": "model-strong"} in (
        data["setting_differences"]
    )


def test_exchanged_runs_have_the_opposite_verdict_and_signs(runs: Path) -> None:
    forward, back = (
        compared(*names, cwd=runs) for names in (("weak", "strong"), ("strong", "weak"))
    )
    assert (forward["verdict"], back["verdict"]) == ("better", "worse")
    assert back["difference"] == pytest.approx(-forward["difference"])
    assert (back["low"], back["high"]) == pytest.approx((-forward["high"], -forward["low"]))
    assert back["p_value"] == pytest.approx(forward["p_value"])


def test_a_run_is_the_same_as_itself(runs: Path) -> None:
    data = compared("weak", "weak", cwd=runs)
    assert data["is_same_run"]
    assert data["difference"] == 0
    assert data["verdict"] not in ("better", "worse")
    assert "are the same run" in data["sentence"]


def test_files_are_profiled_once_and_keep_their_settings(tmp_path: Path) -> None:
    first = write_tasks(tmp_path, "a", WEAK)
    second = write_tasks(tmp_path, "b", STRONG)
    assert compared(first.rollouts, second.rollouts, cwd=tmp_path)["verdict"] == "better"
    profiled_at = "select run_id, profiled_at from runs order by run_id"
    before = first.query(profiled_at)
    assert compared(first.rollouts, second.rollouts, cwd=tmp_path)["verdict"] == "better"
    assert first.query(profiled_at) == before
    write_tasks(tmp_path, "b", WEAK)  # the file changes, so its run is profiled again
    assert compared(first.rollouts, second.rollouts, cwd=tmp_path)["difference"] == 0
    assert [run_id for run_id, _ in first.query(profiled_at)] == [run_id for run_id, _ in before]
    assert not first.profiling.exists()


def test_a_file_with_missing_rollouts_needs_allow_partial(tmp_path: Path) -> None:
    whole = write_tasks(tmp_path, "a", WEAK)
    partly = write_tasks(tmp_path, "b", PARTLY)
    refused = compare(whole.rollouts, partly.rollouts, cwd=tmp_path)
    assert refused.returncode == 1
    assert "--allow-partial" in refused.stderr
    data = compared(whole.rollouts, partly.rollouts, "--allow-partial", cwd=tmp_path)
    assert data["primary"]["unknown_rollout_count"] == 2


def test_a_verdict_that_unknown_rollouts_could_overturn_is_downgraded(tmp_path: Path) -> None:
    slight: Rewards = {f"t {n}": [0, 1, 0, 0] for n in range(40)}
    holes: Rewards = {f"t {n}": [n % 10 != 0, 0, 0, None] for n in range(40)}
    files = [
        write_tasks(tmp_path, name, rewards).rollouts
        for name, rewards in (("a", slight), ("b", holes))
    ]
    data = compared(*files, "--allow-partial", "--anyway", cwd=tmp_path)
    assert data["verdict"] == "inconclusive"
    assert data["primary"]["observed_verdict"] == "better"
    assert any("worst case of 40 unknown rollouts" in text for text in data["explanations"])


def test_runs_without_a_common_task_are_not_comparable(tmp_path: Path) -> None:
    first = write_tasks(tmp_path, "a", {"x 1": [1], "x 2": [0]})
    second = write_tasks(tmp_path, "b", {"y 1": [1]})
    for words in ((), ("--anyway",)):
        data = compared(first.rollouts, second.rollouts, *words, cwd=tmp_path)
        assert (data["verdict"], data["task_count"], data["difference"]) == (
            "not comparable",
            0,
            None,
        )
        assert "they have no task in common (2 tasks only in" in data["sentence"]
    text = compare(first.rollouts, second.rollouts, cwd=tmp_path).stdout
    assert "1 task only in" in text


def test_few_common_tasks_are_not_comparable_unless_anyway(tmp_path: Path) -> None:
    first = write_tasks(tmp_path, "a", WEAK)
    some = dict(list(STRONG.items())[:20])
    second = write_tasks(tmp_path, "b", some)
    data = compared(first.rollouts, second.rollouts, cwd=tmp_path)
    assert data["verdict"] == "not comparable"
    assert "only 50 % of the tasks are in both" in data["sentence"]
    assert "--anyway compares them all the same." in data["explanations"]
    forced = compared(first.rollouts, second.rollouts, "--anyway", cwd=tmp_path)
    assert forced["verdict"] != "not comparable"
    assert forced["explanations"][0].startswith("Compared anyway, although only 50 %")
    stored = rows_of(tmp_path / "warehouse.duckdb", "run_comparisons", "slice_by = 'all'")
    assert {row["verdict"] for row in stored} == {"not comparable"}
    assert forced["verdict"] in {row["verdict_anyway"] for row in stored}


def test_one_common_task_says_that_it_is_not_enough(tmp_path: Path) -> None:
    files = [
        write_tasks(tmp_path, name, {"x": [value] * 3}).rollouts
        for name, value in (("a", 0), ("b", 1))
    ]
    data = compared(*files, cwd=tmp_path)
    assert (data["verdict"], data["low"], data["p_value"]) == ("inconclusive", None, None)
    assert any("One task says nothing" in text for text in data["explanations"])


def test_equal_rewards_say_that_every_task_has_the_same_difference(tmp_path: Path) -> None:
    same: Rewards = {f"t {n}": [1, 1] for n in range(5)}
    files = [write_tasks(tmp_path, name, same).rollouts for name in ("a", "b")]
    data = compared(*files, cwd=tmp_path)
    assert data["verdict"] == "inconclusive"
    assert any("Every task has the same difference" in text for text in data["explanations"])


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        pytest.param(["weak"], 2, "name two runs", id="one run"),
        pytest.param(["weak", "stron"], 2, "did you mean strong?", id="unknown run"),
        pytest.param(["weak", "no.jsonl"], 4, "no rollouts file at no.jsonl", id="no file"),
        pytest.param(["weak", "strong", "--alpha", "0"], 2, "--alpha 0", id="alpha"),
        pytest.param(["weak", "strong", "--margin", "-1"], 2, "--margin -1", id="margin"),
        pytest.param(["weak", "strong", "--score", "x"], 2, "mean_reward, pass_rate", id="score"),
        pytest.param(
            ["weak", "strong", "--cluster-by", "level"], 2, "--slice-by level", id="no such slices"
        ),
        pytest.param(["weak", "strong", "--agent-b", "x"], 2, "--agent-b x: unknown", id="agent"),
        pytest.param(["weak", "strong", "--json", "--markdown"], 2, "contradict", id="two formats"),
        pytest.param(["weak", "strong", "weak"], 2, "named twice", id="a run twice"),
        pytest.param(["weak", "strong", "--gate", "no.yml"], 4, "no.yml", id="no policy"),
    ],
)
def test_bad_input_is_a_clear_error(
    runs: Path, arguments: list[str], exit_code: int, message: str
) -> None:
    result = compare(*arguments, cwd=runs)
    assert result.returncode == exit_code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_old_warehouse_asks_for_profiles(runs: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.duckdb"
    old.write_bytes((runs / "warehouse.duckdb").read_bytes())
    with duckdb.connect(str(old)) as connection:
        for mart in ("run_comparisons", "task_comparisons", "effort_comparisons", "task_slices"):
            connection.execute(f"drop table {mart}")
    result = compare("weak", "strong", "-w", old, cwd=tmp_path)
    assert result.returncode == 4
    assert "profile the runs again" in result.stderr


def test_clusters_of_a_sliced_field_are_counted(runs: Path) -> None:
    data = compared("weak", "strong", "--cluster-by", "category", cwd=runs)
    assert data["primary"]["cluster_count"] == 2


def test_a_fixed_suite_has_its_own_interval_at_the_top(runs: Path) -> None:
    data = compared("weak", "strong", "--fixed-suite", cwd=runs)
    assert (data["low"], data["high"]) == (
        data["primary"]["fixed_low"],
        data["primary"]["fixed_high"],
    )


def test_agents_of_one_run_are_compared_by_name(tmp_path: Path) -> None:
    rows, inputs = [], []
    for task in range(10):
        for index, (agent, reward) in enumerate((("slow", 0), ("quick", 1))):
            row = {"agent_ref": {"name": agent}, "_ng_task_index": task, "_ng_rollout_index": index}
            inputs.append({**row, "responses_create_params": {"input": f"t {task}"}})
            rows.append({**row, "reward": reward})
    for suffix, lines in (("", rows), ("_materialized_inputs", inputs)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / f"fan{suffix}.jsonl").write_text(text, encoding="utf-8")
    words = ("fan.jsonl", "fan.jsonl", "--agent-a", "slow", "--agent-b", "quick")
    data = compared(*words, cwd=tmp_path)
    assert not data["is_same_run"]
    assert data["difference"] == 1
    assert "/quick is better than" in data["sentence"]
    alone = compared(*words[:4], cwd=tmp_path)  # the other run has an agent of that name too
    assert alone["is_same_run"]
    assert alone["candidate"]["agent_name"] == "slow"


def test_several_runs_get_a_leaderboard_with_letters(runs: Path) -> None:
    twin = write_tasks(runs, "twin", WEAK)
    assert run_profile(twin.rollouts, "--run-id", "twin", "--no-files", cwd=runs).returncode == 0
    data = compared("weak", "strong", "twin", "--over", "checkpoint", cwd=runs)
    (board,) = data["leaderboards"]
    letters = {row["run_id"]: row["letters"] for row in board}
    assert board[0]["run_id"] == "strong"
    assert letters["strong"] == "a"
    assert letters["weak"] == letters["twin"] == "b"
    assert len(data["comparisons"]) == 2
    assert {one["primary"]["family_size"] for one in data["comparisons"]} == {3}
    assert sum(data["trajectories"]["counts"].values()) == 40
    text = compare("weak", "strong", "twin", "--over", "checkpoint", cwd=runs).stdout
    assert text.startswith("strong is the best of 3: mean reward 0.875.")
    assert "Over checkpoint: 40 tasks" in text
    assert "model-strong" in text


def test_checkpoints_say_what_was_mastered_and_forgotten(tmp_path: Path) -> None:
    bands: dict[str, list[list[float]]] = {
        "mastered": [[0] * 30, [1, 0] * 15, [1] * 30],
        "forgotten": [[0] * 30, [1] * 30, [0] * 30],
        "stuck": [[0] * 30] * 3,
        "newly_learnable": [[0] * 30, [0] * 30, [1, 0] * 15],
        "kept": [[1] * 30] * 3,
    }
    files = [
        write_tasks(
            tmp_path, f"step{step}", {f"t {kind}": values[step] for kind, values in bands.items()}
        ).rollouts
        for step in range(3)
    ]
    found = compared(*files, "--over", "checkpoint", cwd=tmp_path)["trajectories"]
    assert found["counts"] == dict.fromkeys(bands, 1)
    indices = {row["trajectory"]: row["task_index"] for row in found["tasks"]}
    assert indices == {kind: number for number, kind in enumerate(bands) if kind != "kept"}


def _gate(folder: Path, policy: Row) -> Path:
    path = folder / "gate.yml"
    path.write_text(json.dumps(policy), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def weak_and_strong(runs: Path) -> list[Comparison]:
    request = CompareRequest(names=("weak", "strong"), warehouse=runs / "warehouse.duckdb")
    listener = RunListener(progress=lambda *_: None, say=lambda _: None)
    return compare_runs(request, listener).comparisons


@pytest.mark.parametrize(
    ("rule", "exit_code"),
    [
        pytest.param({"max_drop": 0.02}, 0, id="pass"),
        pytest.param({"min_value": 0.95}, 1, id="fail"),
        pytest.param({"max_token_ratio": 1.2}, 1, id="too many tokens"),
        pytest.param({"max_cost_ratio": 1.2}, 5, id="no prices"),
        pytest.param({"min_value": 0.95, "tier": "advisory"}, 0, id="advisory"),
        pytest.param({"slice": {"category": "easy"}, "max_drop": 0}, 0, id="slice"),
    ],
)
def test_a_gate_decides_the_exit_code(
    weak_and_strong: list[Comparison], rule: Row, exit_code: int, tmp_path: Path
) -> None:
    policy = read_policy(_gate(tmp_path, {"rules": [rule]}))
    assert judge(policy, weak_and_strong).exit_code == exit_code


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param({"slice": {"category": "esay"}, "max_drop": 0}, id="unknown slice"),
        pytest.param({"slice": {"kategory": "easy"}, "max_drop": 0}, id="unknown field"),
        pytest.param({"score": "pass_rat", "max_drop": 0}, id="unknown score"),
        pytest.param({"max_dorp": 0.1}, id="unknown limit"),
    ],
)
def test_a_misspelt_rule_is_an_error_with_a_suggestion(
    weak_and_strong: list[Comparison], rule: Row, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="did you mean"):
        judge(read_policy(_gate(tmp_path, {"rules": [rule]})), weak_and_strong)


@pytest.mark.parametrize(
    ("rule", "exit_code", "said"),
    [
        pytest.param({"min_value": 0.875}, 5, "cannot tell", id="the bound lies in the interval"),
        pytest.param({"slice": {"category": "esay"}, "max_drop": 0}, 2, "did you mean", id="slice"),
        pytest.param({}, 2, "gate.yml", id="no limit"),
    ],
)
def test_the_command_ends_with_the_code_of_the_gate(
    runs: Path, rule: Row, exit_code: int, said: str
) -> None:
    result = compare("weak", "strong", "--gate", _gate(runs, {"rules": [rule]}), cwd=runs)
    assert result.returncode == exit_code, result.stdout + result.stderr
    assert said in result.stdout + result.stderr


def _suites(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - our own file


def test_a_gate_is_in_every_output(runs: Path) -> None:
    rules = [{"min_value": 0.95, "name": "bar"}, {"max_drop": 0.5}]
    gate = _gate(runs, {"rules": rules})
    words = ("weak", "strong", "--gate", gate, "--junit", "out.xml")
    assert "The gate fails." in compare(*words, cwd=runs).stdout
    assert compare(*words, "--markdown", cwd=runs).stdout.startswith("### ❌ The gate fails.")
    result = compare(*words, "--json", cwd=runs)
    assert result.returncode == 1
    assert read_json(result.stdout)["gate"]["judgement"] == "fail"
    root = _suites(runs / "out.xml")
    failures = [
        case.get("name") for case in root.iter("testcase") if case.find("failure") is not None
    ]
    assert failures == ["bar: min_value 0.95 (strong, mean reward)"]


def test_junit_fails_for_worse_and_skips_what_is_inconclusive(runs: Path) -> None:
    assert compare("strong", "weak", "--junit", "worse.xml", cwd=runs).returncode == 0
    suite = _suites(runs / "worse.xml")[0]
    names = [case.get("name") for case in suite]
    assert names[:2] == ["mean reward", "pass rate"]
    assert "mean reward [category = easy]" in names
    assert suite.get("failures") == suite.get("tests") == str(len(names))
    compare("weak", "weak", "--junit", "same.xml", cwd=runs)
    same = _suites(runs / "same.xml")[0]
    assert (same.get("failures"), same.get("skipped")) == ("0", same.get("tests"))


def test_markdown_escapes_what_comes_from_runs(tmp_path: Path) -> None:
    for name, rewards in (("a", WEAK), ("b", STRONG)):
        run = write_tasks(tmp_path, name, rewards, model="<b> | @all [x](y)")
        run_id = f"{name}|<b>@me`"
        run_profile(run.rollouts, "--run-id", run_id, "--no-files", cwd=tmp_path)
    text = compare("a|<b>@me`", "b|<b>@me`", "--markdown", cwd=tmp_path).stdout
    assert "<b>" not in text
    assert "@me" not in text
    assert "@all" not in text
    assert "b\\|&lt;b&gt;@&#8203;me\\` is better than" in text
    assert "<details>" in text


def test_the_collectors_records_tell_what_differs(tmp_path: Path) -> None:
    for name, temperature in (("a", 0.2), ("b", 0.9)):
        write_tasks(tmp_path, name, WEAK, params={"temperature": temperature})
        record = {"settings": {"prompt_config": {"sha256": name * 64}}, "input": {"sha256": "f"}}
        (tmp_path / f"{name}_run.json").write_text(json.dumps(record), encoding="utf-8")
    data = compared("a.jsonl", "b.jsonl", cwd=tmp_path)
    found = {
        one["name"]: (one["baseline"], one["candidate"]) for one in data["setting_differences"]
    }
    assert found == {
        "temperature": ("0.2", "0.9"),
        "prompt template": ("sha256 aaaaaaaaaaaa", "sha256 bbbbbbbbbbbb"),
    }
    assert data["runs_without_record"] == []


def test_the_example_policy_is_valid(runs: Path) -> None:
    result = compare("weak", "strong", "--gate", ROOT / "examples" / "gate.yml", cwd=runs)
    assert result.returncode in (0, 1, 5), result.stderr


def test_help_names_the_exit_codes_of_a_gate(workspace: Path) -> None:
    text = run_command("spotter", "compare", "--help", cwd=workspace).stdout
    assert "5 if the data cannot tell" in " ".join(text.split())
