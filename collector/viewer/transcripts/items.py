"""Reads the items of a conversation in any form, and turns them into entries of a page.

Nothing in a rollout is trusted: every value may have any type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from collector.jsonl import Row
from collector.viewer.transcripts.text_limits import (
    TOKENS,
    PageBudget,
    Piece,
    Text,
    parse_json,
    pointer,
)

Kind = Literal["message", "reasoning", "tool-call", "tool-result", "other", "gap"]
ROLES = ("system", "developer", "user", "assistant")
CALL, RESULT = "_call", "_call_output"
"""How the types of tool calls and of their results end."""
ARGUMENTS = {"function_call": "arguments", "custom_tool_call": "input"}
"""The field with the arguments of a call that is answered in an item with the same call_id."""
ABOUT_CALL = ("type", "id", "name", "status", "call_id", "parse_error")
HOSTED_RESULTS = ("output", "outputs", "result", "results")
FAILED = ("error", "failed")
IMAGES = ("input_image", "output_image", "image_url", "image")
FIRST_ITEMS = 800
LAST_ITEMS = 200
PARTS = 100


@dataclass(frozen=True)
class Item:
    """An item of a conversation as the file has it."""

    value: Any
    part: str
    is_input: bool
    """Whether it belongs to the input of the model."""
    text_part: str = ""
    """The JSON pointer to its text, if it was split off from another item."""


@dataclass(frozen=True)
class Entry:
    """An item of a conversation as a page shows it."""

    kind: Kind
    role: str
    title: str
    pieces: tuple[Piece, ...]
    part: str
    is_input: bool = False
    call_id: str = ""
    notes: tuple[str, ...] = ()
    result: Entry | None = None
    is_hosted: bool = False
    """Whether the model's provider made the call: the item then has the result too, if at all."""
    is_error: bool = False
    """Whether the call or the result says of itself that something failed."""

    @property
    def is_from_model(self) -> bool:
        """Tell whether the model made this entry."""
        return self.kind in ("reasoning", "tool-call", "other") or self.role == "assistant"

    @property
    def text(self) -> str:
        """Return the texts that the page shows."""
        texts = [
            (f"{piece.name}:\n" if piece.name else "") + piece.shown_text
            if isinstance(piece, Text)
            else piece.note or "an image"
            for piece in self.pieces
        ]
        return "\n".join(texts)


def read_entries(row: Row, budget: PageBudget) -> list[Entry]:
    """Return the entries of a conversation in order, without the middle of a very long one."""
    items = list(conversation_items(row))
    left_out = len(items) - FIRST_ITEMS - LAST_ITEMS
    if left_out <= 0:
        return [_entry(item, budget) for item in items]
    note = f"{left_out:,} items are not shown here: see the raw JSON"
    return [
        *(_entry(item, budget) for item in items[:FIRST_ITEMS]),
        Entry("gap", "", "", (), "", notes=(note,)),
        *(_entry(item, budget) for item in items[-LAST_ITEMS:]),
    ]


def is_call(kind: object) -> bool:
    """Tell whether an item of a type is a tool call; providers add types for their own tools."""
    return isinstance(kind, str) and kind.endswith(CALL)


def is_result(kind: object) -> bool:
    """Tell whether an item of a type is the result of a tool call."""
    return isinstance(kind, str) and kind.endswith(RESULT)


def last_message(row: Row) -> str:
    """Return all texts of the last message of the model; empty if there is none."""
    for item in reversed(list(conversation_items(row))):
        value = item.value
        if isinstance(value, dict) and value.get("role") == "assistant" and not item.is_input:
            content = value.get("content")
            parts = content if isinstance(content, list) else [content]
            texts = [one.get("text") if isinstance(one, dict) else one for one in parts]
            if found := "\n".join(text for text in texts if isinstance(text, str) and text):
                return found
    return ""


