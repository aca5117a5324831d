"""What differs between two runs, and the settings of their comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from collector.comparing.compare import ComparisonSettings
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

TEXT_CHARACTERS = 200
RUN_FIELDS = {
    "pass_threshold": "Pass threshold",
    "answer_field": "Answer field",
    "zero_failure_classes": "Failures that count as 0",
    "is_missing_zero": "Missing rollouts count as 0",
    "prices_path": "Prices",
}
MODELS = """
    select string_agg(distinct model_name, ', ' order by model_name) as names
    from rollout_infos
    where run_id = $run and agent_name = $agent and model_name is not null
"""
# the first task that both agents have
SAMPLES = """
    select first.sample as first_sample, second.sample as second_sample
    from task_profiles as first
    inner join task_profiles as second on first.task_id = second.task_id
    where first.run_id = $first and first.agent_name = $first_agent
        and second.run_id = $second and second.agent_name = $second_agent
        and first.task_index = (
            select min(one.task_index) from task_profiles as one
            inner join task_profiles as other on one.task_id = other.task_id
            where one.run_id = $first and one.agent_name = $first_agent
                and other.run_id = $second and other.agent_name = $second_agent
        )
    order by second.task_index
    limit 1
"""
HAS_MART = "select table_name from duckdb_tables() where table_name = 'run_comparisons'"
STORED = """
    select
        any_value(alpha) as alpha,
        case when count(distinct margin) = 1 then any_value(margin) end as margin,
        any_value(cluster_by) as cluster_by,
        any_value(is_fixed_suite) as is_fixed_suite,
        any_value(is_forced) as is_forced
    from run_comparisons
    where run_id = $second and baseline_run_id = $first
        and agent_name = $second_agent and baseline_agent_name = $first_agent
        and slice_by = 'all'
    having count(*) > 0
"""


@dataclass(frozen=True)
class SettingPair:
    """A setting that differs between two runs, as text."""

    name: str
    first: str
    second: str


def read_differences(reader: Reader, values: Row, first: Row, second: Row) -> list[SettingPair]:
    """Return the settings that differ, as far as the marts know them."""
    pairs: list[tuple[str, Any, Any]] = [
        ("Agent", values["first_agent"], values["second_agent"]),
        ("Model", _read_models(reader, values, "first"), _read_models(reader, values, "second")),
        *((label, first.get(name), second.get(name)) for name, label in RUN_FIELDS.items()),
        *_sample_pairs(reader.row(Query(SAMPLES, values))),
    ]
    return [SettingPair(name, _text(a), _text(b)) for name, a, b in pairs if a != b]


def read_stored_settings(reader: Reader, values: Row) -> ComparisonSettings | None:
    """Return the settings of the comparison in the warehouse, or None if there is none."""
    if not reader.rows(Query(HAS_MART)):
        return None
    row = reader.row(Query(STORED, values))
    return ComparisonSettings(**row) if row else None


def parse_settings(
    parameters: Mapping[str, str], stored: ComparisonSettings | None
) -> ComparisonSettings:
    """Return the settings of the address; by default those of the stored comparison.

    Raise ValueError with a message for a value that is out of range.
    """
    settings = stored or ComparisonSettings()
    if parameters.get("margin"):
        settings = replace(settings, margin=_parse_margin(parameters["margin"]))
    if parameters.get("fixed"):
        settings = replace(settings, is_fixed_suite=parameters["fixed"] == "yes")
    if parameters.get("anyway"):
        settings = replace(settings, is_forced=parameters["anyway"] == "yes")
    return settings


def _parse_margin(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"The margin must be a number above 0, not {text[:40]!r}.")
    return value


def _read_models(reader: Reader, values: Row, side: str) -> str | None:
    row = reader.row(Query(MODELS, {"run": values[side], "agent": values[f"{side}_agent"]}))
    return row["names"] if row else None


def _sample_pairs(row: Row | None) -> list[tuple[str, Any, Any]]:
    """Return the sampling settings of the first common task in both runs."""
    if row is None:
        return []
    first, second = (_parameters(row[f"{side}_sample"]) for side in ("first", "second"))
    return [(name, first.get(name), second.get(name)) for name in {**first, **second}]


def _parameters(sample: str | None) -> dict[str, Any]:
    try:
        parameters = orjson.loads((sample or "{}").encode("utf-8", "replace"))
        parameters = parameters["responses_create_params"]
    except (ValueError, LookupError, TypeError):
        return {}
    if not isinstance(parameters, dict):
        return {}
    return {name: value for name, value in parameters.items() if name != "input"}


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= TEXT_CHARACTERS else f"{text[:TEXT_CHARACTERS]}…"
