"""Third-party files are those that their list says."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from tests.support import ROOT

FOLDERS = [ROOT / "collector/viewer/static/vendor", ROOT / "docs/site/vendor"]


@pytest.mark.parametrize("folder", FOLDERS, ids=["viewer", "site"])
def test_each_script_is_listed_with_its_checksum_and_licence(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    scripts = sorted(folder.glob("*.js"))
    assert scripts
    for script in scripts:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{script.name}` |")]
        assert hashlib.sha256(script.read_bytes()).hexdigest() in row
        licence = re.search(r"in `([^`]+)`", row)
        assert licence, row
        assert (folder / licence[1]).is_file()
