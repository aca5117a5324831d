"""Harbor's jobs, single ATIF trajectories and terminal-bench's runs, as attempts."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import FileError
from collector.importing.attempts import Attempt, Failure, Log, Mask
from collector.importing.reading import Reading, RewardChoice
from collector.importing.search import find_logs
from tests.harbor_jobs import (
    CALL,
    DONE,
    USER,
    WRITER,
    Row,
    bench_trial,
    lock,
    trajectory,
    trial,
    write_bench_trial,
    write_json,
)


def open_logs(folder: Path, kind: str, reward: str | None = None) -> list[Log]:
    found = find_logs([folder], None)
    assert (found.format.NAME, found.passed_over) == (kind, [])
    return found.format.open_logs(found.files, Reading(rewards=RewardChoice(reward)))


def read_all(folder: Path, kind: str, reward: str | None = None) -> list[Attempt]:
    (log,) = open_logs(folder, kind, reward)
    return list(log.attempts())


def test_a_trial_gives_reward_tokens_transcript_and_the_hash_of_its_task(tmp_path: Path) -> None:
    folder = trial(tmp_path / "job", "a__1")
    write_json(folder / "agent" / "trajectory.json", trajectory(USER, CALL, DONE))
    (folder / "verifier").mkdir()
    (folder / "verifier" / "reward.txt").write_text("1")
    (attempt,) = read_all(tmp_path, "harbor")
    assert (attempt.task, attempt.rollout, attempt.reward) == ("a", 0, 1.0)
    assert attempt.asked == {
        "responses_create_params": {"input": []},
        "task_name": "a",
        "task_checksum": "hash-of-a",
    }
    kinds = [item["type"] for item in attempt.output]
    assert kinds == ["message", "reasoning", "function_call", "function_call_output", "message"]
    assert attempt.usage == {
        "input_tokens": 10,
        "output_tokens": 2,
        "total_tokens": 12,
        "input_tokens_details": {"cached_tokens": 4},
    }
    assert "kwargs" not in str(attempt), "settings may have keys, and are not carried over"


def test_attempts_are_numbered_by_time_over_several_jobs(tmp_path: Path) -> None:
    trial(tmp_path / "second", "a__9", started_at="2026-01-01T00:00:00Z")
    trial(tmp_path / "first", "a__1", started_at="2026-01-02T00:00:00Z")
    attempts = read_all(tmp_path, "harbor")
    assert [one.details["trial_name"] for one in attempts] == ["a__9", "a__1"]
    assert [one.rollout for one in attempts] == [0, 1]


def test_each_model_is_a_run_of_its_own(tmp_path: Path) -> None:
    trial(tmp_path / "job", "a__1")
    other = {"agent": {"name": "writer", "model_name": "other/model"}}
    trial(tmp_path / "job", "a__2", config=other)
    logs = open_logs(tmp_path, "harbor")
    assert [log.identity.models for log in logs] == [("maker/model",), ("other/model",)]


def test_a_task_that_changed_between_jobs_is_two_tasks(tmp_path: Path) -> None:
    trial(tmp_path / "one", "a__1")
    trial(tmp_path / "two", "a__2", task_checksum="another-hash")
    (log,) = open_logs(tmp_path, "harbor")
    assert {one.task for one in log.attempts()} == {"a@hash-of-", "a@another-"}
    assert any("1 task changed" in sentence for sentence in log.losses())


def test_the_lock_file_says_what_is_missing(tmp_path: Path) -> None:
    trial(tmp_path / "job", "a__1")
    lock(tmp_path / "job", "a", "a", "never-started")
    (log,) = open_logs(tmp_path, "harbor")
    list(log.attempts())
    keys = [(one.task, one.rollout) for one in log.expected()]
    assert keys == [("a", 0), ("a", 1), ("never-started", 0)]
    assert log.identity.framework_version == "0.24.0"


def test_without_a_lock_file_the_settings_say_how_often_each_task_was_to_be_tried(
    tmp_path: Path,
) -> None:
    trial(tmp_path / "job", "a__1")
    write_json(tmp_path / "job" / "config.json", {"job_name": "job", "n_attempts": 2})
    (log,) = open_logs(tmp_path, "harbor")
    list(log.attempts())
    assert [(one.task, one.rollout) for one in log.expected()] == [("a", 0), ("a", 1)]


def test_settings_that_are_the_default_need_not_be_in_the_files_of_a_job(tmp_path: Path) -> None:
    trial(tmp_path / "job", "a__1")
    write_json(tmp_path / "job" / "config.json", {"jobs_dir": "jobs", "tasks": [{"path": "a"}]})
    (log,) = open_logs(tmp_path, "harbor")
    list(log.attempts())
    assert [(one.task, one.rollout) for one in log.expected()] == [("a", 0)]


def test_of_a_trial_that_was_graded_again_the_newest_grade_counts(tmp_path: Path) -> None:
    reward = {"rewards": {"reward": 0.0}}
    trial(tmp_path / "first", "a__1", id="1", verifier_result=reward)
    for number, source in ((2, "1"), (3, "2"), (4, "1")):
        config = {"agent": WRITER, "source_trial": {"action": "regrade", "trial_id": source}}
        time = f"2026-01-0{number}T00:00:00Z"
        changes = {"config": config, "started_at": time, "task_checksum": "new"}
        trial(tmp_path / f"grade-{number}", f"a__{number}", id=str(number), **changes)
    for job in tmp_path.iterdir():
        lock(job, "a")
    (log,) = open_logs(tmp_path, "harbor")
    (attempt,) = log.attempts()
    assert (attempt.task, attempt.rollout, attempt.reward) == ("a", 0, 1.0)
    assert attempt.details["trial_name"] == "a__4"
    assert [(one.task, one.rollout) for one in log.expected()] == [("a", 0)]
    assert "3 trials were graded again: the newest grade counts" in log.losses()


ERROR = {"exception_type": "AgentTimeoutError", "exception_message": "after 2 s"}


def test_an_exception_without_a_reward_is_a_failure(tmp_path: Path) -> None:
    trial(tmp_path / "job", "a__1", exception_info=ERROR, verifier_result=None)
    (attempt,) = read_all(tmp_path, "harbor")
    assert attempt.failure is not None
    assert (attempt.failure.kind, attempt.failure.message) == ("AgentTimeoutError", "after 2 s")


def test_an_exception_with_a_reward_keeps_the_reward_and_the_error(tmp_path: Path) -> None:
    trial(tmp_path / "job", "a__1", exception_info=ERROR)
    (attempt,) = read_all(tmp_path, "harbor")
    assert (attempt.reward, attempt.failure) == (1.0, None)
    assert attempt.details["error"] == "AgentTimeoutError"


@pytest.mark.parametrize("where", ["trial", "step"])
def test_an_exception_that_is_not_the_agents_doing_makes_the_reward_invalid(
    tmp_path: Path, where: str
) -> None:
    error = {"exception_type": "ApiRateLimitError", "exception_message": "slow down"}
    steps = [{"step_name": "one", "exception_info": error}]
    changes: Row = {"exception_info": error} if where == "trial" else {"step_results": steps}
    trial(tmp_path / "job", "a__1", **changes)
    (attempt,) = read_all(tmp_path, "harbor")
    assert (attempt.reward, attempt.failure) == (1.0, None)
    assert attempt.mask == Mask("harbor:reward_invalid", "ApiRateLimitError: slow down")


def test_the_exception_of_a_step_is_that_of_a_trial_without_a_reward(tmp_path: Path) -> None:
    steps = [{"step_name": "one"}, {"step_name": "two", "exception_info": ERROR}]
    trial(tmp_path / "job", "a__1", step_results=steps, verifier_result=None)
    (attempt,) = read_all(tmp_path, "harbor")
    assert attempt.failure == Failure("AgentTimeoutError", "after 2 s")


@pytest.mark.parametrize(
    ("choice", "reward", "metrics"),
    [(None, 0.3, {"style": 0.5}), ("style", 0.5, {"accuracy": 0.3})],
)
def test_the_first_of_several_rewards_counts_unless_one_is_chosen(
    tmp_path: Path, choice: str | None, reward: float, metrics: dict[str, float]
) -> None:
    trial(tmp_path / "job", "a__1", verifier_result={"rewards": {"accuracy": 0.3, "style": 0.5}})
    (attempt,) = read_all(tmp_path, "harbor", choice)
    assert (attempt.reward, attempt.metrics) == (reward, metrics)


def test_a_trial_of_several_steps_has_their_transcripts_and_the_sum_of_their_tokens(
    tmp_path: Path,
) -> None:
    steps = [
        {"step_name": name, "agent_result": {"n_input_tokens": 5, "n_output_tokens": 1}}
        for name in ("one", "two", "../escape")
    ]
    folder = trial(tmp_path / "job", "a__1", agent_result=None, step_results=steps)
    for name in ("one", "two"):
        write_json(folder / "steps" / name / "agent" / "trajectory.json", trajectory(USER, DONE))
    (attempt,) = read_all(tmp_path, "harbor")
    assert len(attempt.output) == 4
    assert attempt.usage == {"input_tokens": 15, "output_tokens": 3, "total_tokens": 18}


@pytest.mark.parametrize(("resumes", "count"), [(True, 4), (False, 6)])
def test_a_step_that_goes_on_with_the_session_repeats_the_step_before(
    tmp_path: Path, resumes: bool, count: int
) -> None:
    changes = {
        "config": {"agent": {**WRITER, "resume_trajectory": resumes}},
        "step_results": [{"step_name": "one"}, {"step_name": "two"}],
    }
    folder = trial(tmp_path / "job", "a__1", **changes) / "steps"
    write_json(folder / "one" / "agent" / "trajectory.json", trajectory(USER, DONE))
    again = trajectory(USER, DONE, {**USER, "message": "Go on."}, DONE)
    write_json(folder / "two" / "agent" / "trajectory.json", again)
    (attempt,) = read_all(tmp_path, "harbor")
    assert len(attempt.output) == count


def test_a_result_or_a_trajectory_that_was_cut_off_is_left_out_and_said(tmp_path: Path) -> None:
    folder = trial(tmp_path / "job", "a__1")
    torn = write_json(folder / "agent" / "trajectory.json", trajectory(USER, DONE))
    torn.write_bytes(torn.read_bytes()[:-20])
    damaged = trial(tmp_path / "job", "a__2") / "result.json"
    damaged.write_bytes(damaged.read_bytes()[:-20])
    (log,) = open_logs(tmp_path, "harbor")
    (attempt,) = log.attempts()
    assert attempt.output == []
    said = "\n".join(log.losses())
    assert f"{torn} is not a complete ATIF trajectory" in said
    assert f"{damaged} is cut off" in said


def test_a_trajectory_alone_is_an_attempt_without_a_reward(tmp_path: Path) -> None:
    write_json(tmp_path / "x" / "t.json", trajectory(USER, CALL, DONE, version="1.5"))
    write_json(tmp_path / "y" / "t.json", trajectory(USER, DONE))
    (log,) = open_logs(tmp_path, "atif")
    first, second = log.attempts()
    assert (first.task, second.task) == ("x/t.json", "y/t.json")
    assert first.asked == {
        "responses_create_params": {"input": [{"role": "user", "content": "Write a file."}]}
    }
    assert (first.reward, first.usage and first.usage["input_tokens"]) == (None, 10)
    assert any("1 trajectory had token ids" in sentence for sentence in log.losses())


def test_results_without_an_id_belong_to_the_calls_in_their_order(tmp_path: Path) -> None:
    step = {**CALL, "observation": {"results": [{"content": "done"}]}}
    write_json(tmp_path / "t.json", trajectory(USER, step))
    (attempt,) = read_all(tmp_path, "atif")
    assert attempt.output[-1]["call_id"] == "c1"


def test_a_continuation_goes_on_without_the_steps_that_it_copied(tmp_path: Path) -> None:
    first = trajectory(USER, DONE, continued_trajectory_ref="t.cont-1.json")
    copied = {**USER, "is_copied_context": True}
    write_json(tmp_path / "t.json", first)
    totals = {"total_prompt_tokens": 7, "total_completion_tokens": 1}
    write_json(tmp_path / "t.cont-1.json", trajectory(copied, CALL, final_metrics=totals))
    (attempt,) = read_all(tmp_path, "atif")
    kinds = [item["type"] for item in attempt.output]
    assert kinds == ["message", "reasoning", "function_call", "function_call_output"]
    assert attempt.usage == {"input_tokens": 7, "output_tokens": 1, "total_tokens": 8}


def test_a_continuation_that_is_absent_is_said_and_none_is_looked_for_outside(
    tmp_path: Path,
) -> None:
    write_json(tmp_path / "secret.json", trajectory(DONE))
    reference = "../secret.json"
    inside = write_json(
        tmp_path / "in" / "t.json", trajectory(USER, continued_trajectory_ref=reference)
    )
    (log,) = open_logs(inside.parent, "atif")
    (attempt,) = log.attempts()
    assert attempt.output == []
    assert any("../secret.json, which is absent" in sentence for sentence in log.losses())


def test_trajectories_of_subagents_are_kept_with_the_one_that_called_them(tmp_path: Path) -> None:
    reference = {"session_id": "other", "trajectory_path": "sub.json"}
    step = {**DONE, "observation": {"results": [{"subagent_trajectory_ref": [reference]}]}}
    inner = trajectory(DONE, trajectory_id="e1")
    write_json(tmp_path / "main.json", trajectory(USER, step, subagent_trajectories=[inner]))
    write_json(tmp_path / "sub.json", trajectory(USER, DONE))
    (attempt,) = read_all(tmp_path, "atif")
    assert [len(one["output"]) for one in attempt.details["subagents"]] == [1, 2]


def test_an_object_that_has_a_trajectory_inside_is_not_one(tmp_path: Path) -> None:
    write_json(tmp_path / "t.json", trajectory(USER))
    write_json(tmp_path / "list.json", {"found": [{"schema_version": "ATIF-v1.7"}]})
    assert [path.name for path in find_logs([tmp_path], None).passed_over] == ["list.json"]


def test_an_unknown_schema_is_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path / "t.json", trajectory(USER, version="2.0"))
    with pytest.raises(FileError, match=r"t\.json: its schema is ATIF-v2\.0"):
        open_logs(path, "atif")


def test_a_trial_of_terminal_bench_is_counted_once_though_the_run_repeats_it(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    rows = [bench_trial("a.hard", 1), bench_trial("a.hard", 2, is_resolved=False)]
    write_bench_trial(run, rows[1])
    write_json(run / "results.json", {"id": "r", "results": rows, "accuracy": 0.5})
    write_json(run / "run_metadata.json", {"agent_name": "solver", "n_attempts": 2})
    (log,) = open_logs(tmp_path, "terminal_bench")
    attempts = {one.rollout: one for one in log.attempts()}
    assert {number: one.reward for number, one in attempts.items()} == {0: 1.0, 1: 0.0}
    first = attempts[0]
    assert first.task == "a.hard"
    assert first.asked["responses_create_params"]["input"][0]["content"] == "Do a.hard."
    assert first.metrics == {"tests": 2, "tests_passed": 1, "tests_passed_ratio": 0.5}
    assert log.identity.agent == "solver"


def test_a_trial_that_was_never_judged_failed_and_another_keeps_its_error(tmp_path: Path) -> None:
    unjudged = bench_trial("a", 1, is_resolved=None, failure_mode="test_timeout")
    late = bench_trial("a", 2, failure_mode="agent_timeout", total_input_tokens=None)
    for row in (unjudged, late):
        write_bench_trial(tmp_path / "run", row)
    first, second = read_all(tmp_path, "terminal_bench")
    assert first.failure is not None
    assert first.failure.kind == "test_timeout"
    assert (second.reward, second.details["error"]) == (1.0, "agent_timeout")


def test_the_names_of_the_trials_say_what_is_missing(tmp_path: Path) -> None:
    write_bench_trial(tmp_path / "run", bench_trial("a", 2, of=3, total_input_tokens=0))
    (log,) = open_logs(tmp_path, "terminal_bench", "tests_passed_ratio")
    (attempt,) = log.attempts()
    assert (attempt.rollout, attempt.reward) == (1, 0.5)
    assert [one.rollout for one in log.expected()] == [0, 1, 2]
