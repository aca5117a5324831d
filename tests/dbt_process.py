"""dbt in a process that serves many calls: to start it and to read the project takes seconds."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import ROOT

Row = dict[str, Any]
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SPOTTER_CACHE", "DBT_SEND_ANONYMOUS_USAGE_STATS")
WITHOUT_FILES = {"build", "run", "seed", "test"}


@dataclass(frozen=True)
class DbtCall:
    """What a call of dbt printed, how it ended, and the status of each node."""

    returncode: int
    stdout: str
    statuses: list[tuple[str, str]]

    def nodes(self, *statuses: str) -> set[str]:
        """The nodes that ended so; a unit test counts for its model."""
        return {name.split(".")[2] for name, status in self.statuses if status in statuses}


class Served:
    """A process that runs the `main` of a module, which answers requests."""

    def __init__(self, module: str, environment: dict[str, str]) -> None:
        start = f"import sys; sys.path[:] = sys.argv[1:]; from {module} import main; main()"
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", start, *map(os.path.abspath, sys.path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=environment,
        )

    def ask(self, request: Row) -> Row:
        """Return the answer; if the process has ended, raise its last words."""
        assert self._process.stdin
        assert self._process.stdout
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            raise RuntimeError(f"the process of dbt ended with {code}:\n{self._errors.read()}")
        answer: Row = json.loads(line)
        return answer

    def close(self) -> None:
        self._process.communicate()
        self._errors.close()


class Dbt(Served):
    """A process that calls dbt on this project as often as it is asked to."""

    def __init__(self) -> None:
        # dbt searches all variables for secrets at every line of its log
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        super().__init__("tests.dbt_process", environment)

    def __call__(
        self,
        *arguments: str | Path,
        warehouse: Path,
        variables: Row | None = None,
        environment: dict[str, str] | None = None,
    ) -> DbtCall:
        """Call dbt on a warehouse; its target is beside it."""
        folder = warehouse.parent
        words = [
            *map(str, arguments),
            *("--quiet", "--no-use-colors", "--vars", json.dumps(variables or {})),
            *("--target-path", str(folder / "target"), "--log-path", str(folder / "logs")),
            *("--log-level-file", "none"),
            *(["--no-write-json"] if arguments[0] in WITHOUT_FILES else []),
        ]
        paths = {"SPOTTER_WAREHOUSE": str(warehouse), "SPOTTER_TEMP": str(folder / "spill")}
        answer = self.ask({"words": words, "environment": {**paths, **(environment or {})}})
        statuses = [(name, status) for name, status in answer["statuses"]]
        return DbtCall(answer["code"], answer["output"], statuses)


def main() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    manifests: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        os.environ.update(request["environment"])
        with tempfile.TemporaryFile() as printed:
            os.dup2(printed.fileno(), 1)
            code, statuses = _call(request["words"], manifests)
            sys.stdout.flush()
            printed.seek(0)
            output = printed.read().decode()
        answer = {"code": code, "output": output, "statuses": statuses}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def forget_compiled(manifest: Any) -> None:
    """Let dbt put base models into their readers' SQL again: it does so once for each manifest."""
    for node in manifest.nodes.values():
        if node.resource_type != "seed":  # seeds have no SQL
            node.extra_ctes_injected = False
            node.extra_ctes = []


def _call(words: list[str], manifests: dict[str, Any]) -> tuple[int, list[tuple[str, str]]]:
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.cli.main import dbtRunner

    # the name of the file is the name of the database in all that dbt compiles
    name = Path(os.environ["SPOTTER_WAREHOUSE"]).stem
    if name not in manifests:
        parsed = dbtRunner().invoke(["parse", *words[words.index("--quiet") :]])
        if not parsed.success:
            return 2, []
        manifests[name] = parsed.result
    forget_compiled(manifests[name])
    done = dbtRunner(manifest=manifests[name]).invoke(words)
    if environment := DuckDBConnectionManager._ENV:
        environment.close()  # else nobody else can open the warehouse
    DuckDBConnectionManager.close_all_connections()  # type: ignore[no-untyped-call]
    results = getattr(done.result, "results", None) or []
    statuses = [(one.node.unique_id, str(one.status)) for one in results if hasattr(one, "node")]
    return 0 if done.success else 2 if done.exception else 1, statuses
