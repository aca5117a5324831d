"""Work that pages wait for: in other processes, one at a time, with the latest results kept."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from collector.child_process import failure_reason
from collector.errors import FileError, SpotterError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
PATIENCE_SECONDS = 4.0
KEPT = 16
MOST_WAITING = 8
"""How many results may be waited for: the work for more starts when a page asks again."""
STOP_SECONDS = 2.0


class WaitingError(SpotterError):
    """The work takes longer than a page waits for it."""


@dataclass
class BackgroundWork(Generic[K, T]):
    """Results by what they depend on. It starts the work for a result that it does not have."""

    do: Callable[[K], T]
    """Does the work, with `run_worker`; raises SpotterError or OSError."""
    failure: str
    """What failed, for messages: the reason follows."""
    discard: Callable[[T], None] = lambda _: None
    """Removes what belongs to a result that is no longer kept."""
    _futures: OrderedDict[K, Future[T]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _process: subprocess.Popen[bytes] | None = None
    _is_closed: bool = False

    def result(self, key: K, patience_seconds: float) -> T:
        """Return a result; raise WaitingError if it is not ready yet, or FileError if it fails."""
        with self._lock:
            future = self._futures.get(key)
            if future is None:
                if sum(not one.done() for one in self._futures.values()) >= MOST_WAITING:
                    raise WaitingError("other work comes first")
                future = self._start(key)
            self._futures.move_to_end(key)
        try:
            return future.result(patience_seconds)
        except TimeoutError as error:
            raise WaitingError("the work is not done yet") from error
        except SpotterError:
            with self._lock:
                self._futures.pop(key, None)  # the next page tries again
            raise

    def run_worker(self, command: Sequence[str], request: bytes) -> bytes:
        """Send a request to another process; return what it prints, or raise FileError."""
        if self._is_closed:
            raise FileError("the viewer stops")
        process = self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C goes to the viewer only, which ends the worker
        )
        printed, complaints = process.communicate(request)
        if process.returncode:
            raise FileError(failure_reason(process.returncode, printed, complaints))
        return printed

    def close(self) -> None:
        """Stop the current work, and start none."""
        self._is_closed = True
        process = self._process
        if process and process.poll() is None:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)

    def _start(self, key: K) -> Future[T]:
        future: Future[T] = Future()
        self._futures[key] = future
        self._forget_oldest()
        threading.Thread(target=self._work, args=(key, future), daemon=True).start()
        return future

    def _forget_oldest(self) -> None:
        done = [key for key, future in self._futures.items() if future.done()]
        for key in done[: max(0, len(self._futures) - KEPT)]:
            future = self._futures.pop(key)
            if not future.exception():
                self.discard(future.result())

    def _work(self, key: K, future: Future[T]) -> None:
        try:
            with self._turn:
                result = self.do(key)
        except (SpotterError, OSError) as error:
            future.set_exception(FileError(f"{self.failure}: {error}"))
        else:
            future.set_result(result)