def conversation_items(row: Row) -> Iterator[Item]:
    """Give the items of a conversation in order: the input of the model, then its output."""
    params, response = row.get("responses_create_params"), row.get("response")
    params_dict: Row = params if isinstance(params, dict) else {}
    response_dict: Row = response if isinstance(response, dict) else {}
    params_name, response_name = "responses_create_params", "response"
    if params is not None and not isinstance(params, dict):
        yield Item(params, pointer(params_name), is_input=True)
    yield from _instructions(params_dict, params_name)
    if params_dict.get("input"):
        source, at = params_dict.get("input"), (params_name, "input")
    else:
        source, at = response_dict.get("input_messages"), (response_name, "input_messages")
    yield from _list_items(source, at, "user", is_input=True)
    if response_dict.get("instructions") != params_dict.get("instructions"):
        yield from _instructions(response_dict, response_name)
    if response is not None and not isinstance(response, dict):
        yield Item(response, pointer(response_name), is_input=False)
    output = "output" if response_dict.get("output") else "output_messages"
    at = (response_name, output)
    yield from _list_items(response_dict.get(output), at, "assistant", is_input=False)


def _instructions(values: Row, place: str) -> Iterator[Item]:
    text = values.get("instructions")
    if isinstance(text, list):
        yield from _list_items(text, (place, "instructions"), "system", is_input=True)
    elif text:
        message = {"role": "system", "content": text, "title": "instructions"}
        yield Item(message, pointer(place, "instructions"), is_input=True)


def _list_items(source: Any, at: tuple[str, str], role: str, *, is_input: bool) -> Iterator[Item]:
    """Give the items of a list, a single value or a bare text; `at` is its path in the rollout."""
    if source is None:
        return
    if isinstance(source, str):
        yield Item({"role": role, "content": source}, pointer(*at), is_input=is_input)
        return
    for index, value in enumerate(source if isinstance(source, list) else [source]):
        part = pointer(*at, index) if isinstance(source, list) else pointer(*at)
        for item, text_path in _unpack_message(value):
            yield Item(item, part, is_input, part + text_path if text_path else "")


def _unpack_message(value: Any) -> Iterator[tuple[Any, str]]:
    """Split a message that holds reasoning, text and calls into separate items.

    Each item comes with the pointer to its text inside the message, if that is not the usual one.
    """
    if not isinstance(value, dict) or ("type" in value and not value.get("tool_calls")):
        yield from _split_reasoning(value)
        return
    if value.get("role") == "tool":
        call_id, output = value.get("tool_call_id"), value.get("content")
        yield {"type": "function_call_output", "call_id": call_id, "output": output}, "/content"
        return
    reasoning = value.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        yield {"type": "reasoning", "content": [{"text": reasoning}]}, "/reasoning_content"
    calls = value.get("tool_calls")
    chat_calls = calls if isinstance(calls, list) else []
    if value.get("content") or not chat_calls:
        yield from _split_reasoning(value)
    for index, call in enumerate(chat_calls):
        function = call.get("function") if isinstance(call, dict) else None
        known = function if isinstance(function, dict) else {"arguments": call}
        call_id = call.get("id") if isinstance(call, dict) else None
        place = f"/tool_calls/{index}" + ("/function/arguments" if known is function else "")
        yield {**known, "type": "function_call", "call_id": call_id}, place


def _split_reasoning(value: Any) -> Iterator[tuple[Any, str]]:
    """Split a message that begins with reasoning in <think> tags into reasoning and the rest."""
    if not isinstance(value, dict) or value.get("role") != "assistant":
        yield value, ""
        return
    content = value.get("content")
    parts: list[Any] = content if isinstance(content, list) else [content]
    first: Any = parts[0] if parts else None
    text: Any = first.get("text") if isinstance(first, dict) else first
    end = _reasoning_end(text) if isinstance(text, str) else 0
    if not end:
        yield value, ""
        return
    place = "/content" + ("/0" if isinstance(content, list) else "")
    place += "/text" if isinstance(first, dict) else ""
    yield {"type": "reasoning", "content": [{"text": text[:end]}]}, place
    rest = text[end:].lstrip()
    head = {**first, "text": rest} if isinstance(first, dict) else rest
    yield {**value, "content": [head, *parts[1:]] if isinstance(content, list) else head}, ""


