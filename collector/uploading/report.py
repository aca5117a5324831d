"""Report uploads: as text for people, as data for scripts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from collector.terminal import printable, relative_path
from collector.uploading.content import TrackerRun
from collector.uploading.process import UploadError
from collector.uploading.sending import SendResult


def as_text(sent: SendResult) -> str:
    """Return one line per upload with its address or path."""
    return "\n".join(line for uploaded in sent.uploads for line in _lines(uploaded))


def as_data(sent: SendResult) -> dict[str, Any]:
    """Return the uploads and the errors as plain data."""
    failed = [{"tracker": tracker, "error": str(error)} for tracker, error in sent.errors.items()]
    return {"uploads": [*map(asdict, sent.uploads), *failed]}


def upload_error(sent: SendResult, *, again: str) -> UploadError | None:
    """Return an error that names the failed trackers and how to repeat, or None if none failed."""
    if not sent.errors:
        return None
    reasons = "; ".join(f"{tracker}: {error}" for tracker, error in sent.errors.items())
    flags = " ".join(f"--upload {tracker}" for tracker in sent.errors)
    return UploadError(
        f"all files are on disk, but not everything was uploaded: {reasons}\n"
        f"  what to do: {again} {flags}",
        exit_code=max(error.exit_code for error in sent.errors.values()),
    )


def _lines(uploaded: TrackerRun) -> Iterator[str]:
    location = uploaded.url or (uploaded.path and relative_path(uploaded.path)) or uploaded.run
    yield f"Upload       {uploaded.tracker}: {printable(location)}"
    if uploaded.tracker == "wandb" and uploaded.path:
        yield f"             to send it: wandb sync {shlex.quote(relative_path(uploaded.path))}"
