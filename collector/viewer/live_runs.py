"""Runs whose files still change: detects the change, and profiles growing runs again."""

from __future__ import annotations

import contextlib
import math
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import orjson

from collector.artifacts import (
    FAILURES_SUFFIX,
    RECORD_SUFFIX,
    beside,
    is_imported,
    rollouts_files,
)
from collector.child_process import failure_reason, spotter_command
from collector.profiling.known_settings import known_statistics
from collector.remote_paths import is_remote
from collector.rollout_lines import INDEX_FOLDER
from collector.viewer.text import utc
from collector.warehouse.sql import Row

QUIET_SECONDS = 60.0
"""A collection without a record counts as running for this long after its last line."""
RECORDED_QUIET_SECONDS = 900.0
"""The same if the collector's record says that it is running: a single rollout may take long."""
CLOCK_SECONDS = 60.0
"""How far the clocks of two machines that share the files may differ."""
PAUSE_SECONDS = 5.0
STOP_SECONDS = 2.0


@dataclass(frozen=True)
class Sources:
    """The state of a run's files since the run was profiled."""

    is_missing: bool
    is_changed: bool
    is_running: bool
    has_derived_inputs: bool


@dataclass
class _Refresh:
    """The current or last profiling of one run."""

    is_running: bool = False
    not_before: float = 0.0
    problem: str = ""


@dataclass
class LiveRuns:
    """Profiles runs again while they are collected, one at a time, in another process."""

    warehouse: Path
    started_at: float = field(default_factory=time.time)
    _refreshes: dict[str, _Refresh] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _process: subprocess.Popen[bytes] | None = None

    def check_sources(self, run: Row) -> Sources:
        """Check a run's files; changes since the viewer started count as a running collection."""
        return check_sources(run, since=self.started_at)

    def close(self) -> None:
        """Stop the current profiling, which leaves the warehouse unchanged."""
        process = self._process
        if process and process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)

    def problem(self, run_id: str) -> str:
        """Return why the last profiling of a run failed; empty if it did not fail."""
        refresh = self._refreshes.get(run_id)
        return refresh.problem if refresh else ""

    def refresh(self, run: Row, sources: Sources) -> None:
        """Profile a run again if its collection is running and its files have changed."""
        if not (sources.is_running and sources.is_changed) or sources.has_derived_inputs:
            return
        with self._lock:
            refresh = self._refreshes.setdefault(run["run_id"], _Refresh())
            is_busy = any(other.is_running for other in self._refreshes.values())
            if is_busy or time.monotonic() < refresh.not_before:
                return
            refresh.is_running = True
        threading.Thread(
            target=self._profile_in_background, args=(run, refresh), daemon=True
        ).start()

    def _profile_in_background(self, run: Row, refresh: _Refresh) -> None:
        started = time.monotonic()
        try:
            refresh.problem = self._run_profile(run)
        finally:
            # pause as long as profiling took: it must not keep the machine busy all the time
            refresh.not_before = time.monotonic() + max(PAUSE_SECONDS, time.monotonic() - started)
            refresh.is_running = False

    def _run_profile(self, run: Row) -> str:
        """Profile a run in another process; return the error, or an empty text."""
        flags = ["--allow-partial", "--no-files", "--json", "--warehouse", str(self.warehouse)]
        process = self._process = subprocess.Popen(
            spotter_command("profile", *flags, *profile_flags(run)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        printed, complaints = process.communicate()
        return failure_reason(process.returncode, printed, complaints) if process.returncode else ""


def check_sources(
    run: Row, *, since: float = math.inf, now: Callable[[], float] = time.time
) -> Sources:
    """Check whether a run's files exist, have changed and are still being written.

    A change after `since` counts as still being written until it is profiled.
    """
    files = rollouts_files(run["rollouts_path"])
    is_away = any(map(is_remote, files))
    if is_away or len(files) > 1:  # no page waits for a store, and only `merge` joins shards
        return Sources(
            is_missing=not is_away and not all(path.is_file() for path in files),
            is_changed=False,
            is_running=False,
            has_derived_inputs=False,
        )
    rollouts = files[0]
    inputs = Path(run["inputs_path"])
    times = [_modified_at(path) for path in (rollouts, beside(rollouts, FAILURES_SUFFIX), inputs)]
    latest = max((time for time in times if time is not None), default=0.0)
    quiet = _quiet_seconds(rollouts)
    # a profile in the future: the clock was ahead, and later changes would look older
    is_changed = not utc(latest) <= run["profiled_at"] <= utc(now() + CLOCK_SECONDS)
    return Sources(
        is_missing=times[0] is None,
        is_changed=is_changed,
        is_running=bool(run["missing_rollout_count"])
        and times[0] is not None
        and (now() - latest < quiet or (is_changed and latest > since)),
        has_derived_inputs=inputs.parent.name == INDEX_FOLDER,
    )


def profile_flags(run: Row) -> list[str]:
    """Return the flags of `spotter profile` that repeat how a run was profiled."""
    known = known_statistics(run)
    return [
        *(run["rollouts_path"], "--inputs", run["inputs_path"], "--run-id", run["run_id"]),
        *(("--pass-threshold", repr(known.pass_threshold)) if known.pass_threshold != 1 else ()),
        *(("--answer-field", known.answer_field) if known.answer_field else ()),
        *(word for name in known.slice_by for word in ("--slice-by", name)),
        *_price_and_zero_flags(run),
    ]


def _price_and_zero_flags(run: Row) -> Iterator[str]:
    """Give the flags for prices and for rollouts that count as 0."""
    zeros = known_statistics(run).zeros
    for name in zeros.failure_classes if zeros else ():
        yield from ("--count-failure-classes-as-zero", name)
    if run.get("is_missing_zero"):
        yield "--count-missing-rollouts-as-zero"
    if run.get("prices_path"):
        yield from ("--prices", run["prices_path"])


def _modified_at(path: Path) -> float | None:
    """Return when a file was last written to, or None if it is missing or not accessible."""
    try:
        return path.stat().st_mtime
    except (OSError, ValueError):
        return None


def _quiet_seconds(rollouts: Path) -> float:
    """Return how long a running collection may write nothing; 0 if the collection has ended."""
    path = beside(rollouts, RECORD_SUFFIX)
    try:
        if not path.is_file():  # reading a pipe would block
            return QUIET_SECONDS
        record = path.read_bytes()
        if is_imported(record):
            return 0.0
        status = orjson.loads(record)["sessions"][-1]["status"]
    except (OSError, ValueError, LookupError, TypeError):
        return QUIET_SECONDS
    return RECORDED_QUIET_SECONDS if status == "running" else 0.0


def iso_timestamp(moment: datetime) -> str:
    """Return a UTC time as ISO 8601, which the page compares with its own."""
    return moment.replace(tzinfo=UTC).isoformat()
