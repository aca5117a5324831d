"""The folder, the servers and the processes of a soak."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx

from collector.cache import cache_dir
from collector.profiling.plan import load_plan
from tests.gym import free_port
from tests.servers import ARITHMETIC, SIMULATED

SPOTTER = str(Path(sys.executable).with_name("spotter"))
MODEL = "policy_model.responses_api_models.simulated_model"
FAULTS = (f"{MODEL}.failure_rate=0.15", f"{MODEL}.mask_rate=0.05", f"{MODEL}.latency=0.02")
DISK_BYTES = 192 << 20
PATIENCE_SECONDS = 900
FIRST_SECONDS = 6.0
"""How long a command takes, before the first one has shown it."""
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    stderr: str
    number: int | None = None
    """The signal that was sent to it, if it was still running."""
    is_gym_away: bool = False
    """Whether the servers were restarted meanwhile."""


@dataclass
class Totals:
    """What was done and found, for the report."""

    kills: Counter[str] = field(default_factory=Counter)
    early: int = 0
    """Commands that were done before their signal came."""
    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)


class World:
    """A folder on a small disk of its own if that can be had, with a gym that has faults."""

    def __init__(self, root: Path, seed: int) -> None:
        """Create the folders, and start no process yet."""
        self.rng = random.Random(seed)
        self.folder = folder = root / "disk"
        self.servers = root / "servers"  # with room of their own: a full disk is the commands'
        for path in (self.folder, self.servers):
            path.mkdir()
        self.totals = Totals()
        self.port = free_port()
        self.seconds: dict[str, float] = {}
        self._gym: subprocess.Popen[bytes] | None = None
        self.has_disk = self._mount()
        for name in ("tmp", "data"):
            (folder / name).mkdir()
        load_plan()  # dbt takes long to compile it: once is enough
        shutil.copytree(cache_dir(), folder / "cache", ignore=shutil.ignore_patterns("logs", ".*"))
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("SPOTTER_")},
            "TMPDIR": str(folder / "tmp"),
            "SPOTTER_CACHE": str(folder / "cache"),
            "SPOTTER_SOAK": str(folder),
        }

    def _mount(self) -> bool:
        words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(self.folder)]
        try:
            return subprocess.run(words, check=False, capture_output=True).returncode == 0
        except OSError:
            return False

    def close(self) -> None:
        """Stop the gym and remove the disk."""
        self.stop_gym(signal.SIGTERM)
        for process_id, _ in self.orphans():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        if self.has_disk:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    def start_gym(self) -> None:
        """Start the servers on the same port as before."""
        flags = [word for path in (ARITHMETIC, SIMULATED) for word in ("-c", path)]
        flags += [word for setting in FAULTS for word in ("--set", setting)]
        self._gym = subprocess.Popen(
            [SPOTTER, "run", "--json", "--head-port", str(self.port), *flags],
            cwd=self.servers,
            env={**self.environment, "TMPDIR": str(self.servers)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._gym.stdout
        if not self._gym.stdout.readline():
            raise RuntimeError("the servers did not start")

    def stop_gym(self, number: int) -> None:
        """End the servers by a signal."""
        if self._gym:
            self._gym.send_signal(number)
            self._gym.wait(PATIENCE_SECONDS)
            assert self._gym.stdout
            self._gym.stdout.close()
            self._gym = None

    def restart_gym(self) -> None:
        """Let the servers crash or end, and start them again."""
        self.totals.counts["restarts of the servers"] += 1
        self.stop_gym(self.rng.choice((signal.SIGKILL, signal.SIGTERM)))
        self.start_gym()

    def run(self, *words: str | Path, cwd: Path) -> Ended:
        """Run a command to its end; the next kills come within the time that it took."""
        started = time.monotonic()
        ended = self._run(words, cwd, lambda _: None)
        self.seconds[str(words[0])] = time.monotonic() - started
        return ended

    def interrupt(self, *words: str | Path, cwd: Path) -> Ended:
        """Start a command, and send it a signal at a random moment."""
        name = str(words[0])
        number = self.rng.choice(SIGNALS)
        delay = self.rng.uniform(0, 1.1 * self.seconds.get(name, FIRST_SECONDS))
        restarts = self.totals.counts["restarts of the servers"]

        def send(process: subprocess.Popen[str]) -> int | None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(delay)
                return None
            if name == "collect" and self.rng.random() < 0.1:
                self.restart_gym()
            process.send_signal(number)
            if number == signal.SIGINT and name == "collect":
                process.send_signal(signal.SIGTERM)  # the second stops at once
            return number

        ended = self._run(words, cwd, send)
        is_away = self.totals.counts["restarts of the servers"] > restarts
        ended = replace(ended, is_gym_away=is_away)
        if ended.number is None:
            self.totals.early += 1
        else:
            self.totals.kills[f"{name} {signal.Signals(number).name}"] += 1
        return ended

    def interrupt_viewer(self, first: str, second: str, *, cwd: Path) -> None:
        """Ask a viewer to compare two runs, and send it a signal while it works, or after."""
        number = self.rng.choice(SIGNALS)
        with subprocess.Popen(
            [SPOTTER, "view", "--json", "--no-browser", "--port", "0"],
            cwd=cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdout
            base = "http://127.0.0.1:{port}".format(**json.loads(process.stdout.readline()))
            with contextlib.suppress(httpx.HTTPError):
                values = {"a": first, "b": second}
                httpx.get(f"{base}/compare", params=values, timeout=self.rng.uniform(0.01, 2))
            process.send_signal(number)
        self.totals.kills[f"view {signal.Signals(number).name}"] += 1

    def _run(
        self,
        words: tuple[str | Path, ...],
        cwd: Path,
        act: Callable[[subprocess.Popen[str]], int | None],
        limit: int | None = None,
    ) -> Ended:
        def set_limit() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        errors = self.folder / "stderr"
        with (
            errors.open("w+", encoding="utf-8", errors="replace") as file,
            subprocess.Popen(
                [SPOTTER, *map(str, words)],
                cwd=cwd,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
                text=True,
                preexec_fn=set_limit,  # noqa: PLW1509 - this program has no other thread
            ) as process,
        ):
            number = act(process)
            code = process.wait(PATIENCE_SECONDS)
            file.seek(0)
            return Ended(code, file.read(), number)

    def run_on_full_disk(self, *words: str | Path, cwd: Path) -> Ended:
        """Run a command while the disk fills up: the disk itself, or no file may grow further."""
        self.totals.counts["commands on a full disk"] += 1
        if not self.has_disk:
            return self._run(words, cwd, lambda _: None, limit=1 << self.rng.randint(9, 18))
        with self._fill():
            return self._run(words, cwd, lambda _: None)

    @contextlib.contextmanager
    def _fill(self) -> Iterator[None]:
        """Leave a random number of bytes free on the disk."""
        status = os.statvfs(self.folder)
        left = 1 << self.rng.randint(12, 22)
        filler = self.folder / "filler"
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, status.f_bavail * status.f_frsize - left))
        try:
            yield
        finally:
            filler.unlink()

    def orphans(self) -> list[tuple[int, str]]:
        """Return the ids and words of processes that commands of this world have left running."""
        own = {os.getpid(), *([self._gym.pid] if self._gym else [])}
        found: list[tuple[int, str]] = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and int(entry.name) not in own:
                    environment = (entry / "environ").read_bytes()
                    if f"SPOTTER_SOAK={self.folder}".encode() in environment:
                        words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                        found.append((int(entry.name), words.decode(errors="replace")))
        return found
