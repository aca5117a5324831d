"""Turn the items of a rollout into the steps of an ATIF trajectory."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass, field
from typing import Any

import orjson

from collector.jsonl import Row, dump

SOURCES = {"system": "system", "developer": "system", "user": "user", "assistant": "agent"}
CALLS = ("function_call", "custom_tool_call")
RESULTS = ("function_call_output", "custom_tool_call_output")
TEXTS = ("text", "refusal", "transcript")
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True)
class TrajectorySteps:
    """The steps of a rollout, numbered from 1; the first `prompt_count` are those of the input."""

    steps: list[Row]
    prompt_count: int


def trajectory_steps(given: list[Any], made: list[Any], model: str | None) -> TrajectorySteps:
    """Return the steps of the input and the output of a rollout.

    The model's reasoning, its message and its calls form a step, with the results of the calls. A
    new one begins where the model goes on after something that it did not make, reasons again, or
    writes after a call.
    """
    builder = _Builder(model)
    for item in given:
        builder.add(_as_item(item))
    count = builder.begin_output()
    for item in made:
        builder.add(_as_item(item))
    steps = builder.steps or [{"source": "system", "message": ""}]
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, start=1)]
    return TrajectorySteps(numbered, count)


def _as_item(item: Any) -> Row:
    return item if isinstance(item, dict) else {"role": "user", "content": item}


@dataclass
class _Builder:
    """Collects steps; `stage` tells how far the response of the model in the last one is."""

    model: str | None
    steps: list[Row] = field(default_factory=list)
    stage: int | None = None
    """0 after reasoning, 1 after a message, 2 after a call; None if the model is not speaking."""
    first: int = 0
    """The first step of the output, if it has begun."""

    def begin_output(self) -> int:
        """End the input: no later item becomes a part of its steps. Return their number."""
        self.stage, self.first = None, len(self.steps)
        return self.first

    def add(self, item: Row) -> None:
        kind = item.get("type") or "message"
        if kind in RESULTS:
            self._add_result(item)
        elif kind == "reasoning":
            self._add_reasoning(item)
        elif kind == "message":
            self._add_message(item)
        else:
            self._add_call(item, kind)

    def _agent_step(self, stage: int) -> Row:
        """Return the step that an item of the model belongs to: 0 reasoning, 1 message, 2 call."""
        if self.stage is None or stage < self.stage or stage == self.stage == 1:
            named = {"model_name": self.model} if self.model else {}
            self.steps.append({"source": "agent", "message": "", **named})
        self.stage = stage
        return self.steps[-1]

    def _add_reasoning(self, item: Row) -> None:
        step = self._agent_step(0)
        parts = [*_list(item.get("content")), *_list(item.get("summary"))]
        texts = [step.get("reasoning_content"), *(_text(part) for part in parts)]
        step["reasoning_content"] = "\n".join(filter(None, texts))
        if item.get("encrypted_content"):
            step["extra"] = {"encrypted_content": item["encrypted_content"]}

    def _add_message(self, item: Row) -> None:
        role = str(item.get("role") or "user")
        source = SOURCES.get(role, "user")
        if source == "agent":
            self._agent_step(1)["message"] = _content(item.get("content"))
            return
        named = {} if role == source else {"extra": {"role": role}}
        self.steps.append({"source": source, "message": _content(item.get("content")), **named})
        self.stage = None

    def _add_call(self, item: Row, kind: str) -> None:
        """Add a call; one that the provider of the model made itself is kept whole."""
        given = item.get("arguments", item.get("input"))
        is_known = kind in CALLS
        arguments = _object(given) if is_known else item
        call: Row = {
            "tool_call_id": str(item.get("call_id") or item.get("id") or ""),
            "function_name": str(item.get("name") or kind) if is_known else kind,
            "arguments": {} if arguments is None else arguments,
        }
        if arguments is None:
            call["extra"] = {"raw_arguments": _as_text(given)}
        self._agent_step(2).setdefault("tool_calls", []).append(call)

    def _add_result(self, item: Row) -> None:
        """Add a result to the step of its call, or to the last step if there is no such call."""
        call_id = item.get("call_id")
        result: Row = {"content": _content(item.get("output"))}
        owner = self._owner(call_id)
        if owner is not None:
            result["source_call_id"] = call_id
        elif len(self.steps) == self.first:
            self.steps.append({"source": "system", "message": ""})
        step = self.steps[-1] if owner is None else owner
        step.setdefault("observation", {"results": []})["results"].append(result)
        self.stage = None

    def _owner(self, call_id: Any) -> Row | None:
        """Return the last step that has a call, and no result of it yet."""
        for step in reversed(self.steps[self.first :]):
            calls = [call["tool_call_id"] for call in step.get("tool_calls", [])]
            results = step.get("observation", {}).get("results", [])
            answered = [one.get("source_call_id") for one in results]
            if calls.count(call_id) > answered.count(call_id):
                return step
        return None


def _content(content: Any) -> str | list[Row]:
    """Return a content as a text, or as parts if it has images."""
    if not isinstance(content, list):
        return _as_text(content)
    parts = [_part(part) for part in content]
    if any(part["type"] == "image" for part in parts):
        return parts
    return "\n".join(part["text"] for part in parts)


def _part(part: Any) -> Row:
    url = part.get("image_url") if isinstance(part, dict) else None
    url = url.get("url") if isinstance(url, dict) else url
    if isinstance(url, str):
        return {"type": "image", "source": {"media_type": _media_type(url), "path": url}}
    return {"type": "text", "text": _text(part)}


def _media_type(url: str) -> str:
    named = url[5:].partition(";")[0] if url.startswith("data:") else mimetypes.guess_type(url)[0]
    return named if named in IMAGE_TYPES else IMAGE_TYPES[0]


def _text(part: Any) -> str:
    """Return the text of a part; one of another kind as JSON, so that nothing is dropped."""
    if isinstance(part, dict):
        found = next((part[name] for name in TEXTS if isinstance(part.get(name), str)), None)
        return dump(part).decode() if found is None else str(found)
    return _as_text(part)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else dump(value).decode()


def _object(arguments: Any) -> Row | None:
    """Return arguments as an object; None if they are not one, as those of a careless model."""
    if isinstance(arguments, dict):
        return arguments
    try:
        found = orjson.loads(arguments or "{}")
    except (ValueError, TypeError):
        return None
    return found if isinstance(found, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
