"""Upload runs from a command; import the code for uploads only if the command needs it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector.errors import SpotterError
from collector.overrides import Override
from collector.terminal import say

if TYPE_CHECKING:
    from collector.uploading.content import Upload
    from collector.uploading.process import Worker

Trackers = Annotated[
    list[str] | None,
    typer.Option(
        "--upload",
        metavar="TRACKER",
        help="Upload the run and its figures afterwards to `wandb` (Weights & Biases) or `mlflow`."
        " May be repeated.",
    ),
]
# NeMo Gym's names for --upload wandb
UPLOAD_ALIASES = {
    "upload_rollouts": Override("--upload=wandb", is_switch=True),
    "upload_rollouts_to_wandb": Override("--upload=wandb", is_switch=True),
}


@dataclass(frozen=True)
class UploadReport:
    """The result of uploads: data for JSON, text for people, and an error to raise."""

    data: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    error: SpotterError | None = None


@contextlib.contextmanager
def ready_workers(names: list[str] | None) -> Iterator[list[Worker]]:
    """Yield a worker for each tracker, each once; raise UsageError if one is not ready to use.

    The workers' processes stop at the end, and `upload` starts them again if it is called later.
    """
    if not names:
        yield []
        return
    from collector.uploading import sending
    from collector.uploading.trackers import choose_trackers

    with sending.ready_workers(choose_trackers(names)) as workers:
        yield workers


def upload(
    workers: list[Worker], describe: Callable[[], list[Upload]], *, again: str
) -> UploadReport:
    """Upload the runs that `describe` returns to each tracker; `again` says how to repeat it."""
    if not workers:
        return UploadReport()
    from collector.uploading import report
    from collector.uploading.sending import send

    sent = send(workers, describe, say=say)
    return UploadReport(
        report.as_data(sent), report.as_text(sent), report.upload_error(sent, again=again)
    )
