"""Verdicts and tools take time in proportion to what a model writes: a megabyte of anything.

Such a text takes less than half a second of processor time. If the time grew with the square of
the length, it would take minutes. The limit is far from both.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from collector.servers.resources_servers.arithmetic import ArithmeticEnvironment
from collector.servers.resources_servers.arithmetic.answers import READ_CHARACTERS
from collector.servers.resources_servers.workplace_assistant import (
    MOST_CHANGES,
    TOOLS_BY_NAME,
    WorkplaceAssistant,
)
from collector.servers.resources_servers.workplace_assistant.tools import CHANGING
from tests.cpu_limits import cpu_limit
from tests.support import Row

SIZE = 1_000_000
CPU_SECONDS = 5.0
RUN_ONS = [
    *("\n", " ", "\t\r\n", "\u2003", ".", ",", "1", "-", "+", "*", "/", "$", "×", "{", "}", "{}"),
    *("(", "\\", '"', "@", "é", "\u0130", "\ud800", "1 ", "1,", "1/", ",111", "9 * ", ".@"),
    *("answer ", "answer:", "answer is ", "Answer: 4\n"),
    *("\\frac{", "\\frac{1}{", "\\frac{1}{2}", "1 \\frac", "\\boxed{", "\\boxed{{1}{", "\\boxed {"),
]
TOOL_TEXTS = ["\n", " ", ".", "1", ",", "{", "é", "\u0130", "\ud800", "a ", ".@", "2023-11-30 "]
AROUND = [("Answer: 4", ""), ("answer", ": 1"), ("\\boxed{", "}*2"), ("\\frac{1}", "{2}")]
COMPANY = WorkplaceAssistant({})
ARITHMETIC = ArithmeticEnvironment({})


def run_on(unit: str, size: int = SIZE) -> str:
    return unit * (size // len(unit))


def message(text: str) -> Row:
    return {"output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}]}


def call_items(*calls: tuple[str, Row]) -> Row:
    return {
        "output": [
            {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}
            for name, arguments in calls
        ]
    }


@pytest.mark.parametrize("unit", RUN_ONS, ids=ascii)
def test_the_verdict_on_an_answer_is_linear(unit: str) -> None:
    # what stands around the text must be near enough to its end to be read
    texts = [before + run_on(unit, READ_CHARACTERS // 2) + after for before, after in AROUND]
    for text in [run_on(unit), *texts]:
        with cpu_limit(CPU_SECONDS):
            verdict = ARITHMETIC.verify({"expected_answer": "4"}, message(text), None)
        assert verdict["reward"] in (0.0, 1.0)


def test_the_end_of_a_text_of_any_length_is_read() -> None:
    text = "1" * 3_000_000 + "\nAnswer: 4"
    assert ARITHMETIC.verify({"expected_answer": "4"}, message(text), None)["reward"] == 1.0


@pytest.mark.parametrize("unit", TOOL_TEXTS, ids=ascii)
def test_every_argument_of_every_tool_is_read_in_linear_time(unit: str) -> None:
    text = run_on(unit)
    for tool in TOOLS_BY_NAME.values():
        assert isinstance(tool.arguments, dict)
        state = COMPANY.company.new_state()
        arguments: dict[str, Any] = dict.fromkeys(tool.arguments["properties"], f"a@{text}@")
        for given in (arguments, dict.fromkeys(arguments, text)):
            with cpu_limit(CPU_SECONDS):
                tool.function(state, given)


@pytest.mark.parametrize("name", sorted(TOOLS_BY_NAME))
def test_one_long_argument_is_read_in_linear_time(name: str) -> None:
    """Other arguments are as they should be, so that the call is not refused early."""
    tool = TOOLS_BY_NAME[name]
    assert isinstance(tool.arguments, dict)
    state = COMPANY.company.new_state()
    for argument in tool.arguments["properties"]:
        with cpu_limit(CPU_SECONDS):
            tool.function(state, {**_usual(state, name), argument: run_on("a ")})


def _usual(state: Any, name: str) -> Row:
    ids = {
        f"{table}_id": state.tables[rows].records[0][f"{table}_id"]
        for table, rows in (
            *(("email", "emails"), ("event", "calendar_events"), ("task", "project_tasks")),
            ("customer", "customer_relationship_manager_data"),
        )
    }
    team = state.tables["project_tasks"].records[0]["assigned_to_email"]
    usual = {
        **{**ids, "new_value": "x", "recipient": "a@b.c", "subject": "s"},
        **{"body": "b", "event_name": "e", "participant_email": "a@b.c", "duration": "30"},
        **{"event_start": "2023-11-30 10:00:00", "task_name": "t", "assigned_to_email": team},
        **{"list_name": "Backlog", "due_date": "2023-12-01", "board": "Design", "name": "a"},
        **{"customer_name": "c", "status": "Lead", "time_min": "2023-10-01", "query": "a"},
        **{"time_max": "2023-12-01", "value_to_plot": "total_visits", "plot_type": "bar"},
    }
    fields = {"calendar_update_event": "event_name", "project_management_update_task": "task_name"}
    usual["field"] = fields.get(name, "notes")
    properties = TOOLS_BY_NAME[name].arguments
    assert isinstance(properties, dict)
    return {key: value for key, value in usual.items() if key in properties["properties"]}


@pytest.mark.parametrize(
    "name",
    [
        *("email_send_email", "email_search_emails", "calendar_delete_event"),
        *("project_management_create_task", "customer_relationship_manager_update_customer"),
    ],
)
def test_the_verdict_on_many_calls_is_linear(name: str) -> None:
    call = (name, _usual(COMPANY.company.new_state(), name))
    count = SIZE // len(json.dumps(call))
    assert count > MOST_CHANGES
    for number in (MOST_CHANGES, count):
        with cpu_limit(CPU_SECONDS):
            verdict = COMPANY.verify({"ground_truth": []}, call_items(*[call] * number), None)
        assert verdict["reward"] == (0.0 if name in CHANGING else 1.0)


@pytest.mark.parametrize("name", sorted(TOOLS_BY_NAME))
def test_the_tools_that_are_replayed_are_those_that_change_something(name: str) -> None:
    state, untouched = COMPANY.company.new_state(), COMPANY.company.new_state()
    TOOLS_BY_NAME[name].function(state, _usual(state, name))
    assert (state.content() != untouched.content()) == (name in CHANGING)
