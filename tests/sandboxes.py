"""Ask the sandbox of the SQL page many queries with one start of Python: each runs in a fork."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from collector.viewer.sandbox import worker
from collector.viewer.sandbox.runner import Limits

Message = dict[str, Any]
START = "import sys; sys.path[:] = sys.argv[2:]; from tests.sandboxes import main; main()"


def ask_all(warehouse: Path, queries: Sequence[str], folder: Path) -> dict[str, list[Message]]:
    """What the worker says to each query, with all of its limits and none of our environment."""
    limits = Limits()
    common = {
        "path": str(warehouse),
        "rows": limits.page_rows,
        "cells": limits.page_cells,
        "characters": limits.page_characters,
        "is_csv": False,
        "seconds": limits.seconds,
        "memory_mb": limits.memory_mb,
    }
    requests = folder / "requests.json"
    requests.write_text(json.dumps([{**common, "query": query} for query in queries]))
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", START, str(requests), *map(os.path.abspath, sys.path)],
        env={"LANG": "C.UTF-8", "PATH": os.defpath},
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(queries, json.loads(done.stdout), strict=True))


def main() -> None:
    """Answer the requests in a file."""
    requests = json.loads(Path(sys.argv[1]).read_bytes())
    print(json.dumps([_answer(request) for request in requests]))  # noqa: T201


def _answer(request: Message) -> list[Message]:
    asked, asking = os.pipe()
    reading, writing = os.pipe()
    os.write(asking, json.dumps(request).encode() + b"\n")
    if (child := os.fork()) == 0:
        os.dup2(asked, 0)
        os.dup2(writing, 1)
        os.closerange(3, 64)
        try:
            worker.main()  # which ends the process
        finally:
            os._exit(1)
    for number in (asked, asking, writing):
        os.close(number)
    with os.fdopen(reading, "rb") as lines:
        messages: list[Message] = [json.loads(line) for line in lines]
    _, status = os.waitpid(child, 0)
    if code := os.waitstatus_to_exitcode(status):
        messages.append({"error": f"exit code {code}", "kind": "died"})
    return messages
