"""`spotter import`: what it writes, what it refuses, and what it leaves behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.importing.attempts import Attempt
from collector.importing.formats.verl import VerlLog
from tests.imports import OWN, Row, case_folders, case_id, import_case, read_rows
from tests.inspect_logs import header, sample, write_eval
from tests.programs import run_command

VERL = OWN / "verl" / "sessions"
LEGACY = OWN / "verifiers" / "legacy"
KILL = """
import os, signal, sys
from collector.importing.formats.verl import VerlLog
read = VerlLog.attempts
def attempts(log):
    yield from read(log)
    os.kill(os.getpid(), signal.SIGKILL)
VerlLog.attempts = attempts
from collector.cli import main
main(sys.argv[1:])
"""


def write_jsonl(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def verl_row(question: str, score: float, **further: Any) -> Row:
    return {"input": question, "output": "so", "gts": "1", "score": score, "step": 1, **further}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def query(warehouse: Path, statement: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return connection.execute(statement).fetchall()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def refused(folder: Path, *words: str | Path, code: int) -> str:
    """Import what must be refused; return what the command says."""
    done = run_command("spotter", "import", *words, "-o", "run.jsonl", cwd=folder)
    assert done.returncode == code, done.stderr
    assert names_in(folder) == [], "nothing is written"
    return done.stderr


@pytest.mark.parametrize("folder", case_folders("verl", "verifiers"), ids=case_id)
def test_importing_twice_gives_the_same_bytes(folder: Path, out: Path) -> None:
    import_case(folder, out / "run.jsonl")
    first = {name: (out / name).read_bytes() for name in names_in(out)}
    import_case(folder, out / "run.jsonl", "--overwrite")
    assert {name: (out / name).read_bytes() for name in names_in(out)} == first


def test_a_file_of_an_unknown_form_is_refused_by_name(tmp_path: Path, out: Path) -> None:
    path = write_jsonl(tmp_path / "mine.jsonl", [{"question": "?", "points": 1}])
    said = refused(out, path, code=4)
    assert "mine.jsonl is not a log of a known format" in said
    assert "mapping.yml" in said


def test_a_binary_file_is_refused(tmp_path: Path, out: Path) -> None:
    path = tmp_path / "noise.bin"
    path.write_bytes(bytes(range(256)) * 1000)
    assert "not a log of a known format" in refused(out, path, code=4)
    assert "cannot read line 1" in refused(out, path, "--from", "verl", code=4)


def test_a_rollouts_file_need_not_be_imported(tmp_path: Path, out: Path) -> None:
    import_case(VERL, tmp_path / "run.jsonl")
    assert "spotter profile" in refused(out, tmp_path / "run.jsonl", code=4)


def test_a_damaged_line_is_named_and_nothing_is_written(tmp_path: Path, out: Path) -> None:
    path = write_jsonl(tmp_path / "1.jsonl", [verl_row("a", 1.0), verl_row("b", 0.0)])
    text = path.read_text(encoding="utf-8").replace('"score": 0.0', '"score": ', 1)
    path.write_text(text + json.dumps(verl_row("c", 1.0)) + "\n", encoding="utf-8")
    assert "cannot read line 2 of" in refused(out, path, code=4)


def test_a_torn_last_line_is_left_out_with_a_word(out: Path) -> None:
    [run] = import_case(VERL, out / "run.jsonl")
    assert "the last line of 7.jsonl (line 6) is cut short, and was left out" in run.data["losses"]


def test_a_folder_with_two_formats_needs_a_choice(tmp_path: Path, out: Path) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(VERL, logs / "verl")
    shutil.copytree(LEGACY, logs / "verifiers")
    said = refused(out, logs, code=2)
    assert "1 log of verl (like 7.jsonl)" in said
    assert "1 log of verifiers (like results.jsonl)" in said
    [run] = import_case(logs, out / "run.jsonl", "--from", "verl")
    assert run.log == "7.jsonl"


def test_other_files_of_a_folder_are_passed_over_with_a_word(tmp_path: Path, out: Path) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(VERL, logs)
    (logs / "notes.txt").write_text("not a log", encoding="utf-8")
    (logs / ".hidden.jsonl").write_text("{}", encoding="utf-8")
    done = run_command("spotter", "import", logs, "-o", "run.jsonl", cwd=out)
    assert "passed over 2 files that are not logs: expected.json, notes.txt" in done.stderr


def test_an_empty_folder_has_no_logs(tmp_path: Path, out: Path) -> None:
    (tmp_path / "logs").mkdir()
    assert "found no logs" in refused(out, tmp_path / "logs", code=4)


def test_an_existing_run_is_kept_unless_it_may_be_replaced(out: Path) -> None:
    import_case(LEGACY, out / "run.jsonl")
    assert (out / "run_failures.jsonl").exists()
    before = (out / "run.jsonl").read_bytes()
    done = run_command("spotter", "import", VERL, "-o", "run.jsonl", cwd=out)
    assert done.returncode == 2
    assert "exists already" in done.stderr
    assert (out / "run.jsonl").read_bytes() == before
    import_case(VERL, out / "run.jsonl", "--overwrite")
    assert names_in(out) == ["run.jsonl", "run_materialized_inputs.jsonl", "run_run.json"]


def test_a_log_is_not_replaced_by_its_own_import(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "1.jsonl", [verl_row("a", 1.0)])
    words = ("spotter", "import", path, "-o", path, "--overwrite", "--from", "verl")
    done = run_command(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "is a log, and would be replaced" in done.stderr
    assert names_in(tmp_path) == ["1.jsonl"]


def test_steps_of_a_training_become_runs_of_their_own(tmp_path: Path, out: Path) -> None:
    for step in (2, 10):
        write_jsonl(tmp_path / f"{step}.jsonl", [verl_row("a", 1.0) | {"step": step}])
    runs = import_case(tmp_path, out / "run.jsonl")
    assert [run.record["identity"]["tags"] for run in runs] == [{"step": "2"}, {"step": "10"}]
    assert [Path(run.data["rollouts"]).name for run in runs] == [
        "run-step_2.jsonl",
        "run-step_10.jsonl",
    ]


def test_a_reward_that_is_a_boolean_becomes_a_number(tmp_path: Path, out: Path) -> None:
    rows = [verl_row("a", 1.0) | {"score": True}, verl_row("a", 1.0) | {"score": False}]
    [run] = import_case(write_jsonl(tmp_path / "1.jsonl", rows), out / "run.jsonl")
    assert [str(row["reward"]) for row in run.rollouts] == ["1.0", "0.0"]


def test_with_many_logs_a_note_says_which_of_them_it_is_about(tmp_path: Path, out: Path) -> None:
    for name, status in (("a", "success"), ("b", "cancelled"), ("c", "cancelled")):
        (tmp_path / name).mkdir()
        write_eval(tmp_path / name / "log.eval", [sample()], header(status=status))
    done = run_command("spotter", "import", tmp_path, "-o", "run.jsonl", cwd=out)
    notes = done.stderr.splitlines()
    assert "b/log.eval, c/log.eval: the run has the status cancelled" in notes
    assert "the events and the store of the samples stay in the log" in notes


def test_a_log_without_attempts_is_not_a_run(tmp_path: Path, out: Path) -> None:
    empty, full = tmp_path / "0.jsonl", tmp_path / "1.jsonl"
    empty.touch()
    assert "no log has an attempt" in refused(out, empty, "--from", "verl", code=4)
    write_jsonl(full, [verl_row("a", 1.0)])
    words = ("import", empty, full, "-o", "run.jsonl", "--from", "verl")
    done = run_command("spotter", *words, cwd=out)
    assert done.returncode == 0, done.stderr
    assert "passed over 0.jsonl: it has no attempts" in done.stderr
    assert names_in(out) == [
        "run-step_1.jsonl",
        "run-step_1_materialized_inputs.jsonl",
        "run-step_1_run.json",
    ]


def test_if_one_of_several_runs_is_damaged_none_is_written(tmp_path: Path, out: Path) -> None:
    write_jsonl(tmp_path / "1.jsonl", [verl_row("a", 1.0)])
    damaged = write_jsonl(tmp_path / "2.jsonl", [verl_row("a", 1.0)])
    damaged.write_text(damaged.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    assert "cannot read line 2" in refused(out, tmp_path, code=4)


def test_a_reward_of_another_name_can_be_chosen(out: Path) -> None:
    [run] = import_case(VERL, out / "run.jsonl", "--reward", "acc")
    assert {str(row["reward"]) for row in run.rollouts} == {"0.0", "1.0"}
    lm_eval = OWN / "lm_eval" / "capitals" / "scripted"
    capitals = next(lm_eval.glob("samples_capitals_*"))
    [run] = import_case(capitals, out / "loose.jsonl", "--reward", "exact_match,loose")
    assert [row["reward"] for row in run.rollouts] == [1.0, 1.0, 0.0]
    assert [row["exact_match_strict"] for row in run.rollouts] == [1.0, 0.0, 0.0]


def test_a_benchmark_without_the_chosen_metric_is_left_out_with_a_word(out: Path) -> None:
    [run] = import_case(OWN / "lm_eval" / "capitals", out / "run.jsonl", "--reward", "acc")
    assert run.task_names() == {"choices/0", "choices/1"}
    assert any("has no acc, and was left out" in loss for loss in run.data["losses"])


def test_metrics_of_all_documents_are_said_not_to_be_in_the_run(out: Path) -> None:
    folder = OWN / "lm_eval" / "prose" / "scripted"
    perplexity = next(folder.glob("samples_prose_*"))
    message = refused(out, perplexity, code=4)
    assert "no log has an attempt\n  samples_prose_" in message
    assert "computes word_perplexity" in message
    [run] = import_case(folder, out / "run.jsonl")
    said = "\n".join(run.data["losses"])
    assert "has no score of a single document (the harness computes word_perplexity," in said
    assert "the harness computes bleu of translate over all documents" in said
    assert "None" not in said


@pytest.mark.parametrize("folder", case_folders("verl", "lm_eval", "verifiers"), ids=case_id)
def test_an_unknown_reward_is_refused_with_the_known_ones(folder: Path, out: Path) -> None:
    assert "unknown\n  there are: " in refused(out, folder, "--reward", "zzz", code=2)


def test_a_metric_does_not_hide_the_reward(tmp_path: Path, out: Path) -> None:
    path = write_jsonl(tmp_path / "0.jsonl", [verl_row("a", 1.0, reward=0.25, _secret=2)])
    [run] = import_case(path, out / "run.jsonl")
    [row] = run.rollouts
    assert (row["reward"], row["metric_reward"], row["metric_secret"]) == (1.0, 0.25, 2)


def test_numbers_that_are_not_finite_are_no_rewards(tmp_path: Path, out: Path) -> None:
    path = tmp_path / "0.jsonl"
    path.write_text(json.dumps(verl_row("a", float("nan"))) + "\n", encoding="utf-8")
    [run] = import_case(path, out / "run.jsonl")
    assert run.rollouts[0]["reward"] is None
    assert run.data["unscored_rollout_count"] == 1


def test_a_killed_import_leaves_nothing_that_the_next_does_not_remove(out: Path) -> None:
    words = ("import", str(VERL), "-o", "run.jsonl")
    killed = subprocess.run([sys.executable, "-c", KILL, *words], cwd=out, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert names_in(out), "the import was in the middle of its work"
    assert not list(out.glob("run*"))
    import_case(VERL, out / "run.jsonl")
    assert names_in(out) == ["run.jsonl", "run_materialized_inputs.jsonl", "run_run.json"]


def test_an_import_that_dies_while_it_publishes_leaves_no_half_run(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rollouts make the run: they go first and come last."""
    import_case(VERL, out / "run.jsonl")
    replaced: list[str] = []

    def die_at_the_last(path: Path, target: Path) -> Path:
        replaced.append(target.name)
        if target.name == "run.jsonl":
            raise OSError(28, "No space left on device")
        return rename(path, target)

    rename = Path.replace
    monkeypatch.setattr(Path, "replace", die_at_the_last)
    words = ("import", LEGACY, "-o", "run.jsonl", "--overwrite")
    assert run_command("spotter", *words, cwd=out).returncode == 4
    assert replaced[-1] == "run.jsonl"
    assert len(replaced) == 4
    assert not (out / "run.jsonl").exists()


