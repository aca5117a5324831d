"""Collect from running servers, or from servers that are started for the collection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.terminal import say

if TYPE_CHECKING:
    from collector.atomic_files import Drafts
    from collector.collection.collected import Collected
    from collector.collection.settings import CollectOptions
    from collector.servers.config import ServerConfig


@dataclass(frozen=True)
class ServedConfigs:
    """The servers to start, and which of their datasets to collect."""

    configs: list[str]
    settings: list[str]
    split: str
    reuse: bool
    """Whether to reuse the task file of an earlier call."""


def collect_from_running(
    options: CollectOptions, tasks: Path | None, *, drafts: Drafts | None = None, **address: Any
) -> Collected:
    """Collect from running servers; `address` replaces the settings of the head server.

    The tasks may be one of the drafts. With a plan, there are none.
    """
    from collector.collection.collect import collect as collect_run
    from collector.collection.progress import CollectProgress
    from collector.collection.settings import CollectSettings, PlanSettings
    from collector.validation import validate_settings

    given = {**dict(options), **address}
    settings: CollectSettings | PlanSettings
    if tasks is None:
        settings = validate_settings(PlanSettings, given)
    else:
        given["input_jsonl_fpath"] = _find_tasks(tasks)
        settings = validate_settings(CollectSettings, given)
    return collect_run(settings, CollectProgress(), drafts=drafts)


def collect_served(options: CollectOptions, served: ServedConfigs) -> Collected:
    """Start the servers of configs, collect a task file or their datasets, and stop the servers."""
    from collector.atomic_files import Drafts as NewDrafts
    from collector.collection.run_files import refuse_collected
    from collector.servers.config import load_config, server_configs
    from collector.servers.serve import child_gym

    servers = server_configs(load_config(served.configs, served.settings))
    with NewDrafts() as drafts:
        tasks = options.input_jsonl_fpath
        if tasks is None and options.plan is None:
            tasks = _prepare_tasks(options, servers, served, drafts)
        refuse_collected(options)
        with child_gym(served.configs, served.settings) as gym:
            return collect_from_running(
                options, tasks, drafts=drafts, head_host=gym.head_host, head_port=gym.head_port
            )


def _find_tasks(path: Path) -> Path:
    """Return the task file at this path, else the one that comes with Spotter."""
    from collector.bundled_files import bundled_file

    packaged = None if path.exists() else bundled_file(path)
    if packaged:
        say(f"taking {path} from the files that come with Spotter")
    return packaged or path


def _prepare_tasks(
    options: CollectOptions, servers: list[ServerConfig], served: ServedConfigs, drafts: Drafts
) -> Path:
    """Draft the rows of the datasets as one task file, or reuse an earlier one."""
    from collector.artifacts import TASKS_SUFFIX, beside
    from collector.collection.prepared_tasks import PreparedTasks, TaskMode
    from collector.servers.datasets import write_split

    datasets = {
        server.name: server.settings["datasets"]
        for server in servers
        if "datasets" in server.settings
    }
    origin = {"split": served.split, "datasets": datasets}
    tasks = beside(options.output_jsonl_fpath.absolute(), TASKS_SUFFIX)
    mode: TaskMode = "reuse" if served.reuse else "replace" if options.overwrite else "write"
    PreparedTasks(tasks, origin).prepare(
        lambda file: write_split(servers, served.split, file), drafts, mode=mode, say=say
    )
    return tasks
