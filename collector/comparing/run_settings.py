"""Find the settings in which two runs differ: from the marts, and from the collector's records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson

from collector.artifacts import RECORD_SUFFIX, beside
from collector.warehouse.sql import Row

# what the model is asked belongs to the task: another text is another task
CONTENT = {
    "input",
    "instructions",
    "prompt",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "text",
    "metadata",
    "seed",
}
ROUTES = (
    "environment_routing_mode",
    "environment_server_name",
    "environment_server_routes",
    "num_repeats_add_seed",
)
VERIFIERS = "verifier config"
RECORDED = ("prompt template", "task file", "spotter version", VERIFIERS, *ROUTES)
MISSING = "not given"
MODELS = """
    select distinct coalesce(model_name, 'not reported') as model_name from rollout_infos
    where run_id = ? and agent_name = ? order by model_name limit 20
"""


@dataclass(frozen=True)
class SettingDifference:
    """A setting with its values in both runs."""

    name: str
    baseline: str
    candidate: str


@dataclass(frozen=True)
class RunSettings:
    """The settings of one run and agent that a comparison depends on, by name."""

    values: dict[str, str]
    has_record: bool


def read_settings(
    connection: duckdb.DuckDBPyConnection, run: Row, agent: str, task_index: int | None
) -> RunSettings:
    """Return the settings of a run and agent; sampling is that of one task, common if possible."""
    models = [row[0] for row in connection.execute(MODELS, [run["run_id"], agent]).fetchall()]
    sample = connection.execute(
        "select sample from task_profiles where run_id = ? and agent_name = ?"
        " and task_index >= ? order by task_index limit 1",
        [run["run_id"], agent, task_index or 0],
    ).fetchone()
    found = _read_object(beside(Path(run["rollouts_path"]), RECORD_SUFFIX))
    record = None if found and "imported" in found else found
    return RunSettings(
        {
            "model": ", ".join(models) or MISSING,
            "agent": agent,
            "pass threshold": f"{run['pass_threshold']:g}",
            **_sampling(sample[0] if sample else None),
            **_identity(_part(found or {}, "identity")),
            **(_read_settings(record) if record else {}),
        },
        has_record=record is not None,
    )


def setting_differences(baseline: RunSettings, candidate: RunSettings) -> list[SettingDifference]:
    """Return the settings that differ; those of a record only if both runs have one."""
    both = baseline.has_record and candidate.has_record
    names = dict.fromkeys([*baseline.values, *candidate.values])
    return [
        SettingDifference(name, before, after)
        for name in names
        if both or name not in RECORDED
        if (before := baseline.values.get(name, MISSING))
        != (after := candidate.values.get(name, MISSING))
    ]


def _sampling(sample: Any) -> dict[str, str]:
    row = _parse_object(sample.encode() if isinstance(sample, str) else b"")
    params = row.get("responses_create_params") if row else None
    if not isinstance(params, dict):
        return {}
    return {name: _text(value) for name, value in params.items() if name not in CONTENT}


def _identity(identity: Row) -> dict[str, str]:
    """Return what an imported run says about itself."""
    names = (identity.get("framework"), identity.get("framework_version"))
    framework = " ".join(str(name) for name in names if name)
    found = {"framework": framework, "environment": identity.get("environment")}
    return {name: str(value) for name, value in found.items() if value}


def _read_settings(record: Row) -> dict[str, str]:
    """Return what a record of the collector says about prompt, tasks and environment."""
    settings = _part(record, "settings")
    prompt, tasks = _part(settings, "prompt_config"), _part(record, "input")
    return {
        "prompt template": _file_text(prompt),
        "task file": _file_text(tasks),
        "spotter version": _text(_part(record, "versions").get("spotter")),
        VERIFIERS: _verifier_text(_part(_part(record, "origin"), "verifiers")),
        **{name: _text(settings.get(name)) for name in ROUTES},
    }


def _file_text(file: Row) -> str:
    """Return the start of the content's hash first: equal content is the same file."""
    digest = file.get("sha256")
    return f"sha256 {str(digest)[:12]}" if digest else MISSING


def _verifier_text(verifiers: Row) -> str:
    """Return the resources servers that verified again; a collected run does not know its own."""
    texts = [
        f"{name} {str(_part(verifiers, name).get('config_sha256'))[:12]}" for name in verifiers
    ]
    return ", ".join(sorted(texts)) or "not recorded"


def _part(row: Row, name: str) -> Row:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    if value is None or value in ({}, [], ""):
        return MISSING
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _read_object(path: Path) -> Row | None:
    try:
        return _parse_object(path.read_bytes())
    except OSError:
        return None


def _parse_object(text: bytes) -> Row | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
