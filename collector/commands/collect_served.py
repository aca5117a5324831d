"""Collect from servers that run already, or that are started for it and stopped after."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from collector.terminal import say

if TYPE_CHECKING:
    from collector.collection.collect import Collected


@dataclass(frozen=True)
class Served:
    """The servers to start, and which of their datasets to collect."""

    configs: list[str]
    settings: list[str]
    split: str
    reuse: bool
    """Whether the task file of an earlier call is taken as it is."""


def found(path: Path) -> Path:
    """Return the task file as it was given, or the one of that name that comes with spotter."""
    from collector.bundled_files import bundled_file

    packaged = None if path.exists() else bundled_file(path)
    if packaged:
        say(f"taking {path} from the files that come with spotter")
    return packaged or path


def collect_here(given: dict[str, Any]) -> Collected:
    """Collect from servers that run already."""
    from collector.collection.collect import collect as collect_run
    from collector.collection.progress import CollectProgress
    from collector.collection.settings import CollectSettings
    from collector.validation import checked

    return collect_run(checked(CollectSettings, given), CollectProgress())


def collect_served(given: dict[str, Any], served: Served) -> Collected:
    """Start the servers of configs, collect every row of their datasets, and stop them."""
    from collector.servers.config import load_config, servers_of
    from collector.servers.datasets import write_split
    from collector.servers.serve import child_gym

    servers = servers_of(load_config(served.configs, served.settings))
    path = given.get("input_jsonl_fpath")
    if path is not None:
        tasks = found(path)
    else:
        from collector.artifacts import TASKS_SUFFIX, beside
        from collector.collection.prepared_tasks import PreparedTasks

        datasets = {
            server.name: server.settings["datasets"]
            for server in servers
            if "datasets" in server.settings
        }
        origin = {"split": served.split, "datasets": datasets}
        tasks = beside(given["output_jsonl_fpath"].absolute(), TASKS_SUFFIX)
        PreparedTasks(tasks, origin).prepare(
            lambda: write_split(servers, served.split, tasks), reuse=served.reuse, say=say
        )
    with child_gym(served.configs, served.settings) as gym:
        address = {"head_host": gym.head_host, "head_port": gym.head_port}
        return collect_here({**given, "input_jsonl_fpath": tasks, **address})
