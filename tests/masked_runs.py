"""A run with everything that NeMo Gym 0.7 brought: masks, fan-out, gaps, effort and verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.responses import calls, gives, says, thinks
from tests.support import Profiled, Row, key, profiled, write_lines, write_run

SOLVER, WRITER = "solver", "writer <b>&"
REPEATS = 3
TASKS = 8
ALONE = 5  # a task that was sent to one agent only
HOSTILE_KIND = '"><img src=x onerror=window.pwned=1>:kind'
HOSTILE_REASON = "<script>window.pwned=1</script> \u202egnp {{7*7}} " + "w" * 400
UNKNOWN = "(unknown)"
# by task and rollout, the kind and the reason; the solver has the first rollouts of a task
MASKS: dict[tuple[int, int], tuple[str | None, str | None]] = {
    (1, 0): ("judge_failed", "the judge answered 503 three times"),
    **{(2, index): ("provider_unavailable", "no sandbox in 60 s") for index in range(2)},
    (2, 2): (None, None),
    (3, 4): (HOSTILE_KIND, HOSTILE_REASON),
    **{(6, index): ("session_lost", "the session is gone") for index in range(2 * REPEATS)},
}
MISSING = {(4, 5), (7, 0), (7, 1), (7, 2), (7, 3), (7, 4), (7, 5)}
MASKED = len(MASKS)


def keys() -> list[tuple[int, int]]:
    """All rollouts that were asked for."""
    return [
        (task, index)
        for task in range(TASKS)
        for index in range(REPEATS if task == ALONE else 2 * REPEATS)
    ]


def asked(task: int, index: int) -> Row:
    prompt = f"What is {task} + {task}?"
    return key(
        task,
        index,
        agent_ref={"name": SOLVER if index < REPEATS else WRITER},
        responses_create_params={"input": [{"role": "user", "content": prompt}]},
        expected_answer=str(2 * task),
        topic="even" if task % 2 == 0 else "odd",
    )


def answered(task: int, index: int) -> Row:
    reward = float((task + index) % 3 != 0)
    output = [
        thinks("I add."),
        calls(json.dumps({"a": task, "b": task})),
        gives(str(2 * task)),
        says(f"It is {2 * task if reward else index}."),
    ]
    tokens = {"input_tokens": 100 + task, "output_tokens": 20 + index}
    usage = {**tokens, "total_tokens": sum(tokens.values())}
    kind, reason = MASKS.get((task, index), (None, None))
    return {
        **asked(task, index),
        "reward": reward,
        "extracted_answer": str(2 * task if reward else index),
        "mask_sample": (task, index) in MASKS,
        "failure_kind": kind,
        "failure_reason": reason,
        "ng_perf": perf(task, index),
        "response": {"model": "tiny", "output": output, "usage": usage},
    }


def perf(task: int, index: int) -> dict[str, Any]:
    return {
        "num_turns": 2 + index % 2,
        "num_tool_calls": 1 + task % 2,
        "total_latency_ms": 850.0 * (1 + index),
        "cached_prompt_tokens": 40,
        "reasoning_tokens": 7,
    }


def verdict(task: int, index: int) -> Row:
    is_unhealthy = (task + index) % 5 == 0
    return {
        "_ng_task_index": task,
        "_ng_rollout_index": index,
        "verdict": "unhealthy" if is_unhealthy else "healthy",
        "findings": [{"check": "token_coverage", "detail": "<b>x"}] if is_unhealthy else [],
    }


def write_masked_run(folder: Path, name: str = "run") -> Profiled:
    """Write the run, the verdicts of NeMo Gym's health check beside it, and a list of prices."""
    done = [one for one in keys() if one not in MISSING]
    made = write_run(
        folder,
        [answered(*one) for one in done],
        inputs=[asked(*one) for one in keys()],
        name=name,
    )
    write_lines(folder / "rollout_verdicts.jsonl", [verdict(*one) for one in done])
    (folder / "prices.yaml").write_text("tiny: {input: 1.5, output: 6}\n", encoding="utf-8")
    return made


def profile_masked_run(folder: Path, *options: str) -> Profiled:
    """Profile the run with its prices."""
    made = write_masked_run(folder)
    prices = str(folder / "prices.yaml")
    return profiled(made, "--run-id", "r", "--allow-partial", "--prices", prices, *options)