def test_an_interrupted_import_removes_its_drafts(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = VerlLog.attempts

    def interrupted(log: VerlLog) -> Iterator[Attempt]:
        yield from read(log)
        assert names_in(out)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(VerlLog, "attempts", interrupted)
    done = run_command("spotter", "import", VERL, "-o", "run.jsonl", cwd=out)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert names_in(out) == []


def test_the_same_questions_of_two_formats_are_compared(tmp_path: Path) -> None:
    """A log of verifiers and a home-made one, with the same tasks in another order."""
    questions = ("2 + 3?", "7 + 8?", "99 + 1?")
    legacy = [
        {
            "example_id": index,
            "prompt": [{"role": "user", "content": question}],
            "completion": [{"role": "assistant", "content": "5"}],
            "answer": str(index),
            "reward": float(index == 0),
        }
        for index, question in enumerate(questions)
        for _ in range(2)
    ]
    mine = [
        {"q": question, "a": "5", "gold": index, "points": 1.0}
        for index, question in reversed(list(enumerate(questions)))
        for _ in range(2)
    ]
    write_jsonl(tmp_path / "results.jsonl", legacy)
    write_jsonl(tmp_path / "mine.jsonl", mine)
    mapping = "reward: points\ninput: q\noutput: a\nanswer: gold\n"
    (tmp_path / "mapping.yml").write_text(mapping, encoding="utf-8")
    import_case(tmp_path / "results.jsonl", tmp_path / "before.jsonl")
    import_case(tmp_path / "mine.jsonl", tmp_path / "after.jsonl", "--from", "mapping.yml")
    words = ("compare", "before.jsonl", "after.jsonl", "--json")
    done = run_command("spotter", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shared = query(
        tmp_path / "warehouse.duckdb",
        "select count(*) from (select task_id from task_profiles group by task_id"
        " having count(distinct run_id) = 2)",
    )
    assert shared == [(3,)]


def test_shards_of_a_benchmark_are_one_run_also_before_they_are_merged(
    tmp_path: Path, out: Path
) -> None:
    logs = shutil.copytree(OWN / "nemo_evaluator" / "shards", tmp_path / "logs")
    [merged] = import_case(logs, out / "run.jsonl")
    assert "2 shards were left out: there are merged results" in merged.data["losses"]
    shutil.rmtree(logs / "spotter_sums")
    [run] = import_case(logs, out / "run.jsonl", "--overwrite")
    assert sorted(run.task_names()) == sorted(merged.task_names())
    assert (len(run.rollouts), len(run.failures), run.missing()) == (8, 2, set())
    shutil.rmtree(logs / "shard_1")
    [shard] = import_case(logs, out / "run.jsonl", "--overwrite")
    assert (len(shard.task_names()), shard.missing()) == (3, set())


def test_what_a_shard_would_have_given_is_missing_from_merged_results(
    tmp_path: Path, out: Path
) -> None:
    shards = OWN / "nemo_evaluator" / "shards"
    logs = shutil.copytree(shards / "spotter_sums", tmp_path / "spotter_sums")
    shutil.copy(shards / "shard_0" / "spotter_sums" / "results.jsonl", logs)
    [run] = import_case(logs, out / "run.jsonl")
    assert run.missing() == {("0", 0), ("0", 1), ("4", 0), ("4", 1)}


def test_a_failure_with_a_stored_reward_stays_out_of_the_mean(tmp_path: Path) -> None:
    import_case(OWN / "nemo_evaluator" / "broken", tmp_path / "run.jsonl")
    strict = run_command("spotter", "profile", "run.jsonl", cwd=tmp_path)
    assert strict.returncode == 1
    done = run_command("spotter", "profile", "run.jsonl", "--allow-partial", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    warehouse = tmp_path / "warehouse.duckdb"
    [(mean,)] = query(warehouse, "select value_mean from agent_metrics where metric = 'reward'")
    assert mean == pytest.approx(1 / 3)
    classes = "select failure_class, attempt_count from failure_classes order by failure_class"
    assert query(warehouse, classes) == [("infra_error", 1), ("system", 1)]


def test_a_masked_reward_stays_out_of_the_mean_and_the_profile_says_why(tmp_path: Path) -> None:
    [run] = import_case(OWN / "harbor" / "steps_and_grades", tmp_path / "run.jsonl")
    assert run.data["masked_rollouts"] == {"harbor:reward_invalid": 2}
    done = run_command("spotter", "profile", "run.jsonl", "--allow-partial", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "the environment masked 2 of 4 completed rollouts: 2 harbor:reward_invalid" in done.stderr
    )
    warehouse = tmp_path / "warehouse.duckdb"
    rewards = "select value_mean, value_count from agent_metrics where metric = 'reward'"
    assert query(warehouse, rewards) == [(0.875, 2)]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("collect", "-a", "x", "-i", "tasks.jsonl", "-o", "run.jsonl", "--resume"), 2, "imported"),
        (("aggregate", "-i", "run.jsonl", "-o", "all.jsonl", "--head-port=1"), 3, "head server"),
        (("reverify", "run.jsonl", "-o", "new.jsonl", "--head-port=1"), 3, "head server"),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
def test_no_command_takes_an_imported_run_for_its_own(
    words: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    import_case(VERL, tmp_path / "run.jsonl")
    write_jsonl(tmp_path / "tasks.jsonl", read_rows(tmp_path / "run_materialized_inputs.jsonl")[:1])
    done = run_command("spotter", *words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "is not the record of a run" not in done.stderr
