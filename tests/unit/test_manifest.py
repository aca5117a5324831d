"""What `spotter profile` cannot build as dbt would is refused when the plan is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector.errors import SpotterError
from collector.profiling.manifest import read_manifest

Node = dict[str, Any]


def model(name: str, layer: str, *reads: str, **config: Any) -> Node:
    return {
        "name": name,
        "resource_type": "model",
        "fqn": ["spotter", layer, name],
        "config": {"pre-hook": [], "post-hook": [], "materialized": "table", "meta": {}, **config},
        "depends_on": {"nodes": [f"model.{one}" for one in reads]},
        "relation_name": f'"db"."{name}"',
        "compiled_code": "select 1",
        "description": "A model.",
        "columns": {},
    }


def plan_of(*nodes: Node) -> list[str]:
    manifest = {"nodes": {f"model.{node['name']}": node for node in nodes}}
    return [found.name for found in read_manifest(manifest, Path()).models]


def test_models_come_after_what_they_read_and_otherwise_by_name() -> None:
    nodes = [
        model("a", "intermediate", "z"),
        model("z", "intermediate", "seed_that_is_no_model"),
        model("b", "intermediate"),
    ]
    assert plan_of(*nodes) == ["b", "z", "a"]


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (model("m", "marts"), "m: in models/marts, table is not supported, only incremental"),
        (
            model("m", "marts", materialized="incremental", incremental_strategy="merge"),
            "m: the strategy merge is not supported",
        ),
        (
            model("m", "marts", materialized="incremental", incremental_strategy="append"),
            "m: the hook {{ forget_batch() }} is missing",
        ),
        (
            model("m", "intermediate", **{"post-hook": [{"sql": "vacuum"}]}),
            "m: the hook vacuum is not supported",
        ),
        (model("m", "intermediate", materialized="ephemeral"), "ephemeral is not supported"),
        (model("m", "drafts"), "m: the folder models/drafts is not supported"),
        ({**model("m", "marts"), "resource_type": "snapshot"}, "of the type snapshot"),
        (
            {**model("m", "intermediate"), "columns": {"a": {"constraints": [{"type": "unique"}]}}},
            "m: the constraint unique is not supported",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_built_is_named(node: Node, problem: str) -> None:
    with pytest.raises(SpotterError) as caught:
        plan_of(node)
    assert problem in str(caught.value)
    assert "what to do: build the project with dbt" in str(caught.value)
