"""Report an import: as blocks for people, as plain data for scripts."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from collector.importing.importer import Imported, ImportedRun
from collector.suggestions import first_names
from collector.terminal import counted_noun, relative_path
from collector.terminal.blocks import Block, Fact, Line, Styled, TextColumn, TextTable

SHOWN = 5
RUN_COLUMNS = (
    TextColumn("run", overflow="wrap"),
    TextColumn("tasks", 5, "right"),
    TextColumn("rollouts", 8, "right"),
    TextColumn("failed", 6, "right"),
    TextColumn("masked", 6, "right"),
    TextColumn("missing", 7, "right"),
)


def as_data(result: Imported) -> dict[str, Any]:
    """Return the counts and the files as plain data."""
    return {
        "format": result.format,
        "runs": [_run_data(run) for run in result.runs],
        "passed_over": [str(path) for path in (*result.passed_over, *result.empty)],
    }


def as_blocks(result: Imported) -> list[Block]:
    """Describe the runs and their files, and say what to do next."""
    runs = _table(result.runs) if len(result.runs) > 1 else _run_blocks(result.runs[0], result)
    command = Styled(profile_command(result), "command")
    return [*runs, Line(), Line(("To profile: ", command))]


def profile_command(result: Imported) -> str:
    """Return the command that profiles what was imported."""
    paths = [run.files.rollouts for run in result.runs]
    if len(paths) > SHOWN:  # a folder is profiled as a whole
        paths = [paths[0].parent]
    names = " ".join(shlex.quote(relative_path(path)) for path in paths)
    is_partial = any(run.counts.missing_count or run.counts.failed_count for run in result.runs)
    return f"spotter profile {names}{' --allow-partial' if is_partial else ''}"


def notes(result: Imported) -> Iterator[str]:
    """Give sentences on what was passed over or could not be carried over."""
    if result.passed_over:
        names = ", ".join(path.name for path in result.passed_over[:SHOWN])
        more = " …" if len(result.passed_over) > SHOWN else ""
        count = counted_noun(len(result.passed_over), "file")
        verb = "is not a log" if len(result.passed_over) == 1 else "are not logs"
        yield f"passed over {count} that {verb}: {names}{more}"
    for path, reason in result.empty.items():
        yield f"passed over {path.name}: {reason}"
    yield from _losses(result.runs)


def _losses(runs: list[ImportedRun]) -> Iterator[str]:
    """Give each sentence once, with the logs that it is about unless it holds for all of them."""
    logs: dict[str, list[str]] = {}
    for run in runs:
        for loss in run.losses:
            logs.setdefault(loss, []).append(run.log)
    for loss, names in logs.items():
        yield loss if len(names) == len(runs) else f"{first_names(names, SHOWN)}: {loss}"


def _run_data(run: ImportedRun) -> dict[str, Any]:
    counts, files = run.counts, run.files
    return {
        "rollouts": str(files.rollouts),
        "inputs": str(files.inputs),
        "failures": str(files.failures) if counts.failures else None,
        "record": str(files.record),
        "log": run.log,
        "task_count": counts.task_count,
        "rollout_count": counts.rollout_count,
        "failed_rollout_count": counts.failed_count,
        "missing_rollout_count": counts.missing_count,
        "unscored_rollout_count": counts.unscored_count,
        "failed_attempts": dict(counts.failures),
        "masked_rollouts": dict(counts.masked),
        "agents": dict(counts.agents),
        "identity": asdict(run.identity),
        "losses": run.losses,
    }


def _table(runs: list[ImportedRun]) -> Iterator[Block]:
    rows = [
        (
            relative_path(run.files.rollouts),
            f"{run.counts.task_count:,}",
            f"{run.counts.rollout_count:,}",
            f"{run.counts.failed_count:,}",
            f"{run.counts.masked.total():,}",
            f"{run.counts.missing_count:,}",
        )
        for run in runs
    ]
    yield TextTable(RUN_COLUMNS, rows)


def _run_blocks(run: ImportedRun, result: Imported) -> Iterator[Block]:
    counts, identity = run.counts, run.identity
    version = f" {identity.framework_version}" if identity.framework_version else ""
    yield Fact("Run", f"{relative_path(run.files.rollouts)}  ({result.format}{version})")
    expected = counts.rollout_count + counts.failed_count + counts.missing_count
    is_whole = expected == counts.rollout_count
    shown = f"{counts.rollout_count:,}/{expected:,}"
    yield Fact("Rollouts", Styled(shown, "good" if is_whole else "caution"))
    yield Fact("Tasks", f"{counts.task_count:,}")
    if counts.failures:
        yield Fact("Failed", _kinds(counts.failed_count, counts.failures))
    if counts.masked:
        yield Fact("Masked", _kinds(counts.masked.total(), counts.masked))
    if counts.missing_count:
        yield Fact("Missing", counted_noun(counts.missing_count, "rollout"))
    if counts.unscored_count:
        yield Fact("Unscored", f"{counted_noun(counts.unscored_count, 'rollout')}")
    if counts.agents:
        yield Fact("Agents", ", ".join(sorted(counts.agents)))


def _kinds(rollout_count: int, kinds: Counter[str]) -> str:
    shown = ", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common())
    return f"{counted_noun(rollout_count, 'rollout')}: {shown}"
