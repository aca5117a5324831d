"""Compare the time of `spotter profile` with that of the pandas script `baseline.py`.

    python bench/profile_speed.py [--sizes 1000 16000 160000] [--rounds 3] [--folder bench/data]

Both run alternately in separate processes on the same files, and the start of the interpreter
counts. The largest size needs 3.1 GB of disk, 5 GB of memory for pandas, and some minutes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from generate import generate

HERE = Path(__file__).parent
REPEATS = 16
ROUNDS_OF_LARGEST = 1
LARGE = 100_000
TARGETS = {1_000: 1.2, 16_000: 5.0, 160_000: 9.0}


@dataclass(frozen=True)
class Measure:
    """The time and the peak memory of one process."""

    seconds: float
    megabytes: float


def measure(command: list[str]) -> Measure:
    """Run a command, and return its time and its peak memory."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        message = f"{command} ended with {os.waitstatus_to_exitcode(status)}"
        raise SystemExit(message)
    return Measure(seconds, usage.ru_maxrss / 1024)


def best(measures: list[Measure]) -> Measure:
    """Return the fastest round, which other processes disturbed the least."""
    return min(measures, key=lambda one: one.seconds)


def compare(size: int, folder: Path, rounds: int) -> None:
    """Measure one size and print a line."""
    stem = folder / f"run{size}"
    rollouts = folder / f"run{size}.jsonl"
    if not rollouts.exists():
        generate(-(-size // REPEATS), REPEATS, stem)
    baseline = [sys.executable, str(HERE / "baseline.py"), str(stem)]
    warehouse = folder / f"run{size}.duckdb"
    spotter = [
        str(Path(sys.executable).with_name("spotter")),
        *("profile", str(rollouts), "--warehouse", str(warehouse)),
    ]
    measure(spotter)  # the first call compiles the models, and brings the files into the page cache
    theirs: list[Measure] = []
    ours: list[Measure] = []
    for _ in range(rounds):
        warehouse.unlink(missing_ok=True)
        ours.append(measure(spotter))
        theirs.append(measure(baseline))
    pandas, own = best(theirs), best(ours)
    ratio = pandas.seconds / own.seconds
    target = TARGETS.get(size)
    verdict = "" if target is None else f"{target:>5.1f}x  {'met' if ratio >= target else 'MISSED'}"
    print(
        f"{size:>8}  {rollouts.stat().st_size / 1e6:>7.0f}  {pandas.seconds:>8.2f}  "
        f"{own.seconds:>8.2f}  {ratio:>5.1f}x  {verdict:<13}  "
        f"{pandas.megabytes:>9.0f}  {own.megabytes:>10.0f}",
        flush=True,
    )


def main() -> None:
    """Compare all sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(TARGETS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=HERE / "data")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print("rollouts  file MB  pandas s  spotter s  ratio  target         pandas MB  spotter MB")
    for size in given.sizes:
        rounds = ROUNDS_OF_LARGEST if size > LARGE else given.rounds
        compare(size, given.folder, rounds)


if __name__ == "__main__":
    main()
