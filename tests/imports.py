"""Import the logs of a case, and read what came of them in the words of its `expected.json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.chat_messages import chat_messages
from tests.programs import run_command
from tests.support import ROOT

Row = dict[str, Any]
SHARED = ROOT.parent / "shared" / "imports"
OWN = ROOT / "tests" / "fixtures" / "imports"


def case_folders(*formats: str) -> list[Path]:
    """The cases of some formats: those of the project, and others where they are present."""
    return [
        path.parent
        for base in (OWN, SHARED)
        for name in formats
        for path in sorted((base / name).glob("*/expected.json"))
    ]


def case_id(folder: Path) -> str:
    kind = "own" if folder.is_relative_to(OWN) else "shared"
    return f"{kind}-{folder.parent.name}-{folder.name}"


@dataclass(frozen=True)
class ImportedRun:
    """The files of a run, by the log that it was imported from."""

    log: str
    rollouts: list[Row]
    inputs: list[Row]
    failures: list[Row]
    record: Row
    data: Row = field(default_factory=dict)
    """What the command printed about the run."""

    def task_names(self) -> set[str]:
        return {row["_ng_source_task"] for row in self.inputs}

    def missing(self) -> set[tuple[str, int]]:
        present = {source_key(row) for row in [*self.rollouts, *self.failures]}
        return {source_key(row) for row in self.inputs} - present


def source_key(row: Row) -> tuple[str, int]:
    return row["_ng_source_task"], row["_ng_rollout_index"]


def import_case(folder: Path, output: Path, *options: str) -> list[ImportedRun]:
    """Import the logs of a case; fail if the command does."""
    words: list[str | Path] = ["import", folder, "-o", output, "--json", *options]
    done = run_command("spotter", *words, cwd=output.parent)
    assert done.returncode == 0, done.stderr
    return [_read(run) for run in json.loads(done.stdout)["runs"]]


def read_rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def message_count(row: Row) -> int:
    """How many messages of a chat a rollout has: an assistant's text and calls are one."""
    given = row["responses_create_params"]["input"]
    made = row["response"]["output"]
    return len(chat_messages(given)) + len(chat_messages(made))


def expected_rows(part: Any) -> list[Row]:
    """The rollouts of `expected.json`, or of one of its files."""
    found: list[Row] = part["rollouts"] if isinstance(part, dict) else part
    return found


def differences(run: ImportedRun, expected: list[Row]) -> Iterator[str]:
    """Say in which attempts a run differs from what is expected of it."""
    rollouts = {source_key(row): row for row in run.rollouts}
    failures = {source_key(row): row for row in run.failures}
    wanted = {(one["task"], one["rollout"]): one for one in expected}
    for key in sorted(rollouts.keys() | failures.keys() - wanted.keys()):
        if key not in wanted:
            yield f"{key}: not expected"
    for key, one in wanted.items():
        if one["error"] and one["reward"] is None:
            found = failures.get(key)
            if key in rollouts or found is None:
                yield f"{key}: not a failure"
            elif found["_ng_failure_class"] != one["error"]:
                yield f"{key}: {found['_ng_failure_class']}, not {one['error']}"
            elif "stored_reward" in one and found.get("stored_reward") != one["stored_reward"]:
                yield f"{key}: stored {found.get('stored_reward')}"
        elif key not in rollouts:
            yield f"{key}: no rollout"
        else:
            yield from _row_differences(key, rollouts[key], one)


def _row_differences(key: tuple[str, int], row: Row, wanted: Row) -> Iterator[str]:
    usage = row["response"].get("usage") or {}
    found = {
        "reward": row["reward"],
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "messages": message_count(row),
        "masked": row["failure_kind"] if row.get("mask_sample") else None,
    }
    if wanted.get("masked"):
        found["stored_reward"] = row.get("stored_reward")
    for name, value in found.items():
        if not _is_same(value, wanted.get(name)):
            yield f"{key}: {name} {value!r}, not {wanted.get(name)!r}"
    metrics = wanted.get("metrics")
    for name, value in metrics.items() if isinstance(metrics, dict) else ():
        if not _is_same(row.get(f"metric_{name}", row.get(name)), value):
            yield f"{key}: {name} {row.get(name)!r}, not {value!r}"


def _is_same(found: Any, wanted: Any) -> bool:
    if isinstance(found, (int, float)) and isinstance(wanted, (int, float)):
        return abs(found - wanted) < 1e-9
    return bool(found == wanted)


def _read(run: Row) -> ImportedRun:
    record = json.loads(Path(run["record"]).read_text(encoding="utf-8"))
    return ImportedRun(
        log=record["imported"]["files"][0]["name"],
        rollouts=read_rows(Path(run["rollouts"])),
        inputs=read_rows(Path(run["inputs"])),
        failures=read_rows(Path(run["failures"])) if run["failures"] else [],
        record=record,
        data=run,
    )
