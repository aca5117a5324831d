"""Verify the rollouts of a run again: from settings to a new run on disk."""

from __future__ import annotations

from collector.atomic_files import Drafts
from collector.collection.collect import collect_prepared
from collector.collection.collected import Collected
from collector.collection.progress import CollectProgress
from collector.collection.reverification.prepare import prepared_reverification
from collector.collection.settings import ReverifySettings


def reverify(settings: ReverifySettings, progress: CollectProgress) -> Collected:
    """Verify stored rollouts again; every new verdict is on disk, even if an error is raised."""
    with (
        Drafts() as drafts,
        prepared_reverification(settings, drafts, say=progress.say, step=progress.step) as run,
    ):
        return collect_prepared(settings, run, progress)
