"""Read from the warehouse how a run was profiled, so that it can be profiled again in that way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson

from collector.errors import SpotterError
from collector.profiling.prices import read_prices
from collector.profiling.statistics import ANSWER_FIELD, Statistics, ZeroRules
from collector.warehouse.sql import Row


def known_statistics(run: Row) -> Statistics:
    """Return the settings that a run was profiled with; an older warehouse lacks some of them."""
    field = run.get("answer_field")
    threshold = run.get("pass_threshold")
    return Statistics(
        pass_threshold=1.0 if threshold is None else threshold,
        # a user who did not name the default field does not require it to exist
        answer_field=field if field != ANSWER_FIELD else None,
        slice_by=_stored_names(run.get("slice_by")),
        zeros=_known_zeros(run),
    )


def repeated_statistics(run: Row | None, say: Callable[[str], None]) -> Statistics:
    """Return the settings of a run's last profile; without its price file there are no costs."""
    known = known_statistics(run) if run else Statistics()
    if not run or not run.get("prices_path"):
        return known
    try:
        return replace(known, prices=read_prices(Path(run["prices_path"])))
    except SpotterError as error:
        say(f"profiling {run['run_id']} without costs: {error}")
        return known


def _known_zeros(run: Row) -> ZeroRules | None:
    named = _stored_names(run.get("zero_failure_classes"))
    is_missing_zero = bool(run.get("is_missing_zero"))
    return ZeroRules(named, is_missing_zero=is_missing_zero) if named or is_missing_zero else None


def _stored_names(text: str | None) -> tuple[str, ...]:
    """Return the names of a JSON list; an older warehouse has them separated by commas."""
    if not text:
        return ()
    try:
        names = orjson.loads(text)
    except orjson.JSONDecodeError:
        names = None
    return tuple(names) if isinstance(names, list) else tuple(text.split(", "))
