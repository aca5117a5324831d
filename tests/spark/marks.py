"""What the tests of Spark need."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

NEEDS_SPARK = [
    pytest.mark.spark,
    pytest.mark.skipif(not importlib.util.find_spec("pyspark"), reason="pyspark is not installed"),
    pytest.mark.skipif(
        not (os.environ.get("JAVA_HOME") or shutil.which("java")), reason="Java is not installed"
    ),
]
