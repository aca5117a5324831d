"""Start a worker process for a tracker's library, and read its answers."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from typing import IO, Any

from collector.child_process import last_line, spotter_command
from collector.errors import ServerError, UsageError
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


@contextlib.contextmanager
def open_worker(tracker: str, contents: list[Upload]) -> Iterator[Iterator[Answer]]:
    """Start a worker and yield its answers: one per upload, or one for a check without any."""
    request = {"tracker": tracker, "contents": [asdict(content) for content in contents]}
    with tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
        )
        with process:
            try:
                yield _answers(process, json.dumps(request).encode("ascii"), stderr)
            except BaseException:
                process.kill()
                raise


def _answers(
    process: subprocess.Popen[bytes], request: bytes, stderr: IO[bytes]
) -> Iterator[Answer]:
    assert process.stdin
    assert process.stdout
    with contextlib.suppress(BrokenPipeError):  # the worker ended early: its stderr says why
        process.stdin.write(request)
        process.stdin.close()
    for line in process.stdout:
        answer: Answer = json.loads(line)
        if "error" in answer:
            raise _error(answer)
        yield answer
    raise UploadError(
        f"the upload process ended with exit code {process.wait()}{_last_stderr_line(stderr)}"
    )


def _error(answer: Answer) -> UploadError | UsageError:
    reason = redact(answer["error"])
    if answer["exit_code"] == UsageError.exit_code:
        return UsageError(reason)
    return UploadError(reason[:LONGEST_REASON])


def _last_stderr_line(stderr: IO[bytes]) -> str:
    stderr.seek(max(0, stderr.seek(0, 2) - STDERR_BYTES))
    return redact(last_line(stderr.read()))[:LONGEST_REASON]
