"""A round of a soak: collect in parts, profile, merge, curate, export, report and view."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.soak import promises
from tests.soak.world import Ended, World
from tests.support import ROOT

Words = tuple[str | Path, ...]
LOGS = ROOT / "tests" / "fixtures" / "imports" / "verifiers" / "legacy"
TASKS = 24
REPEATS = 3
MERGED = "merged"
MOST_KILLS = 6
HOLD_SECONDS = 0.5
ORPHAN_SECONDS = 60.0
HOLDER = (
    "import duckdb, sys, time; connection = duckdb.connect(sys.argv[1], read_only=True);"
    "print(1, flush=True); time.sleep(float(sys.argv[2]))"
)


@dataclass(frozen=True)
class Step:
    """A command that is killed some times before it may end, and what must hold after each time."""

    words: Words
    check: Callable[[Ended], None]


class Round:
    """One folder, from its tasks to its report."""

    def __init__(self, world: World, number: int, kills: int) -> None:
        """Create the folder; at most so many kills are left to do."""
        self.world = world
        self.folder = world.folder / "data" / str(number)
        self.folder.mkdir()
        self.kills_left = kills
        self.warehouse = self.folder / "warehouse.duckdb"

    def run(self) -> None:
        """Run all steps, then check that everything is there once and nothing else is."""
        steps = [
            *(*self._collecting(), self._aggregating(), self._importing()),
            *(self._profiling(), self._tagging(), *self._merging(), self._curating()),
            *self._publishing(),
        ]
        if self.world.rng.random() < 0.3:
            steps.append(self._demo())
        for step in steps:
            self._take(step)
        for _ in range(min(self.kills_left, self.world.rng.randint(0, 2))):
            self.world.interrupt_viewer(f"{self.folder.name}-all", MERGED, cwd=self.folder)
            self.kills_left -= 1
        self._check_all()

    def _take(self, step: Step) -> None:
        world = self.world
        for _ in range(world.rng.randint(0, MOST_KILLS)):
            if self.kills_left <= 0:
                break
            kind = world.rng.random()
            if kind < 0.1:
                ended = world.run_on_full_disk(*step.words, cwd=self.folder)
            else:
                with self._held_warehouse() if kind < 0.2 else contextlib.nullcontext():
                    ended = world.interrupt(*step.words, cwd=self.folder)
            self.kills_left -= ended.number is not None
            self._check(step, ended)
        if world.rng.random() < 0.05:
            world.restart_gym()
        ended = world.run(*step.words, cwd=self.folder)
        self._check(step, ended)
        if ended.code:
            world.totals.broken.append(f"{step.words} fails: {ended.stderr[-2000:]}")

    def _check(self, step: Step, ended: Ended) -> None:
        promises.check_end(self.world, ended, step.words)
        step.check(ended)

    @contextlib.contextmanager
    def _held_warehouse(self) -> Iterator[None]:
        """Let another process read the warehouse for a moment, so that writers wait."""
        if not self.warehouse.exists():
            yield
            return
        self.world.totals.counts["warehouses held by a reader"] += 1
        arguments = [sys.executable, "-c", HOLDER, str(self.warehouse), str(HOLD_SECONDS)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            yield

    def _collecting(self) -> Iterator[Step]:
        address = (f"--head-port={self.world.port}", "--max-attempts=1000", "-p", "4")
        for part in (1, 2):
            path = self.folder / f"part{part}.jsonl"
            yield Step(
                (
                    *("collect", "-a", "arithmetic_simple_agent", "-i", "../../tasks.jsonl"),
                    *("-o", path.name, "-n", str(REPEATS), f"--shard={part}/2", "--resume"),
                    *("--grace-period=0", *address),
                    *(("--disable-aggregation",) if part == 1 else ()),
                ),
                lambda ended, path=path: self._check_run(path, ended),  # type: ignore[misc]
            )

    def _aggregating(self) -> Step:
        path = self.folder / "all.jsonl"
        address = f"--head-port={self.world.port}"
        return Step(
            ("aggregate", "-i", "part?.jsonl", "-o", path.name, "--overwrite", address),
            lambda _: self._check_run(path),
        )

    def _importing(self) -> Step:
        path = self.folder / "imported.jsonl"
        return Step(
            ("import", LOGS, "-o", path.name, "--overwrite"), lambda _: self._check_run(path)
        )

    def _profiling(self) -> Step:
        return Step(("profile", "all.jsonl"), lambda _: self._check_profile())

    def _tagging(self) -> Step:
        run_id = f"{self.folder.name}-all"
        words = ("runs", "tag", run_id, f"round={self.folder.name}")
        return Step(words, lambda _: promises.check_warehouse(self.world, self.warehouse))

    def _merging(self) -> Iterator[Step]:
        """Profile the parts one by one, and join their warehouses beside the run."""
        parts = [self.folder / f"part{part}.duckdb" for part in (1, 2)]
        for path in parts:
            rollouts = path.with_suffix(".jsonl").name
            yield Step(
                ("profile", rollouts, "--run-id", MERGED, "--no-files", "-w", path.name),
                lambda _, path=path: promises.check_warehouse(self.world, path),  # type: ignore[misc]
            )
        yield Step(("merge", *(path.name for path in parts)), lambda _: self._check_profile())

    def _curating(self) -> Step:
        words = ("curate", "all.jsonl", "-o", "train.jsonl", "--overwrite")
        return Step(words, lambda _: self._check_curated())

    def _publishing(self) -> Iterator[Step]:
        output = self.folder / "exports"
        words = ("export", "-f", "csv", "-f", "parquet", "-o", output.name)
        yield Step(words, lambda _: promises.check_export(self.world, output))
        run_id = f"{self.folder.name}-all"
        for runs in ((run_id,), (run_id, MERGED)):
            report = self.folder / f"report{len(runs)}.html"
            yield Step(
                ("report", *runs, "-o", report.name),
                lambda _, report=report: self._check_report(report),  # type: ignore[misc]
            )

    def _demo(self) -> Step:
        words = ("demo", "-o", "demo", "--limit", "4", "-n", "2")
        return Step(words, self._check_demo)

    def _check_run(self, path: Path, ended: Ended | None = None) -> None:
        """Check the files of a run; a killed collector may leave an unfinished last line."""
        may_be_torn = ended is not None and ended.code < 0
        stem = path.name.removesuffix(".jsonl")
        for suffix in ("", "_failures"):
            file = path.with_name(f"{stem}{suffix}.jsonl")
            if suffix:
                self._check_failures(file, may_be_torn=may_be_torn)
            else:
                promises.check_lines(self.world, file, may_be_torn=may_be_torn)
        inputs = path.with_name(f"{stem}_materialized_inputs.jsonl")
        promises.check_lines(self.world, inputs, may_be_torn=False)
        for suffix in ("_run", "_aggregate_metrics"):
            promises.check_json(self.world, path.with_name(f"{stem}{suffix}.json"))

    def _check_failures(self, path: Path, *, may_be_torn: bool) -> None:
        if path.exists():
            content = path.read_bytes()
            if content and not content.endswith(b"\n") and not may_be_torn:
                self.world.totals.broken.append(f"{path}: the last line is torn")

    def _check_profile(self) -> None:
        promises.check_warehouse(self.world, self.warehouse)
        profiling = self.folder / "all_reward_profiling.jsonl"
        if profiling.exists() and not profiling.read_bytes().endswith(b"}\n"):
            self.world.totals.broken.append(f"{profiling} is not whole")
        for suffix in ("_agent_metrics", "_repeat_level_metrics"):
            promises.check_json(self.world, self.folder / f"all{suffix}.json")

    def _check_curated(self) -> None:
        train = self.folder / "train.jsonl"
        if train.exists() and not train.read_bytes().endswith(b"}\n"):
            self.world.totals.broken.append(f"{train} is not whole")
        promises.check_json(self.world, self.folder / "train.manifest.json")

    def _check_report(self, report: Path) -> None:
        if report.exists() and not report.read_bytes().rstrip().endswith(b"</html>"):
            self.world.totals.broken.append(f"{report} is not whole")

    def _check_demo(self, ended: Ended) -> None:
        self._check_run(self.folder / "demo" / "rollouts.jsonl", ended)
        promises.check_warehouse(self.world, self.folder / "demo" / "warehouse.duckdb")

    def _check_all(self) -> None:
        """Check that every rollout is there exactly once, and that nothing is left behind."""
        expected = {(task, rollout) for task in range(TASKS) for rollout in range(REPEATS)}
        keys = promises.check_lines(self.world, self.folder / "all.jsonl", may_be_torn=False)
        parts = [
            key
            for part in (1, 2)
            for key in promises.check_lines(
                self.world, self.folder / f"part{part}.jsonl", may_be_torn=False
            )
        ]
        if sorted(keys) != sorted(expected) or sorted(parts) != sorted(expected):
            self.world.totals.broken.append(
                f"{self.folder}: {len(keys)} merged and {len(parts)} collected rollouts,"
                f" expected {len(expected)}"
            )
        self.world.totals.counts["rollouts there exactly once"] += len(expected)
        promises.check_same_run(self.world, self.warehouse, f"{self.folder.name}-all", MERGED)
        for path in promises.leftovers(self.folder):
            self.world.totals.broken.append(f"{path} was left behind")


def check_end(world: World) -> None:
    """Check, after all rounds, that no process and no temporary file is left."""
    deadline = time.monotonic() + ORPHAN_SECONDS
    while (orphans := world.orphans()) and time.monotonic() < deadline:
        time.sleep(0.2)
    world.totals.broken += [f"still running: {words}" for _, words in orphans]
    last = max((world.folder / "data").iterdir(), key=lambda path: int(path.name))
    ended = world.run("profile", "all.jsonl", cwd=last)
    promises.check_end(world, ended, ("profile",))
    for folder in ("tmp", "cache", "data"):
        for path in promises.leftovers(world.folder / folder):
            world.totals.broken.append(f"{path} was left behind")
    world.totals.broken += [f"{path} was left behind" for path in (world.folder / "tmp").iterdir()]
