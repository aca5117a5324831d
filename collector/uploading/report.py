"""Tell what was uploaded: for people on a terminal, as JSON for scripts."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from collector.terminal import printable, relative_path
from collector.uploading.content import Uploaded
from collector.uploading.process import UploadError
from collector.uploading.sending import Sent


def as_text(sent: Sent) -> str:
    """Say where each upload is."""
    return "\n".join(line for uploaded in sent.uploads for line in _lines(uploaded))


def as_data(sent: Sent) -> dict[str, Any]:
    """Return the same as plain data."""
    failed = [{"tracker": tracker, "error": str(error)} for tracker, error in sent.errors.items()]
    return {"uploads": [*map(asdict, sent.uploads), *failed]}


def error_of(sent: Sent, *, again: str) -> UploadError | None:
    """Say what was not uploaded and how to try again, if anything was not."""
    if not sent.errors:
        return None
    reasons = "; ".join(f"{tracker}: {error}" for tracker, error in sent.errors.items())
    flags = " ".join(f"--upload {tracker}" for tracker in sent.errors)
    return UploadError(
        f"everything is on disk, but not all of it was uploaded: {reasons}\n"
        f"  what to do: {again} {flags}",
        exit_code=max(error.exit_code for error in sent.errors.values()),
    )


def _lines(uploaded: Uploaded) -> Iterator[str]:
    place = uploaded.url or (uploaded.path and relative_path(uploaded.path)) or uploaded.run
    yield f"Upload       {uploaded.tracker}: {printable(place)}"
    if uploaded.tracker == "wandb" and uploaded.path:
        yield f"             to send it: wandb sync {shlex.quote(relative_path(uploaded.path))}"
