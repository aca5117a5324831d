"""`spotter merge`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import (
    Explain,
    Json,
    MemoryLimit,
    Verbose,
    Warehouse,
    print_json,
    with_explanation,
)
from collector.errors import UsageError
from collector.remote_paths import located_path
from collector.suggestions import first_names
from collector.terminal import Progress, counted_noun, say, show

if TYPE_CHECKING:
    from collector.merging.merge import Merged


def merge(
    shards: Annotated[
        list[Path] | None,
        typer.Argument(
            readable=False,
            show_default=False,
            help="The warehouses to merge, or folders with the marts that Spark built, also in an"
            " object store. They are only read.",
        ),
    ] = None,
    *,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    output_dir: Annotated[
        Path | None,
        typer.Option(
            "--output-dir",
            "-o",
            readable=False,
            show_default="none are written",
            help="The folder for NeMo Gym's output files of each run, named after the run.",
        ),
    ] = None,
    allow_partial: Annotated[
        bool,
        typer.Option(
            "--allow-partial",
            help="Merge the parts present if others of the same run are missing. Only parts that"
            " were collected with `--shard` are known to be missing.",
        ),
    ] = False,
    memory_limit: MemoryLimit = None,
    verbose: Verbose = False,
    explain: Explain = False,
    json: Json = False,
) -> None:
    """Merge warehouses: join the shards of a run, and copy all other runs.

    A run that is in several warehouses is joined, with the same figures as if its files had been
    profiled together. Its shards must have been collected or profiled with --shard, and have one
    name: the same --run-id.
    A run that the written warehouse already has is replaced. Stored comparisons are not merged.

    \b
    spotter profile shards/part1.jsonl --shard --run-id nightly -w shards/part1.duckdb
    spotter profile shards/part2.jsonl --shard --run-id nightly -w shards/part2.duckdb
    spotter merge shards/part1.duckdb shards/part2.duckdb -w warehouse.duckdb -o results/
    spotter merge spark-warehouse/ -w warehouse.duckdb
    spotter merge s3://bucket/marts -w warehouse.duckdb
    """
    from collector.merging.merge import MergeSettings
    from collector.merging.merge import merge as merge_warehouses

    if not shards:
        raise UsageError("name the warehouses to merge, like: spotter merge shards/*.duckdb")
    progress = Progress()
    settings = MergeSettings(
        warehouse.absolute(),
        output_dir.absolute() if output_dir else None,
        allow_partial,
        memory_limit,
        is_published=output_dir is not None,
    )
    try:
        located = [located_path(path).absolute() for path in shards]
        merged = merge_warehouses(located, settings, listener=progress)
    finally:
        progress.clear()
    _report(merged, as_json=json, is_verbose=verbose, is_explained=explain)


def _report(merged: Merged, *, as_json: bool, is_verbose: bool, is_explained: bool) -> None:
    from collector.profiling import report
    from collector.profiling.doubts import warnings
    from collector.terminal.blocks import Fact

    outcome = merged.outcome
    if as_json:
        shards = {run_id: merged.joined.get(run_id, 1) for run_id in outcome.completion}
        print_json({**report.as_data(outcome), "shards": shards})
    else:
        facts = [Fact("Merged", text) for text in _sentences(merged)]
        blocks = [*report.as_blocks(outcome, is_verbose=is_verbose), *facts]
        show(with_explanation(blocks) if is_explained else blocks)
    if merged.lone_shards:
        say(f"warning: {_lone_text(merged.lone_shards)}")
    for warning in warnings(outcome, is_short=report.is_short(outcome, is_verbose=is_verbose)):
        say(f"warning: {warning}")


def _lone_text(run_ids: list[str]) -> str:
    """Warn that a shard has not met the other shards of its run, which may have another name."""
    named = first_names(run_ids)
    what = "is a shard" if len(run_ids) == 1 else "are shards"
    return (
        f"{named} {what} without other shards of the same name, and copied alone\n"
        "  what to do: give all shards of a run one name, with --run-id or `spotter runs rename`,"
        " and merge again"
    )


def _sentences(merged: Merged) -> list[str]:
    """Say what came together: a shard that nobody named may be missing."""
    joined = [
        f"{run_id}: {counted_noun(merged.outcome.completion[run_id]['task_count'], 'task')} from"
        f" {count} shards"
        for run_id, count in merged.joined.items()
    ]
    copied = [f"{counted_noun(len(merged.copied), 'run')} copied"] if merged.copied else []
    return [*joined, *copied]
