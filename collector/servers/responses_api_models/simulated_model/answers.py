"""The responses of the simulated model, as Responses API objects."""

from __future__ import annotations

import json
import time
from random import Random
from typing import Any

from collector.servers.responses_api_models.simulated_model.policy import ModelTurn

Row = dict[str, Any]
CHARACTERS_PER_TOKEN = 4
THOUGHT_SHARE = 0.5
OUTAGES = (
    ("server_error", "the model's provider is not available"),
    ("rate_limit_exceeded", "the quota of the model's provider is used up"),
)
ECHOED: Row = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
}


def turn_response(turn: ModelTurn, request: Row, *, model: str, rng: Random) -> Row:
    """Return the complete response: output, usage, and the settings of the request."""
    thought = turn.thought if rng.random() < THOUGHT_SHARE else ""
    limit = request.get("max_output_tokens")
    room = None if limit is None else CHARACTERS_PER_TOKEN * limit
    is_cut = room is not None and room < len(thought) + len(turn.content)
    output = (
        _limited_output(turn, thought, room or 0, rng) if is_cut else _output(turn, thought, rng)
    )
    return {
        **_empty(request, model=model, rng=rng),
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": output,
        "usage": _usage(request, turn.content, thought, limit=limit),
    }


def outage_response(request: Row, *, model: str, rng: Random) -> Row:
    """Return the failed response of a model whose provider is down or out of quota."""
    code, message = rng.choice(OUTAGES)
    error = {"code": code, "message": f"{message} (simulated)"}
    return {**_empty(request, model=model, rng=rng), "status": "failed", "error": error}


def _empty(request: Row, *, model: str, rng: Random) -> Row:
    echoed = {
        name: default if request.get(name) is None else request[name]
        for name, default in ECHOED.items()
    }
    return {
        "id": _new_id("resp", rng),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": [],
        **echoed,
        "usage": None,
    }


def _new_id(prefix: str, rng: Random) -> str:
    return f"{prefix}_{rng.getrandbits(96):024x}"


def _output(turn: ModelTurn, thought: str, rng: Random) -> list[Row]:
    before = [_reasoning_item(thought, rng)] if thought else []
    if turn.tool is None:
        return [*before, _message(turn.text, "completed", rng)]
    call = {
        "id": _new_id("fc", rng),
        "type": "function_call",
        "call_id": _new_id("call", rng),
        "name": turn.tool,
        "arguments": turn.arguments,
        "status": "completed",
    }
    return [*before, call]


def _limited_output(turn: ModelTurn, thought: str, room: int, rng: Random) -> list[Row]:
    """Return the output that fits into `room` characters: cut a message, leave out a call."""
    if len(thought) >= room or turn.tool is not None:
        return [_reasoning_item(thought[:room], rng)] if thought else []
    message = _message(turn.text[: room - len(thought)], "incomplete", rng)
    return [*([_reasoning_item(thought, rng)] if thought else []), message]


def _reasoning_item(thought: str, rng: Random) -> Row:
    return {
        "id": _new_id("rs", rng),
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": thought}],
    }


def _message(text: str, status: str, rng: Random) -> Row:
    return {
        "id": _new_id("msg", rng),
        "type": "message",
        "role": "assistant",
        "status": status,
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def _usage(request: Row, content: str, thought: str, *, limit: int | None) -> Row:
    prompt = [request.get(name) for name in ("instructions", "input", "tools")]
    input_tokens = _tokens(json.dumps(prompt))
    reasoning_tokens = _tokens(thought)
    output_tokens = reasoning_tokens + _tokens(content)
    if limit is not None:
        output_tokens = min(output_tokens, limit)
    return {
        "input_tokens": input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": min(reasoning_tokens, output_tokens)},
        "total_tokens": input_tokens + output_tokens,
    }


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
