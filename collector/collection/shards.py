"""Merge the rollouts of several collections into one run, and ask the agents for metrics."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from collector.artifacts import (
    FAILURES_SUFFIX,
    INPUTS_SUFFIX,
    NO_ROLLOUTS,
    RECORD_SUFFIX,
    beside,
)
from collector.atomic_files import Drafts, anything
from collector.collection import record as records
from collector.collection.aggregate import Aggregated, Aggregation
from collector.collection.discovery import find_servers
from collector.collection.journal import Journal
from collector.collection.routing import label_of
from collector.collection.rows import keyed_rows
from collector.collection.settings import AggregateSettings
from collector.collection.settings.counting import Counting
from collector.collection.sorting import sorted_lines
from collector.collection.state import read_inputs
from collector.errors import FileError, InvariantError, ServerError, UsageError
from collector.gym_client import GymClient
from collector.keys import Key
from collector.terminal import counted_noun, say

Row = dict[str, Any]


async def aggregate_shards(settings: AggregateSettings) -> Aggregated:
    """Merge the rollouts of several collections into one run, and ask the agents for metrics."""
    output = settings.output_jsonl_fpath.absolute()
    shards = find_shards(settings.input_glob, output, say=say)
    names = _names(shards, settings)
    if not names:
        raise FileError(f"no rollout of {settings.input_glob} names an agent (agent_ref)")
    merged: list[Path] = []
    if settings.merge_shards:
        merged = merge_shards(shards, output, overwrite=settings.overwrite)
    rollouts = [output] if merged else shards
    try:
        async with GymClient() as client:
            servers = await find_servers(names, settings, client)
            done = await Aggregation(
                rollouts, output, servers, client, settings.request_timeout, settings
            ).run()
    except ServerError as error:
        if merged:
            raise ServerError(
                f"the shards are merged into {output}, but not aggregated: {error}\n"
                "  what to do: once the servers run, aggregate again with --no-merge-shards"
            ) from error
        raise
    return replace(done, merged=merged)


def _names(shards: list[Path], counting: Counting) -> set[str]:
    """Return the agents of all rollouts, including missing ones that count."""
    suffixes = (INPUTS_SUFFIX, FAILURES_SUFFIX) if counting.counts_any else ()
    beside_them = [beside(path, suffix) for path in shards for suffix in suffixes]
    paths = [*shards, *(path for path in beside_them if path.is_file())]
    return {name for path in paths for _, _, row, _ in _rows(path) if (name := label_of(row))}


def find_shards(patterns: str, output: Path, *, say: Callable[[str], None]) -> list[Path]:
    """Return the rollouts files that match any of the comma-separated patterns, in order.

    A pattern that also matches the output leaves it out. Raise UsageError if the output is named.
    """
    found: set[Path] = set()
    for pattern in map(str.strip, patterns.split(",")):
        names = glob.glob(pattern, recursive=True)  # noqa: PTH207 - absolute ones too
        if not glob.has_magic(pattern) and any(_is_same(Path(name), output) for name in names):
            raise UsageError(
                f"{pattern} is both a shard and the output, and would be replaced\n"
                "  what to do: give another output_jsonl_fpath"
            )
        found |= {Path(name) for name in names}
    shards = sorted(
        path for path in found if path.is_file() and not path.name.endswith((*NO_ROLLOUTS, ".json"))
    )
    kept = [path for path in shards if not _is_same(path, output)]
    if not kept:
        raise FileError(f"no rollouts file matches {patterns}")
    if len(kept) < len(shards):
        say(f"{output} matches {patterns}, but is the output: its rollouts are left out")
    return kept


def _is_same(path: Path, other: Path) -> bool:
    """Tell whether two paths lead to the same file."""
    try:
        return path.samefile(other)
    except OSError:
        return path.absolute() == other.absolute()


def merge_shards(shards: list[Path], output: Path, *, overwrite: bool) -> list[Path]:
    """Write one run from several: rollouts, and inputs and failures where they exist."""
    kinds: list[tuple[Path, list[Path], bool]] = []
    for suffix, is_unique in ((INPUTS_SUFFIX, True), (FAILURES_SUFFIX, False)):
        companions = [beside(path, suffix) for path in shards]
        found = [path for path in companions if path.is_file()]
        # with the inputs of only some shards, the rollouts of the others would be unknown
        is_whole = bool(found) and (suffix == FAILURES_SUFFIX or len(found) == len(shards))
        kinds.append((beside(output, suffix), found if is_whole else [], is_unique))
    kinds.append((output, shards, True))  # last: the run is there when its other files are
    _check_targets(kinds, overwrite=overwrite)
    if output.exists():
        Journal(output, is_locked=True).close()  # raises if a collector is writing the file
    with Drafts() as drafts:
        for target, sources, is_unique in kinds:
            if sources:
                _merge(sources, target, drafts, is_unique=is_unique)
        _keep_stopping_rule(shards, output, drafts, overwrite=overwrite)
        for target, sources, _ in kinds:
            if not sources:
                target.unlink(missing_ok=True)  # that of the earlier run
        drafts.publish()
    return [target for target, sources, _ in reversed(kinds) if sources]


def _keep_stopping_rule(
    shards: list[Path], output: Path, drafts: Drafts, *, overwrite: bool
) -> None:
    """Draft a record of the merged run if a shard stopped early: a profile must say so."""
    paths = [beside(path, RECORD_SUFFIX) for path in shards]
    found = [records.load_record(path, is_continued=False) for path in paths]
    stopped = [record for record in found if record and record.stopping]
    inputs = drafts.current(beside(output, INPUTS_SUFFIX))
    if not stopped or not inputs.exists():
        return
    target = beside(output, RECORD_SUFFIX)
    _check_targets([(target, [], True)], overwrite=overwrite)
    expected = read_inputs(inputs, lambda _: None)
    record = records.found_record(
        expected.sha256, task_count=expected.keys.task_count, rollout_count=expected.keys.count
    )
    record.stopping = stopped[0].stopping
    record.materialized.undrawn_rollout_count = sum(
        one.materialized.undrawn_rollout_count for one in stopped
    )
    records.save_record(target, record, drafts)


def _check_targets(kinds: list[tuple[Path, list[Path], bool]], *, overwrite: bool) -> None:
    """Raise UsageError if a file is in the way, or is read and written at once."""
    sources = [path for _, paths, _ in kinds for path in paths]
    for target, _, _ in kinds:
        if any(_is_same(target, path) for path in sources):
            raise UsageError(
                f"{target} is a file of a shard, and would be replaced\n"
                "  what to do: give another output_jsonl_fpath"
            )
        if target.exists() and not overwrite:
            raise UsageError(f"{target} exists already\n  what to do: replace it with --overwrite")


def _merge(sources: list[Path], target: Path, drafts: Drafts, *, is_unique: bool) -> None:
    items = ((key, line) for path in sources for _, key, _, line in _rows(path))
    repeated: list[Key] = []
    with (
        drafts.open(target, replaces=anything) as file,
        sorted_lines(items, target.parent) as ordered,
    ):
        last: Key | None = None
        for key, line in ordered:
            if is_unique and key == last:
                repeated.append(key)
            last = key
            file.write(line + b"\n")
    if repeated:
        keys = list(dict.fromkeys(repeated))
        first = ", ".join(f"{task}:{rollout}" for task, rollout in keys[:10])
        raise InvariantError(
            f"{counted_noun(len(keys), 'rollout')} in more than one shard, or twice in one:"
            f" {first}{' …' if len(keys) > 10 else ''}\n"
            "  what to do: collect the shards with --shard 1/N to N/N, so that every task has an"
            " index of its own, or leave out the shard that is given twice"
        )


def _rows(path: Path) -> Iterator[tuple[int, Key, Row, bytes]]:
    return keyed_rows(path, next_step="or resume that collection")
