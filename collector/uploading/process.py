"""Ask a tracker's library for uploads, in a process of its own."""

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
from collector.uploading.redaction import redacted

LONGEST_REASON = 500
NOISE_BYTES = 2_000
WORKER = spotter_command(module="collector.uploading.worker")
Answer = dict[str, Any]


class UploadError(ServerError):
    """Something was not uploaded; everything is on disk."""

    def __init__(self, message: str, *, exit_code: int = ServerError.exit_code) -> None:
        """Take the exit code of what went wrong."""
        super().__init__(message)
        self.exit_code = exit_code


@contextlib.contextmanager
def answering(tracker: str, contents: list[Upload]) -> Iterator[Iterator[Answer]]:
    """Start a process that answers once a content, or once if there is nothing but to check."""
    request = {"tracker": tracker, "contents": [asdict(content) for content in contents]}
    with tempfile.TemporaryFile() as noise:
        process = subprocess.Popen(
            WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=noise
        )
        with process:
            try:
                yield _answers(process, json.dumps(request).encode("ascii"), noise)
            except BaseException:
                process.kill()
                raise


def _answers(
    process: subprocess.Popen[bytes], request: bytes, noise: IO[bytes]
) -> Iterator[Answer]:
    assert process.stdin
    assert process.stdout
    with contextlib.suppress(BrokenPipeError):  # it ended early: its last words tell why
        process.stdin.write(request)
        process.stdin.close()
    for line in process.stdout:
        answer: Answer = json.loads(line)
        if "error" in answer:
            raise _error(answer)
        yield answer
    raise UploadError(f"it ended with exit code {process.wait()}{_last_words(noise)}")


def _error(answer: Answer) -> UploadError | UsageError:
    reason = redacted(answer["error"])
    if answer["exit_code"] == UsageError.exit_code:
        return UsageError(reason)
    return UploadError(reason[:LONGEST_REASON])


def _last_words(noise: IO[bytes]) -> str:
    noise.seek(max(0, noise.seek(0, 2) - NOISE_BYTES))
    return redacted(last_line(noise.read()))[:LONGEST_REASON]
