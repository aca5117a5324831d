"""Find the code behind a config: bundled with Spotter, or a Python file of the user."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from collector.bundled_files import ORIGIN, find_file
from collector.errors import UsageError
from collector.servers.config import ServerConfig
from collector.servers.resources_servers.environment import Environment
from collector.servers.responses_api_models.base import LanguageModel
from collector.servers.task_files import read_tasks

Row = dict[str, Any]
TOOL_NAME = re.compile(r"(?!(?:seed_session|verify|aggregate_metrics|reverify_mode)$)[\w-]+")
# the file name of every server's program in NeMo Gym
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


def refuse_nemo_gym_program(server: ServerConfig) -> None:
    """Raise UsageError if a server is a program of NeMo Gym, and say how to collect from it."""
    if server.implementation in BUILT_IN.get(server.kind, ()) or not _is_nemo_gym_program(
        server.settings
    ):
        return
    raise UsageError(
        f"{server.name}: {server.implementation} is a program of NeMo Gym, which Spotter cannot"
        " run\n"
        "  what to do: start these configs with NeMo Gym's ng_run, in the Python environment where"
        " NeMo Gym is installed. Then run `spotter collect`, which asks NeMo Gym's head server for"
        " the agents"
    )


def _is_nemo_gym_program(settings: Row) -> bool:
    """Tell whether the entrypoint of a server is written for NeMo Gym."""
    entrypoint = settings.get("entrypoint")
    if not isinstance(entrypoint, str):
        return False
    origin = Path(settings.get(ORIGIN, "."))
    # NeMo Gym looks next to the folder of the configs
    for folder in (Path.cwd(), origin, origin.parent):
        if (path := folder / entrypoint).is_file():
            return b"nemo_gym" in path.read_bytes()
    return entrypoint == GYM_ENTRYPOINT


def load_model(server: ServerConfig) -> LanguageModel:
    """Return the model of a model server; raise UsageError if it is unknown."""
    model_class = _built_in_class(server.kind, server.implementation)
    if model_class is None:
        raise UsageError(f"{server.name}: {_unknown_message(server.kind, server.implementation)}")
    model: LanguageModel = model_class(server.settings)
    return model


def load_environment(implementation: str, settings: Row) -> Environment[Any]:
    """Return a bundled environment, or the one in the Python file that `entrypoint` names."""
    found = _built_in_class("resources_servers", implementation)
    if found is None:
        entrypoint = settings.get("entrypoint")
        if not isinstance(entrypoint, str):
            raise UsageError(
                _unknown_message("resources_servers", implementation)
                + "\n  what to do: check the name, or name your Python file as entrypoint"
            )
        found = environment_class(find_file(entrypoint, Path(settings.get(ORIGIN, "."))))
    return _create_environment(found, settings)


def _create_environment(kind: type[Environment[Any]], settings: Row) -> Environment[Any]:
    try:
        environment = kind(settings)
        names = [tool.name for tool in environment.tools]
    except ValueError as error:  # the message says which setting is wrong
        raise UsageError(str(error)) from error
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        raise UsageError(f"{kind.__name__}: {type(error).__name__}: {error}") from error
    wrong = [name for name in names if not TOOL_NAME.fullmatch(str(name)) or names.count(name) > 1]
    if wrong:
        raise UsageError(
            f"{kind.__name__}: invalid or repeated tool names: {', '.join(map(str, wrong))}"
        )
    return environment


def bundled_environments() -> list[str]:
    """Return the paths of the environments that come with Spotter."""
    return [f"resources_servers/{name}" for name in BUILT_IN["resources_servers"]]


def find_environment(name: str) -> Environment[Any]:
    """Return the environment at a path: `resources_servers/<name>`, or a Python file."""
    if name.endswith(".py"):
        return _create_environment(environment_class(find_file(name)), {})
    # in a checkout, use the tables of the environment there
    configs = Path(name, "configs")
    settings = {ORIGIN: str(configs.absolute())} if configs.is_dir() else {}
    return load_environment(name.rstrip("/").rpartition("/")[2], settings)


def tasks_for_test(environment: Environment[Any], path: Path | None, count: int) -> Iterator[Row]:
    """Yield the tasks of a file, or tasks that the environment generates, or its example tasks."""
    if path is None:
        try:
            yield from environment.tasks(0, count)
            return
        except NotImplementedError as error:
            path = _example_tasks(environment)
            if path is None:
                raise UsageError(f"{error}: give tasks with --input") from error
    for _, row in read_tasks(find_file(path)):
        yield row


def _example_tasks(environment: Environment[Any]) -> Path | None:
    """Return the example tasks beside the config of an environment, or None."""
    origin = environment.settings.get(ORIGIN)
    path = Path(origin).parent / "data" / "example.jsonl" if origin else None
    return path if path and path.is_file() else None


def environment_class(path: Path) -> type[Environment[Any]]:
    """Return the one Environment class that a Python file defines."""
    module = _import_file(path)
    classes = [
        item
        for item in vars(module).values()
        if inspect.isclass(item)
        and issubclass(item, Environment)
        and item.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise UsageError(
            f"{path} must define one class that derives from Environment, and has {len(classes)}"
        )
    return classes[0]


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"spotter_environment_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        raise UsageError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _built_in_class(kind: str, implementation: str) -> Any:
    if implementation not in BUILT_IN[kind]:
        return None
    module, name = BUILT_IN[kind][implementation]
    return getattr(importlib.import_module(module), name)


def _unknown_message(kind: str, implementation: str) -> str:
    return f"{kind}/{implementation} is unknown (there are: {', '.join(BUILT_IN[kind])})"
