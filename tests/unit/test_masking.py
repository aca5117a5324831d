"""Masks in verdicts, through the endpoint of a resources server."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from collector.servers.resources_servers.environment import Environment, Solution
from collector.servers.resources_servers.masking import masked_verdict
from collector.servers.resources_servers.server import ResourcesServer
from collector.servers.selftest import check_environment

Row = dict[str, Any]
MEASURED = {"mask_sample": False, "failure_kind": None, "failure_reason": None}
FAILED = {"status": "failed", "error": {"code": "server_error", "message": "overloaded"}}


class Judge(Environment[None]):
    """An environment that returns the verdict in its settings."""

    def new_session(self, row: Row) -> None:  # noqa: ARG002
        return None

    def verify(self, row: Row, response: Row, state: None) -> Row:  # noqa: ARG002
        verdict: Row = self.settings["verdict"]
        return verdict

    def solution(self, row: Row) -> Solution:  # noqa: ARG002
        return Solution()


def verify(verdict: Row, response: Row | None = None, **row: Any) -> httpx.Response:
    app = ResourcesServer("judge", Judge({"verdict": verdict}), session_seconds=60).app()

    async def post() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
            return await client.post("/verify", json={**row, "response": response or {}})

    return asyncio.run(post())


def mask_in(reply: httpx.Response) -> Row:
    assert reply.status_code == 200, reply.text
    return {name: reply.json()[name] for name in MEASURED}


def test_a_verdict_is_measured_unless_it_says_otherwise() -> None:
    assert mask_in(verify({"reward": 1.0})) == MEASURED
    # the row may come from an earlier rollout
    assert mask_in(verify({"reward": 1.0}, mask_sample=True, failure_kind="shutdown")) == MEASURED


@pytest.mark.parametrize("kind", ["judge_failed", "my_judge:asleep"])
def test_an_environment_masks_with_a_reason(kind: str) -> None:
    reply = verify(masked_verdict(kind, "HTTP 503"))
    assert reply.json()["reward"] == 0.0
    assert mask_in(reply) == {
        "mask_sample": True,
        "failure_kind": kind,
        "failure_reason": "HTTP 503",
    }


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        ("failed", "server_error", "provider_unavailable"),
        ("failed", "rate_limit_exceeded", "provider_quota_exhausted"),
        # in the form that NeMo Gym's simple agent passes on
        ("incomplete", "server_error", "provider_unavailable"),
    ],
)
def test_a_response_that_an_outage_cut_off_is_masked(status: str, code: str, kind: str) -> None:
    response = {"status": status, "error": {"code": code, "message": "overloaded"}}
    assert mask_in(verify({"reward": 0.0}, response)) == {
        "mask_sample": True,
        "failure_kind": kind,
        "failure_reason": "overloaded",
    }


@pytest.mark.parametrize(
    "response",
    [
        {"status": "completed", "error": None},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        {"status": "failed", "error": {"code": "invalid_prompt"}},
        {"status": "failed", "error": "overloaded"},
        {"status": "failed"},
    ],
    ids=str,
)
def test_a_response_that_is_the_models_own_fault_is_measured(response: Row) -> None:
    assert mask_in(verify({"reward": 0.0}, response)) == MEASURED


def test_the_environment_has_the_last_word() -> None:
    measured = {"reward": 0.5, **MEASURED}
    assert mask_in(verify(measured, FAILED)) == MEASURED


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mask_sample", "yes"),
        ("mask_sample", None),
        ("failure_reason", 503),
        ("failure_kind", "bad_luck"),
        ("failure_kind", "judge_failed\n"),
        ("failure_kind", ["judge_failed"]),
    ],
)
def test_a_mask_of_another_form_is_an_error(field: str, value: Any) -> None:
    reply = verify({"reward": 0.0, field: value})
    assert reply.status_code == 500
    assert field in reply.json()


def test_the_self_test_reports_a_masked_solution() -> None:
    environment = Judge({"verdict": masked_verdict("judge_failed", "no judge")})
    found = asyncio.run(check_environment(environment, [{"id": "a"}]))
    assert "task a, ground truth: the verdict is masked (judge_failed: no judge)" in found.problems
