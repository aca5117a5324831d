from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from collector.profiling.known_settings import known_statistics
from collector.profiling.statistics import ZeroRules
from collector.viewer.live_runs import check_sources, profile_flags

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def run(tmp_path: Path) -> dict[str, Any]:
    """A run that lacks rollouts, profiled ten seconds after its last line."""
    rollouts = tmp_path / "run.jsonl"
    inputs = tmp_path / "run_materialized_inputs.jsonl"
    for path in (rollouts, inputs):
        path.touch()
        touch(path, seconds_ago=30)
    return {
        "run_id": "r",
        "rollouts_path": str(rollouts),
        "inputs_path": str(inputs),
        "missing_rollout_count": 3,
        "profiled_at": (NOW - timedelta(seconds=20)).replace(tzinfo=None),
        "pass_threshold": 0.5,
        "answer_field": "verdict",
        "slice_by": "difficulty, category",
    }


def touch(path: Path, *, seconds_ago: float) -> None:
    at = NOW.timestamp() - seconds_ago
    os.utime(path, (at, at))


def look(run: dict[str, Any]) -> Any:
    return check_sources(run, now=NOW.timestamp)


def test_a_run_that_lacks_rollouts_and_was_written_to_lately_is_running(
    run: dict[str, Any],
) -> None:
    assert look(run).is_running
    assert not look(run).is_changed


def test_a_complete_run_is_not_running(run: dict[str, Any]) -> None:
    assert not look({**run, "missing_rollout_count": 0}).is_running


def test_a_run_that_was_left_alone_is_not_running(run: dict[str, Any]) -> None:
    touch(Path(run["rollouts_path"]), seconds_ago=120)
    touch(Path(run["inputs_path"]), seconds_ago=120)
    assert not look(run).is_running


def test_what_came_while_nobody_asked_is_still_to_be_shown(run: dict[str, Any]) -> None:
    touch(Path(run["rollouts_path"]), seconds_ago=120)
    touch(Path(run["inputs_path"]), seconds_ago=120)
    profiled = {**run, "profiled_at": (NOW - timedelta(seconds=200)).replace(tzinfo=None)}
    before, after = NOW.timestamp() - 150, NOW.timestamp() - 100
    assert check_sources(profiled, since=before, now=NOW.timestamp).is_running
    assert not check_sources(profiled, since=after, now=NOW.timestamp).is_running
    assert not check_sources(run, since=before, now=NOW.timestamp).is_running


@pytest.mark.parametrize(("status", "is_running"), [("running", True), ("complete", False)])
def test_the_record_of_the_collector_allows_for_slow_rollouts(
    run: dict[str, Any], status: str, is_running: bool
) -> None:
    rollouts = Path(run["rollouts_path"])
    touch(rollouts, seconds_ago=300)
    touch(Path(run["inputs_path"]), seconds_ago=300)
    record = {"sessions": [{"status": "complete"}, {"status": status}]}
    rollouts.with_name("run_run.json").write_text(json.dumps(record), encoding="utf-8")
    assert look(run).is_running is is_running


def test_an_imported_run_is_not_running(run: dict[str, Any]) -> None:
    rollouts = Path(run["rollouts_path"])
    record = {"identity": {"framework": "verl"}, "imported": {"format": "verl"}}
    rollouts.with_name("run_run.json").write_text(json.dumps(record), encoding="utf-8")
    assert not look(run).is_running


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sessions": []}', '{"sessions": [3]}'])
def test_a_record_nobody_understands_says_nothing(run: dict[str, Any], text: str) -> None:
    rollouts = Path(run["rollouts_path"])
    rollouts.with_name("run_run.json").write_text(text, encoding="utf-8")
    assert look(run).is_running


def test_a_failed_attempt_counts_as_a_change(run: dict[str, Any]) -> None:
    failures = Path(run["rollouts_path"]).with_name("run_failures.jsonl")
    failures.touch()
    touch(failures, seconds_ago=1)
    assert look(run).is_changed


def test_a_file_that_is_gone_is_missing_and_nothing_runs(run: dict[str, Any]) -> None:
    Path(run["rollouts_path"]).unlink()
    assert look(run).is_missing
    assert not look(run).is_running


@pytest.mark.parametrize("name", ["loop.jsonl", "run.jsonl/inside.jsonl", "x" * 5000, "nul\0"])
def test_a_file_that_cannot_be_looked_at_is_missing(run: dict[str, Any], name: str) -> None:
    folder = Path(run["rollouts_path"]).parent
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    assert look({**run, "rollouts_path": f"{folder}/{name}"}).is_missing


def test_a_record_that_is_a_pipe_is_not_waited_for(run: dict[str, Any]) -> None:
    os.mkfifo(Path(run["rollouts_path"]).with_name("run_run.json"))
    assert look(run).is_running


def test_a_run_is_profiled_again_as_it_was(run: dict[str, Any]) -> None:
    flags = profile_flags(run)
    assert flags[:5] == [
        run["rollouts_path"], "--inputs", run["inputs_path"], "--run-id", "r"
    ]  # fmt: skip
    assert flags[5:] == [
        "--pass-threshold", "0.5", "--answer-field", "verdict",
        "--slice-by", "difficulty", "--slice-by", "category",
    ]  # fmt: skip


def test_a_run_that_was_profiled_in_the_future_counts_as_changed(run: dict[str, Any]) -> None:
    assert not look(run).is_changed
    later = (NOW + timedelta(days=400)).replace(tzinfo=None)
    assert look({**run, "profiled_at": later}).is_changed


def test_names_with_commas_are_told_apart(run: dict[str, Any]) -> None:
    stored = {"slice_by": '["kind, sort","level"]', "zero_failure_classes": '["a, b"]'}
    known = known_statistics({**run, **stored})
    assert known.slice_by == ("kind, sort", "level")
    assert known.zeros == ZeroRules(("a, b",), is_missing_zero=False)


def test_settings_that_nobody_named_are_not_named_again(run: dict[str, Any]) -> None:
    usual = {"pass_threshold": 1.0, "answer_field": "extracted_answer", "slice_by": ""}
    assert profile_flags({**run, **usual})[5:] == []


def test_a_run_is_profiled_again_with_its_prices_and_zeros(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yml"
    run = {
        **{"rollouts_path": "r.jsonl", "inputs_path": "i.jsonl", "run_id": "r"},
        **{"zero_failure_classes": "a, b", "is_missing_zero": True, "prices_path": str(prices)},
    }
    zeros = ["--count-failure-classes-as-zero", "a", "--count-failure-classes-as-zero", "b"]
    money = ["--prices", str(prices)]
    assert profile_flags(run)[5:] == [*zeros, "--count-missing-rollouts-as-zero", *money]


def test_a_collection_that_ended_without_all_rollouts_is_not_running(run: dict[str, Any]) -> None:
    record = {"sessions": [{"status": "incomplete"}]}
    Path(run["rollouts_path"]).with_name("run_run.json").write_text(json.dumps(record))
    assert not look(run).is_running
