"""Find the code behind a config: what comes with spotter, and files of the user's own."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from collector.atomic_files import Drafts
from collector.bundled_files import ORIGIN, find_file
from collector.errors import FileError, UsageError
from collector.jsonl import dump, parse_object
from collector.servers.config import ServerConfig
from collector.servers.resources_servers.environment import Environment
from collector.servers.responses_api_models.base import Model

Row = dict[str, Any]
TOOL_NAME = re.compile(r"(?!(?:seed_session|verify|aggregate_metrics|reverify_mode)$)[\w-]+")
# what NeMo Gym calls every server's program
GYM_ENTRYPOINT = "app.py"
BUILT_IN: dict[str, dict[str, tuple[str, str]]] = {
    "responses_api_agents": {
        "simple_agent": ("collector.servers.responses_api_agents.simple_agent", "SimpleAgent"),
    },
    "resources_servers": {
        "workplace_assistant": (
            "collector.servers.resources_servers.workplace_assistant",
            "WorkplaceAssistant",
        ),
        "arithmetic": ("collector.servers.resources_servers.arithmetic", "ArithmeticEnvironment"),
    },
    "responses_api_models": {
        "openai_model": ("collector.servers.responses_api_models.openai_model", "OpenAIModel"),
        "simulated_model": (
            "collector.servers.responses_api_models.simulated_model",
            "SimulatedModel",
        ),
    },
}


def refuse_foreign(server: ServerConfig) -> None:
    """Refuse a server that is a program of NeMo Gym's own, and say how to collect from it."""
    if server.implementation in BUILT_IN.get(server.kind, ()) or not _is_foreign(server.settings):
        return
    raise UsageError(
        f"{server.name}: {server.implementation} is a program of NeMo Gym's own, which spotter"
        " cannot run\n"
        "  what to do: start these configs with NeMo Gym's own ng_run, in the environment that NeMo"
        " Gym is installed in, then run spotter collect: it asks NeMo Gym's head server for the"
        " agents"
    )


def _is_foreign(settings: Row) -> bool:
    """Tell whether the entrypoint of a server is not written for spotter."""
    entrypoint = settings.get("entrypoint")
    if not isinstance(entrypoint, str):
        return False
    origin = Path(settings.get(ORIGIN, "."))
    # NeMo Gym looks beside the folder of the configs
    for folder in (Path.cwd(), origin, origin.parent):
        if (path := folder / entrypoint).is_file():
            return b"nemo_gym" in path.read_bytes()
    return entrypoint == GYM_ENTRYPOINT


def load_model(server: ServerConfig) -> Model:
    """Return the model that a config names."""
    found = _built_in(server.kind, server.implementation)
    if found is None:
        raise UsageError(_unknown(server.kind, server.implementation))
    model: Model = found(server.settings)
    return model


def load_environment(implementation: str, settings: Row) -> Environment[Any]:
    """Return an environment: one that comes with spotter, or one of a file of the user's own."""
    found = _built_in("resources_servers", implementation)
    if found is None:
        entrypoint = settings.get("entrypoint")
        if not isinstance(entrypoint, str):
            raise UsageError(
                _unknown("resources_servers", implementation)
                + "\n  what to do: name its Python file as entrypoint"
            )
        found = environment_in(find_file(entrypoint, Path(settings.get(ORIGIN, "."))))
    return _made(found, settings)


def _made(kind: type[Environment[Any]], settings: Row) -> Environment[Any]:
    try:
        environment = kind(settings)
        names = [tool.name for tool in environment.tools]
    except ValueError as error:  # a setting is wrong, which the error says
        raise UsageError(str(error)) from error
    except (Exception, SystemExit) as error:  # whatever a file of the user's does
        raise UsageError(f"{kind.__name__}: {type(error).__name__}: {error}") from error
    wrong = [name for name in names if not TOOL_NAME.fullmatch(str(name)) or names.count(name) > 1]
    if wrong:
        raise UsageError(f"{kind.__name__}: tools cannot be called {', '.join(map(str, wrong))}")
    return environment


def bundled_environments() -> list[str]:
    """Return the environments that come with spotter, by their paths."""
    return [f"resources_servers/{name}" for name in BUILT_IN["resources_servers"]]


def environment_named(name: str) -> Environment[Any]:
    """Return an environment by its path: `resources_servers/<name>`, or a Python file."""
    if name.endswith(".py"):
        return _made(environment_in(find_file(name)), {})
    # in a checkout, the environment's own tables
    configs = Path(name, "configs")
    settings = {ORIGIN: str(configs.absolute())} if configs.is_dir() else {}
    return load_environment(name.rstrip("/").rpartition("/")[2], settings)


def tasks_of(environment: Environment[Any], path: Path | None, count: int) -> Iterator[Row]:
    """Return tasks to test with: of a file, or made by the environment itself."""
    if path is None:
        try:
            yield from environment.tasks(0, count)
        except NotImplementedError as error:
            raise UsageError(f"{error}: give some with --input") from error
        return
    for number, line in enumerate(find_file(str(path)).read_bytes().splitlines(), start=1):
        if line.strip():
            try:
                yield parse_object(line)
            except ValueError as error:
                raise FileError(f"{path}:{number}: {error}") from error


def write_tasks(path: Path, tasks: Iterator[Row]) -> None:
    """Write tasks to a file, whole or not at all."""
    with Drafts() as drafts:
        with drafts.open(path) as file:
            file.writelines(dump(row) + b"\n" for row in tasks)
        drafts.publish()


def environment_in(path: Path) -> type[Environment[Any]]:
    """Return the one environment that a Python file defines."""
    module = _imported(path)
    found = [
        item
        for item in vars(module).values()
        if inspect.isclass(item)
        and issubclass(item, Environment)
        and item.__module__ == module.__name__
    ]
    if len(found) != 1:
        raise UsageError(
            f"{path} has {len(found)} classes that derive from Environment, and needs one"
        )
    return found[0]


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"spotter_environment_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever a file of the user's does
        raise UsageError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _built_in(kind: str, implementation: str) -> Any:
    place = BUILT_IN[kind].get(implementation)
    return getattr(importlib.import_module(place[0]), place[1]) if place else None


def _unknown(kind: str, implementation: str) -> str:
    return f"no {implementation} among {kind}; known: {', '.join(BUILT_IN[kind])}"
