"""What the benchmarks share: their options, the runs that they read, and the cost of a command."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generate import generate

REPEATS = 16
LARGE = 100_000
SPOTTER = str(Path(sys.executable).with_name("spotter"))


def size_parser(
    text: str | None, sizes: Sequence[int], *, rounds: int = 3
) -> argparse.ArgumentParser:
    """Return a parser with the options of every benchmark; the sizes are rollouts, or megabytes."""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--folder", type=_folder, default=str(Path(__file__).parent / "data"))
    return parser


def _folder(name: str) -> Path:
    Path(name).mkdir(parents=True, exist_ok=True)
    return Path(name)


def generated_run(folder: Path, rollouts: int, repeats: int = REPEATS) -> Path:
    """Return the rollouts file of a run of this size; write it if it is not there yet."""
    stem = folder / f"run{rollouts}x{repeats}"
    if not stem.with_suffix(".jsonl").exists():
        generate(-(-rollouts // repeats), repeats, stem)
    return stem.with_suffix(".jsonl")


@dataclass(frozen=True)
class Measure:
    """The time, the processor time and the peak memory of one process, and what it printed."""

    seconds: float
    cpu_seconds: float
    megabytes: float
    printed: str


def measure(command: Sequence[str | Path]) -> Measure:
    """Run a command, and return what it cost; raise SystemExit if it fails."""
    started = time.perf_counter()
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode:
        message = f"{command} ended with {process.returncode}"
        raise SystemExit(message)
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Measure(seconds, cpu_seconds, usage.ru_maxrss / 1024, printed)


def best(measures: Sequence[Measure]) -> Measure:
    """Return the fastest round, which other processes disturbed the least."""
    return min(measures, key=lambda one: one.seconds)
