"""What the head server's config tells of servers and who belongs to whom."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from collector.collection.head_config import HeadConfig, capture_warnings
from collector.errors import UsageError

PLACE = {"host": "127.0.0.1", "port": 1}
REFERENCE = {"type": "responses_api_agents", "name": "a"}


def config(**servers: Any) -> HeadConfig:
    return HeadConfig(servers, "127.0.0.1")


def agent(**settings: Any) -> dict[str, Any]:
    return {"responses_api_agents": {"simple_agent": settings}}


def environment(**settings: Any) -> dict[str, Any]:
    return {"environment_servers": {"legacy_agent": settings}}


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        ({"a": agent(**PLACE), "e": environment(agent_server=REFERENCE)}, "http://127.0.0.1:1"),
        ({"a": agent(), "e": environment(agent_server=REFERENCE, **PLACE)}, "http://127.0.0.1:1"),
        ({"a": agent(), "e": environment(user=REFERENCE, **PLACE)}, "http://127.0.0.1:1"),
        (
            {"a": agent(), **{name: environment(user=REFERENCE, **PLACE) for name in ("e", "f")}},
            None,
        ),
        ({"a": agent(), "e": environment(agent_server={"name": "b"}, **PLACE)}, None),
        ({"a": agent(host="${host}", port=1)}, None),
    ],
    ids=["its own", "behind one server", "any reference", "behind two", "of another", "unresolved"],
)
def test_where_an_agent_is(servers: dict[str, Any], expected: str | None) -> None:
    assert config(**servers).url("a") == (httpx.URL(expected) if expected else None)


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        ({"s": agent()}, "s"),
        ({"s": agent(datasets=[{"agent": "b"}])}, "b"),
        ({"s": {"resources_servers": {"r": {}}}, "a": agent(resources_server={"name": "s"})}, "a"),
        ({"s": {"resources_servers": {"r": {"datasets": [{"agent": "c"}]}}}}, "c"),
    ],
    ids=["an agent", "a pinned one", "of a resources server", "pinned by a resources server"],
)
def test_who_runs_a_task_source(servers: dict[str, Any], expected: str) -> None:
    assert config(**servers).of_source("s") == expected


def test_a_task_source_of_several_agents_is_an_error_that_names_them() -> None:
    servers = {name: agent(resources_server={"name": "s"}) for name in ("b", "a")}
    with pytest.raises(UsageError, match="2 agents belong to s in the head server's config: a, b"):
        config(**servers).of_source("s")


def test_who_is_behind_an_environment_server() -> None:
    other = {**REFERENCE, "name": "b"}
    found = config(
        one=environment(agent_server={"name": "a"}, user=other),
        two=environment(user=other, assistant=REFERENCE),
    )
    assert (found.behind("one"), found.behind("two"), found.behind("none")) == ("a", None, None)


def test_captures_are_told_of_those_that_are_called_or_write_them() -> None:
    everywhere = HeadConfig({"observability_enabled": True, "a": agent(), "b": agent()}, "h")
    (line,) = capture_warnings(everywhere, ["b"])
    assert "is set for b:" in line
    one = config(a=agent(observability_enabled=True), b=agent(observability_enabled=False))
    (line,) = capture_warnings(one, ["b"])
    assert "is set for a:" in line
    assert list(capture_warnings(config(a=agent()), ["a"])) == []
    assert list(capture_warnings(None, ["a"])) == []
