"""What differs between two runs, and the settings of their comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from collector.comparing.compare import ComparisonSettings
from collector.comparing.run_settings import SettingDifference, read_settings, setting_differences
from collector.viewer.marts.store import Query, Reader
from collector.warehouse.sql import Row

FIRST_COMMON_TASK = """
    select first.task_index as first_task, second.task_index as second_task
    from task_profiles as first
    inner join task_profiles as second on first.task_id = second.task_id
    where first.run_id = $first and first.agent_name = $first_agent
        and second.run_id = $second and second.agent_name = $second_agent
    order by first.task_index, second.task_index
    limit 1
"""
HAS_MART = "select table_name from duckdb_tables() where table_name = 'run_comparisons'"
STORED = """
    select
        any_value(alpha) as alpha,
        case when count(distinct margin) = 1 then any_value(margin) end as margin,
        any_value(cluster_by) as cluster_by,
        any_value(is_fixed_suite) as is_fixed_suite
    from run_comparisons
    where run_id = $second and baseline_run_id = $first
        and agent_name = $second_agent and baseline_agent_name = $first_agent
        and slice_by = 'all'
    having count(*) > 0
"""


def read_differences(
    reader: Reader, values: Row, first: Row, second: Row
) -> list[SettingDifference]:
    """Return the settings that differ, as far as the marts and the collector's records say."""
    task = reader.row(Query(FIRST_COMMON_TASK, values)) or {"first_task": 0, "second_task": 0}
    with reader.cursor() as cursor:
        return setting_differences(
            read_settings(cursor, first, values["first_agent"], task["first_task"]),
            read_settings(cursor, second, values["second_agent"], task["second_task"]),
        )


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
    return settings


def _parse_margin(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"The margin must be a number above 0, not {text[:40]!r}.")
    return value
