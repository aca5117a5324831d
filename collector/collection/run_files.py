"""The artifacts of a collection, and when they may be written."""

from __future__ import annotations

from pathlib import Path

from collector.artifacts import (
    RunArtifacts,
)
from collector.collection.settings import CollectOptions
from collector.collection.settings.sessions import SessionSettings
from collector.errors import FileError, UsageError


class RunFiles(RunArtifacts):
    """The artifacts of a collection."""

    def all(self) -> list[Path]:
        """Return all files that a collection may write."""
        return [
            *(self.rollouts, self.inputs, self.failures, self.record, self.aggregate),
            *self.torn(),
        ]

    def torn(self) -> list[Path]:
        """Return the files of unfinished lines."""
        return [path.with_name(path.name + ".torn") for path in (self.rollouts, self.failures)]


def refuse_collected(settings: CollectOptions) -> None:
    """Raise UsageError if the output exists, and the settings neither resume nor replace it."""
    refuse_both(settings)
    files = RunFiles(settings.output_jsonl_fpath.absolute())
    if settings.plan:
        refuse_absent_run(files)
    has_rollouts = files.rollouts.exists() and files.rollouts.stat().st_size
    if (has_rollouts or files.inputs.exists() or files.failures.exists()) and not (
        settings.resume_from_cache or settings.overwrite
    ):
        raise already_collected(files.rollouts)


def refuse_absent_run(files: RunFiles) -> None:
    """Raise FileError if there is no run to which a plan could add repeats."""
    if not files.inputs.exists():
        raise FileError(
            f"there is no run to add repeats to: {files.inputs} does not exist\n"
            "  what to do: collect the run first, or name its rollouts file with --output"
        )


def already_collected(rollouts: Path) -> UsageError:
    """Return the error that a run exists."""
    return UsageError(
        f"{rollouts} has already been collected, at least in part\n"
        "  what to do: continue with --resume, start over with --overwrite,"
        " or give another output_jsonl_fpath"
    )


def refuse_both(settings: SessionSettings) -> None:
    """Raise UsageError if the settings both resume and replace a run."""
    if settings.resume_from_cache and settings.overwrite:
        raise UsageError("--resume or --overwrite, not both")
