"""`make release` refuses a version that the changelog does not describe."""

from __future__ import annotations

import runpy

import pytest
import yaml

from collector import __version__
from tests.support import ROOT

changelog_problem = runpy.run_path(str(ROOT / ".ci" / "release.py"))["changelog_problem"]


@pytest.mark.parametrize(
    "text",
    [
        "# Changelog\n\n## 1.2.0\n- A page.\n",
        "# Changelog\n\n## 1.2.0 (2030-01-31)\n- A page.\n\n## 1.1.0\n- A mart.\n",
        "# Changelog\n\n## Unreleased\n\n## 1.2.0\n- A page.\n",
    ],
    ids=["plain", "with a date", "below an empty Unreleased"],
)
def test_a_version_with_its_heading_is_fine(text: str) -> None:
    assert changelog_problem(text, "1.2.0") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# Changelog\n\n## Unreleased\n- A page.\n", "'## Unreleased'"),
        ("# Changelog\n\n## 1.2.0rc1\n- A page.\n\n## 1.1.0\n", "'## 1.2.0rc1', '## 1.1.0'"),
        ("# Changelog\n\nSoon: 1.2.0\n\n### 1.2.0\n", "none"),
    ],
    ids=["Unreleased alone", "other versions", "no heading of the second level"],
)
def test_a_version_without_a_heading_is_refused(text: str, found: str) -> None:
    assert changelog_problem(text, "1.2.0") == (
        f"CHANGELOG.md has no heading '## 1.2.0' for this version; its headings: {found}\n"
        "  what to do: rename '## Unreleased' to '## 1.2.0'"
    )


def test_entries_that_are_still_unreleased_are_refused() -> None:
    text = "# Changelog\n\n## Unreleased\n- A chart.\n\n## 1.2.0\n- A page.\n"
    assert "still has entries under '## Unreleased'" in changelog_problem(text, "1.2.0")


def test_the_dbt_project_has_the_version_of_the_package() -> None:
    project = yaml.safe_load((ROOT / "dbt_project.yml").read_text(encoding="utf-8"))
    assert project["version"] == __version__
