"""The tools on the visits of the web site: counts per day, and plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from collector.servers.resources_servers.workplace_assistant.records import Function, refuse_unless
from collector.servers.resources_servers.workplace_assistant.tables import Record, WorkplaceState

PLOT_TYPES = ("bar", "line", "scatter", "histogram")
SOURCES = ("direct", "referral", "search engine", "social media")
PLOTTED = (
    *("total_visits", "session_duration_seconds", "user_engaged"),
    *(f"visits_{source.replace(' ', '_')}" for source in SOURCES),
)


def _visits(state: WorkplaceState, first: Any, last: Any) -> Iterator[Record]:
    """Yield the visits from the first to the last day, in the order of days."""
    visits = state.tables["analytics_data"].records
    for visit in sorted(visits, key=lambda visit: str(visit["date_of_visit"])):
        if str(first or "") <= visit["date_of_visit"] <= str(last or "9999"):
            yield visit


def _get_visitor(state: WorkplaceState, visitor_id: Any = None) -> Any:
    refuse_unless(visitor_id, "Visitor ID not provided.")
    visits = state.tables["analytics_data"].records
    found = [
        {**visit, "user_engaged": visit["user_engaged"] == "True"}
        for visit in visits
        if visit["visitor_id"] == visitor_id
    ]
    refuse_unless(found, "Visitor not found.")
    return found


def _create_plot(
    state: WorkplaceState,
    time_min: Any = None,
    time_max: Any = None,
    value_to_plot: Any = None,
    plot_type: Any = None,
) -> Any:
    refuse_unless(time_min, "Start date not provided.")
    refuse_unless(time_max, "End date not provided.")
    values = ", ".join(f"'{value}'" for value in PLOTTED)
    refuse_unless(value_to_plot in PLOTTED, f"Value to plot must be one of {values}")
    types = "'bar', 'line', 'scatter', or 'histogram'"
    refuse_unless(plot_type in PLOT_TYPES, f"Plot type must be one of {types}")
    path = f"plots/{time_min}_{time_max}_{value_to_plot}_{plot_type}.png"
    state.plots.append(path)
    return path


def _count_visits(state: WorkplaceState, time_min: Any = None, time_max: Any = None) -> Any:
    return _count(_visits(state, time_min, time_max))


def _count_engaged(state: WorkplaceState, time_min: Any = None, time_max: Any = None) -> Any:
    return _count(_visits(state, time_min, time_max), user_engaged="True")


def _count_source(
    state: WorkplaceState, time_min: Any = None, time_max: Any = None, traffic_source: Any = None
) -> Any:
    source = {"traffic_source": traffic_source} if traffic_source else {}
    return _count(_visits(state, time_min, time_max), **source)


def _count(visits: Iterable[Record], **values: str) -> dict[str, int]:
    """Count the visits of each day that have these values; a day may have none of them."""
    counts: Counter[str] = Counter()
    for visit in visits:
        counts[visit["date_of_visit"]] += values.items() <= visit.items()
    return dict(counts)


def _average_duration(state: WorkplaceState, time_min: Any = None, time_max: Any = None) -> Any:
    durations: dict[str, list[float]] = {}
    for visit in _visits(state, time_min, time_max):
        duration = float(visit["session_duration_seconds"])
        durations.setdefault(visit["date_of_visit"], []).append(duration)
    return {day: sum(seconds) / len(seconds) for day, seconds in durations.items()}


ANALYTICS_TOOLS: dict[str, Function] = {
    "analytics_get_visitor_information_by_id": _get_visitor,
    "analytics_create_plot": _create_plot,
    "analytics_total_visits_count": _count_visits,
    "analytics_engaged_users_count": _count_engaged,
    "analytics_traffic_source_count": _count_source,
    "analytics_get_average_session_duration": _average_duration,
}
