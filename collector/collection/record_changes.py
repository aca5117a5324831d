"""Which settings may change when a run is resumed, and which may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from collector.artifacts import sha256_of
from collector.collection.materialize import Materialized
from collector.collection.problems import number_list
from collector.collection.record import FileRecord, Record, prompt_record
from collector.collection.settings import CollectSettings
from collector.collection.settings.rows import MAY_CHANGE, RowSettings
from collector.collection.settings.stopping import StoppingSettings

FIXED = tuple(
    name for name, field in RowSettings.model_fields.items() if MAY_CHANGE not in field.metadata
)


def differences(old: Record, settings: CollectSettings, tasks: Path) -> list[str]:
    """Return a line for each setting that no longer fits the run; more rows or repeats do fit.

    `tasks` is the file with the content of the input: it may still be a draft.
    """
    if old.origin:
        return ["it was made by `spotter reverify`, which can resume it"]
    before = old.settings
    lines = _other_rule(old, settings)
    is_same_map = before.agents_by_name == settings.agents_by_name
    changed = [
        name
        for name in FIXED
        if getattr(before, name) != getattr(settings, name)
        and not (is_same_map and name in ("agent_name", "agent_map"))
    ]
    lines += [
        f"{name}: it was {_setting_text(getattr(before, name))},"
        f" now {_setting_text(getattr(settings, name))}"
        for name in changed
    ]
    prompt = prompt_record(settings)
    if _content(before.prompt_config) != _content(prompt):
        lines.append(
            f"prompt_config: it was {_file_text(before.prompt_config)}, now {_file_text(prompt)}"
        )
    if old.input is None:
        lines.append("input_jsonl_fpath: the run has no record of its task file; use --plan")
    elif old.input.sha256 != sha256_of(tasks):
        lines.append(
            f"input_jsonl_fpath: {settings.input_jsonl_fpath} has other content than"
            f" {old.input.path} had"
        )
    if settings.limit and (before.limit is None or settings.limit < before.limit):
        limit = before.limit or "not limited"
        lines.append(f"limit: it was {limit}, and can only grow, not be {settings.limit}")
    return lines


def fewer_repeats(old: Record, materialized: Materialized) -> list[str]:
    """Return a line for each agent that would get fewer repeats than the run has."""
    return [
        f"num_repeats: it was {repeats} for {agent}, and can only grow,"
        f" not be {materialized.repeats.get(agent, 0)}"
        for agent, repeats in old.materialized.repeats.items()
        if materialized.repeats.get(agent, 0) < repeats
    ]


def cannot_grow(old: Record, settings: CollectSettings, materialized: Materialized) -> list[str]:
    """Return why more repeats would assign existing rollouts to other rows or agents."""
    if any(part.plans for part in (old.materialized, old.following) if part):
        return ["limit and num_repeats: they cannot change after a plan; add repeats with --plan"]
    if materialized.repeats == old.materialized.repeats:
        return []
    if settings.fan_out:
        return ["num_repeats: it cannot grow, because with fan_out the agents share the indices"]
    if materialized.mixed_lines:
        return [
            "num_repeats: it cannot grow, because different rows share a task index of their"
            f" own (line {number_list(materialized.mixed_lines)} of {settings.input_jsonl_fpath})"
        ]
    return []


def _other_rule(old: Record, settings: StoppingSettings) -> list[str]:
    """Return a line if rollouts were saved by another rule."""
    before = old.stopping
    if before is None or settings.until is None:
        return []
    if (before.rule, before.pass_threshold) == (settings.until, settings.pass_threshold):
        return []
    return [
        f"until: it was {before.rule} with pass_threshold={before.pass_threshold:g}, now"
        f" {settings.until} with pass_threshold={settings.pass_threshold:g}"
    ]


def _content(file: FileRecord | None) -> str | None:
    return file.sha256 if file else None


def _setting_text(value: Any) -> str:
    """Return a setting as people type it; a pair is a shard."""
    if isinstance(value, tuple):
        return "/".join(map(str, value))
    return json.dumps(value, ensure_ascii=False)


def _file_text(file: FileRecord | None) -> str:
    return f"{file.path} ({file.sha256[:12]})" if file else "not given"
