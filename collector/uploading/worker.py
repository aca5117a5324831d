"""Run a tracker's library in a separate process: it prints, reads the command line, and may hang.

The process reads a request from stdin and writes answers to stdout, one per line.
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
    """Answer a request: once per upload, in order, or once for a check without any."""
    os.environ.update({**DEFAULTS, **os.environ, **ALWAYS})
    for name in NEVER:
        os.environ.pop(name, None)
    with _open_answers() as file:
        for answer in _answers(json.load(sys.stdin)):
            file.write(json.dumps(answer) + "\n")
            file.flush()


def _open_answers() -> IO[str]:
    """Return stdout for answers, and redirect all that a library prints to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return answers


def _answers(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Check the tracker or upload to it, and yield the answers up to the first error."""
    contents = [Upload.from_data(content) for content in request["contents"]]
    try:
        tracker = trackers.load_tracker(request["tracker"])
        if not contents:
            tracker.check()
            yield {}
        for content in contents:
            yield asdict(tracker.upload(content))
    except SpotterError as error:
        yield {"error": str(error), "exit_code": error.exit_code}
    except Exception as error:  # noqa: BLE001 - a library may raise anything
        # a check contacts no server, so its errors come from the settings
        kind = ServerError if contents else UsageError
        yield {"error": str(error) or type(error).__name__, "exit_code": kind.exit_code}


if __name__ == "__main__":
    main()
