"""What models say in the rollouts of the tests."""

from __future__ import annotations

from typing import Any

from tests.support import Row

USAGE = {"output_tokens": 5}


def says(text: str, **fields: Any) -> Row:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, **fields}


def logged(text: str, logprob: float) -> Row:
    part = {"type": "output_text", "text": text, "logprobs": [{"token": text, "logprob": logprob}]}
    return {"type": "message", "role": "assistant", "content": [part]}


def calls(arguments: str, name: str = "add", **fields: Any) -> Row:
    return {"type": "function_call", "name": name, "arguments": arguments, **fields}


def thinks(text: str) -> Row:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def gives(text: str) -> Row:
    return {"type": "function_call_output", "call_id": "c", "output": text}


def response(*output: Row, **fields: Any) -> Row:
    return {"response": {"output": list(output), "usage": USAGE, **fields}}
