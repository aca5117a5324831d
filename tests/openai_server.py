"""An OpenAI-compatible endpoint for tests.

If the request offers tools and has no tool output yet, the endpoint calls the first tool. Otherwise
it repeats the tool's output. If the last user text is `say: TEXT`, it answers TEXT at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

KEY = "test-key"
DROP = 0
NO_JSON = 200
RESPONSES_FIELDS = ("input", "instructions", "max_output_tokens", "text", "store", "include")
ROLES = ("system", "user", "assistant", "tool")
Row = dict[str, Any]


class BadRequestError(Exception):
    """A request that a real endpoint would refuse."""


@dataclass(frozen=True)
class ChatInput:
    """The parts of a request that matter here, the same for both APIs."""

    words: int
    last_user: str
    outputs: list[str]
    tools: list[Row]
    limit: int | None


@dataclass(frozen=True)
class ModelMove:
    """The next message or tool call of the model."""

    text: str = ""
    tool: str | None = None
    arguments: str = ""
    is_cut: bool = False

    @property
    def words(self) -> int:
        return max(1, len((self.text or self.arguments).split()))


def next_move(chat_input: ChatInput) -> ModelMove:
    if chat_input.tools and not chat_input.outputs and not chat_input.last_user.startswith("say:"):
        tool = chat_input.tools[0]
        arguments = json.dumps(value_for(tool.get("parameters") or {"type": "object"}))
        return ModelMove(tool=tool["name"], arguments=arguments)
    text = f"you said: {chat_input.last_user}"
    if chat_input.last_user.startswith("say:"):
        text = chat_input.last_user.removeprefix("say:").strip()
    elif chat_input.outputs:
        text = f"the tool said: {' and '.join(chat_input.outputs)}"
    words = text.split()
    if chat_input.limit is not None and len(words) > chat_input.limit:
        return ModelMove(text=" ".join(words[: chat_input.limit]), is_cut=True)
    return ModelMove(text=text)


def value_for(schema: Row) -> Any:
    """Return a value that the schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: value_for(field) for name, field in schema.get("properties", {}).items()}
    simple = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": []}
    return simple.get(kind)


def parse_responses_request(body: Row) -> ChatInput:
    """Parse a Responses API request; raise BadRequestError if it is malformed."""
    require("messages" not in body and "max_tokens" not in body, "a field of Chat Completions")
    require(isinstance(body.get("input"), (str, list)), "input is missing")
    require(None not in body.values(), "a null")
    value = body["input"]
    items = [{"role": "user", "content": value}] if isinstance(value, str) else value
    tools = body.get("tools", [])
    require(all("name" in tool for tool in tools), "a tool is not flat")
    call_ids: list[str] = []
    for item in items:
        if item.get("type") == "function_call":
            call_ids.append(item["call_id"])
        if item.get("type") == "function_call_output":
            require(item["call_id"] in call_ids, "an output without its call")
    outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
    user_texts = [text_of(item["content"]) for item in items if item.get("role") == "user"]
    return ChatInput(
        words=len(json.dumps(items).split()),
        last_user=user_texts[-1] if user_texts else "",
        outputs=outputs,
        tools=tools,
        limit=body.get("max_output_tokens"),
    )


def parse_chat_request(body: Row) -> ChatInput:
    """Parse a Chat Completions request; raise BadRequestError if it is malformed."""
    for name in RESPONSES_FIELDS:
        require(name not in body, f"{name} is unknown")
    messages = body.get("messages")
    require(isinstance(messages, list) and bool(messages), "messages is missing")
    assert isinstance(messages, list)
    check_order(messages)
    tools = body.get("tools", [])
    require(all("function" in tool for tool in tools), "a tool is not nested")
    require(bool(tools) or "tool_choice" not in body, "tool_choice without tools")
    user_texts = [text_of(message["content"]) for message in messages if message["role"] == "user"]
    return ChatInput(
        words=len(json.dumps(messages).split()),
        last_user=user_texts[-1] if user_texts else "",
        outputs=[text_of(each["content"]) for each in messages if each["role"] == "tool"],
        tools=[tool["function"] for tool in tools],
        limit=body.get("max_tokens"),
    )


def check_order(messages: list[Row]) -> None:
    """Refuse a call whose output does not follow directly, as OpenAI does."""
    open_calls: list[str] = []
    for message in messages:
        require(message["role"] in ROLES, f"unknown role {message['role']}")
        if message["role"] == "tool":
            require(message["tool_call_id"] in open_calls, "an output without its call")
            open_calls.remove(message["tool_call_id"])
        else:
            require(not open_calls, "a call without its output")
        open_calls += [call["id"] for call in message.get("tool_calls", [])]
    require(not open_calls, "a call without its output")


