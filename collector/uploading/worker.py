"""A process of its own for a tracker's library: it prints, watches the command line, and may hang.

It reads a request from stdin and writes answers to stdout, one a line.
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

# the makers of the libraries learn nothing of errors and usage
ALWAYS = {"WANDB_ERROR_REPORTING": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
# a server that is away is given up after some seconds, unless somebody wants it otherwise
DEFAULTS = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3", "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1"}
# every upload is a run of its own, also within a training run, and says nothing but its own
NEVER = tuple(
    f"WANDB_{name}"
    for name in (
        *("RUN_ID", "RESUME", "NAME", "NOTES", "HOST", "SERVICE"),
        *("SWEEP_ID", "SWEEP_PARAM_PATH", "CONFIG_PATHS"),
    )
)


def main() -> None:
    """Answer a request: once a content, in order, or once if there is nothing but to check."""
    os.environ.update({**DEFAULTS, **os.environ, **ALWAYS})
    for name in NEVER:
        os.environ.pop(name, None)
    with _answer_only() as file:
        for answer in _answers(json.load(sys.stdin)):
            file.write(json.dumps(answer) + "\n")
            file.flush()


def _answer_only() -> IO[str]:
    """Keep stdout for answers: what a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    return answers


def _answers(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Do what is asked for, up to the first error."""
    contents = [Upload.from_data(content) for content in request["contents"]]
    try:
        tracker = trackers.load(request["tracker"])
        if not contents:
            tracker.check()
            yield {}
        for content in contents:
            yield asdict(tracker.upload(content))
    except SpotterError as error:
        yield {"error": str(error), "exit_code": error.exit_code}
    except Exception as error:  # noqa: BLE001 - a library may raise anything
        # a check asks no server: what is wrong then are the settings
        kind = ServerError if contents else UsageError
        yield {"error": str(error) or type(error).__name__, "exit_code": kind.exit_code}


if __name__ == "__main__":
    main()
