"""Have dbt compile the project into a plan: the SQL of every model, in the order to execute it.

Importing and starting dbt takes seconds, while the SQL of a small run takes a fraction of a second.
The compiled SQL does not change from run to run (paths and settings are DuckDB variables). So a
release contains the plan of its project. Elsewhere dbt compiles the project once per version, and
the plan stays in the user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import orjson

from collector import __version__
from collector.atomic_files import anything, write_file
from collector.cache import cache_dir, log_folder
from collector.errors import SpotterError
from collector.profiling.manifest import (
    Check,
    CompiledModel,
    ModelColumn,
    Plan,
    Seed,
    read_manifest,
)
from collector.temporary_files import temporary_folder
from collector.warehouse.access import SCRATCH, WAREHOUSE

DBT_LOG = "dbt.log"
PROJECT_PARTS = (
    "dbt_project.yml",
    "profiles.yml",
    "models",
    "macros",
    "seeds",
    "tests/dbt",
)


def load_plan() -> Plan:
    """Return the plan of the installed project; compile the project if no plan is stored."""
    project = project_digest()
    for locate in (packaged_plan, cached_plan):
        # no file, or a damaged one
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            return _parse_plan(locate(project).read_bytes())
    plan = _compile_project()
    store_plan(plan, cached_plan(project))
    return plan


def store_plan(plan: Plan, path: Path) -> None:
    """Write a plan; other processes see the whole file or none."""
    # another process may write the same file: the last complete one stays
    write_file(path, orjson.dumps(asdict(plan)), replaces=anything)


def packaged_plan(project: str) -> Path:
    """Return where a release has the plan of its project. A checkout has no such file.

    The name depends on the project alone: the compiled SQL stays valid with another dbt.
    """
    return Path(__file__).parent.parent / "plans" / f"plan-{project}.json"


def cached_plan(project: str) -> Path:
    """Return where the user's cache has the plan that the installed dbt compiles."""
    digest = hashlib.sha256(project.encode())
    for package in ("dbt-core", "dbt-duckdb", "duckdb"):
        digest.update(version(package).encode())
    return cache_dir() / f"plan-{digest.hexdigest()[:16]}.json"


def project_dir() -> Path:
    """Return the folder of the dbt project: inside the wheel, or the root of the checkout."""
    packaged = Path(__file__).parent.parent / "dbt_project"
    return packaged if packaged.is_dir() else Path(__file__).parent.parent.parent


def project_digest() -> str:
    """Return a fingerprint of the project's files and of Spotter's version."""
    digest = hashlib.sha256(__version__.encode())
    root = project_dir()
    for path in _project_files(root):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _project_files(root: Path) -> Iterator[Path]:
    for part in PROJECT_PARTS:
        path = root / part
        files = path.rglob("*") if path.is_dir() else [path]
        yield from sorted(file for file in files if file.suffix in (".sql", ".yml", ".md", ".csv"))


def _compile_project() -> Plan:
    from dbt.cli.main import dbtRunner  # takes seconds to import

    with temporary_folder() as folder:
        arguments = [
            *("compile", "--quiet", "--no-use-colors", "--no-partial-parse", "--no-populate-cache"),
            *("--project-dir", str(project_dir()), "--profiles-dir", str(project_dir())),
            *(
                "--target",
                "duckdb",
                "--target-path",
                str(folder),
                "--log-path",
                str(folder),
            ),
        ]
        settings = {"SPOTTER_SCRATCH": SCRATCH, "SPOTTER_WAREHOUSE": f"{folder}/{WAREHOUSE}.duckdb"}
        with _set_environment(settings), contextlib.redirect_stdout(io.StringIO()):
            outcome = dbtRunner().invoke(arguments)
        if not outcome.success:
            log = shutil.copy(folder / DBT_LOG, log_folder())
            raise SpotterError(f"dbt could not compile the project\n  the details are in {log}")
        return read_manifest(orjson.loads((folder / "manifest.json").read_bytes()), project_dir())


@contextlib.contextmanager
def _set_environment(settings: dict[str, str]) -> Iterator[None]:
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


def _parse_plan(content: bytes) -> Plan:
    stored = orjson.loads(content)
    return Plan(
        seeds=tuple(Seed(**seed) for seed in stored["seeds"]),
        models=tuple(
            CompiledModel(
                **{
                    **model,
                    "columns": tuple(ModelColumn(**column) for column in model["columns"]),
                    "key": tuple(model["key"]),
                }
            )
            for model in stored["models"]
        ),
        checks=tuple(Check(**check) for check in stored["checks"]),
    )
