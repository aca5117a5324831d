"""Check that the shards of a run belong together, and combine what they say of the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from collector import __version__
from collector.errors import InvariantError, UsageError
from collector.merging.shard_files import Shard
from collector.profiling.kept_rows import PART_COLUMNS, staging_digest
from collector.profiling.known_runs import stored_tags
from collector.profiling.manifest import Plan
from collector.suggestions import first_names
from collector.terminal import label

SAME = "case when count(distinct {0}) = 1 and count({0}) = count(*) then min({0}) end"
NAMES = "nullif(array_to_string(list_sort(list_distinct(list({0}))), ', '), '')"
TEXTS = "list_sort(list_distinct(flatten(list({0}))))"
FILES = "cast(to_json(list({0} order by shard_number)) as varchar)"
COMBINED = {
    "rollouts_path": FILES,
    "inputs_path": FILES,
    "failures_path": FILES,
    # nothing is read from files
    "rollouts_file": "''",
    "inputs_file": "''",
    "failures_file": "''",
    "verdicts_file": "''",
    "torn_rollouts_count": "cast(sum({0}) as bigint)",
    "torn_failures_count": "cast(sum({0}) as bigint)",
    "is_partial_allowed": "bool_or({0})",
    "prices_path": "min({0})",
    "origin_rollouts_path": SAME,
    "recorded_models": TEXTS,
    "recorded_environments": TEXTS,
    "started_at": "min({0})",
    "ended_at": "max({0})",
    "made_with": NAMES,
    "endpoint_host": NAMES,
    "task_file": SAME,
    "task_file_hash": SAME,
    "tags": "'{{}}'",
    "batch_hash": "null",
    "profiled_at": "now() at time zone 'UTC'",
}
"""How the columns of `stg_runs` are combined. All shards must agree on any other column."""
ANY = "any_value({0})"


def combined_column(name: str) -> str:
    """Return the expression that combines a column of the kept runs."""
    return f"{COMBINED.get(name, ANY).format(name)} as {name}"


def check_kept(run_id: str, shards: Sequence[Shard], plan: Plan) -> None:
    """Raise UsageError if a shard has no kept rows of a run, or those of another version."""
    for shard in shards:
        kept = shard.kept.get(run_id)
        if kept is None and shard.path.is_dir():
            raise UsageError(
                f"{label(run_id)} is in {len(shards)} places, and one of them is {shard.path}:"
                " Spark built these marts, and keeps no rows to join\n  what to do: leave out the"
                " other places, or profile the shards of the run with DuckDB"
            )
        if kept is None:
            raise UsageError(
                f"{label(run_id)} is in {len(shards)} warehouses, but {shard.path} does not have"
                " the rows to join it\n  what to do: profile it again with --shard, or give it"
                " another name with `spotter runs rename`"
            )
        if kept["staging_digest"] != staging_digest(plan):
            raise UsageError(
                f"{shard.path}: {label(run_id)} was profiled by another version of Spotter"
                f" ({kept['spotter_version']}; this is {__version__})\n"
                "  what to do: profile all shards again with the same version"
            )


def check_settings(run_id: str, shards: Sequence[Shard]) -> None:
    """Raise UsageError with what differs if shards of a run were profiled differently."""
    first = shards[0].kept[run_id]
    combined = {*COMBINED, *PART_COLUMNS}
    differences = [
        _difference(name, [(shard.path.name, shard.kept[run_id][name]) for shard in shards])
        for name in first
        if name not in combined
    ]
    prices = [(shard.path.name, _price_text(shard, run_id)) for shard in shards]
    found = [*filter(None, [*differences, _difference("prices", prices)])]
    if found:
        raise UsageError(
            f"the shards of {label(run_id)} were profiled differently\n  "
            + "\n  ".join(found)
            + "\n  what to do: profile them again with the same options"
        )


def check_prices(joined: Mapping[str, Sequence[Shard]]) -> None:
    """Raise UsageError if runs to join have different prices: one batch has one price list."""
    lists = {_price_text(held[0], run_id): run_id for run_id, held in joined.items()}
    if len(lists) > 1:
        names = " and ".join(label(run_id) for run_id in list(lists.values())[:2])
        raise UsageError(
            f"{names} were profiled with different prices, and cannot be joined by the same"
            " command\n  what to do: merge the warehouses of each run with a command of its own"
        )


def _price_text(shard: Shard, run_id: str) -> str:
    rows = shard.prices[run_id]
    return "; ".join(", ".join(f"{name}={row[name]}" for name in row) for row in rows) or "none"


def _difference(name: str, values: Iterable[tuple[str, object]]) -> str:
    """Return which shards have which value, or nothing if all have the same."""
    shards: dict[str, list[str]] = {}
    for shard, value in values:
        shards.setdefault(str(value), []).append(shard)
    if len(shards) < 2:
        return ""
    return f"{name}: " + "; ".join(
        f"{label(value)} in {first_names(names)}" for value, names in shards.items()
    )


def check_parts(run_id: str, shards: Sequence[Shard], *, is_partial_allowed: bool) -> None:
    """Raise an error if the recorded parts of a run are cut differently, or some are missing.

    Shards that the collector did not record as parts cannot be checked.
    """
    parts = [part for shard in shards if (part := shard.kept.get(run_id, {}).get("part"))]
    totals = sorted({int(part.partition("/")[2]) for part in parts})
    if not parts:
        return
    if len(totals) > 1:
        cuts = " and ".join(f"{total} parts" for total in totals)
        raise UsageError(f"the shards of {label(run_id)} are parts of different cuts: {cuts}")
    given = {int(part.partition("/")[0]) for part in parts}
    missing = [f"{part}/{totals[0]}" for part in range(1, totals[0] + 1) if part not in given]
    if missing and not is_partial_allowed and len(parts) == len(shards):
        raise InvariantError(
            f"{label(run_id)}: {len(missing)} of {totals[0]} parts are missing:"
            f" {first_names(missing)}\n  what to do: name the warehouses of all parts, or merge"
            " those present with --allow-partial"
        )


def combined_tags(run_id: str, shards: Sequence[Shard]) -> dict[str, str]:
    """Return the tags of a run that no two shards contradict."""
    tags: dict[str, set[str]] = {}
    for shard in shards:
        for name, value in stored_tags(shard.runs[run_id]).items():
            tags.setdefault(name, set()).add(value)
    return {name: next(iter(values)) for name, values in tags.items() if len(values) == 1}
