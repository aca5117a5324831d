"""Run a tracker's library in a separate process: it prints, reads the command line, and may hang.

The process reads requests from stdin and writes answers to stdout, one per line: the first request
names the tracker to check, the others contain uploads. It ends with its stdin.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import IO, Any

from collector.errors import ServerError, SpotterError, UsageError
from collector.uploading import trackers
from collector.uploading.content import Upload

# the libraries must not report errors and usage to their makers
ALWAYS = {"WANDB_ERROR_REPORTING": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
# give up on an unreachable server after some seconds, unless the user sets other values
DEFAULTS = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3", "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1"}
# an upload is always a new run, even inside of a training run, and uses nothing of that run
NEVER = tuple(
    f"WANDB_{name}"
    for name in (
        *("RUN_ID", "RESUME", "NAME", "NOTES", "HOST", "SERVICE"),
        *("SWEEP_ID", "SWEEP_PARAM_PATH", "CONFIG_PATHS"),
    )
)


def main() -> None:
    """Answer requests: once for the check, and once per upload, in order."""
    os.environ.update({**DEFAULTS, **os.environ, **ALWAYS})
    for name in NEVER:
        os.environ.pop(name, None)
    with _open_answers() as file:
        for answer in _answers(map(json.loads, sys.stdin)):
            file.write(json.dumps(answer) + "\n")
            file.flush()


def _open_answers() -> IO[str]:
    """Return stdout for answers, and redirect all that a library prints to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return answers


def _answers(requests: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Check the tracker, then upload to it; yield the answers up to the first error."""
    kind: type[SpotterError] = UsageError  # a check contacts no server: its errors are of settings
    try:
        tracker = trackers.load_tracker(next(requests)["tracker"])
        tracker.check()
        yield {}
        kind = ServerError
        for request in requests:
            for content in request["contents"]:
                yield asdict(tracker.upload(Upload.from_data(content)))
    except SpotterError as error:
        yield {"error": str(error), "exit_code": error.exit_code}
    except Exception as error:  # noqa: BLE001 - a library may raise anything
        yield {"error": str(error) or type(error).__name__, "exit_code": kind.exit_code}


if __name__ == "__main__":
    main()
