"""Runs whose files still change: tell that they do, and profile them again while they grow."""

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

from collector.artifacts import FAILURES_SUFFIX, RECORD_SUFFIX, beside
from collector.child_process import failure_reason, spotter_command
from collector.profiling.statistics import ANSWER_FIELD, Statistics, ZeroRules
from collector.viewer.text import utc
from collector.warehouse.sql import Row

QUIET_SECONDS = 60.0
"""So long after its last line a collection without a record still counts as running."""
RECORDED_QUIET_SECONDS = 900.0
"""The same, where the collector's record says that it runs: a rollout may take its time."""
PAUSE_SECONDS = 5.0
STOP_SECONDS = 2.0
DERIVED_FOLDER = ".spotter-index"


@dataclass(frozen=True)
class Sources:
    """What became of the files behind a run since it was profiled."""

    is_missing: bool
    is_changed: bool
    is_running: bool
    has_derived_inputs: bool


@dataclass
class _Refresh:
    """The profiling of one run that is going on, or the last one."""

    is_running: bool = False
    not_before: float = 0.0
    problem: str = ""


@dataclass
class Live:
    """Profiles runs again while their collection goes on, one at a time, in another process."""

    warehouse: Path
    started_at: float = field(default_factory=time.time)
    _refreshes: dict[str, _Refresh] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _process: subprocess.Popen[bytes] | None = None

    def look_at(self, run: Row) -> Sources:
        """Look at the files of a run; what came while we look on is still to be shown."""
        return look_at_sources(run, since=self.started_at)

    def close(self) -> None:
        """End the profiling that goes on, which leaves the warehouse as it was."""
        process = self._process
        if process and process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)

    def problem(self, run_id: str) -> str:
        """Return why the last refresh of a run failed, if it did."""
        found = self._refreshes.get(run_id)
        return found.problem if found else ""

    def refresh(self, run: Row, sources: Sources) -> None:
        """Profile a run again if its collection is running and its files have changed."""
        if not (sources.is_running and sources.is_changed) or sources.has_derived_inputs:
            return
        with self._lock:
            mine = self._refreshes.setdefault(run["run_id"], _Refresh())
            is_busy = any(other.is_running for other in self._refreshes.values())
            if is_busy or time.monotonic() < mine.not_before:
                return
            mine.is_running = True
        threading.Thread(target=self._profile, args=(run, mine), daemon=True).start()

    def _profile(self, run: Row, mine: _Refresh) -> None:
        started = time.monotonic()
        try:
            mine.problem = self._profiled_again(run)
        finally:
            # a long profile must not keep the machine busy all the time
            mine.not_before = time.monotonic() + max(PAUSE_SECONDS, time.monotonic() - started)
            mine.is_running = False

    def _profiled_again(self, run: Row) -> str:
        """Profile a run in another process; return what went wrong."""
        flags = ["--allow-partial", "--no-files", "--json", "--warehouse", str(self.warehouse)]
        process = self._process = subprocess.Popen(
            spotter_command("profile", *flags, *profile_flags(run)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        printed, complaints = process.communicate()
        return failure_reason(process.returncode, printed, complaints) if process.returncode else ""


def look_at_sources(
    run: Row, *, since: float = math.inf, now: Callable[[], float] = time.time
) -> Sources:
    """Look whether the files of a run are there, have changed and are still being written.

    What changed after `since` counts as still being written until it is profiled.
    """
    rollouts = Path(run["rollouts_path"])
    inputs = Path(run["inputs_path"])
    times = [_changed_at(path) for path in (rollouts, beside(rollouts, FAILURES_SUFFIX), inputs)]
    latest = max((time for time in times if time is not None), default=0.0)
    quiet = _quiet_seconds(rollouts)
    is_changed = utc(latest) > run["profiled_at"]
    return Sources(
        is_missing=times[0] is None,
        is_changed=is_changed,
        is_running=bool(run["missing_rollout_count"])
        and times[0] is not None
        and (now() - latest < quiet or (is_changed and latest > since)),
        has_derived_inputs=inputs.parent.name == DERIVED_FOLDER,
    )


def known_statistics(run: Row) -> Statistics:
    """Return the settings that a run was profiled with; an older warehouse does not know them."""
    field = run.get("answer_field")
    threshold = run.get("pass_threshold")
    return Statistics(
        pass_threshold=1.0 if threshold is None else threshold,
        # the usual one was named by nobody, and may be missing
        answer_field=field if field != ANSWER_FIELD else None,
        slice_by=tuple(run["slice_by"].split(", ")) if run.get("slice_by") else (),
        zeros=_known_zeros(run),
    )


def _known_zeros(run: Row) -> ZeroRules | None:
    classes = run.get("zero_failure_classes")
    named = tuple(classes.split(", ")) if classes else ()
    is_missing_zero = bool(run.get("is_missing_zero"))
    return ZeroRules(named, is_missing_zero=is_missing_zero) if named or is_missing_zero else None


def profile_flags(run: Row) -> list[str]:
    """Return the flags that profile a run as it was profiled before."""
    known = known_statistics(run)
    return [
        *(run["rollouts_path"], "--inputs", run["inputs_path"], "--run-id", run["run_id"]),
        *(("--pass-threshold", repr(known.pass_threshold)) if known.pass_threshold != 1 else ()),
        *(("--answer-field", known.answer_field) if known.answer_field else ()),
        *(word for name in known.slice_by for word in ("--slice-by", name)),
        *_money_and_zeros(run),
    ]


def _money_and_zeros(run: Row) -> Iterator[str]:
    """Return the flags for prices and for what counts as 0."""
    classes = run.get("zero_failure_classes")
    for name in classes.split(", ") if classes else ():
        yield from ("--count-failure-classes-as-zero", name)
    if run.get("is_missing_zero"):
        yield "--count-missing-rollouts-as-zero"
    if run.get("prices_path"):
        yield from ("--prices", run["prices_path"])


def _changed_at(path: Path) -> float | None:
    """Return when a file changed; nothing if it is not there, or cannot be looked at."""
    try:
        return path.stat().st_mtime
    except (OSError, ValueError):
        return None


def _quiet_seconds(rollouts: Path) -> float:
    """Return how long files may stay as they are while a collection goes on; 0 if it has ended."""
    path = beside(rollouts, RECORD_SUFFIX)
    try:
        if not path.is_file():  # a pipe would be waited for
            return QUIET_SECONDS
        status = orjson.loads(path.read_bytes())["sessions"][-1]["status"]
    except (OSError, ValueError, LookupError, TypeError):
        return QUIET_SECONDS
    return RECORDED_QUIET_SECONDS if status == "running" else 0.0


def as_text(moment: datetime) -> str:
    """Write when a run was profiled, to be compared by the page."""
    return moment.replace(tzinfo=UTC).isoformat()
