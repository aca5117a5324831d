"""The runs that both engines build: all golden cases, the corpus, hostile lines and random runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.conftest import CORPUS, GOLDEN
from tests.e2e.test_dbt import BROKEN
from tests.e2e.test_hard_values import CASES as HARD
from tests.gym_runs import random_run
from tests.support import Row, key, write_lines, write_run

RANDOM_RUNS = 25
COMPARED = ("failed-rollouts", "better-rollouts")


def write_runs(folder: Path) -> None:
    """Write every run into a folder of its own, where its rollouts are `rollouts.jsonl`."""
    _copy_cases(folder)
    for name, (rollouts, inputs) in BROKEN.items():
        write_run(folder / name, rollouts, inputs=inputs, name="rollouts")
    for name, rows in HARD.items():
        asked = [key(0, index, question=name) for index in range(len(rows))]
        write_run(folder / name, rows[:100], inputs=asked[:100], name="rollouts")
    for seed in range(RANDOM_RUNS):
        run = random_run(seed)
        write_run(folder / f"random_{seed}", run.rollouts, inputs=run.inputs, name="rollouts")
    _write_odd_lines(folder)
    _write_pair(folder)


def _copy_cases(folder: Path) -> None:
    for case in (*GOLDEN.iterdir(), *(CORPUS.iterdir() if CORPUS.is_dir() else ())):
        if (case / "expected.json").exists():
            (folder / case.name).mkdir()
            for path in case.glob("rollouts*.jsonl"):
                shutil.copy(path, folder / case.name)


def _write_odd_lines(folder: Path) -> None:
    """Lines that one engine could read in another way, and a folder that is not a plain word."""
    good = key(0, 0, q=1e16, small=1e-7, big=123456789.25, text="1.5E8", list=[1.0, 2.5e-9, -0.0])
    lines: dict[str, list[Row | bytes]] = {
        "two_objects": [b'{"_ng_task_index":0,"_ng_rollout_index":0} {"a":1}'],
        "words_behind": [b'{"_ng_task_index":0,"_ng_rollout_index":0}x'],
        "cut_short": [b'{"_ng_task_index":0,"_ng_rollout_index"'],
        "not_utf8": [b'{"_ng_task_index":0,"_ng_rollout_index":0,"a":"\xff"}'],
        "text_index": [b'{"_ng_task_index":"0","_ng_rollout_index":0}'],
        "fraction_index": [b'{"_ng_task_index":0.5,"_ng_rollout_index":0}'],
        "whole_fractions": [{**good, "_ng_task_index": 0.0, "_ng_rollout_index": -0.0}],
        "it's [1]* %41 + é": [
            good | {"reward": 2.5e-9, "tokens": 1e21, "ratio": 1e20, "_spotter_latency_ms": 84.5}
        ],
        "latency_as_text": [good | {"reward": 1, "_spotter_latency_ms": "84.5"}],
        "empty_lines": [b"", good | {"reward": 1, "_spotter_latency_ms": 84}, b"  ", b"\r"],
    }
    for name, rollouts in lines.items():
        write_run(folder / name, rollouts, inputs=[good], name="rollouts")
    unreadable = key(0, 0, q=1, note="NaN") | {"nested": [float("nan")]}
    write_run(folder / "nan_input", [key(0, 0, reward=1)], inputs=[unreadable], name="rollouts")
    healthy = json.dumps(key(0, 0, verdict="healthy")).encode()
    verdicts = [b"{", healthy, b'{"_ng_task_index": 0}', b'"unhealthy"']
    write_lines(folder / "nan_input" / "rollout_verdicts.jsonl", verdicts)


def _write_pair(folder: Path) -> None:
    """Two runs over the same tasks, with failures, verdicts, answers, prompts and tool calls."""
    rows = [
        key(task, index, reward=index / 3, category=f"c{task % 2}", extracted_answer=index % 2)
        for task in range(6)
        for index in range(4)
    ]
    asked = [
        row | {"responses_create_params": {"input": [{"role": "user", "content": f"Task {row}"}]}}
        for row in rows
    ]
    failed = write_run(folder / "failed", map(_answered, rows[1:]), inputs=asked, name="rollouts")
    write_lines(
        failed.failures,
        [
            key(0, 0, _ng_failure_class="timeout", _ng_attempt_index=0),
            key(0, 0, _ng_failure_class="http_5xx", _ng_failure_status=500, _ng_attempt_index=1),
        ],
    )
    found = [{"check": "empty_response"}, {"check": "a_check"}, {"check": "a_check"}]
    verdict = key(1, 2, verdict="unhealthy", findings=found)
    stages = [verdict, key(1, 2, verdict="healthy"), verdict | {"findings": [{"check": "b"}]}]
    write_lines(failed.rollouts.with_name("rollout_verdicts.jsonl"), stages)
    better = [_answered(row | {"reward": min(1, row["reward"] + 0.4)}) for row in rows]
    write_run(folder / "better", better, inputs=asked, name="rollouts")


def _answered(row: Row) -> Row:
    calls = [{"type": "function_call", "name": "f", "arguments": "{}"}] * row["_ng_rollout_index"]
    said = {"type": "message", "content": [{"type": "output_text", "text": f"{row['reward']}"}]}
    usage = {"input_tokens": 7, "output_tokens": 3 + row["_ng_task_index"], "total_tokens": 9}
    response = {
        "model": "m",
        "created_at": 1.7e9 + row["_ng_task_index"] / 7,
        "temperature": 0.7,
        "reasoning": {"effort": "high"},
        "output": [*calls, said],
        "usage": usage | {"input_tokens_details": {"cached_tokens": 2}},
    }
    return row | {"response": response}
