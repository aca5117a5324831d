"""verifiers and prime-rl: `traces.jsonl`, and the older `results.jsonl` with `metadata.json`."""

from __future__ import annotations

from pathlib import Path

from collector.importing.attempts import Log
from collector.importing.candidates import Candidate, Claim
from collector.importing.formats.verifiers_legacy import METADATA, LegacyLog
from collector.importing.formats.verifiers_traces import TraceLog
from collector.importing.reading import Reading

NAME = "verifiers"
ALL, EFFECTIVE = "all", "effective"


def claim(file: Candidate) -> Claim | None:
    """Tell traces and results by the fields of the first row."""
    row = file.first_object or {}
    if isinstance(row.get("traces"), list) and "task" in row:
        return Claim.LOG
    if {"example_id", "prompt", "completion", "reward"} <= row.keys():
        return Claim.LOG
    if file.path.suffix != ".json":
        return None
    whole = (file.whole_object or {}).keys()
    is_metadata = {"env_id", "rollouts_per_example"} <= whole
    is_config = {"env", "num_rollouts"} <= whole or {"taskset", "num_rescores"} <= whole
    return Claim.PART if is_metadata or is_config else None


def open_logs(files: list[Path], reading: Reading) -> list[Log]:
    """Return one run per file; prime-rl's `effective` repeats episodes of its `all`."""
    logs: list[Log] = []
    for path in sorted(files):
        row = Candidate(path).first_object or {}
        if "example_id" in row:
            logs.append(LegacyLog(path, reading, path.with_name(METADATA)))
        elif not (path.parent.name == EFFECTIVE and _whole(path) in files):
            logs.append(TraceLog(path, reading, repeats_left_out=_effective(path) in files))
    return logs


def _whole(path: Path) -> Path:
    return path.parent.with_name(ALL) / path.name


def _effective(path: Path) -> Path:
    return path.parent.with_name(EFFECTIVE) / path.name
