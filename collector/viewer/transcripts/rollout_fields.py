"""The fields of a rollout besides its conversation: verdict, usage, settings and tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from collector import answer_fields
from collector.jsonl import Row, parse_object
from collector.keys import COLLECTOR_PREFIXES
from collector.viewer.transcripts.text_limits import PageBudget, Text, parse_nested_json, pointer

FIELDS = 200
TOOLS = 200
FIELD_CHARS = 10_000
PARAMS = "responses_create_params"
RESPONSE = "response"


@dataclass(frozen=True)
class OfferedTool:
    """A tool that the model could call."""

    name: str
    description: Text | None
    parameters: Text | None


@dataclass(frozen=True)
class RolloutDetails:
    """The fields of a rollout besides its conversation, in groups."""

    truths: list[Text]
    verifier: list[Text]
    usage: list[Text]
    sampling: list[Text]
    response: list[Text]
    tools: list[OfferedTool]


def read_details(row: Row, budget: PageBudget | None = None) -> RolloutDetails:
    """Return the fields of a rollout besides its conversation; any value may have any type."""
    budget = budget or PageBudget()
    params, response = _dict(row.get(PARAMS)), _dict(row.get(RESPONSE))
    tools = "tools" if params.get("tools") else ""
    return RolloutDetails(
        truths=read_ground_truths(row, budget),
        verifier=_fields(_without(verifier_fields(row), *_ground_truth_names(row)), (), budget),
        usage=_fields(dict(_flatten(response.get("usage"))), (RESPONSE, "usage"), budget),
        sampling=_fields(_without(params, "input", "instructions", "tools"), (PARAMS,), budget),
        response=_fields(_response_fields(params, response), (RESPONSE,), budget),
        tools=list(
            _tools(params["tools"], (PARAMS, "tools"), budget)
            if tools
            else _tools(response.get("tools"), (RESPONSE, "tools"), budget)
        ),
    )


def verifier_fields(row: Row) -> Row:
    """Return the fields that the environment and its verifier added to a rollout."""
    known = (PARAMS, RESPONSE, "reward", "agent_ref")
    return {
        name: value
        for name, value in row.items()
        if name not in known and not name.startswith(COLLECTOR_PREFIXES) and value is not None
    }


def read_ground_truths(row: Row, budget: PageBudget) -> list[Text]:
    """Return the fields whose names suggest that they hold the right answer."""
    found = [
        (place, name, source[name])
        for place in ("", *answer_fields.PARENTS)
        for source in [_dict(row.get(place)) if place else row]
        for name in _ground_truth_names(source)
    ]
    return [
        budget.text(
            parse_nested_json(value),
            pointer(*filter(None, (place, name))),
            name=name,
            limit=FIELD_CHARS,
        )
        for place, name, value in found
    ]


def read_task_truths(sample: str | None, budget: PageBudget | None = None) -> list[Text]:
    """Return the right answers in a task's input, from the sample that the warehouse keeps."""
    return read_ground_truths(read_sample(sample), budget or PageBudget())


def read_sample(sample: str | None) -> Row:
    """Return the sample of a task's input; an empty row if it cannot be read."""
    try:
        return parse_object((sample or "").encode("utf-8", "replace"))
    except ValueError:
        return {}


def _ground_truth_names(source: Row) -> list[str]:
    return [name for name in answer_fields.NAMES if source.get(name) not in (None, "", [], {})]


def _response_fields(params: Row, response: Row) -> Row:
    """Return the response's own fields, except those that only repeat the request."""
    parts = ("output", "usage", "tools", "instructions", "input_messages", "output_messages")
    return {
        name: value
        for name, value in _without(response, *parts).items()
        if name not in params or params[name] != value
    }


def _without(values: Row, *names: str) -> Row:
    return {
        name: value for name, value in values.items() if name not in names and value is not None
    }


def _fields(values: Row, at: tuple[str, ...], budget: PageBudget) -> list[Text]:
    shown = [
        budget.text(
            _displayed_value(value), pointer(*at, name), name=str(name)[:200], limit=FIELD_CHARS
        )
        for name, value in list(values.items())[:FIELDS]
    ]
    if len(values) > FIELDS:
        note = f"{len(values) - FIELDS:,} more fields: see the raw JSON"
        shown.append(budget.text(note, pointer(*at), name="…"))
    return shown


def _displayed_value(value: Any) -> Any:
    """Return numbers and booleans as text, texts that are JSON as data, others unchanged."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else parse_nested_json(value)


def _flatten(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and depth < 3:
        for key, one in value.items():
            yield from _flatten(one, f"{name}.{key}" if name else str(key), depth + 1)
    elif value is not None:
        yield name or "usage", value


def _tools(found: Any, at: tuple[str, str], budget: PageBudget) -> Iterator[OfferedTool]:
    for index, one in enumerate(found[:TOOLS] if isinstance(found, list) else ()):
        tool = _dict(one.get("function")) or one if isinstance(one, dict) else {}
        name = tool.get("name") or tool.get("type") or "a tool without a name"
        about, parameters = tool.get("description"), tool.get("parameters", tool or one)
        part = pointer(*at, index)
        yield OfferedTool(
            str(name)[:200],
            budget.text(about, f"{part}/description", limit=FIELD_CHARS) if about else None,
            budget.text(parameters, f"{part}/parameters", limit=FIELD_CHARS)
            if parameters
            else None,
        )


def _dict(value: Any) -> Row:
    return value if isinstance(value, dict) else {}
