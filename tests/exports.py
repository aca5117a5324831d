"""Export runs that have hard values."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.programs import run_command
from tests.support import Profiled, Row, key, profiled, write_lines, write_run
from tests.warm_processes import WarmProgram

FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "=cmd|' /C calc'!A0",
    "  =1+1",
    "\t=1+1",
    "'=1+1",
    "''=1+1",
    "＝1+1",
)
TEXTS = (
    *FORMULAS,
    "",
    "'plain",
    "null",
    "NULL",
    'say "hi", twice',
    "two\nlines",
    "carriage\r\nreturn",
    "ünïcödé 😀",
    "\x01 control",
    "_x0041_ escaped",
    "007",
    "1e5",
    "true",
    "2026-01-01",
    "http://example.com/",
)
LARGE = 2**60 + 1


@dataclass(frozen=True)
class Exports:
    """The files and the messages of an export command."""

    folder: Path
    counts: dict[str, int]
    errors: str

    @property
    def snapshot(self) -> Path:
        return self.folder / "snapshot.duckdb"


def export(run: Profiled, *options: str, output: Path | None = None) -> Exports:
    """Export the warehouse of a run."""
    folder = output or run.warehouse.parent / "exports"
    words: list[str | Path] = ["export", "--json", "-w", run.warehouse, "-o", folder, *options]
    result = run_command("spotter", *words, cwd=run.warehouse.parent)
    assert result.returncode == 0, result.stderr
    return Exports(folder, json.loads(result.stdout)["tables"], result.stderr)


def export_after(
    run: Profiled, release: Callable[[], object], *, says: str, output: Path
) -> Exports:
    """Start an export that must wait, and call `release` once the command says so."""
    program = Path(sys.executable).with_name("spotter")
    words = ["export", "--json", "-w", str(run.warehouse), "-o", str(output)]
    with WarmProgram(
        [str(program), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        line = process.stderr.readline()
        assert says in line
        release()
        printed, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return Exports(output, json.loads(printed)["tables"], line + errors)


def make_runs(folder: Path) -> Profiled:
    """Profile two runs together: one with hard values, one with two agents and a slice."""
    first = _write_texts(folder)
    second = _write_agents(folder)
    options = ("--slice-by", "kind", "--allow-partial")
    profiled(first, "--run-id", "first/=run", *options)
    return profiled(second, "--run-id", "second", *options, "--warehouse", str(first.warehouse))


def _write_texts(folder: Path) -> Profiled:
    def row(task: int, index: int, text: str) -> Row:
        return key(
            LARGE if task == 0 else task,
            index,
            responses_create_params={"input": text or [{"role": "user", "content": text}]},
            kind=text,
        )

    keys = [(task, index) for task in range(len(TEXTS)) for index in range(2)]
    inputs = [row(*one, TEXTS[one[0]]) for one in keys]
    rollouts = [
        {**one, "reward": number % 3 / 2, "extracted_answer": one["kind"], "score": 0.1 + 0.2}
        for number, one in enumerate(inputs)
    ]
    masked = [row(task, 2, text) for task, text in enumerate(TEXTS)]
    rollouts += [
        {**one, "mask_sample": True, "failure_kind": one["kind"], "failure_reason": one["kind"]}
        for one in masked
    ]
    run = write_run(folder, rollouts, inputs=[*inputs, *masked], name="first")
    write_lines(run.failures, [key(1, 0, _ng_failure_class="=timeout", _ng_attempt_index=0)])
    return run


def _write_agents(folder: Path) -> Profiled:
    def row(task: int, index: int) -> Row:
        agent = {"name": ("=one", "two")[task % 2]}
        return key(task, index, agent_ref=agent, kind="even" if task % 4 < 2 else "odd")

    keys = [(task, index) for task in range(8) for index in range(4)]
    inputs = [row(*one) for one in keys]
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    rollouts = [
        {**row(*one), "reward": float(sum(one) % 2), "response": {"usage": usage}}
        for one in keys[:-3]
    ]
    return write_run(folder, rollouts, inputs=inputs, name="second")
