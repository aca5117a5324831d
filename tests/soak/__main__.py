"""`make soak`: kill every writing command at random, and report what was promised and broken."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.soak.rounds import TASKS, Round, check_end
from tests.soak.world import World

SHOWN = 20


def main() -> int:
    """Run rounds until the time or the kills are used up; return 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="end after so many minutes")
    parser.add_argument("--kills", type=int, default=1_000_000, help="end after so many kills")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same kills")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the servers and the disk must go
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        world = World(Path(name), chosen.seed)
        try:
            _soak(world, minutes=chosen.minutes, kills=chosen.kills)
            return _report(world, chosen.seed, time.monotonic() - started)
        finally:
            world.close()


def _soak(world: World, *, minutes: float, kills: int) -> None:
    tasks = ("test", "resources_servers/arithmetic", "--write", "tasks.jsonl", "--count", TASKS)
    ended = world.run(*map(str, tasks), cwd=world.folder)
    if ended.code:
        raise RuntimeError(ended.stderr)
    world.start_gym()
    deadline = time.monotonic() + 60 * minutes
    number = 0
    while time.monotonic() < deadline and (left := kills - world.totals.kills.total()) > 0:
        number += 1
        Round(world, number, left).run()
        print(f"round {number}: {world.totals.kills.total()} kills", file=sys.stderr, flush=True)
        if world.totals.broken:
            break
        for earlier in (world.folder / "data").iterdir():  # the disk is small
            if earlier.name != str(number):
                shutil.rmtree(earlier)
    check_end(world)


def _report(world: World, seed: int, seconds: float) -> int:
    totals = world.totals
    disk = "a small disk that fills up" if world.has_disk else "limited file sizes"
    print(f"seed {seed}, {seconds / 60:.1f} minutes, {disk}")
    print(f"{totals.kills.total():7} kills, and {totals.early} commands that were done before")
    for name, count in sorted(totals.kills.items()):
        print(f"{count:7}   {name}")
    for name, count in sorted(totals.counts.items()):
        print(f"{count:7} {name}")
    print(f"{len(totals.broken):7} broken promises")
    for problem in totals.broken[:SHOWN]:
        print(f"  {problem}")
    return 1 if totals.broken else 0


if __name__ == "__main__":
    sys.exit(main())