def require(is_right: bool, message: str) -> None:
    if not is_right:
        raise BadRequestError(message)


def text_of(content: str | list[Row]) -> str:
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content if "text" in part)


class OpenAI:
    """The endpoint: its answers, its failures, and the requests that it received."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.requests: list[Row] = []
        self.failures_left = options.fail_first

    async def responses(self, request: web.Request) -> web.StreamResponse:
        return await self.answer(request, parse_responses_request, self.response)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        return await self.answer(request, parse_chat_request, self.completion)

    async def answer(self, request: web.Request, read: Any, write: Any) -> web.StreamResponse:
        body = await request.json()
        await asyncio.sleep(self.options.latency)
        self.requests.append({"path": request.path, "body": body})
        key = request.headers.get("Authorization", "")
        if key != f"Bearer {KEY}":
            return error_response(401, f"Incorrect API key provided: {key}")
        if self.failures_left:
            self.failures_left -= 1
            return self.fail(request)
        try:
            chat_input = read(body)
        except (BadRequestError, KeyError) as error:
            return error_response(400, str(error))
        return web.json_response(write(body, chat_input, next_move(chat_input)))

    def fail(self, request: web.Request) -> web.StreamResponse:
        if self.options.fail_status == DROP:
            assert request.transport
            request.transport.abort()
            return web.Response()
        if self.options.fail_status == NO_JSON:
            return web.json_response({"error": {"message": f"no, {KEY}"}})
        headers = {"Retry-After": self.options.retry_after} if self.options.retry_after else {}
        return error_response(self.options.fail_status, f"not now; your key is {KEY}", headers)

    def response(self, body: Row, chat_input: ChatInput, move: ModelMove) -> Row:
        number = len(self.requests)
        item: Row = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": move.text, "annotations": []}],
        }
        if move.tool:
            item = {
                "id": f"fc_{number}",
                "type": "function_call",
                "call_id": f"call_{number}",
                "name": move.tool,
                "arguments": move.arguments,
                "status": "completed",
            }
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1_700_000_000,
            "model": body["model"],
            "status": "incomplete" if move.is_cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if move.is_cut else None,
            "output": [item],
            "parallel_tool_calls": True,
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools", []),
            "usage": {
                "input_tokens": chat_input.words,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": move.words,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": chat_input.words + move.words,
            },
        }

    def completion(self, body: Row, chat_input: ChatInput, move: ModelMove) -> Row:
        number = len(self.requests)
        message: Row = {"role": "assistant", "content": move.text or None}
        if self.options.think:
            message["reasoning_content"] = f"thinking of {chat_input.last_user}"
        if move.tool:
            function = {"name": move.tool, "arguments": move.arguments}
            message["tool_calls"] = [
                {"id": f"call_{number}", "type": "function", "function": function}
            ]
        reason = "length" if move.is_cut else "tool_calls" if move.tool else "stop"
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {
                "prompt_tokens": chat_input.words,
                "completion_tokens": move.words,
                "total_tokens": chat_input.words + move.words,
            },
        }

    async def missing(self, request: web.Request) -> web.Response:
        self.requests.append({"path": request.path})
        return error_response(self.options.missing_status, "no such path")

    async def stats(self, _: web.Request) -> web.Response:
        return web.json_response({"requests": self.requests})


def error_response(
    status: int, message: str, headers: dict[str, str] | None = None
) -> web.Response:
    return web.json_response({"error": {"message": message}}, status=status, headers=headers)


def parse_options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--style", choices=("responses", "chat", "both"), default="both")
    parser.add_argument("--fail-first", type=int, default=0)
    parser.add_argument(
        "--fail-status", type=int, default=500, help="0 drops the connection, 200 answers an error"
    )
    parser.add_argument("--retry-after")
    parser.add_argument("--missing-status", type=int, default=404)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--think", action="store_true")
    return parser.parse_args(words)


def make_app(options: argparse.Namespace) -> web.Application:
    endpoint = OpenAI(options)
    app = web.Application(client_max_size=1 << 30)
    if options.style != "chat":
        app.router.add_post("/v1/responses", endpoint.responses)
    if options.style != "responses":
        app.router.add_post("/v1/chat/completions", endpoint.chat)
    app.router.add_get("/stats", endpoint.stats)
    app.router.add_post("/{path:.*}", endpoint.missing)
    return app
