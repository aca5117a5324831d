"""`spotter aggregate`, also `ng_aggregate_rollouts`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from collector.commands.common import (
    UNUSED,
    AgentUrls,
    HeadHost,
    HeadPort,
    RequestTimeout,
    parsed_urls,
    print_json,
    settings_given,
)
from collector.commands.counting import CountFailures, CountMissing
from collector.overrides import FLAG_ONLY
from collector.terminal import show

FOREIGN = UNUSED


def aggregate(
    *,
    input_glob: Annotated[
        str,
        typer.Option(
            "--input-glob", "--input", "-i", help="Rollouts files: patterns with commas between."
        ),
    ],
    output_jsonl_fpath: Annotated[
        Path,
        typer.Option("--output-jsonl-fpath", "--output", "-o", help="The merged rollouts file."),
    ],
    merge_shards: Annotated[
        bool,
        typer.Option("--merge-shards/--no-merge-shards", help="Write the merged rollouts file."),
    ] = True,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier merged file.")
    ] = False,
    count_failure_classes_as_zero: CountFailures = None,
    count_missing_rollouts_as_zero: CountMissing = False,
    agent_url: AgentUrls = None,
    head_host: HeadHost = "127.0.0.1",
    head_port: HeadPort = 11000,
    request_timeout: RequestTimeout = 3600.0,
    json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON."), FLAG_ONLY
    ] = False,
) -> None:
    """Merge shards of rollouts, and have the agents compute their own metrics over all of them.

    Writes <output>.jsonl sorted by key, its materialized inputs if every shard has some, and
    <output>_aggregate_metrics.json.

    \b
    spotter aggregate -i 'results/shard*.jsonl' -o results/rollouts.jsonl
    spotter aggregate '+input_glob=a/*.jsonl,b/*.jsonl' +output_jsonl_fpath=all.jsonl
    """
    named = locals()
    import asyncio

    from collector.collection import report
    from collector.collection.settings import AggregateSettings
    from collector.collection.shards import aggregate_shards
    from collector.validation import checked

    given = {
        **settings_given(aggregate, named, AggregateSettings),
        "agent_urls": parsed_urls(agent_url or []),
    }
    result = asyncio.run(aggregate_shards(checked(AggregateSettings, given)))
    if json:
        print_json(report.aggregate_data(result))
    else:
        show(report.aggregate_blocks(result))
