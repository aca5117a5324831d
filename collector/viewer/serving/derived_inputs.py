"""Inputs for a rollouts file without any: they are copied from the fields of its rollouts."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from collector.artifacts import INPUTS_SUFFIX, Run
from collector.atomic_files import Drafts, anything
from collector.errors import FileError
from collector.jsonl import Row, dump, parse_object
from collector.profiling.python_reader import BOM, finite_row
from collector.rollout_lines import INDEX_FOLDER

INDICES = ("_ng_task_index", "_ng_rollout_index")
COPIED_FIELDS = ("responses_create_params", "agent_ref", *INDICES)


def derived_inputs_path(rollouts: Path, warehouse: Path) -> Path:
    """Return the path of the inputs that are derived from a rollouts file."""
    name = hashlib.md5(os.fsencode(rollouts)).hexdigest() + INPUTS_SUFFIX
    return warehouse.parent / INDEX_FOLDER / name


def derive_inputs(run: Run, say: Callable[[str], None]) -> None:
    """Write one input for each rollout of a run, line by line."""
    say(
        f"{run.rollouts} has no {run.rollouts.stem}{INPUTS_SUFFIX} beside it:"
        " the rollouts present are treated as the complete run"
    )
    try:
        with Drafts() as drafts:
            with (
                run.rollouts.open("rb") as source,
                drafts.open(run.inputs, replaces=anything) as target,
            ):
                for line in source:
                    row = _input_of(line.removeprefix(BOM))
                    if row is not None:
                        target.write(dump(row) + b"\n")
                if not target.tell() and not run.rollouts.stat().st_size:
                    raise FileError(f"{run.rollouts} is empty: it has no rollouts")
            drafts.publish()
    except OSError as error:
        raise FileError(f"cannot read {run.rollouts}: {error.strerror}") from error


def _input_of(line: bytes) -> Row | None:
    """Return the input of a rollout, or None for other lines, which the profile reports."""
    try:
        row = parse_object(line)
    except ValueError:
        row = _parse_leniently(line)
    if not all(name in row for name in INDICES):
        return None
    return {name: row[name] for name in COPIED_FIELDS if name in row}


def _parse_leniently(line: bytes) -> Row:
    """Parse a line with numbers that JSON does not have, such as NaN, as the profile does."""
    try:
        row = json.loads(line.decode("utf-8"))
        return finite_row(row) if isinstance(row, dict) else {}
    except (ValueError, RecursionError):
        return {}
