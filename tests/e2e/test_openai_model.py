"""The OpenAI model, against an endpoint that speaks either API."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from collector.servers.responses_api_models.base import ModelError
from collector.servers.responses_api_models.openai_model import OpenAIModel
from tests.endpoints import Endpoint, EndpointFactory
from tests.gym import free_port
from tests.support import Row

TOOL: Row = {
    "type": "function",
    "name": "look_up",
    "description": "Look something up.",
    "parameters": {
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": ["color", "size"]}},
        "required": ["kind"],
    },
    "strict": True,
}
RESPONSES = "/v1/responses"
CHAT = "/v1/chat/completions"


def ask(settings: Row, *requests: Row) -> list[Row]:
    """Send requests to one model, one after the other."""

    async def run() -> list[Row]:
        model = OpenAIModel(settings)
        try:
            return [await model.respond(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(run())


def refusal(settings: Row, request: Row) -> ModelError:
    with pytest.raises(ModelError) as error:
        ask(settings, request)
    return error.value


def text_of(response: Row) -> str:
    text: str = response["output"][-1]["content"][0]["text"]
    return text


@pytest.mark.parametrize(
    ("style", "api", "path"),
    [
        ("responses", "auto", RESPONSES),
        ("responses", "responses", RESPONSES),
        ("chat", "auto", CHAT),
        ("chat", "chat_completions", CHAT),
        ("both", "auto", RESPONSES),
        ("both", "chat_completions", CHAT),
    ],
)
def test_a_tool_is_called_and_its_output_read(
    start_endpoint: EndpointFactory, style: str, api: str, path: str
) -> None:
    endpoint = start_endpoint("--style", style, "--think")
    request: Row = {
        "model": "anything",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "what color?"}],
        "tools": [TOOL],
        "tool_choice": "auto",
        "temperature": None,
        "metadata": {"extra_body": '{"seed": 7}'},
    }
    (first,) = ask(endpoint.settings(api=api), request)
    call = first["output"][-1]
    assert (call["type"], call["name"]) == ("function_call", "look_up")
    assert json.loads(call["arguments"]) == {"kind": "color"}
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "blue"}
    again = {**request, "input": [*request["input"], *first["output"], output]}
    (last,) = ask(endpoint.settings(api=api), again)
    assert text_of(last) == "the tool said: blue"
    assert last["status"] == "completed"
    assert last["model"] == "served"
    assert last["tools"] == [TOOL]
    assert last["usage"]["total_tokens"] > last["usage"]["output_tokens"] > 0
    sent = endpoint.requests()[-1]
    assert sent["path"] == path
    assert sent["body"]["model"] == "served"
    assert sent["body"].get("seed") == (7 if path == CHAT else None)
    assert ("metadata" in sent["body"]) == (path == RESPONSES)
    if path == CHAT:
        assert sent["body"]["messages"][2]["reasoning_content"] == "thinking of what color?"


@pytest.mark.parametrize("status", ["404", "405", "501"])
def test_a_missing_api_is_tried_once(start_endpoint: EndpointFactory, status: str) -> None:
    endpoint = start_endpoint("--style", "chat", "--missing-status", status)
    asked = [{"input": f"say: {number}"} for number in range(3)]
    assert [text_of(answer) for answer in ask(endpoint.settings(), *asked)] == ["0", "1", "2"]
    assert endpoint.paths() == [RESPONSES, CHAT, CHAT, CHAT]


@pytest.mark.parametrize("style", ["responses", "chat"])
def test_a_limit_makes_the_response_incomplete(start_endpoint: EndpointFactory, style: str) -> None:
    endpoint = start_endpoint("--style", style)
    (response,) = ask(endpoint.settings(), {"input": "say: a b c", "max_output_tokens": 2})
    assert text_of(response) == "a b"
    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}


@pytest.mark.parametrize("style", ["responses", "chat"])
@pytest.mark.parametrize(
    "failure",
    [
        ["--fail-status", "500"],
        ["--fail-status", "503", "--retry-after", "0"],
        ["--fail-status", "429", "--retry-after", "1"],
        ["--fail-status", "429", "--retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"],
        ["--fail-status", "0"],
    ],
    ids=["broken", "unavailable", "limited", "limited until a date", "dropped"],
)
def test_a_temporary_failure_is_retried(
    start_endpoint: EndpointFactory, style: str, failure: list[str]
) -> None:
    endpoint = start_endpoint("--style", style, "--fail-first", "1", *failure)
    (response,) = ask(endpoint.settings(), {"input": "say: hello"})
    assert text_of(response) == "hello"
    assert endpoint.paths().count(RESPONSES if style == "responses" else CHAT) == 2


def test_a_retry_waits_as_long_as_the_endpoint_asks(start_endpoint: EndpointFactory) -> None:
    endpoint = start_endpoint("--fail-first", "1", "--fail-status", "429", "--retry-after", "2")
    begun = time.monotonic()
    ask(endpoint.settings(), {"input": "hello"})
    assert time.monotonic() - begun >= 2


def test_an_endpoint_may_start_late(start_endpoint: EndpointFactory) -> None:
    port = free_port()

    async def run() -> Row:
        model = OpenAIModel(Endpoint(port).settings())
        answer = asyncio.create_task(model.respond({"input": "say: late"}))
        await asyncio.to_thread(start_endpoint, port=port)
        try:
            return await answer
        finally:
            await model.close()

    assert text_of(asyncio.run(run())) == "late"


@pytest.mark.parametrize(
    ("failure", "status", "count"),
    [("500", 500, 2), ("429", 429, 2), ("0", 502, 2), ("422", 422, 1), ("200", 502, 1)],
    ids=["broken", "limited", "dropped", "refused", "an error as an answer"],
)
@pytest.mark.parametrize("style", ["responses", "chat"])
def test_a_lasting_failure_is_passed_on_without_the_key(
    start_endpoint: EndpointFactory, style: str, failure: str, status: int, count: int
) -> None:
    endpoint = start_endpoint("--style", style, "--fail-first", "9", "--fail-status", failure)
    error = refusal(endpoint.settings(max_retries=1), {"input": "hello"})
    assert error.status == status
    assert "test-key" not in str(error)
    assert endpoint.paths().count(RESPONSES if style == "responses" else CHAT) == count


def test_a_wrong_key_is_an_error_that_hides_the_key(start_endpoint: EndpointFactory) -> None:
    endpoint = start_endpoint()
    error = refusal(endpoint.settings(openai_api_key="wrong-key"), {"input": "hello"})
    assert error.status == 401
    assert "Incorrect API key provided" in str(error)
    assert "wrong-key" not in str(error)
    assert len(endpoint.paths()) == 1


def test_without_a_key_none_is_sent(start_endpoint: EndpointFactory) -> None:
    error = refusal(start_endpoint().settings(openai_api_key=None), {"input": "hello"})
    assert error.status == 401
    assert "Bearer" not in str(error)


def test_an_unreachable_endpoint_is_an_error() -> None:
    error = refusal(Endpoint(free_port()).settings(max_retries=0), {"input": "hello"})
    assert error.status == 502


def test_a_wrong_path_is_an_error(start_endpoint: EndpointFactory) -> None:
    endpoint = start_endpoint()
    settings = endpoint.settings(openai_base_url=f"http://127.0.0.1:{endpoint.port}")
    assert refusal(settings, {"input": "hello"}).status == 404
    assert endpoint.paths() == ["/responses", "/chat/completions"]


def test_a_slow_answer_is_an_error(start_endpoint: EndpointFactory) -> None:
    endpoint = start_endpoint("--latency", "60")
    error = refusal(endpoint.settings(request_timeout=0.2), {"input": "hello"})
    assert error.status == 504
    assert "no answer within 0.2 s" in str(error)


@pytest.mark.parametrize("style", ["responses", "chat"])
def test_many_requests_run_at_once(start_endpoint: EndpointFactory, style: str) -> None:
    endpoint = start_endpoint("--style", style)

    async def run() -> list[Row]:
        model = OpenAIModel(endpoint.settings())
        try:
            asked = [model.respond({"input": f"say: {number}"}) for number in range(200)]
            return await asyncio.gather(*asked)
        finally:
            await model.close()

    assert [text_of(answer) for answer in asyncio.run(run())] == [str(n) for n in range(200)]


def test_streaming_is_refused() -> None:
    assert refusal(Endpoint(1).settings(), {"input": "hello", "stream": True}).status == 400


def test_the_config_has_the_shape_of_nemo_gym() -> None:
    import collector.servers.responses_api_models.openai_model as package

    text = (Path(str(package.__file__)).parent / "configs" / "openai_model.yaml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line.strip() for line in lines] == [
        "policy_model:",
        "responses_api_models:",
        "openai_model:",
        "openai_base_url: ${policy_base_url}",
        "openai_api_key: ${policy_api_key}",
        "openai_model: ${policy_model_name}",
    ]
