"""What the tools share: strict arguments, searching, checking people."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from collector.servers.resources_servers.environment import Arguments, ToolError
from collector.servers.resources_servers.workplace.company import ADDRESSES

Row = dict[str, Any]
SHOWN_RESULTS = 20


def _all_required(schema: Row) -> None:
    """Ask for every argument, as strict schemas must; one left out counts as null all the same."""
    properties = schema.get("properties", {})
    schema["required"] = list(properties)
    for about in properties.values():
        about.pop("default", None)


class WorkArguments(Arguments):
    """Arguments whose schema is strict: all are required, those with a default may be null."""

    model_config = ConfigDict(json_schema_extra=_all_required)


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


def _address(value: str) -> str:
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", value):
        raise ValueError("must be an email address")
    return value.lower()


def _day(value: str) -> str:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise ValueError("must be a date: YYYY-MM-DD")
    return date.fromisoformat(value).isoformat()


def _minute(value: str) -> str:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:00)?", value):
        raise ValueError("must be a time: YYYY-MM-DDTHH:MM")
    return datetime.fromisoformat(value).isoformat(timespec="minutes")


Text = Annotated[str, AfterValidator(_text)]
Address = Annotated[str, AfterValidator(_address), Field(description="email address")]
Day = Annotated[str, AfterValidator(_day), Field(description="YYYY-MM-DD")]
Minute = Annotated[str, AfterValidator(_minute), Field(description="YYYY-MM-DDTHH:MM")]
Minutes = Annotated[int, Field(ge=1, le=1440)]


def colleague(address: str | None) -> str | None:
    """Return an address of the directory as it is, or tell the model that it is none."""
    if address is not None and address not in ADDRESSES:
        raise ToolError(f"nobody in the directory has the address {address[:100]}")
    return address


def mentions(query: str | None, *texts: str) -> bool:
    """Tell whether every word of the query occurs in the texts."""
    joined = " ".join(texts).casefold()
    return all(word in joined for word in (query or "").casefold().split())


def is_same(wanted: str | None, value: str) -> bool:
    """Tell whether a filter is off, or met."""
    return wanted is None or wanted == value


def within(value: str, first: str | None, last: str | None) -> bool:
    """Tell whether a date, or a time by its date, lies between two dates, both included."""
    return (first or "") <= value[:10] <= (last or "9999")


def listed(name: str, records: Iterable[Any]) -> Row:
    """Return the first records and how many there are."""
    found = [dataclasses.asdict(record) for record in records]
    return {name: found[:SHOWN_RESULTS], "total": len(found)}
