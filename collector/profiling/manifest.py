"""Read dbt's manifest into a plan, and refuse what `spotter profile` would build otherwise."""

from __future__ import annotations

import csv
import graphlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from collector.errors import SpotterError


@dataclass(frozen=True)
class Layer:
    """How the models of a folder are built, in dbt's words."""

    materialized: str
    strategy: str | None = None
    hooks: frozenset[str] = frozenset()


# each of these is done by collector/profiling/batch.py or marts.py
LAYERS = {
    "staging": Layer("table", hooks=frozenset({"{{ declare_batch() }}"})),
    "audits": Layer("view"),
    "intermediate": Layer("table"),
    "marts": Layer("incremental", "append", frozenset({"{{ forget_batch() }}"})),
    "exports": Layer("view"),
    "semantic": Layer("view"),
}
RESOURCES = ("model", "seed", "test", "unit_test")
CONSTRAINTS = {"not_null", "custom"}


@dataclass(frozen=True)
class Column:
    """A column of a mart, as its contract says."""

    name: str
    data_type: str
    description: str
    constraints: str = ""
    is_json: bool = False


@dataclass(frozen=True)
class Model:
    """One compiled model, with what is needed to build and to explain it."""

    name: str
    layer: str
    materialized: str
    relation: str
    sql: str
    description: str
    columns: tuple[Column, ...]
    meta: dict[str, Any]
    key: tuple[str, ...]


@dataclass(frozen=True)
class Seed:
    """A look-up table of the project, as a query that has its rows."""

    relation: str
    sql: str


@dataclass(frozen=True)
class Check:
    """One compiled singular test: rows it returns are violations."""

    name: str
    sql: str


@dataclass(frozen=True)
class Plan:
    """All models in the order of their dependencies, and the tests that guard every build."""

    seeds: tuple[Seed, ...]
    models: tuple[Model, ...]
    checks: tuple[Check, ...]

    def layer(self, *names: str) -> list[Model]:
        """Return the models of some layers, in order."""
        return [model for model in self.models if model.layer in names]


def read_manifest(manifest: dict[str, Any], project: Path) -> Plan:
    """Turn dbt's manifest into a plan; raise SpotterError if it holds what cannot be built."""
    _refuse_unsupported(manifest["nodes"])
    nodes = manifest["nodes"]
    models = {
        name: node
        for name, node in nodes.items()
        if node["resource_type"] == "model" and node["config"]["materialized"] != "external"
    }
    keys = {
        node["attached_node"]: tuple(node["test_metadata"]["kwargs"]["columns"])
        for node in nodes.values()
        if node.get("test_metadata", {}).get("name") == "unique_key"
    }
    seeds = [_seed(node, project) for node in nodes.values() if node["resource_type"] == "seed"]
    checks = [
        Check(name=node["name"], sql=node["compiled_code"])
        for node in nodes.values()
        if node["resource_type"] == "test" and "test_metadata" not in node
    ]
    return Plan(
        seeds=tuple(sorted(seeds, key=lambda seed: seed.relation)),
        models=tuple(_model(models[name], keys.get(name, ())) for name in _in_order(models)),
        checks=tuple(sorted(checks, key=lambda check: check.name)),
    )


def _in_order(models: dict[str, Any]) -> list[str]:
    """Sort the models so that each comes after those it reads, and otherwise by name."""
    graph = {name: sorted(models[name]["depends_on"]["nodes"]) for name in sorted(models)}
    return [name for name in graphlib.TopologicalSorter(graph).static_order() if name in models]


def _seed(node: dict[str, Any], project: Path) -> Seed:
    """Turn a seed's file into a query, so that the plan needs no other file."""
    types = node["config"]["column_types"]
    path = project / node["original_file_path"]
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = orjson.dumps(rows).decode().replace("'", "''")
    shape = orjson.dumps([types]).decode()
    return Seed(
        node["relation_name"], f"select unnest(from_json('{texts}', '{shape}'), max_depth := 2)"
    )


def _model(node: dict[str, Any], key: tuple[str, ...]) -> Model:
    return Model(
        name=node["name"],
        layer=node["fqn"][1],
        materialized=node["config"]["materialized"],
        relation=node["relation_name"],
        sql=node["compiled_code"],
        description=node["description"],
        columns=tuple(_column(column) for column in node["columns"].values()),
        meta=node["config"]["meta"],
        key=key,
    )


def _column(column: dict[str, Any]) -> Column:
    return Column(
        name=column["name"],
        data_type=column["data_type"] or "",
        description=column["description"],
        constraints=" ".join(_constraint(rule) for rule in column["constraints"]),
        is_json=column["config"]["meta"].get("format") == "json",
    )


def _constraint(rule: dict[str, Any]) -> str:
    return str(rule["expression"] or rule["type"].replace("_", " "))


def _refuse_unsupported(nodes: dict[str, Any]) -> None:
    """Refuse what `spotter profile` would not build as dbt does."""
    problems = [
        f"{node['name']}: {problem}" for node in nodes.values() for problem in _problems(node)
    ]
    if problems:
        raise SpotterError(
            "\n  ".join(["spotter profile cannot build this project as dbt would:", *problems])
            + "\n  what to do: build it with dbt, or teach collector/profiling to build this"
        )


def _problems(node: dict[str, Any]) -> Iterator[str]:
    kind, config = node["resource_type"], node["config"]
    if kind not in RESOURCES:
        yield f"resources of the type {kind} are not supported"
    if kind != "model" or config["materialized"] == "external":
        return
    layer = node["fqn"][1]
    if layer not in LAYERS:
        yield f"the folder models/{layer} is not supported"
        return
    expected = LAYERS[layer]
    if (made := config["materialized"]) != expected.materialized:
        yield f"in models/{layer}, {made} is not supported, only {expected.materialized}"
    if config.get("incremental_strategy") != expected.strategy:
        yield f"the strategy {config.get('incremental_strategy')} is not supported"
    hooks = {hook["sql"] for when in ("pre-hook", "post-hook") for hook in config[when]}
    for hook in sorted(hooks ^ expected.hooks):
        yield f"the hook {hook} is {'not supported' if hook in hooks else 'missing'}"
    rules = {rule["type"] for column in node["columns"].values() for rule in column["constraints"]}
    for rule in sorted(rules - CONSTRAINTS):
        yield f"the constraint {rule} is not supported"
