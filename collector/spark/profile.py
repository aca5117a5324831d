"""Profile runs on Spark: build the marts there, and copy those of the batch into the warehouse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from collector.errors import UsageError
from collector.merging.merge import MergeSettings, merge
from collector.profiling.profile import Outcome, ProfileSettings
from collector.remote_paths import is_remote, located_path
from collector.spark.build import Batch, Listener, build, check_installed, marts_folder
from collector.warehouse.access import check_warehouse


def rollouts_pattern(paths: list[Path]) -> str:
    """Return the one file, folder or pattern that is given, as Spark reads it."""
    if len(paths) != 1:
        raise UsageError(
            "--engine spark takes one rollouts file, or a pattern that matches several, like"
            " 's3a://bucket/runs/*.jsonl'"
        )
    path = located_path(paths[0]).absolute()
    is_folder = not is_remote(path) and path.is_dir()
    return str(path / "*.jsonl" if is_folder else path)


def profile_on_spark(batch: Batch, settings: ProfileSettings, *, listener: Listener) -> Outcome:
    """Build the marts of a batch on Spark, copy them into the warehouse, and write the files."""
    if settings.skips_broken or settings.are_shards:
        option = "--skip-broken" if settings.skips_broken else "--shard"
        raise UsageError(f"{option} is not possible with --engine spark")
    check_installed()
    check_warehouse(settings.warehouse)
    folder = marts_folder()
    runs = build(batch, settings, listener=listener)
    copied = merge(
        [folder],
        MergeSettings(
            settings.warehouse,
            memory_limit=settings.memory_limit,
            runs=tuple(runs),
            is_published=settings.is_published and batch.has_local_outputs,
        ),
        listener=listener,
    )
    return replace(copied.outcome, statistics=settings.statistics)
