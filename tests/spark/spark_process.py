"""dbt with one Spark session, in a process that serves many calls: to start both takes seconds."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.dbt_process import DbtCall, Served, forget_compiled

Row = dict[str, Any]
CONF = Path(__file__).parent / "conf"
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "JAVA_HOME", "DBT_SEND_ANONYMOUS_USAGE_STATS")


class SparkDbt(Served):
    """A process that calls dbt on this project, with Spark, as often as it is asked to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment["SPARK_CONF_DIR"] = str(CONF)
        environment["SPOTTER_SPARK_WAREHOUSE"] = str(self.warehouse)
        super().__init__("tests.spark.spark_process", environment)

    @property
    def warehouse(self) -> Path:
        return self.folder / "marts"

    def __call__(self, *arguments: str, variables: Row) -> DbtCall:
        words = [
            *arguments,
            *("--quiet", "--no-use-colors", "--vars", json.dumps(variables), "--target", "spark"),
            *(
                "--target-path",
                str(self.folder / "target"),
                "--log-path",
                str(self.folder / "logs"),
            ),
            *("--log-level-file", "none", "--no-write-json"),
        ]
        answer = self.ask({"words": words})
        statuses = [(name, status) for name, status in answer["statuses"]]
        return DbtCall(answer["code"], answer["output"], statuses)

    def save(self, views: dict[str, Path]) -> None:
        """Write views as folders of Parquet files."""
        answer = self.ask({"views": {name: str(path) for name, path in views.items()}})
        assert answer["code"] == 0, answer["output"]

    def forget(self, marts: tuple[str, ...]) -> None:
        """Let the catalogue forget marts, and keep their files: a new process knows none either."""
        kept = self.folder / "kept"
        shutil.copytree(self.warehouse, kept, ignore=shutil.ignore_patterns("scratch"))
        answer = self.ask({"forget": marts})
        assert answer["code"] == 0, answer["output"]
        shutil.copytree(kept, self.warehouse, dirs_exist_ok=True)


def main() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    manifests: list[Any] = []
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(_answer(request, manifests)) + "\n")
        answers.flush()


def _answer(request: Row, manifests: list[Any]) -> Row:
    return _call(request["words"], manifests) if "words" in request else _query(request)


def _call(words: list[str], manifests: list[Any]) -> Row:
    """Call dbt; what it has parsed serves the next calls, though their vars are others."""
    from dbt.cli.main import dbtRunner

    if not manifests:
        parsed = dbtRunner().invoke(["parse", *words[words.index("--quiet") :]])
        manifests.append(parsed.result)
    forget_compiled(manifests[0])
    done = dbtRunner(manifest=manifests[0]).invoke(words)
    results = getattr(done.result, "results", None) or []
    nodes = [one for one in results if hasattr(one, "node")]
    return {
        "code": 0 if done.success else 2 if done.exception else 1,
        "output": "\n".join([str(done.exception or ""), *(str(one.message) for one in nodes)]),
        "statuses": [(one.node.unique_id, str(one.status)) for one in nodes],
    }


def _query(request: Row) -> Row:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    try:
        for name, path in request.get("views", {}).items():
            session.table(name).write.parquet(path)
        for mart in request.get("forget", ()):
            session.sql(f"drop table main.{mart}")
    except Exception as error:  # noqa: BLE001  # whatever it is, the test shows it
        return {"code": 1, "output": str(error)}
    return {"code": 0, "output": ""}
