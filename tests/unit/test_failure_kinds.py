"""Failures have NeMo Gym's names, and old names are understood."""

from __future__ import annotations

from typing import Any

import pytest

from collector.collection.failure_kinds import failure_class_of, is_terminal


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"_ng_failure_class": "timeout"}, "transport_timeout"),
        ({"_ng_failure_class": "connection"}, "transport_peer_drop"),
        ({"_ng_failure_class": "http_5xx", "_ng_failure_status": 500}, "agent_run_error"),
        ({"_ng_failure_class": "http_5xx", "_ng_failure_status": 503}, "agent_request_failed"),
        ({"_ng_failure_class": "http_4xx", "_ng_failure_status": 429}, "agent_request_failed"),
        ({"_ng_failure_class": "http_4xx"}, "agent_run_error"),
        ({"_ng_failure_class": "bad_response"}, "agent_run_error"),
        ({"_ng_failure_class": "agent_failure"}, "agent_run_error"),
        ({"_ng_failure_class": "judge_failed"}, "judge_failed"),
        ({"_ng_failure_class": "my_server:odd"}, "my_server:odd"),
        ({"_ng_failure_class": True}, "agent_run_error"),
        ({}, "agent_run_error"),
    ],
    ids=str,
)
def test_the_name_of_today(row: dict[str, Any], name: str) -> None:
    assert failure_class_of(row) == name


@pytest.mark.parametrize(
    ("name", "is_marked", "usual", "retried"),
    [
        ("timeout_exceeded", True, True, False),
        ("reference_missing", True, True, False),
        ("skipped", False, False, True),
        ("judge_failed", True, True, True),
        ("judge_failed", False, False, False),
    ],
)
def test_which_failures_are_final(name: str, is_marked: bool, usual: bool, retried: bool) -> None:
    row = {"_ng_failure_class": name, "_ng_failure_terminal": is_marked}
    assert is_terminal(row, retry_timeouts=False) is usual
    assert is_terminal(row, retry_timeouts=True) is retried
