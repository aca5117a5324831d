"""Have dbt compile the project into a plan: the SQL of every model, in order, ready to execute.

Importing and starting dbt takes seconds, the SQL of a small run a fraction of one. The compiled SQL
does not change from run to run (paths and settings are DuckDB variables), so dbt compiles it once
per version of the project, and the plan is kept in the user's cache.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from collector.errors import SpotterError

PROJECT_PARTS = (
    "dbt_project.yml",
    "profiles.yml",
    "selectors.yml",
    "models",
    "macros",
    "seeds",
    "tests/dbt",
)
SCRATCH = "scratch"
WAREHOUSE = "warehouse"


@dataclass(frozen=True)
class Column:
    """A column of a mart, as its contract says."""

    name: str
    data_type: str
    description: str
    is_required: bool
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


def load_plan() -> Plan:
    """Return the plan of the installed project, compiling it if this version has none yet."""
    path = cache_dir() / f"plan-{_fingerprint()}.json"
    try:
        return _parse(path.read_bytes())
    except (FileNotFoundError, ValueError, KeyError, TypeError):  # none yet, or a damaged one
        plan = _compile()
    # another process may be doing the same: the last complete file wins
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    draft.write_bytes(orjson.dumps(asdict(plan)))
    draft.replace(path)
    return plan


def project_dir() -> Path:
    """Return the dbt project: packaged inside the wheel, or the root of the checkout."""
    packaged = Path(__file__).parent.parent / "dbt_project"
    return packaged if packaged.is_dir() else Path(__file__).parent.parent.parent


def cache_dir() -> Path:
    """Return the folder for plans and dbt's log."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    chosen = Path(os.environ.get("SPOTTER_CACHE") or Path(base, "spotter"))
    with contextlib.suppress(OSError):
        chosen.mkdir(parents=True, exist_ok=True)
    return chosen if os.access(chosen, os.W_OK) else _private_folder()


@functools.cache
def _private_folder() -> Path:
    """Return a folder for those whose home cannot be written to, as in many containers.

    It lasts as long as the process: a name that others could guess could hold their SQL.
    """
    return Path(tempfile.mkdtemp(prefix="spotter-"))


def dbt_log() -> Path:
    """Return the file that dbt logs to."""
    return cache_dir() / "logs" / "dbt.log"


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for package in ("dbt-core", "dbt-duckdb", "duckdb"):
        digest.update(version(package).encode())
    for path in _project_files(project_dir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _project_files(root: Path) -> Iterator[Path]:
    for part in PROJECT_PARTS:
        path = root / part
        files = path.rglob("*") if path.is_dir() else [path]
        yield from sorted(file for file in files if file.suffix in (".sql", ".yml", ".md", ".csv"))


def _compile() -> Plan:
    from dbt.cli.main import dbtRunner  # seconds to import: only here

    with tempfile.TemporaryDirectory(prefix="spotter-plan-") as folder:
        arguments = [
            *("compile", "--quiet", "--no-use-colors", "--no-partial-parse", "--no-populate-cache"),
            *("--project-dir", str(project_dir()), "--profiles-dir", str(project_dir())),
            *("--target", "duckdb", "--target-path", folder, "--log-path", str(dbt_log().parent)),
        ]
        settings = {"SPOTTER_SCRATCH": SCRATCH, "SPOTTER_WAREHOUSE": f"{folder}/{WAREHOUSE}.duckdb"}
        with _environment(settings), contextlib.redirect_stdout(io.StringIO()):
            outcome = dbtRunner().invoke(arguments)
        if not outcome.success:
            raise SpotterError(f"dbt could not compile the project; its log is {dbt_log()}")
        return _read_manifest(orjson.loads(Path(folder, "manifest.json").read_bytes()))


@contextlib.contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _read_manifest(manifest: dict[str, Any]) -> Plan:
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
    seeds = [_seed(node) for node in nodes.values() if node["resource_type"] == "seed"]
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
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        for parent in sorted(models[name]["depends_on"]["nodes"]):
            if parent in models:
                visit(parent)
        done.setdefault(name)

    for name in sorted(models):
        visit(name)
    return list(done)


def _seed(node: dict[str, Any]) -> Seed:
    """Turn a seed's file into a query, so that the plan needs no other file."""
    types = node["config"]["column_types"]
    path = project_dir() / node["original_file_path"]
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = ", ".join(f'cast("{name}" as {types[name]}) as "{name}"' for name in types)
    values = ", ".join(
        "(" + ", ".join("'" + row[name].replace("'", "''") + "'" for name in types) + ")"
        for row in rows
    )
    names = ", ".join(f'"{name}"' for name in types)
    return Seed(node["relation_name"], f"select {columns} from (values {values}) as rows ({names})")


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
        is_required=any(rule["type"] == "not_null" for rule in column["constraints"]),
        is_json=column["config"]["meta"].get("format") == "json",
    )


def _parse(content: bytes) -> Plan:
    stored = orjson.loads(content)
    return Plan(
        seeds=tuple(Seed(**seed) for seed in stored["seeds"]),
        models=tuple(
            Model(
                **{
                    **model,
                    "columns": tuple(Column(**column) for column in model["columns"]),
                    "key": tuple(model["key"]),
                }
            )
            for model in stored["models"]
        ),
        checks=tuple(Check(**check) for check in stored["checks"]),
    )
