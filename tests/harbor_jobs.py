"""Write small jobs of Harbor and runs of terminal-bench, as their files are laid out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2))
    return path


def trajectory(*steps: Row, version: str = "1.7", **fields: Any) -> Row:
    """Return a trajectory of some steps, which get their numbers."""
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, start=1)]
    return {
        "schema_version": f"ATIF-v{version}",
        "session_id": "s1",
        "agent": {"name": "writer", "version": "1", "model_name": "maker/model"},
        "steps": numbered,
        **fields,
    }


USER: Row = {"source": "user", "message": "Write a file."}
CALL: Row = {
    "source": "agent",
    "message": "",
    "reasoning_content": "A shell will do.",
    "tool_calls": [
        {"tool_call_id": "c1", "function_name": "bash", "arguments": {"command": "touch a"}}
    ],
    "observation": {"results": [{"source_call_id": "c1", "content": "done"}]},
    "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "logprobs": [-0.5]},
}
WRITER: Row = {"name": "writer", "model_name": "maker/model"}
DONE: Row = {"source": "agent", "message": "It is written."}


def trial(job: Path, name: str, **changes: Any) -> Path:
    """Write the result of a trial; return the trial's folder."""
    task = name.partition("__")[0]
    result = {
        "task_name": task,
        "trial_name": name,
        "task_checksum": f"hash-of-{task}",
        "source": "files",
        "config": {"agent": {**WRITER, "kwargs": {"key": "s"}}},
        "agent_info": {"name": "writer", "version": "1"},
        "agent_result": {"n_input_tokens": 10, "n_output_tokens": 2, "n_cache_tokens": 4},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-01-01T00:00:00Z",
        "step_results": None,
        **changes,
    }
    write_json(job / name / "config.json", {"trial_name": name})
    return write_json(job / name / "result.json", result).parent


def lock(job: Path, *tasks: str) -> None:
    """Write the file that says which trials a job was to make."""
    trials = [{"task": {"name": task}, "agent": WRITER} for task in tasks]
    write_json(job / "lock.json", {"harbor": {"version": "0.24.0"}, "trials": trials})


def bench_trial(task: str, number: int, of: int = 2, **changes: Any) -> Row:
    """Return the results of a trial of terminal-bench."""
    return {
        "trial_name": f"{task}.{number}-of-{of}",
        "task_id": task,
        "instruction": f"Do {task}.",
        "is_resolved": True,
        "failure_mode": "unset",
        "parser_results": {"test_a": "passed", "test_b": "failed"},
        "total_input_tokens": 10,
        "total_output_tokens": 2,
        **changes,
    }


def write_bench_trial(run: Path, row: Row) -> Path:
    return write_json(run / row["task_id"] / row["trial_name"] / "results.json", row)
