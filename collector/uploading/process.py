"""Run a tracker's library in a worker process, and read its answers."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from typing import IO, Any

from collector.child_process import last_line, spotter_command
from collector.errors import ServerError, UsageError
from collector.temporary_files import unnamed_file
from collector.uploading.content import Upload
from collector.uploading.redaction import redact

LONGEST_REASON = 500
STDERR_BYTES = 2_000
WORKER = spotter_command(module="collector.uploading.worker")
Answer = dict[str, Any]


class UploadError(ServerError):
    """An upload failed; all files are still on disk."""

    def __init__(self, message: str, *, exit_code: int = ServerError.exit_code) -> None:
        """Take the message and the exit code."""
        super().__init__(message)
        self.exit_code = exit_code


class Worker:
    """A process with a tracker's library. It starts when it is needed, and may start again."""

    def __init__(self, tracker: str) -> None:
        """Take the name of the tracker."""
        self.tracker = tracker
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] = io.BytesIO()
        self._pending = 0

    def start(self) -> None:
        """Start the process; raise UsageError if the tracker is not installed or not set up."""
        if self._process is None:
            self._stderr = unnamed_file()  # `stop` closes it
            self._process = subprocess.Popen(
                WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
            )
            self._ask({"tracker": self.tracker}, answers=1)
            self._answer()

    def upload(self, contents: list[Upload]) -> Iterator[Answer]:
        """Upload everything, and yield an answer for each; start the process if necessary."""
        self.start()
        self._ask({"contents": [asdict(content) for content in contents]}, answers=len(contents))
        for _ in contents:
            yield self._answer()

    def stop(self) -> None:
        """End the process: at once if it has not answered everything, else in its own time."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._pending:
            process.kill()
        with self._stderr, process, contextlib.suppress(BrokenPipeError):
            _stdin(process).close()

    def _ask(self, request: dict[str, Any], *, answers: int) -> None:
        assert self._process
        self._pending = answers
        with contextlib.suppress(BrokenPipeError):  # the process has ended: its stderr says why
            _stdin(self._process).write(json.dumps(request).encode("ascii") + b"\n")
            _stdin(self._process).flush()

    def _answer(self) -> Answer:
        assert self._process
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            reason = _last_line(self._stderr)
            raise UploadError(f"the upload process ended with exit code {code}{reason}")
        answer: Answer = json.loads(line)
        if "error" in answer:
            raise _error(answer)
        self._pending -= 1
        return answer


def _stdin(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin
    return process.stdin


def _error(answer: Answer) -> UploadError | UsageError:
    reason = redact(answer["error"])
    if answer["exit_code"] == UsageError.exit_code:
        return UsageError(reason)
    return UploadError(reason[:LONGEST_REASON])


def _last_line(stderr: IO[bytes]) -> str:
    stderr.seek(max(0, stderr.seek(0, 2) - STDERR_BYTES))
    return redact(last_line(stderr.read()))[:LONGEST_REASON]
