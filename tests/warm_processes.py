"""Start programs in processes that have imported everything already, which takes half a second.

Each is a real process, with its own signals, streams, folder and locks. What the start of Python
itself does is for `run_process` and the tests of `test_programs.py`.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
START = "import sys; sys.path[:] = sys.argv[2:]; from tests.warm_processes import serve; serve()"
IMPORTED = (
    "collector.cli",
    "collector.collection.collect",
    "collector.collection.report",
    "collector.commands.collect_served",
    "collector.exporting.export",
    "collector.profiling.profile",
    "collector.profiling.report",
    "collector.servers.gym",
    "collector.servers.serve",
    "collector.terminal.drawing",
    "collector.viewer.app",
    "collector.viewer.serving.server",
    "collector.viewer.serving.startup",
)
MESSAGE_BYTES = 1 << 18


class WarmProgram(subprocess.Popen[str]):
    """A program of Spotter; it is used like any other `Popen`.

    The process calls `prepare`, a function of a module, before its program.
    """

    def __init__(
        self, *arguments: Any, prepare: Callable[[], None] | None = None, **options: Any
    ) -> None:
        self._prepare = f"{prepare.__module__}:{prepare.__name__}" if prepare else ""
        super().__init__(*arguments, **options)

    def _execute_child(self, args: list[Any], *others: Any) -> None:
        """Ask the server for the process, instead of a fork of this one."""
        cwd, env = others[4], others[5]
        pipes = others[9:15]
        request = {
            "words": list(map(str, args)),
            "cwd": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "prepare": self._prepare,
        }
        status, reported = os.pipe()
        streams = [
            number if given == -1 else given
            for number, given in enumerate((pipes[0], pipes[3], pipes[5]))
        ]
        try:
            socket.send_fds(_server(), [json.dumps(request).encode()], [*streams, reported])
        finally:
            os.close(reported)
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
        self._status = os.fdopen(status, encoding="ascii")
        self.pid = int(self._status.readline())
        self._child_created = True

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._note_end()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._note_end()
        return self.returncode

    def _note_end(self) -> None:
        with self._status:
            self.returncode = int(self._status.readline())


@functools.cache
def _server() -> socket.socket:
    """Start the server of this process; it ends when the process does."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MESSAGE_BYTES)
    words = [sys.executable, "-c", START, str(its.fileno()), *map(os.path.abspath, sys.path)]
    process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, pass_fds=[its.fileno()])
    its.close()

    @atexit.register
    def end() -> None:
        ours.close()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:  # a test has left a program behind
            process.kill()

    return ours


def serve() -> None:
    """Start a process for each request; return in such a process only after its program."""
    requests = socket.socket(fileno=int(sys.argv[1]))
    for name in IMPORTED:
        importlib.import_module(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    children: list[int] = []
    while True:
        message, files, _, _ = socket.recv_fds(requests, MESSAGE_BYTES, 4)
        if not message:
            for child in children:
                os.waitpid(child, 0)
            return
        children = [child for child in children if os.waitpid(child, os.WNOHANG) == (0, 0)]
        if (child := os.fork()) == 0:
            requests.close()
            break
        children.append(child)
        for file in files:
            os.close(file)
    *streams, status = files
    if child := os.fork():
        _report(child, streams, status)
    os.close(status)
    _run(json.loads(message), streams)


def _report(child: int, streams: list[int], status: int) -> None:
    """Tell the test the number of the process, and its exit code at its end."""
    for stream in streams:
        os.close(stream)
    os.write(status, f"{child}\n".encode())
    _, state = os.waitpid(child, 0)
    os.write(status, f"{os.waitstatus_to_exitcode(state)}\n".encode())
    os._exit(0)


def _run(request: dict[str, Any], streams: list[int]) -> None:
    """Be the program: its exit code is that of the process."""
    from collector import cli

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 64)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", buffering=1 if os.isatty(1) else -1)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1, errors="backslashreplace")
    if request["prepare"]:
        module, _, function = request["prepare"].partition(":")
        getattr(importlib.import_module(module), function)()
    sys.argv = request["words"]
    name = Path(sys.argv[0]).name
    getattr(cli, "main" if name == "spotter" else name)()
