"""The answers of an endpoint, as Responses API objects."""

from __future__ import annotations

import json
import time
import uuid
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import BaseModel, Field, InstanceOf, ValidationError

from collector.servers.responses_api_models.base import ModelError, Row

# pydantic's str refuses half of a surrogate pair, which models do write
Text = InstanceOf[str]
INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
# the fields of a request that its response repeats, with their defaults
ECHOED: Row = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": None,
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
}


class _Function(BaseModel):
    name: Text
    arguments: Text


class _Call(BaseModel):
    id: Text | None = None
    function: _Function


class _Logprobs(BaseModel):
    content: list[Row] | None = None


class _Message(BaseModel):
    content: Text | None = None
    refusal: Text | None = None
    reasoning_content: Text | None = None
    reasoning: Text | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: Text | None = None
    logprobs: _Logprobs | None = None


class _InputDetails(BaseModel):
    cached_tokens: int | None = None


class _OutputDetails(BaseModel):
    reasoning_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int = 0
    total_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None


class _Completion(BaseModel):
    id: Text | None = None
    created: int | float | None = None
    model: Text | None = None
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Usage | None = None


def checked_response(answer: Row) -> Row:
    """Return an endpoint's response unchanged; raise ModelError if it is unusable."""
    status = answer.get("status", "completed")
    if status not in ("completed", "incomplete"):
        raise _unusable_answer(f"the response is {str(status)[:100]}{_error_suffix(answer)}")
    if not isinstance(answer.get("output"), list):
        raise _unusable_answer(f"the response has no output{_error_suffix(answer)}")
    return answer


def response_from_completion(answer: Row, request: Row) -> Row:
    """Return a chat completion as the response to the request; raise ModelError if malformed."""
    completion = _parse_completion(answer)
    choice = completion.choices[0]
    reason = INCOMPLETE.get(choice.finish_reason or "")
    name = completion.id or uuid.uuid4().hex
    created = time.time() if completion.created is None else completion.created
    output = _output(choice, name)
    if reason:
        output[-1]["status"] = "incomplete"
    echoed = {key: request.get(key) for key in ECHOED}
    return {
        "id": f"resp_{name.removeprefix('resp_')}",
        "object": "response",
        "created_at": int(created),
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": completion.model or request.get("model"),
        "output": output,
        **{key: ECHOED[key] if value is None else value for key, value in echoed.items()},
        "usage": _usage(completion.usage) if completion.usage else None,
    }


def _parse_completion(answer: Row) -> _Completion:
    try:
        return _Completion.model_validate(answer)
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        place = ".".join(str(step) for step in problem["loc"])
    raise _unusable_answer(
        f"not a chat completion: {place}: {problem['msg']}{_error_suffix(answer)}"
    )


def _output(choice: _Choice, name: str) -> list[Row]:
    """Return the model's reasoning, message and calls; a limit can cut off only the last item."""
    message = choice.message
    calls = message.tool_calls or []
    thought = message.reasoning_content or message.reasoning
    output: list[Row] = []
    if thought:
        summary = [{"type": "summary_text", "text": thought}]
        output.append({"id": f"rs_{name}", "type": "reasoning", "summary": summary})
    if message.content or message.refusal or not calls:
        output.append(_message(choice, name))
    return output + [_call(call, f"{name}_{number}") for number, call in enumerate(calls)]


def _message(choice: _Choice, name: str) -> Row:
    logprobs = choice.logprobs.content if choice.logprobs else None
    content: Row = {"type": "output_text", "text": choice.message.content or "", "annotations": []}
    if logprobs:
        content["logprobs"] = logprobs
    if choice.message.refusal and not choice.message.content:
        content = {"type": "refusal", "refusal": choice.message.refusal}
    return {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }


def _call(call: _Call, name: str) -> Row:
    return {
        "id": f"fc_{name}",
        "type": "function_call",
        "call_id": call.id or f"call_{name}",
        "name": call.function.name,
        "arguments": call.function.arguments,
        "status": "completed",
    }


def _usage(usage: _Usage) -> Row:
    input_details, output_details = usage.prompt_tokens_details, usage.completion_tokens_details
    total = usage.prompt_tokens + usage.completion_tokens
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {
            "cached_tokens": (input_details and input_details.cached_tokens) or 0
        },
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {
            "reasoning_tokens": (output_details and output_details.reasoning_tokens) or 0
        },
        "total_tokens": total if usage.total_tokens is None else usage.total_tokens,
    }


def _error_suffix(answer: Row) -> str:
    """Return the error that some endpoints send with status 200, after a colon."""
    error: Any = answer.get("error")
    return f": {json.dumps(error, ensure_ascii=False)[:2000]}" if error else ""


def _unusable_answer(message: str) -> ModelError:
    return ModelError(HTTPStatus.BAD_GATEWAY, f"the endpoint's answer is unusable: {message}")
