"""Curate a run: choose tasks by a recipe and write their input rows, or plan further rollouts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from collector.atomic_files import Drafts, anything, nothing
from collector.curating.input_rows import InputRows
from collector.curating.manifest import FileHashes, manifest_data, manifest_text
from collector.curating.output import OutputForm, write_rows
from collector.curating.plot import Bin, check_plot, picture
from collector.curating.rows import CuratedRow
from collector.curating.run_checks import CuratedRun, RunChoice, find_run
from collector.curating.selection import SelectedTask, Selection, select_tasks
from collector.errors import InvariantError, UsageError
from collector.profiling.profile import Outcome
from collector.profiling.sources import RunListener
from collector.warehouse.access import attach_for_reading
from collector.warehouse.scratch import log_defects, scratch_beside

MANIFEST_SUFFIX = ".manifest.json"


@dataclass(frozen=True, kw_only=True)
class CurateRequest(RunChoice):
    """What to choose, and where to write it."""

    output: Path
    form: OutputForm = field(default_factory=OutputForm)
    plot: Path | None = None
    """Where to draw the pass rates before and after."""
    is_annotated: bool = False

    @property
    def targets(self) -> list[Path]:
        """Return the files to write."""
        plots = [self.plot] if self.plot else []
        return [self.output, manifest_path(self.output), *plots]

    def declaration(self, run_id: str, since_run_id: str | None) -> dict[str, Any]:
        """Return the recipe with its runs, as the models read it."""
        return {
            "run_id": run_id,
            "agent_name": self.agent,
            "since_run_id": since_run_id,
            **self.recipe.declaration(),
        }


@dataclass(frozen=True)
class CurateResult:
    """What was chosen and written."""

    run: CuratedRun
    selection: Selection
    output: Path
    manifest: dict[str, Any]
    outcomes: list[Outcome]
    """The profile of the rollouts file, if it was new or had changed."""


def manifest_path(output: Path) -> Path:
    """Return where the manifest of an output is: `train.manifest.json` beside `train.jsonl`."""
    return output.with_name(output.stem + MANIFEST_SUFFIX)


def curate(request: CurateRequest, listener: RunListener) -> CurateResult:
    """Write the input rows of the chosen tasks and a manifest, both or neither."""
    request.form.check()
    if request.plot:
        check_plot(request.plot)
    check_output(*request.targets, is_overwriting=request.is_overwriting)
    run, outcomes = find_run(request, listener)
    _refuse_inputs(request, run)
    with (
        log_defects("curate"),
        scratch_beside(request.warehouse, request.memory_limit) as (scratch, _),
        FileHashes([run.rollouts, run.inputs, *request.excluded_files]) as hashes,
    ):
        selection = select_tasks(
            scratch,
            request.warehouse,
            request.declaration(run.run_id, run.since_run_id),
            request.excluded_files,
            progress=lambda name: listener.progress(0, 0, name),
        )
        _refuse_nothing(selection)
        with attach_for_reading(scratch, request.warehouse, on_wait=listener.say):
            form = request.form.with_rollouts(scratch, request.warehouse, run.run_id, request.agent)
        manifest = _write(replace(request, form=form), run, selection, hashes, listener)
    return CurateResult(run, selection, request.output, manifest, outcomes)


def check_output(*targets: Path, is_overwriting: bool) -> None:
    """Raise UsageError if a file exists that may not be replaced."""
    for target in targets:
        if os.path.lexists(target) and not is_overwriting:
            raise UsageError(
                f"{target} exists already\n  what to do: give another path, or use --overwrite"
            )


def _refuse_inputs(request: CurateRequest, run: CuratedRun) -> None:
    """Raise UsageError if the output would replace a file that is read."""
    read = [run.rollouts, run.inputs, request.warehouse, *request.excluded_files]
    for target in request.targets:
        for path in read:
            if target.exists() and path.exists() and target.samefile(path):
                raise UsageError(f"{target} would be replaced, but it is read: give another path")


def _refuse_nothing(selection: Selection) -> None:
    if not selection.tasks:
        reasons = [f"{row['task_count']} {row['reason']}" for row in selection.reasons]
        raise InvariantError(
            f"no task is left ({', '.join(reasons) or 'the run has no results'})\n"
            "  nothing was written. What to do: relax the recipe"
        )


def _write(
    request: CurateRequest,
    run: CuratedRun,
    selection: Selection,
    hashes: FileHashes,
    listener: RunListener,
) -> dict[str, Any]:
    replaces = anything if request.is_overwriting else nothing
    rows = InputRows(
        run.inputs,
        {(task.task_index, task.rollout_index) for task in selection.tasks},
        progress=listener.progress,
    )
    with Drafts() as drafts:
        with drafts.open(request.output, replaces=replaces) as file:
            draft = drafts.current(request.output)
            figures = write_rows(request.form, file, draft, _rows(request, run, selection, rows))
            digest = hashes.begin(draft)  # while the system forces the file to the disk
        manifest = manifest_data(
            request.recipe,
            run,
            selection,
            hashes.wait(listener),
            {"path": request.output.name, **figures, "sha256": digest.result()},
        )
        with drafts.open(manifest_path(request.output), replaces=replaces) as file:
            file.write(manifest_text(manifest))
        if request.plot:
            with drafts.open(request.plot, replaces=replaces) as file:
                file.write(_picture(request.plot, run, manifest["histograms"]))
        drafts.publish()
    return manifest


def _rows(
    request: CurateRequest, run: CuratedRun, selection: Selection, rows: InputRows
) -> Iterator[CuratedRow]:
    with rows.open() as file:
        for task in selection.tasks:
            row = rows.read(file, (task.task_index, task.rollout_index))
            note = annotation(task, run.run_id) if request.is_annotated else None
            yield CuratedRow(task.task_index, task.task_id, row, note)


def _picture(path: Path, run: CuratedRun, histograms: dict[str, list[int]]) -> bytes:
    before, after = (
        [Bin(tenth / 10, (tenth + 1) / 10, count) for tenth, count in enumerate(histograms[stage])]
        for stage in ("before", "after")
    )
    return picture(path, before, after, f"Pass rates of the tasks of {run.run_id}")


def annotation(task: SelectedTask, run_id: str) -> dict[str, Any]:
    """Return what `--annotate` adds to the row of a task."""
    extras = {"step": task.step, "since": task.change}
    return {
        "task_id": task.task_id,
        "pass_rate": task.pass_ratio,
        "pass_low": task.pass_low,
        "pass_high": task.pass_high,
        "rollouts": task.rollout_count,
        "band": task.band,
        "run_id": run_id,
        **{name: value for name, value in extras.items() if value is not None},
    }