def _reasoning_end(text: str) -> int:
    """Return where reasoning in <think> tags ends, or 0; the prompt may hold the opening tag."""
    end = text.find("</think>")
    if text[:100].lstrip().startswith("<think>"):
        return end + len("</think>") if end >= 0 else len(text)
    return end + len("</think>") if end >= 0 and text.find("<think>", 0, end) < 0 else 0


def _entry(item: Item, budget: PageBudget) -> Entry:
    entry = _build_entry(item, budget)
    if not item.text_part:
        return entry
    pieces = tuple(replace(piece, part=item.text_part) for piece in entry.pieces)
    return replace(entry, pieces=pieces)


def _build_entry(item: Item, budget: PageBudget) -> Entry:
    value = item.value
    if not isinstance(value, dict):
        return _other_entry(
            item, budget, "text" if isinstance(value, str) else "item of unknown form"
        )
    kind = value.get("type", "message" if "role" in value else None)
    if kind == "message":
        return _message_entry(item, budget)
    if kind == "reasoning":
        return _reasoning_entry(item, budget)
    if is_call(kind):
        return _call_entry(item, budget)
    if is_result(kind):
        return _result_entry(item, budget)
    return _other_entry(item, budget, _name(kind) or "item without a type")


def _message_entry(item: Item, budget: PageBudget) -> Entry:
    role = _name(item.value.get("role"))
    title = _name(item.value.get("title")) or role or "message without a role"
    content = item.value.get("content")
    # the pointer to a bare text is that of the message made from it
    is_bare = "type" not in item.value and not item.part.rpartition("/")[2].isdigit()
    part = item.part if is_bare else item.part + "/content"
    return Entry(
        "message",
        role if role in ROLES else "unknown",
        title,
        tuple(_content_pieces(content, part, budget)),
        item.part,
        item.is_input,
        notes=tuple(_token_notes(item.value)),
    )


def _reasoning_entry(item: Item, budget: PageBudget) -> Entry:
    pieces = [
        piece
        for name in ("summary", "content")
        for piece in _content_pieces(item.value.get(name), f"{item.part}/{name}", budget)
    ]
    notes = list(_token_notes(item.value))
    hidden = item.value.get("encrypted_content")
    if isinstance(hidden, str) and hidden:
        notes.append(f"{len(hidden):,} encrypted characters")
    return Entry(
        "reasoning", "assistant", "reasoning", tuple(pieces), item.part, item.is_input,
        notes=tuple(notes),
    )  # fmt: skip


def _call_entry(item: Item, budget: PageBudget) -> Entry:
    kind = str(item.value["type"])
    is_hosted = kind not in ARGUMENTS and "call_id" not in item.value
    given, part = _arguments(item, kind)
    pieces = budget.data_texts(given, part) if given not in (None, "", {}) else []
    problem = item.value.get("parse_error")
    if problem:
        pieces.append(budget.text(problem, f"{item.part}/parse_error", name="parse error"))
    notes = [*_token_notes(item.value)]
    if item.value.get("status") not in (None, "completed"):
        notes.append(f"status: {_name(item.value['status'])}")
    return Entry(
        "tool-call", "assistant",
        _name(item.value.get("name"))
        or ("a tool without a name" if kind in ARGUMENTS else kind.removesuffix(CALL)),
        tuple(pieces), item.part, item.is_input, _name(item.value.get("call_id")), tuple(notes),
        _hosted_result(item, budget) if is_hosted else None, is_hosted, bool(problem),
    )  # fmt: skip


def _arguments(item: Item, kind: str) -> tuple[Any, str]:
    """Return the arguments of a call with their pointer; unknown types have any fields."""
    if name := ARGUMENTS.get(kind):
        return item.value.get(name), f"{item.part}/{name}"
    left_out = (*ABOUT_CALL, *HOSTED_RESULTS, "error", *TOKENS)
    given = {
        name: value
        for name, value in item.value.items()
        if name not in left_out and value not in (None, "", [], {})
    }
    if len(given) == 1:
        ((name, value),) = given.items()
        if name == "action" and isinstance(value, dict):  # what a search found is its result
            value = {key: one for key, one in value.items() if key != "sources"}
        return value, f"{item.part}/{name}"
    return given, item.part


