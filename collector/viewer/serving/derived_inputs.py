"""A rollouts file that came alone: its inputs are made of what the rollouts repeat of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from collector.artifacts import INPUTS_SUFFIX, Run
from collector.atomic_files import Drafts
from collector.errors import FileError
from collector.jsonl import Row, dump, parse_object
from collector.profiling.python_reader import BOM, input_row
from collector.viewer.live import DERIVED_FOLDER

INDICES = ("_ng_task_index", "_ng_rollout_index")
KEPT = ("responses_create_params", "agent_ref", *INDICES)


def derived_inputs(rollouts: Path, warehouse: Path) -> Path:
    """Return where the inputs of a file without any are kept."""
    name = hashlib.md5(os.fsencode(rollouts)).hexdigest() + INPUTS_SUFFIX
    return warehouse.parent / DERIVED_FOLDER / name


def derive_inputs(run: Run, say: Callable[[str], None]) -> None:
    """Write the inputs that the rollouts answer, line by line."""
    say(
        f"{run.rollouts} has no {run.rollouts.stem}{INPUTS_SUFFIX} beside it:"
        " what is there counts as all there is"
    )
    try:
        with Drafts() as drafts:
            with run.rollouts.open("rb") as source, drafts.open(run.inputs) as target:
                for line in source:
                    row = _input_of(line.removeprefix(BOM))
                    if row is not None:
                        target.write(dump(row) + b"\n")
                if not target.tell() and not run.rollouts.stat().st_size:
                    raise FileError(f"there is no rollout in {run.rollouts}: it is empty")
            drafts.publish()
    except OSError as error:
        raise FileError(f"cannot read {run.rollouts}: {error.strerror}") from error


def _input_of(line: bytes) -> Row | None:
    """Return the input of a rollout; the profile names lines that are not rollouts."""
    try:
        row = parse_object(line)
    except ValueError:
        row = _read_leniently(line)
    if not all(name in row for name in INDICES):
        return None
    return {name: row[name] for name in KEPT if name in row}


def _read_leniently(line: bytes) -> Row:
    """Read a line with numbers that JSON does not have, as the profile does."""
    try:
        row = json.loads(line.decode("utf-8"))
        return input_row(row) if isinstance(row, dict) else {}
    except (ValueError, RecursionError):
        return {}
