"""The folders of NeMo Evaluator: a benchmark has one, or one a shard and perhaps a merged one."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from collector.importing.attempts import Json
from collector.importing.candidates import Candidate
from collector.importing.json_values import count, part
from collector.importing.jsonl_rows import TornLine, read_rows
from collector.importing.reading import Reading

RESULTS, TRAJECTORIES = "results.jsonl", "trajectories.jsonl"
VERIFIED, INFERENCE = "verified_log.jsonl", "inference_log.jsonl"
SHARD = re.compile(r"shard_\d+")


@dataclass(frozen=True)
class Bundle:
    """The results of a benchmark, or of a shard of it, with the files beside them."""

    path: Path

    @property
    def is_unfinished(self) -> bool:
        """Tell whether there are only the logs of the steps."""
        return self.path.name == VERIFIED

    @property
    def further(self) -> Path:
        """Return the second file of the attempts, which may be absent."""
        return self.path.with_name(INFERENCE if self.is_unfinished else TRAJECTORIES)

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the results, the trajectories and the bundle, as far as they are there."""
        found = (self.further, self._path)
        return (self.path, *(path for path in found if path and path.is_file()))

    @cached_property
    def content(self) -> Json:
        """Return what the bundle says; an unfinished run has none."""
        return (Candidate(self._path).whole_object or {}) if self._path else {}

    @property
    def config(self) -> Json:
        """Return the settings of the run."""
        return part(self.content, "config")

    @property
    def benchmark(self) -> Json:
        """Return the name of the benchmark, and how much was asked."""
        return part(self.content, "benchmark")

    @property
    def repeats(self) -> int:
        """Return how often each problem was to be tried; 0 if the bundle does not say."""
        return count(self.benchmark.get("repeats") or self.config.get("repeats"))

    def first_further(self) -> Json:
        """Return the first row of the second file that names a model."""
        if not self.further.is_file():
            return {}
        rows = read_rows(self.further, Reading(), TornLine())
        return next((row for _, row in itertools.islice(rows, 10) if "model" in row), {})

    @cached_property
    def _path(self) -> Path | None:
        found = sorted(self.path.parent.glob("eval-*.json"))
        return found[-1] if found else None


@dataclass(frozen=True)
class BenchmarkFiles:
    """The bundles of one run of a benchmark: its shards, or one that has everything."""

    bundles: tuple[Bundle, ...]
    merged_count: int = 0
    """How many shards were left out, since the bundle has their results."""

    @property
    def first(self) -> Bundle:
        """Return the first bundle that says something of the run, else the first."""
        return next((one for one in self.bundles if one.content), self.bundles[0])

    @property
    def problem_count(self) -> int:
        """Return how many problems were asked; 0 if no bundle says."""
        told = self.first
        whole = count(part(told.config, "shuffle").get("ds_effective_size"))
        is_whole = len(self.bundles) > 1 or "n_shards" in told.config
        own = told.config.get("shard_range")
        if isinstance(own, list) and len(own) == 2 and not is_whole:
            whole = count(own[1]) - count(own[0])
        return max(whole, sum(count(one.benchmark.get("samples")) for one in self.bundles))


def benchmark_files(paths: list[Path]) -> list[BenchmarkFiles]:
    """Return the runs in some results: the shards of a benchmark are one, merged or not."""
    runs: dict[Path, list[Path]] = {}
    for path in sorted(paths):
        runs.setdefault(_merged_folder(path), []).append(path)
    return [_files_of(folder, found) for folder, found in sorted(runs.items())]


def _merged_folder(path: Path) -> Path:
    """Return where `nel eval merge` puts the results of a shard; for others, their own folder."""
    folder = path.parent
    for shard in (folder, folder.parent):
        if SHARD.fullmatch(shard.name):
            return shard.parent / folder.relative_to(shard)
    return folder


def _files_of(folder: Path, paths: list[Path]) -> BenchmarkFiles:
    merged = folder / RESULTS
    if merged in paths:
        return BenchmarkFiles((Bundle(merged),), merged_count=len(paths) - 1)
    return BenchmarkFiles(tuple(map(Bundle, paths)))
