"""Run `dbt build` on Spark in a separate process, which ends together with its JVM.

The process takes the words of dbt's command line as arguments. It writes a line of JSON to stdout
for each step as it begins, and one for what failed. What dbt and Spark print goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
from typing import IO, Any


def main() -> None:
    """Build, and tell how it goes."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with answers:
        _tell(answers, {"failures": _build(sys.argv[1:], answers)})


def _build(words: list[str], answers: IO[str]) -> list[dict[str, str]] | None:
    """Return what failed; None if dbt did not get as far as to build anything."""
    from dbt.cli.main import dbtRunner

    def tell_step(event: Any) -> None:
        if event.info.name == "LogStartLine":
            data = event.data
            _tell(answers, {"step": [data.index, data.total, data.node_info.node_name]})

    done = dbtRunner(callbacks=[tell_step]).invoke(words)
    if done.success:
        return []
    results = getattr(done.result, "results", None)
    failed = [one for one in results or () if str(one.status) in ("error", "fail")]
    return [{"name": one.node.name, "message": str(one.message)} for one in failed] or None


def _tell(answers: IO[str], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
