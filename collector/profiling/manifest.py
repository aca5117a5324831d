"""Read dbt's manifest into a plan, and refuse what `spotter profile` cannot build as dbt does."""

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
    """How dbt is configured to build the models of a folder."""

    materialized: str
    strategy: str | None = None
    hooks: frozenset[str] = frozenset()
    has_views: bool = False
    """Whether models may be views instead."""


MART_HOOKS = frozenset({"{{ require_batch() }}", "{{ forget_batch() }}"})
# collector/profiling/batch.py and marts.py build each of these without dbt
LAYERS = {
    "staging": Layer("table", hooks=frozenset({"{{ declare_batch() }}"})),
    "audits": Layer("table"),
    "intermediate": Layer("table"),
    "marts": Layer("incremental", "append", MART_HOOKS, has_views=True),
    "exports": Layer("view", hooks=frozenset({"{{ write_part_files() }}"})),
}
# collector/comparing, collector/curating and collector/collection build the models of these rooms
COMPARISON = "comparison"
SELECTION = "selection"
STOPPING = "stopping"
IN_MEMORY = (SELECTION, STOPPING)
"""Rooms whose marts are tables in memory: the warehouse has none of them."""
ROOM_HOOKS = {
    ("stg_runs", "staging"): frozenset({"{{ forget_intermediate() }}"}),
    (COMPARISON, "marts"): frozenset({"{{ forget_comparisons() }}"}),
    (SELECTION, "staging"): frozenset({"{{ declare_recipe() }}"}),
}
RESOURCES = ("model", "seed", "test", "unit_test")
START_HOOK = "{{ open_warehouse() }}"
"""It does nothing on DuckDB."""
DUCKDB_TYPES = {"string": "varchar"}
"""Types that both engines know, and DuckDB's own name for them."""
CONSTRAINTS = {"not_null", "custom"}


@dataclass(frozen=True)
class ModelColumn:
    """A column of a model, as the YAML file declares it."""

    name: str
    data_type: str
    description: str
    constraints: str = ""
    is_json: bool = False


@dataclass(frozen=True)
class CompiledModel:
    """A model with its compiled SQL and the descriptions from its YAML file."""

    name: str
    layer: str
    room: str
    materialized: str
    relation: str
    sql: str
    description: str
    columns: tuple[ModelColumn, ...]
    meta: dict[str, Any]
    key: tuple[str, ...]


@dataclass(frozen=True)
class Seed:
    """A look-up table of the project, as a query that returns its rows."""

    relation: str
    sql: str


@dataclass(frozen=True)
class Check:
    """A singular test with its compiled SQL, which returns the violations."""

    name: str
    sql: str


@dataclass(frozen=True)
class Plan:
    """The seeds, the models in the order of their dependencies, and the tests to run after."""

    seeds: tuple[Seed, ...]
    models: tuple[CompiledModel, ...]
    checks: tuple[Check, ...]

    def layer(self, *names: str) -> list[CompiledModel]:
        """Return the models of the named layers in the warehouse, in the order to build them."""
        return [
            model for model in self.models if model.layer in names and model.room not in IN_MEMORY
        ]

    def batch(self, *names: str) -> list[CompiledModel]:
        """Return the models of the named layers that a profile builds."""
        return [
            model
            for model in self.layer(*names)
            if model.room != COMPARISON and (model.layer != "marts" or model.materialized != "view")
        ]

    def comparison(self, *names: str) -> list[CompiledModel]:
        """Return the models of the named layers that a comparison builds."""
        return [model for model in self.layer(*names) if model.room == COMPARISON]

    def room(self, name: str) -> list[CompiledModel]:
        """Return the models of a room, in the order to build them."""
        return [model for model in self.models if model.room == name]

    def views(self) -> list[CompiledModel]:
        """Return the views of the warehouse, in the order to create them."""
        return [model for model in self.models if model.materialized == "view"]

    def mart(self, name: str) -> CompiledModel:
        """Return the mart of a name."""
        return next(model for model in self.layer("marts") if model.name == name)