def _hosted_result(item: Item, budget: PageBudget) -> Entry | None:
    """Return the result that a call of a hosted tool has in the same item, if it has one."""
    action = item.value.get("action")
    found = {name: item.value.get(name) for name in HOSTED_RESULTS}
    found["action/sources"] = action.get("sources") if isinstance(action, dict) else None
    results = {name: value for name, value in found.items() if value not in (None, "", [], {})}
    error = item.value.get("error")
    if not results and not error:
        return None
    name, output = next(iter(results.items()), ("output", None))
    result = {"output": output, "error": error}
    return _result_entry(replace(item, value=result), budget, name)


def _result_entry(item: Item, budget: PageBudget, name: str = "output") -> Entry:
    """Return the entry of a result; an error that repeats its text is shown once."""
    output, part = item.value.get("output"), f"{item.part}/{name}"
    is_content = isinstance(output, list) and all(
        isinstance(one, dict) and "type" in one for one in output
    )
    data = parse_json(output)
    pieces: list[Piece]
    if is_content:
        pieces = list(_content_pieces(output, part, budget))
    elif isinstance(data, dict) and data.keys() == {"error"} and isinstance(data["error"], str):
        pieces = [budget.text(data["error"], part)]
    else:
        pieces = [*budget.data_texts(output, part)] if output not in (None, "") else []
    error = item.value.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    if error and message != output:
        named = "error" if pieces else ""
        pieces.append(budget.text(message or error, f"{item.part}/error", name=named))
    is_error = says_failed(item.value) or says_failed(data)
    return Entry(
        "tool-result", "tool", "error" if is_error else "result", tuple(pieces), item.part,
        item.is_input, _name(item.value.get("call_id")), is_error=is_error,
    )  # fmt: skip


def says_failed(value: object) -> bool:
    """Tell whether a result, or the object that a tool returned, says that it is an error."""
    if not isinstance(value, dict):
        return False
    error = value.get("error")
    flags = (value.get("is_error"), value.get("isError"))
    is_named = isinstance(error, (str, dict)) and bool(error)
    return is_named or True in flags or value.get("status") in FAILED


def _other_entry(item: Item, budget: PageBudget, title: str) -> Entry:
    return Entry(
        "other", "assistant", title, (budget.text(item.value, item.part),), item.part, item.is_input
    )


def _content_pieces(content: Any, part: str, budget: PageBudget) -> Iterator[Piece]:
    if content is None or content == "":
        return
    if not isinstance(content, list):
        yield budget.text(content, part)
        return
    for index, one in enumerate(content[:PARTS]):
        yield from _part_pieces(one, f"{part}/{index}", budget)
    if len(content) > PARTS:
        yield budget.text(f"… and {len(content) - PARTS:,} more parts: see the raw JSON", part)


def _part_pieces(one: Any, part: str, budget: PageBudget) -> Iterator[Piece]:
    if not isinstance(one, dict):
        yield budget.text(one, part)
    elif isinstance(one.get("text"), str):
        if one["text"]:
            yield budget.text(one["text"], f"{part}/text")
    elif one.get("type") in IMAGES:
        yield budget.image(one.get("image_url", one.get("source")), part)
    else:
        # a refusal, the logs of an interpreter: the text is in the field that the type names
        name = "refusal" if "refusal" in one else _name(one.get("type"))
        text = one.get(name)
        is_named = isinstance(text, str) and name != "type"
        yield (
            budget.text(text, f"{part}/{name}", name=name)
            if is_named
            else budget.text(one, part, name=name)
        )


def _token_notes(value: Row) -> Iterator[str]:
    for name in TOKENS:
        if isinstance(value.get(name), list) and value[name]:
            yield f"{name}: {len(value[name]):,} values"
    content = value.get("content")
    for one in content[:PARTS] if isinstance(content, list) else ():
        found = one.get("logprobs") if isinstance(one, dict) else None
        if isinstance(found, list) and found:
            yield f"logprobs: {len(found):,} values"


def _name(value: object) -> str:
    """Return the first 200 characters of a text, or an empty text for another value."""
    return value[:200] if isinstance(value, str) else ""
