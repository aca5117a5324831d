"""Call the commands: in this process where that is enough, in a process of their own otherwise."""

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
# the warnings that nobody sees unless Python is asked for them; pytest makes errors of the others
IGNORED = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def run_command(
    command: str, *arguments: str | Path, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Call a command in this process, which saves the second that it takes to start one.

    What it prints, its exit code and its current folder are as in a process of its own. Signals,
    locks between processes and the end of the process itself are for `run_process`.
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
    """Call a command in a process of its own, as a user would."""
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
    """Call a program; return what the interpreter would end with."""
    try:
        entry()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except Exception:  # noqa: BLE001 - whatever it is, the interpreter would show it
        traceback.print_exc()
        return 1
    return 0


@contextlib.contextmanager
def _kept_state() -> Iterator[None]:
    """Put back what a program may change of its process, for it ends with the process."""
    words, environment = sys.argv, dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    log = logging.getLogger()
    loggers, log.handlers = log.handlers, []  # pytest's, which keep the log from stderr
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
    """Have what is written to a standard stream, also by children, in a file."""
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
        stream.close()  # writes what is left, as the end of a process does
        os.dup2(kept, number)
        os.close(kept)


def _text(file: IO[bytes]) -> str:
    """What was written, with the line ends that `subprocess` makes of them."""
    file.seek(0)
    with io.TextIOWrapper(io.BytesIO(file.read()), encoding="utf-8") as text:
        return text.read()
