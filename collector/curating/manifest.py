"""The manifest of a curated file: what it was made from, how, and what is in it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from collector import __version__
from collector.artifacts import sha256_of
from collector.curating.recipe import Recipe
from collector.curating.run_checks import CuratedRun
from collector.curating.selection import Selection
from collector.profiling.sources import RunListener
from collector.warehouse.sql import Row

FIGURES = (
    "task_count",
    "pass_ratio_mean",
    "informative_groups_8",
    "informative_groups_16",
    "tokens_per_informative_group_8",
    "tokens_per_informative_group_16",
)


class FileHashes:
    """The SHA-256 of files, which threads compute while other work goes on."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Start to read the files."""
        self._pool = ThreadPoolExecutor(1)
        self._futures = {path: self._pool.submit(sha256_of, path) for path in paths}

    def __enter__(self) -> Self:
        """Return the hashes."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Do not wait for files that nobody needs any more."""
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def begin(self, path: Path) -> Future[str]:
        """Start to read another file, which no longer changes."""
        return self._pool.submit(sha256_of, path)

    def wait(self, listener: RunListener) -> dict[Path, str]:
        """Return the hash of each file."""
        hashes = {}
        for path, future in self._futures.items():
            if not future.done():
                listener.progress(0, 0, f"the hash of {path.name}")
            hashes[path] = future.result()
        return hashes


def manifest_data(
    recipe: Recipe,
    run: CuratedRun,
    selection: Selection,
    hashes: dict[Path, str],
    output: dict[str, Any],
) -> dict[str, Any]:
    """Return the manifest; the same recipe, run and files give the same one."""
    run_files = (run.rollouts, run.inputs)
    return {
        "format": 1,
        "versions": {"spotter": __version__},
        "recipe": recipe.model_dump(mode="json", exclude_defaults=True),
        "seed": recipe.seed,
        "run": {
            "run_id": run.run_id,
            "pass_threshold": run.pass_threshold,
            "since_run_id": run.since_run_id,
            "rollouts": _file(run.rollouts, hashes),
            "inputs": _file(run.inputs, hashes),
        },
        "excluded": [_file(path, hashes) for path in hashes if path not in run_files],
        **selection_data(selection, run.task_count),
        "output": output,
    }


def selection_data(selection: Selection, task_count: int) -> dict[str, Any]:
    """Return the part of a manifest that says what was chosen of how many tasks of a run."""
    reasons = {fate: _reasons(selection, fate) for fate in ("keep", "drop", "top_up")}
    return {
        "counts": {
            "tasks": task_count,
            "candidates": sum(row["task_count"] for row in selection.reasons),
            "chosen": len(selection.tasks),
            "chosen_undecided": reasons["keep"].get("undecided", 0),
            **reasons,
        },
        "figures": [_figures(row) for row in selection.totals],
        "histograms": {
            "before": _tenths(selection, "candidate_count"),
            "after": _tenths(selection, "chosen_count"),
        },
        "changes": {row["change"]: row["task_count"] for row in selection.changes},
    }


def manifest_text(manifest: dict[str, Any]) -> bytes:
    """Return a manifest as the text of its file."""
    return orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _file(path: Path, hashes: dict[Path, str]) -> dict[str, str]:
    return {"path": str(path), "sha256": hashes[path]}


def _reasons(selection: Selection, fate: str) -> dict[str, int]:
    rows = [row for row in selection.reasons if row["fate"] == fate]
    return {row["reason"]: row["task_count"] for row in rows}


def _figures(row: Row) -> dict[str, Any]:
    place = {name: row[name] for name in ("slice_by", "slice_value", "stage")}
    return {**place, **{name: row[name] for name in FIGURES}}


def _tenths(selection: Selection, count: str) -> list[int]:
    counts = {row["tenth"]: row[count] for row in selection.histograms}
    return [counts.get(tenth, 0) for tenth in range(10)]
