"""What the commands that can upload share; nothing is imported if nothing is uploaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from collector.errors import SpotterError
from collector.overrides import Override
from collector.terminal import say

if TYPE_CHECKING:
    from collector.uploading.content import Upload

Trackers = Annotated[
    list[str] | None,
    typer.Option(
        "--upload",
        metavar="TRACKER",
        help="Send the run to wandb (Weights & Biases) or mlflow afterwards; may be repeated.",
    ),
]
# NeMo Gym's names for one tracker
UPLOAD_ALIASES = {
    "upload_rollouts": Override("--upload=wandb", is_switch=True),
    "upload_rollouts_to_wandb": Override("--upload=wandb", is_switch=True),
}


@dataclass(frozen=True)
class Told:
    """What is to be said of uploads."""

    data: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    error: SpotterError | None = None


def ready_trackers(names: list[str] | None) -> list[str]:
    """Return the trackers to upload to; one that cannot be used is an error before any work."""
    if not names:
        return []
    from collector.uploading.sending import check
    from collector.uploading.trackers import choose

    trackers = choose(names)
    check(trackers)
    return trackers


def upload(trackers: list[str], describe: Callable[[], list[Upload]], *, again: str) -> Told:
    """Upload what is described to each tracker; `again` says how to repeat it."""
    if not trackers:
        return Told()
    from collector.uploading import report
    from collector.uploading.sending import send

    sent = send(trackers, describe, say=say)
    return Told(report.as_data(sent), report.as_text(sent), report.error_of(sent, again=again))