def read_manifest(manifest: dict[str, Any], project: Path) -> Plan:
    """Turn dbt's manifest into a plan; raise SpotterError if Spotter cannot build the project."""
    _refuse_unsupported(manifest["nodes"])
    nodes = manifest["nodes"]
    models = {name: node for name, node in nodes.items() if node["resource_type"] == "model"}
    keys = {
        node["attached_node"]: tuple(node["test_metadata"]["kwargs"]["columns"])
        for node in nodes.values()
        if node.get("test_metadata", {}).get("name") == "unique_key"
    }
    seeds = [
        _read_seed(node, project) for node in nodes.values() if node["resource_type"] == "seed"
    ]
    checks = [
        Check(name=node["name"], sql=node["compiled_code"])
        for node in nodes.values()
        if node["resource_type"] == "test" and "test_metadata" not in node
    ]
    return Plan(
        seeds=tuple(sorted(seeds, key=lambda seed: seed.relation)),
        models=tuple(
            _model(models[name], keys.get(name, ()))
            for name in _sorted_names(models)
            if _is_built(models[name])
        ),
        checks=tuple(sorted(checks, key=lambda check: check.name)),
    )


def _is_built(node: dict[str, Any]) -> bool:
    """Return whether a node is a model to build: a base model is part of its readers' SQL."""
    if node["resource_type"] != "model":
        return False
    return bool(node["fqn"][1] != "staging" or node["config"]["materialized"] != "ephemeral")


def _sorted_names(models: dict[str, Any]) -> list[str]:
    """Return the names so that each model comes after the models it reads, else by name."""
    graph = {name: sorted(models[name]["depends_on"]["nodes"]) for name in sorted(models)}
    return [name for name in graphlib.TopologicalSorter(graph).static_order() if name in models]


def _read_seed(node: dict[str, Any], project: Path) -> Seed:
    """Turn a seed's CSV file into a query, so that the plan needs no other file."""
    types = node["config"]["column_types"]
    path = project / node["original_file_path"]
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    values = orjson.dumps(rows).decode().replace("'", "''")
    shape = orjson.dumps([types]).decode()
    return Seed(
        node["relation_name"], f"select unnest(from_json('{values}', '{shape}'), max_depth := 2)"
    )


def _model(node: dict[str, Any], key: tuple[str, ...]) -> CompiledModel:
    return CompiledModel(
        name=node["name"],
        layer=node["fqn"][1],
        room=node["fqn"][2],
        materialized=node["config"]["materialized"],
        relation=node["relation_name"],
        sql=node["compiled_code"],
        description=node["description"],
        columns=tuple(_column(column) for column in node["columns"].values()),
        meta=node["config"]["meta"],
        key=key,
    )


def _column(column: dict[str, Any]) -> ModelColumn:
    return ModelColumn(
        name=column["name"],
        data_type=DUCKDB_TYPES.get(column["data_type"], column["data_type"]) or "",
        description=column["description"],
        constraints=" ".join(_constraint(rule) for rule in column["constraints"]),
        is_json=column["config"]["meta"].get("format") == "json",
    )


def _constraint(rule: dict[str, Any]) -> str:
    return str(rule["expression"] or rule["type"].replace("_", " "))


def _refuse_unsupported(nodes: dict[str, Any]) -> None:
    """Raise SpotterError if `spotter profile` cannot build a node as dbt does."""
    problems = [
        f"{node['name']}: {problem}" for node in nodes.values() for problem in _problems(node)
    ]
    if problems:
        raise SpotterError(
            "\n  ".join(["spotter profile cannot build this project as dbt would:", *problems])
            + "\n  what to do: build the project with dbt, or add support in collector/profiling"
        )


def _problems(node: dict[str, Any]) -> Iterator[str]:
    kind, config = node["resource_type"], node["config"]
    if kind == "operation" and node["raw_code"] == START_HOOK:
        return
    if kind not in RESOURCES:
        yield f"resources of the type {kind} are not supported"
    if not _is_built(node):
        return
    layer = node["fqn"][1]
    if layer not in LAYERS:
        yield f"the folder models/{layer} is not supported"
        return
    expected = LAYERS[layer]
    room, materialized = node["fqn"][2], config["materialized"]
    is_view = expected.has_views and materialized == "view"
    is_in_memory = room in IN_MEMORY and materialized == "table"
    if materialized != expected.materialized and not (is_view or is_in_memory):
        yield f"in models/{layer}, {materialized} is not supported, only {expected.materialized}"
    if config.get("incremental_strategy") != expected.strategy:
        yield f"the strategy {config.get('incremental_strategy')} is not supported"
    hooks = {hook["sql"] for when in ("pre-hook", "post-hook") for hook in config[when]}
    allowed = expected.hooks | ROOM_HOOKS.get((room, layer), frozenset())
    for hook in sorted(hooks ^ allowed):
        yield f"the hook {hook} is {'not supported' if hook in hooks else 'missing'}"
    rules = {rule["type"] for column in node["columns"].values() for rule in column["constraints"]}
    for rule in sorted(rules - CONSTRAINTS):
        yield f"the constraint {rule} is not supported"
