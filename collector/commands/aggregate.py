"""`spotter aggregate`, also `ng_aggregate_rollouts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collector.commands.common import UNUSED, Json, print_json
from collector.terminal import show

if TYPE_CHECKING:
    from collector.collection.settings import AggregateSettings

FOREIGN = UNUSED


def aggregate(settings: AggregateSettings, *, json: Json = False) -> None:
    """Merge shards of rollouts, and aggregate them.

    The agents compute their own metrics over all rollouts. Writes <output>.jsonl sorted by key, its
    materialized inputs if every shard has some, and <output>_aggregate_metrics.json.

    \b
    spotter aggregate -i 'results/shard*.jsonl' -o results/rollouts.jsonl
    spotter aggregate '+input_glob=a/*.jsonl,b/*.jsonl' +output_jsonl_fpath=all.jsonl
    """
    import asyncio

    from collector.collection import report
    from collector.collection.shards import aggregate_shards

    result = asyncio.run(aggregate_shards(settings))
    if json:
        print_json(report.aggregate_data(result))
    else:
        show(report.aggregate_blocks(result))
