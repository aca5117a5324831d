"""What the benchmarks share: their options, the runs that they read, and the cost of a command."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generate import generate

REPEATS = 16
LARGE = 100_000
# a process inherits the peak memory of the one that starts it: this one starts it with next to none
LAUNCHER = """
import resource, subprocess, sys, time
started = time.perf_counter()
code = subprocess.call(sys.argv[1:])
seconds = time.perf_counter() - started
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print()
print(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(code)
"""
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
    words = [sys.executable, "-c", LAUNCHER, *map(str, command)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        message = f"{words[3:]} ended with {done.returncode}"
        raise SystemExit(message)
    printed, _, usage = done.stdout.rstrip().rpartition("\n")
    seconds, cpu_seconds, kilobytes = map(float, usage.split())
    return Measure(seconds, cpu_seconds, kilobytes / 1024, printed)


def best(measures: Sequence[Measure]) -> Measure:
    """Return the fastest round, which other processes disturbed the least."""
    return min(measures, key=lambda one: one.seconds)
