"""Answer queries as `mf query` does, many in one process: its start takes far longer than they do.

The queries come as JSON on stdin, the rows of each leave as JSON on stdout.
"""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

from dbt_metricflow.cli.cli_configuration import CLIConfiguration
from metricflow.engine.metricflow_engine import MetricFlowQueryRequest

Row = dict[str, Any]


def plain(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


def main(project: Path) -> None:
    configuration = CLIConfiguration()
    configuration.setup(project, project, configure_file_logging=False)
    answers: list[list[Row]] = []
    for query in json.load(sys.stdin):
        table = configuration.mf.query(MetricFlowQueryRequest.create(**query)).result_df
        rows = table.rows if table else []
        names = table.column_names if table else []
        answers.append([dict(zip(names, map(plain, row), strict=True)) for row in rows])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
