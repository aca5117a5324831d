"""What runs before a commit and on a pull request is what the Makefile and pyproject.toml say."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml

from collector.warehouse.access import STORAGE
from tests.support import ROOT

LINTER = r"(ruff \w+|[\w-]+)"


def _read_yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def test_the_hooks_are_the_linters_of_make_lint() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(
        r"^(?:lint|types|\$\(SQL_LINTED\)):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE
    )
    recipe = "".join(targets)
    (repo,) = _read_yaml(".pre-commit-config.yaml")["repos"]
    entries = [hook["entry"] for hook in repo["hooks"]]
    linters = re.findall(rf"\$\(BIN\)/{LINTER}", recipe)
    assert sorted(re.findall(rf"\.venv/bin/{LINTER}", "\n".join(entries))) == sorted(linters)


def test_the_workflow_tests_every_python_that_the_package_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tested = _read_yaml(".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"][
        "python"
    ]
    named = [text.rpartition(" :: ")[2] for text in project["classifiers"] if "3." in text]
    assert tested == named
    assert project["requires-python"] == f">={tested[0]}"


def test_dbt_and_the_command_make_warehouses_of_the_same_version() -> None:
    target = _read_yaml("profiles.yml")["spotter"]["outputs"]["duckdb"]
    assert target["config_options"]["storage_compatibility_version"] == STORAGE
