"""Requests and answers between the Responses API and Chat Completions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.jsonl import parse_object
from collector.servers.responses_api_models.base import ModelError
from collector.servers.responses_api_models.openai_model.answers import (
    checked_response,
    response_from_completion,
)
from collector.servers.responses_api_models.openai_model.request_bodies import (
    chat_request,
    responses_request,
)
from tests.support import Row

USER: Row = {"role": "user", "content": "hi"}
TOOL: Row = {"type": "function", "name": "f", "parameters": {"type": "object"}}


def call(number: int) -> Row:
    return {"type": "function_call", "call_id": f"c{number}", "name": "f", "arguments": "{}"}


def output(number: int) -> Row:
    return {"type": "function_call_output", "call_id": f"c{number}", "output": f"o{number}"}


def said(text: str) -> Row:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "id": "m", "content": content}


def thought(text: str) -> Row:
    return {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": text}]}


def chat_call(number: int) -> Row:
    return {"id": f"c{number}", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def assistant(content: str | None, *calls: int, **more: str) -> Row:
    named: Row = {"tool_calls": [chat_call(number) for number in calls]} if calls else {}
    return {"role": "assistant", "content": content, **named, **more}


def tool(number: int) -> Row:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": f"o{number}"}


def user_parts(*parts: Row) -> list[Row]:
    return [{"type": "message", "role": "user", "content": list(parts)}]


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        ("hi", [USER]),
        ([USER], [USER]),
        ([{"role": "developer", "content": "d"}, USER], [{"role": "system", "content": "d"}, USER]),
        (user_parts({"type": "input_text", "text": "hi"}), [USER]),
        (
            [{"role": "system", "content": [{"type": "input_text", "text": t} for t in "ab"]}],
            [{"role": "system", "content": "ab"}],
        ),
        ([USER, said("a"), USER], [USER, assistant("a"), USER]),
        ([USER, call(1), output(1)], [USER, assistant(None, 1), tool(1)]),
        (
            [USER, call(1), call(2), output(1), output(2)],
            [USER, assistant(None, 1, 2), tool(1), tool(2)],
        ),
        ([USER, said("a"), call(1), output(1)], [USER, assistant("a", 1), tool(1)]),
        ([USER, call(1), said("a"), output(1)], [USER, assistant("a", 1), tool(1)]),
        (
            [USER, call(1), output(1), call(2), output(2)],
            [USER, assistant(None, 1), tool(1), assistant(None, 2), tool(2)],
        ),
        (
            [USER, thought("t"), said("a"), call(1), output(1)],
            [USER, assistant("a", 1, reasoning_content="t"), tool(1)],
        ),
        (
            [USER, thought("t"), call(1), thought("u"), call(2), output(1), output(2)],
            [USER, assistant(None, 1, 2, reasoning_content="t\nu"), tool(1), tool(2)],
        ),
        ([said("a"), said("b")], [assistant("a"), assistant("b")]),
        ([said("a"), thought("t"), USER, said("b")], [assistant("a"), USER, assistant("b")]),
        ([{"type": "reasoning", "encrypted_content": "x"}, said("a")], [assistant("a")]),
        (
            [{"type": "reasoning", "content": [{"type": "reasoning_text", "text": "t"}]}, said("")],
            [assistant("", reasoning_content="t")],
        ),
        (
            [call(1), {**output(1), "output": [{"type": "input_text", "text": "o1"}]}],
            [assistant(None, 1), tool(1)],
        ),
    ],
    ids=[
        "text",
        "message without type",
        "developer",
        "one part",
        "system parts",
        "answer",
        "call",
        "neighbouring calls",
        "call after text",
        "text after call",
        "calls in turn",
        "reasoning, text and call",
        "reasoning between calls",
        "two answers",
        "reasoning without answer",
        "encrypted reasoning",
        "reasoning itself",
        "output in parts",
    ],
)
def test_items_become_messages(given: str | list[Row], messages: list[Row]) -> None:
    assert chat_request({"input": given})["messages"] == messages


def test_pictures_and_texts_keep_their_order() -> None:
    parts = (
        {"type": "input_text", "text": "what is this?"},
        {"type": "input_image", "image_url": "data:x", "detail": "low"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:y"},
    )
    (message,) = chat_request({"input": user_parts(*parts)})["messages"]
    assert message["content"] == [
        {"type": "text", "text": "what is this?"},
        {"type": "image_url", "image_url": {"url": "data:x", "detail": "low"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:y"}},
    ]


def test_instructions_come_first() -> None:
    messages = chat_request({"input": "hi", "instructions": "be brief"})["messages"]
    assert messages == [{"role": "system", "content": "be brief"}, USER]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"max_output_tokens": 5}, {"max_tokens": 5}),
        ({"temperature": 0.0, "top_p": 0.9}, {"temperature": 0.0, "top_p": 0.9}),
        ({"temperature": None}, {}),
        ({"top_logprobs": 2}, {"top_logprobs": 2, "logprobs": True}),
        ({"store": True, "include": [], "truncation": "auto", "reasoning": {"effort": "low"}}, {}),
        ({"tools": [], "tool_choice": "auto", "parallel_tool_calls": True}, {}),
        ({"text": {"format": {"type": "text"}}}, {}),
        (
            {"text": {"format": {"type": "json_object"}, "verbosity": "low"}},
            {"response_format": {"type": "json_object"}, "verbosity": "low"},
        ),
        (
            {
                "text": {
                    "format": {"type": "json_schema", "name": "n", "schema": {}, "strict": True}
                }
            },
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "n", "schema": {}, "strict": True},
                }
            },
        ),
        ({"metadata": {"a": "b"}}, {}),
        (
            {"temperature": 1, "metadata": {"extra_body": '{"seed": 3, "temperature": 0.5}'}},
            {"seed": 3, "temperature": 0.5},
        ),
    ],
    ids=",".join,
)
def test_settings_are_translated(given: Row, sent: Row) -> None:
    assert chat_request({"model": "m", "input": "hi", **given}) == {
        "model": "m",
        "messages": [USER],
        **sent,
    }


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("required", "required"),
        ({"type": "function", "name": "f"}, {"type": "function", "function": {"name": "f"}}),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [TOOL]},
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "f"}}],
                },
            },
        ),
    ],
    ids=["text", "function", "some"],
)
def test_tools_are_nested(choice: str | Row, sent: str | Row) -> None:
    given = {"tools": [{**TOOL, "description": None, "strict": False}], "tool_choice": choice}
    body = chat_request({"input": "hi", "parallel_tool_calls": False, **given})
    function = {"name": "f", "parameters": {"type": "object"}, "strict": False}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert body["tool_choice"] == sent
    assert body["parallel_tool_calls"] is False


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"input": None}, "input"),
        ({"input": ["hi"]}, "not an object"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "item_reference"),
        ({"input": [{"role": "wizard", "content": "hi"}]}, "wizard"),
        ({"input": [{"role": "user"}]}, "content"),
        ({"input": user_parts({"type": "input_video"})}, "input_video"),
        ({"input": user_parts({"type": "input_image", "file_id": "x"})}, "image_url"),
        ({"input": [{**call(1), "arguments": {}}]}, "arguments"),
        ({"tools": [{"type": "web_search"}]}, "web_search"),
        ({"tools": [{"type": "function"}]}, "no name"),
        ({"tools": [TOOL], "tool_choice": {"type": "mcp"}}, "tool_choice"),
        ({"text": {"format": {"type": "grammar"}}}, "grammar"),
        ({"metadata": {"extra_body": "{seed}"}}, "extra_body"),
        ({"metadata": {"extra_body": "[1]"}}, "extra_body"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
    ],
    ids=lambda given: json.dumps(given)[:60] if isinstance(given, dict) else None,
)
def test_a_request_without_a_translation_is_refused(given: Row, named: str) -> None:
    with pytest.raises(ModelError, match=named) as error:
        chat_request({"input": "hi", **given})
    assert error.value.status == 400


def test_a_responses_request_loses_only_its_nulls() -> None:
    schema = {"type": "object", "default": None}
    request: Row = {
        "input": [{**call(1), "status": None}],
        "temperature": None,
        "tools": [{**TOOL, "parameters": schema}],
        "metadata": {"extra_body": '{"seed": 1}'},
    }
    assert responses_request(request) == {
        "input": [call(1)],
        "tools": [{**TOOL, "parameters": schema}],
        "metadata": {"extra_body": '{"seed": 1}'},
    }


def completion(reason: str = "stop", usage: Any = None, **message: Any) -> Row:
    choice = {"message": {"role": "assistant", **message}, "finish_reason": reason}
    return {"id": "x", "created": 9, "model": "served", "choices": [choice], "usage": usage}


def test_a_completion_becomes_a_response() -> None:
    request = {"input": "hi", "model": "m", "tools": [TOOL], "temperature": 0.5}
    response = response_from_completion(completion(content="hello"), request)
    assert response == {
        "id": "resp_x",
        "object": "response",
        "created_at": 9,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "served",
        "output": [
            {
                "id": "msg_x",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "hello", "annotations": []}],
            }
        ],
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 0.5,
        "tool_choice": "auto",
        "tools": [TOOL],
        "top_p": None,
        "usage": None,
    }


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        ({"content": "a"}, ["message"]),
        ({"content": None}, ["message"]),
        ({"content": None, "refusal": "no"}, ["message"]),
        ({"content": "", "tool_calls": [chat_call(1)]}, ["function_call"]),
        ({"content": "a", "tool_calls": [chat_call(1)]}, ["message", "function_call"]),
        ({"content": "a", "reasoning_content": "t"}, ["reasoning", "message"]),
        (
            {"reasoning": "t", "tool_calls": [chat_call(1), chat_call(2)]},
            ["reasoning", "function_call", "function_call"],
        ),
    ],
    ids=["text", "nothing", "refusal", "call", "text and call", "reasoning", "all calls"],
)
def test_an_answer_has_the_items_it_needs(message: Row, kinds: list[str]) -> None:
    items = response_from_completion(completion(**message), {})["output"]
    assert [item["type"] for item in items] == kinds
    assert len({item["id"] for item in items}) == len(items)
    for item in items:
        if item["type"] == "reasoning":
            assert item["summary"] == [{"type": "summary_text", "text": "t"}]


def test_a_call_keeps_its_name_and_gets_an_id_if_it_has_none() -> None:
    calls = [chat_call(1), {"function": {"name": "g", "arguments": '{"a": 1}'}}]
    first, second = response_from_completion(completion(tool_calls=calls), {})["output"]
    assert (first["call_id"], first["name"], first["arguments"]) == ("c1", "f", "{}")
    assert (second["call_id"], second["arguments"]) == ("call_x_1", '{"a": 1}')
    assert first["status"] == second["status"] == "completed"


@pytest.mark.parametrize(
    ("reason", "named"), [("length", "max_output_tokens"), ("content_filter", "content_filter")]
)
def test_an_answer_that_was_cut_is_incomplete(reason: str, named: str) -> None:
    response = response_from_completion(
        completion(reason, content="a", tool_calls=[chat_call(1)]), {}
    )
    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": named}
    assert [item["status"] for item in response["output"]] == ["completed", "incomplete"]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}, (3, 0, 2, 0, 5)),
        ({"prompt_tokens": 3, "completion_tokens": 2}, (3, 0, 2, 0, 5)),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "total_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 1},
                "completion_tokens_details": {"reasoning_tokens": 2, "audio_tokens": None},
            },
            (3, 1, 2, 2, 5),
        ),
        (
            {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": None},
            (3, 0, 2, 0, 5),
        ),
    ],
    ids=["plain", "no total", "details", "null details"],
)
def test_usage_is_translated(usage: Row, expected: tuple[int, ...]) -> None:
    got = response_from_completion(completion(content="a", usage=usage), {})["usage"]
    assert expected == (
        got["input_tokens"],
        got["input_tokens_details"]["cached_tokens"],
        got["output_tokens"],
        got["output_tokens_details"]["reasoning_tokens"],
        got["total_tokens"],
    )


def test_log_probabilities_are_kept() -> None:
    answer = completion(content="a")
    tokens = [{"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": []}]
    answer["choices"][0]["logprobs"] = {"content": tokens}
    assert response_from_completion(answer, {})["output"][0]["content"][0]["logprobs"] == tokens


def test_half_of_a_surrogate_pair_is_text() -> None:
    answer = parse_object(rb'{"choices": [{"message": {"content": "a\ud83d"}}]}')
    assert response_from_completion(answer, {})["output"][0]["content"][0]["text"] == "a\ud83d"


def test_an_answer_can_be_sent_back() -> None:
    answer = completion(content="a", reasoning_content="t", tool_calls=[chat_call(1)])
    items = response_from_completion(answer, {})["output"]
    messages = chat_request({"input": [USER, *items, output(1)]})["messages"]
    assert messages == [USER, assistant("a", 1, reasoning_content="t"), tool(1)]


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({}, "choices"),
        ({"choices": []}, "choices"),
        ({"choices": [{}]}, "message"),
        ({"choices": [{"message": {"content": 5}}]}, "content"),
        ({"choices": [{"message": {"tool_calls": [{"id": "c"}]}}]}, "function"),
        ({"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": "x"}}, "usage"),
        ({"error": {"message": "out of memory"}}, "out of memory"),
    ],
    ids=lambda answer: json.dumps(answer)[:60] if isinstance(answer, dict) else None,
)
def test_a_malformed_completion_is_the_endpoints_fault(answer: Row, named: str) -> None:
    with pytest.raises(ModelError, match=named) as error:
        response_from_completion(answer, {})
    assert error.value.status == 502


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({"object": "response"}, "no output"),
        ({"output": "hello"}, "no output"),
        ({"output": [], "status": "failed", "error": {"message": "broke"}}, "failed.*broke"),
        ({"output": [], "status": "queued"}, "queued"),
    ],
    ids=["none", "text", "failed", "queued"],
)
def test_an_unusable_response_is_the_endpoints_fault(answer: Row, named: str) -> None:
    with pytest.raises(ModelError, match=named) as error:
        checked_response(answer)
    assert error.value.status == 502
