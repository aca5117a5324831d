"""Start `spotter view` as a user would, and ask it for pages."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.warm_processes import WarmProgram

# httpx reads all certificates for each request, unless it gets a context
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass
class Watched:
    """A viewer that is up."""

    process: subprocess.Popen[str]
    url: str
    port: int
    token: str | None
    warehouse: Path

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **given: Any) -> httpx.Response:
        """Ask for a page with nothing remembered of earlier ones."""
        return httpx.get(self.base + path, timeout=60, verify=NO_CERTIFICATES, **given)

    def children(self) -> list[int]:
        """The processes it has started that are alive."""
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        return [int(line) for line in found.stdout.split()]

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Stop it as Ctrl-C does; return the exit code and what it said."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=10)
        return self.process.returncode, errors


@contextlib.contextmanager
def viewing(
    *arguments: str | Path, cwd: Path, command: str = "spotter", port: int | None = 0
) -> Iterator[Watched]:
    program = str(Path(sys.executable).with_name(command))
    words = ["view"] if command == "spotter" else []
    ports = ["--port", str(port)] if port is not None else []
    process = WarmProgram(
        [program, *words, "--json", "--no-browser", *ports, *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SPOTTER_TEST_SECRET": "hunter2"},
    )
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        _, errors = process.communicate(timeout=60)
        raise AssertionError(f"it did not start: {errors}")
    ready = json.loads(line)
    assert "url" in ready, ready
    try:
        yield Watched(
            process, ready["url"], ready["port"], ready.get("token"), Path(ready["warehouse"])
        )
    finally:
        if process.poll() is None:
            process.terminate()
            _, errors = process.communicate(timeout=60)
            assert "Traceback" not in errors, errors
