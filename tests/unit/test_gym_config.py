"""References in the gym's configs."""

from __future__ import annotations

from pathlib import Path

from collector.servers.config import load_config

CONFIG = """
models: {small: {url: "http://a"}, big: {url: "http://b", port: 7}}
size: big
key: size
url: ${models.${size}.url}/v1
port: ${models.${${key}}.port}
text: ${size} and ${key}
"""


def test_references_may_name_each_other(workspace: Path) -> None:
    (workspace / "config.yaml").write_text(CONFIG, encoding="utf-8")
    found = load_config(["config.yaml"], [])
    assert found["url"] == "http://b/v1"
    assert found["port"] == 7  # a whole reference keeps its type
    assert found["text"] == "big and size"
