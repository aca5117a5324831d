"""The settings of an OpenAI-compatible endpoint, and its key, which never appears in a message."""

from __future__ import annotations

import pytest

from collector.servers.responses_api_models.openai_model.endpoint import OpenAIEndpoint
from collector.servers.responses_api_models.openai_model.settings import parse_settings
from tests.support import Row

SETTINGS: Row = {"openai_base_url": "http://host:1/v1", "openai_model": "m"}


@pytest.mark.parametrize("key", ["short-1", "sk-0123456789abcdef"])
def test_messages_are_cut_and_hold_no_key(key: str) -> None:
    endpoint = OpenAIEndpoint(parse_settings({**SETTINGS, "openai_api_key": key}))
    message = endpoint.clean(
        f"Authorization: Bearer {key}; the key {key} is wrong; " + "x" * 99_999
    )
    assert key not in message
    assert "is wrong" in message
    assert len(message) <= 4000


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"openai_base_url": None}, "openai_base_url"),
        ({"openai_base_url": "host:80"}, "write it like"),
        ({"openai_base_url": "http://${host}/v1"}, "openai_base_url"),
        ({"openai_base_url": "http://host:99999/v1"}, "openai_base_url"),
        ({"openai_base_url": "http://a b/v1"}, "openai_base_url"),
        ({"openai_base_url": "http://..:1/v1"}, "openai_base_url"),
        ({"openai_base_url": f"http://{'a' * 64}/v1"}, "openai_base_url"),
        ({"openai_base_url": "http://s3cr3t%3A:s3cr3t@host/v1"}, "openai_base_url: the login"),
        ({"openai_base_url": "http://s3cr3t:s3cr3t%0A@host/v1"}, "openai_base_url: the login"),
        ({"openai_base_url": "http://s3cr3tł:s3cr3t@host/v1"}, "openai_base_url: the login"),
        (
            {"openai_base_url": "http://me:s3cr3t@host/v1", "openai_api_key": "s3cr3t-key"},
            "openai_base_url has a login and openai_api_key is set",
        ),
        (
            {"openai_base_url": "http://s3cr3t@host/v1", "openai_api_key": "s3cr3t-key"},
            "remove one",
        ),
        ({"openai_model": ""}, "openai_model"),
        ({"openai_api_key": "s3cr3t\n"}, "openai_api_key"),
        ({"openai_api_key": ["s3cr3t"]}, "openai_api_key"),
        ({"api": "completions"}, "api"),
        ({"request_timeout": 0}, "request_timeout"),
        ({"max_retries": -1}, "max_retries"),
    ],
    ids=str,
)
def test_wrong_settings_are_named_but_not_quoted(given: Row, named: str) -> None:
    with pytest.raises(ValueError, match=named) as error:
        parse_settings(SETTINGS | given)
    assert "s3cr3t" not in str(error.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://host/v1",
        "https://me:p%40ss@host/v1",
        "http://[::1]:1/v1",
        "http://my_host:1/v1?api-version=1",
        "http://bücher.example/v1",
    ],
)
def test_a_url_that_can_be_called_is_accepted(url: str) -> None:
    assert parse_settings({**SETTINGS, "openai_base_url": url}).openai_base_url == url


def test_a_config_may_hold_more() -> None:
    settings = parse_settings({**SETTINGS, "host": "127.0.0.1", "port": 1, "openai_api_key": "k"})
    assert (settings.api, settings.request_timeout, settings.max_retries) == ("auto", 3600.0, 5)
    assert settings.key == "k"
    assert "'k'" not in repr(settings)
