"""Run commands in this process, or in a separate one if a test needs it."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from collector import cli
from collector.commands.common import PRINTED

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Python does not show these warnings by default; pytest turns all others into errors
IGNORED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def run_command(
    command: str, *arguments: str | Path, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, which saves the second that a new process takes to start.

    Its output, exit code and current folder are as in a separate process. Tests of signals, of
    locks between processes and of the end of a process need `run_process`.
    """
    words = [command, *map(str, arguments)]
    entry: Callable[[], None] = getattr(cli, "main" if command == "spotter" else command)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        with _kept_state(), _redirected(out, 1), _redirected(errors, 2), contextlib.chdir(cwd):
            sys.argv = words
            PRINTED.clear()
            code = _exit_code(entry)
        return subprocess.CompletedProcess(words, code, _text(out), _text(errors))


def run_process(
    command: str, *arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a separate process, as a user would."""
    program = Path(sys.executable).with_name(command)
    return subprocess.run(
        [str(program), *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=env,
    )


def _exit_code(entry: Callable[[], None]) -> int:
    """Run a program; return the exit code of the interpreter."""
    try:
        entry()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except Exception:  # noqa: BLE001 - the interpreter would show any exception
        traceback.print_exc()
        return 1
    return 0


@contextlib.contextmanager
def _kept_state() -> Iterator[None]:
    """Restore the state of the process that a program may change, as its end would."""
    words, environment = sys.argv, dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    log = logging.getLogger()
    loggers, log.handlers = log.handlers, []  # without pytest's handlers, the log goes to stderr
    try:
        with warnings.catch_warnings():
            for kind in IGNORED:
                warnings.simplefilter("ignore", kind)
            yield
    finally:
        sys.argv, log.handlers = words, loggers
        os.environ.clear()
        os.environ.update(environment)
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _redirected(file: IO[bytes], number: int) -> Iterator[None]:
    """Redirect a standard stream to a file, also for child processes."""
    name = {1: "stdout", 2: "stderr"}[number]
    before, kept = getattr(sys, name), os.dup(number)
    before.flush()
    os.dup2(file.fileno(), number)
    stream = io.TextIOWrapper(
        os.fdopen(os.dup(number), "wb"),
        encoding="utf-8",
        errors="strict" if number == 1 else "backslashreplace",
    )
    setattr(sys, name, stream)
    try:
        yield
    finally:
        setattr(sys, name, before)
        stream.close()  # flushes, as the end of a process does
        os.dup2(kept, number)
        os.close(kept)


def _text(file: IO[bytes]) -> str:
    """Return the written text, with line ends translated as `subprocess` does."""
    file.seek(0)
    with io.TextIOWrapper(io.BytesIO(file.read()), encoding="utf-8") as text:
        return text.read()
