"""dbt in a process that serves many calls: to start it and to read the project takes seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support import ROOT

Row = dict[str, Any]
START = "import sys; sys.path[:] = sys.argv[1:]; from tests.dbt_process import main; main()"


class Dbt:
    """A process that calls dbt on this project as often as it is asked to."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", START, *map(os.path.abspath, sys.path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(
        self,
        *arguments: str | Path,
        warehouse: Path,
        variables: Row | None = None,
        environment: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Call dbt on a warehouse; its target and logs are beside it."""
        folder = warehouse.parent
        words = [
            *map(str, arguments),
            *("--quiet", "--no-use-colors", "--vars", json.dumps(variables or {})),
            *("--target-path", str(folder / "target"), "--log-path", str(folder / "logs")),
        ]
        paths = {"SPOTTER_WAREHOUSE": str(warehouse), "SPOTTER_TEMP": str(folder / "spill")}
        request = {"words": words, "environment": {**paths, **(environment or {})}}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(words, answer["code"], answer["output"])

    def close(self) -> None:
        self._process.communicate()


def main() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    manifests: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        os.environ.update(request["environment"])
        with tempfile.TemporaryFile() as printed:
            os.dup2(printed.fileno(), 1)
            code = _call(request["words"], manifests)
            sys.stdout.flush()
            printed.seek(0)
            output = printed.read().decode()
        answers.write(json.dumps({"code": code, "output": output}) + "\n")
        answers.flush()


def _call(words: list[str], manifests: dict[str, Any]) -> int:
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.cli.main import dbtRunner

    # the name of the file is the name of the database in all that dbt compiles
    name = Path(os.environ["SPOTTER_WAREHOUSE"]).stem
    if name not in manifests:
        parsed = dbtRunner().invoke(["parse", *words[words.index("--quiet") :]])
        if not parsed.success:
            return 2
        manifests[name] = parsed.result
    done = dbtRunner(manifest=manifests[name]).invoke(words)
    if environment := DuckDBConnectionManager._ENV:
        environment.close()  # else nobody else can open the warehouse
    DuckDBConnectionManager.close_all_connections()  # type: ignore[no-untyped-call]
    return 0 if done.success else 2 if done.exception else 1
