"""The bodies of requests to an endpoint, for the Responses API and for Chat Completions."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from collector.chat_messages import TranslationError, chat_messages, chat_tools
from collector.servers.responses_api_models.base import ModelError, Row

# fields with the same meaning in both APIs
SHARED_FIELDS = (
    "model",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "top_logprobs",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "logit_bias",
    "seed",
    "stop",
    "user",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
)
# these refer to content stored at the endpoint: without it the answer would be wrong
STORED_FIELDS = ("previous_response_id", "conversation", "prompt")


def responses_request(request: Row) -> Row:
    """Return the body for the Responses API: without nulls, which some endpoints refuse."""
    body = without_nulls(request)
    if isinstance(body.get("input"), list):
        body["input"] = [
            without_nulls(item) if isinstance(item, dict) else item for item in body["input"]
        ]
    return body


def chat_request(request: Row) -> Row:
    """Return the body for Chat Completions; raise ModelError if the request has no translation."""
    request = without_nulls(request)
    for name in STORED_FIELDS:
        if name in request:
            raise _bad_request(f"{name} needs an endpoint with the Responses API")
    try:
        messages = chat_messages(request.get("input"), request.get("instructions"))
        tools = chat_tools(request.get("tools", []))
    except TranslationError as error:
        raise _bad_request(str(error)) from error
    body: Row = {"messages": messages}
    body |= {name: request[name] for name in SHARED_FIELDS if name in request}
    if "top_logprobs" in body:
        body["logprobs"] = True
    if "max_output_tokens" in request:
        body["max_tokens"] = request["max_output_tokens"]
    return body | _tool_fields(request, tools) | _text_fields(request) | _extra_body(request)


def without_nulls(row: Row) -> Row:
    """Return the fields that are not null."""
    return {name: value for name, value in row.items() if value is not None}


def _tool_fields(request: Row, tools: list[Row]) -> Row:
    if not tools:
        return {}  # endpoints refuse tool_choice and parallel_tool_calls without tools
    fields: Row = {"tools": tools}
    if "tool_choice" in request:
        fields["tool_choice"] = _tool_choice(request["tool_choice"])
    if "parallel_tool_calls" in request:
        fields["parallel_tool_calls"] = request["parallel_tool_calls"]
    return fields


def _tool_choice(choice: Any) -> Any:
    kind = choice.get("type") if isinstance(choice, dict) else None
    if isinstance(choice, str) or (kind == "function" and "function" in choice):
        return choice
    if kind == "function" and "name" in choice:
        return _function_choice(choice)
    if kind == "allowed_tools" and isinstance(choice.get("tools"), list):
        allowed = {
            "mode": choice.get("mode", "auto"),
            "tools": [_tool_choice(tool) for tool in choice["tools"]],
        }
        return {"type": kind, "allowed_tools": allowed}
    raise _bad_request(f"tool_choice cannot be {str(choice)[:200]}")


def _function_choice(choice: Row) -> Row:
    return {"type": "function", "function": {"name": choice["name"]}}


def _text_fields(request: Row) -> Row:
    text = request.get("text", {})
    if not isinstance(text, dict):
        raise _bad_request("text is not an object")
    verbosity = without_nulls({"verbosity": text.get("verbosity")})
    form = text.get("format") or {"type": "text"}
    kind = form.get("type") if isinstance(form, dict) else None
    if kind == "text":
        return verbosity
    if kind == "json_object":
        return {"response_format": {"type": kind}, **verbosity}
    if kind != "json_schema":
        raise _bad_request(f"text.format cannot be {str(form)[:200]}")
    schema = {name: value for name, value in without_nulls(form).items() if name != "type"}
    return {"response_format": {"type": kind, "json_schema": schema}, **verbosity}


def _extra_body(request: Row) -> Row:
    """Return settings for this endpoint alone, which the metadata holds as JSON text."""
    metadata = request.get("metadata", {})
    text = metadata.get("extra_body") if isinstance(metadata, dict) else None
    if text is None:
        return {}
    try:
        extra = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        extra = None
    if not isinstance(extra, dict):
        raise _bad_request("metadata.extra_body is not the text of a JSON object")
    return extra


def _bad_request(message: str) -> ModelError:
    return ModelError(HTTPStatus.BAD_REQUEST, message)
