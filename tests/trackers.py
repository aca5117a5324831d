"""Read uploaded runs back with the libraries of the trackers."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support import Row

WANDB_KEY = "0123456789abcdef0123456789abcdef01234567"
BLOCK = 1 << 15


@dataclass
class Tracked:
    """A run as the tracker stores it."""

    name: str = ""
    project: str = ""
    group: str = ""
    kind: str = ""
    is_failed: bool = False
    settings: Row = field(default_factory=dict)
    figures: Row = field(default_factory=dict)
    curves: dict[str, dict[int, float]] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    """Return the size of each file."""


def go_offline(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make both trackers write only below a folder.

    MLflow's small package does not install pandas and polars, which take half of the time to start.
    """
    unnecessary = folder / "unnecessary"
    unnecessary.mkdir()
    for name in ("pandas", "polars"):
        (unnecessary / f"{name}.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(unnecessary))
    monkeypatch.setenv("WANDB_MODE", "offline")
    for name in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"WANDB_{name}_DIR", str(folder / "wandb-home"))
    monkeypatch.setenv("NETRC", str(folder / "no-netrc"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file:{folder}/mlruns")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    for name in ("WANDB_PROJECT", "WANDB_API_KEY", "WANDB_BASE_URL", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)


def wandb_run(folder: str) -> Tracked:
    """Read an offline run."""
    (path,) = Path(folder).glob("*.wandb")
    run = Tracked()
    for record in _records(path):
        kind = record.WhichOneof("record_type")
        if kind == "run":
            run.name, run.project = record.run.display_name, record.run.project
            run.group, run.kind = record.run.run_group, record.run.job_type
            run.settings = _items(record.run.config.update)
        elif kind == "summary":
            run.figures |= _items(record.summary.update)
        elif kind == "history":
            _add_point(run, _items(record.history.item))
        elif kind == "artifact":
            for entry in record.artifact.manifest.contents:
                run.files[f"{record.artifact.type}/{entry.path}"] = entry.size
        elif kind == "exit":
            run.is_failed = record.exit.exit_code != 0
    run.settings.pop("_wandb")
    return run


def _add_point(run: Tracked, point: Row) -> None:
    for name, value in point.items():
        if name != "k" and not name.startswith("_"):
            run.curves.setdefault(name, {})[point["_step"]] = value
            assert point["k"] == point["_step"]


def _records(path: Path) -> Iterator[Any]:
    """Read what `wandb sync` sends: LevelDB's log format, with a record of W&B in each entry."""
    from wandb.proto import wandb_internal_pb2 as messages

    record: Any = messages.Record  # type: ignore[attr-defined]
    data = path.read_bytes()
    assert data[:4] == b":W&B"
    position, entry = 7, b""
    while position + 7 <= len(data):
        left = BLOCK - position % BLOCK
        if left < 7:
            position += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, position)
        entry += data[position + 7 : position + 7 + length]
        position += 7 + length
        if kind in (1, 4):  # a whole record, or the last part of one
            yield record.FromString(entry)
            entry = b""


def _items(items: Any) -> Row:
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


def mlflow_run(run_id: str) -> Tracked:
    """Read a run with MLflow's client."""
    from mlflow import MlflowClient

    client = MlflowClient()
    found = client.get_run(run_id)
    names = list(found.data.metrics)
    points = {name: client.get_metric_history(run_id, name) for name in names}
    return Tracked(
        name=found.info.run_name,
        project=client.get_experiment(found.info.experiment_id).name,
        group=found.data.tags["spotter.run_id"],
        kind=found.data.tags["spotter.command"],
        is_failed=found.info.status == "FAILED",
        settings=dict(found.data.params),
        figures=dict(found.data.metrics),
        curves={
            name: {point.step: point.value for point in points[name]}
            for name in names
            if points[name][0].step
        },
        files={
            file.path: file.file_size or 0
            for folder in client.list_artifacts(run_id)
            for file in client.list_artifacts(run_id, folder.path)
        },
    )
