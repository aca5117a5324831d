"""Compare the time of `spotter profile` with that of the pandas script `baseline.py`.

    python bench/profile_speed.py [--sizes 1000 16000 160000] [--rounds 3] [--folder bench/data]

Both run alternately in separate processes on the same files, and the start of the interpreter
counts. The largest size needs 3.1 GB of disk, 5 GB of memory for pandas, and some minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from shared import LARGE, SPOTTER, best, generated_run, measure, size_parser

TARGETS = {1_000: 1.2, 16_000: 5.0, 160_000: 9.0}


def compare(size: int, folder: Path, rounds: int) -> None:
    """Measure one size and print a line."""
    rollouts = generated_run(folder, size)
    baseline: list[str | Path] = [
        sys.executable,
        Path(__file__).with_name("baseline.py"),
        rollouts.with_suffix(""),
    ]
    warehouse = rollouts.with_suffix(".duckdb")
    spotter: list[str | Path] = [SPOTTER, "profile", rollouts, "--warehouse", warehouse]
    measure(spotter)  # the first call compiles the models, and brings the files into the page cache
    theirs, ours = [], []
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
    given = size_parser(__doc__, [*TARGETS]).parse_args()
    print("rollouts  file MB  pandas s  spotter s  ratio  target         pandas MB  spotter MB")
    for size in given.sizes:
        compare(size, given.folder, 1 if size > LARGE else given.rounds)


if __name__ == "__main__":
    main()
