"""Show what tells a run apart from others."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from collector.artifacts import rollouts_files
from collector.profiling.known_runs import stored_tags
from collector.profiling.run_table import tags_text, time_text
from collector.terminal import label, relative_path
from collector.terminal.blocks import Block, Fact, Styled
from collector.warehouse.sql import Row

CHARACTERS = 200


def identity_facts(run: Row) -> Iterator[Block]:
    """Say which model was asked how, when, and with which tags, as far as it is known."""
    if run.get("model_names"):
        asked = sampling_text(run)
        model = Styled(label(run["model_names"], CHARACTERS), "value")
        yield Fact("Model", (model, f"  ({asked})" if asked else ""))
    if run.get("collection_ended_at"):
        yield Fact("Collected", span_text(run))
    if stored_tags(run):
        yield Fact("Tags", label(tags_text(stored_tags(run)), CHARACTERS))


def identity_text(run: Row) -> str:
    """Return the same in one line, as far as it is known."""
    collected = f"collected {span_text(run)}" if run.get("collection_ended_at") else ""
    model = label(run.get("model_names") or "", CHARACTERS)
    tags = label(tags_text(stored_tags(run)), CHARACTERS)
    known = [text for text in (model, collected, tags) if text]
    return f"({', '.join(known)})" if known else ""


def all_facts(run: Row) -> Iterator[Block]:
    """Say everything that is known of where a run comes from."""
    yield Fact("Run", Styled(run["run_id"], "heading"))
    yield from identity_facts(run)
    texts = {
        "Agents": run["agent_names"],
        "Environment": run["environment_names"],
        "Endpoint": run["endpoint_host"],
        "Made with": run["made_with"],
        "Task file": _task_file(run),
    }
    for name, text in texts.items():
        if text:
            yield Fact(name, label(text, CHARACTERS))
    yield Fact("File", files_text(run["rollouts_path"]))
    yield Fact("Profiled", time_text(run["profiled_at"]))


def files_text(rollouts_path: str) -> str:
    """Return the rollouts file of a run; of a merged run, the number of files and the first."""
    first, *others = rollouts_files(rollouts_path)
    start = f"{len(others) + 1} files, the first is " if others else ""
    return start + relative_path(first)


def sampling_text(run: Row) -> str:
    """Return the sampling settings in one line, like `temperature 0.7, top_p 0.95`."""
    settings = orjson.loads(run.get("sampling") or "{}")
    return ", ".join(
        f"{name} {' or '.join(map(_value_text, value if isinstance(value, list) else [value]))}"
        for name, value in settings.items()
    )


def span_text(run: Row) -> str:
    """Return when collecting began and ended, in UTC."""
    start, end = run["collection_started_at"], run["collection_ended_at"]
    if start is None or end is None or time_text(start) == time_text(end):
        return f"{time_text(end or start)} UTC"
    return f"{time_text(start)} to {time_text(end)} UTC"


def _value_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else label(str(value), 40)


def _task_file(run: Row) -> str | None:
    path, digest = run["task_file"], run["task_file_hash"]
    if not path:
        return None
    return f"{relative_path(path)} (SHA-256 {digest[:12]}…)" if digest else relative_path(path)
