"""The workplace assistant: the answers and verdicts of NeMo Gym's environment, on any tables."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from collector.servers.resources_servers.environment import Call
from collector.servers.resources_servers.workplace_assistant import (
    OWN_TABLES,
    TOOLS_BY_NAME,
    WorkplaceAssistant,
    ground_truth,
)
from collector.servers.resources_servers.workplace_assistant.tables import WorkplaceState
from tests.support import ROOT

Row = dict[str, Any]
REAL = ROOT.parent / "shared" / "workplace_assistant"
with_real_data = pytest.mark.skipif(not REAL.is_dir(), reason="the real environment's data")
OWN = WorkplaceAssistant({})
SEND = Call(
    "email_send_email",
    {"recipient": "jin.park@example.com", "subject": "Update", "body": "All is well."},
)
MEET = Call(
    "calendar_create_event",
    {
        "event_name": "Coffee",
        "participant_email": "jin.park@example.com",
        "event_start": "2023-12-05 10:00:00",
        "duration": "30",
    },
)
DELETE = Call("customer_relationship_manager_delete_customer", {"customer_id": "00000007"})


def real_lines(name: str) -> list[Any]:
    return [json.loads(line) for line in (REAL / name).read_text(encoding="utf-8").splitlines()]


def call(state: WorkplaceState, tool: str, /, **arguments: Any) -> Any:
    return TOOLS_BY_NAME[tool].function(state, arguments)


def items(calls: list[Row]) -> Row:
    return {"output": [{"type": "function_call", **one} for one in calls]}


def truth(*calls: Call) -> Row:
    return {
        "ground_truth": [
            {"name": one.name, "arguments": json.dumps(one.arguments)} for one in calls
        ]
    }


def reward(row: Row, *calls: Call) -> float:
    return float(OWN.verify(row, items(truth(*calls)["ground_truth"]), None)["reward"])


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a missing one is null, where pandas has NaN."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


@with_real_data
def test_answers_equal_the_real_environments() -> None:
    environment = WorkplaceAssistant({"data_dir": str(REAL / "data")})
    different = []
    sessions = real_lines("calls.jsonl")
    for session in sessions:
        state = environment.new_session(truth())
        for made in session:
            found = call(state, made["name"], **made["arguments"])
            if found != plain(made["output"]):
                different.append(made)
    assert len(different) <= 0.01 * sum(map(len, sessions))
    # an error of pandas or Python is a sentence here; reading averages changes no other answer
    for made in different:
        is_error = str(made["output"]).startswith("Error")
        assert is_error or made["name"] == "analytics_get_visitor_information_by_id", made


@with_real_data
def test_verdicts_equal_the_real_environments() -> None:
    environment = WorkplaceAssistant({"data_dir": str(REAL / "data")})
    for case in real_lines("verdicts.jsonl"):
        row = {"ground_truth": case["ground_truth"]}
        assert environment.verify(row, items(case["predicted"]), None)["reward"] == case["reward"]


@with_real_data
def test_the_real_example_tasks_score_with_their_ground_truth_and_not_with_nothing() -> None:
    environment = WorkplaceAssistant({"data_dir": str(REAL / "data")})
    rows = real_lines("example.jsonl")
    assert len(rows) == 5
    for row in rows:
        assert environment.verify(row, items(row["ground_truth"]), None)["reward"] == 1.0
        assert environment.verify(row, items([]), None)["reward"] == 0.0


@with_real_data
def test_tools_have_the_names_and_parameters_of_the_real_ones() -> None:
    def shape(tool: Row) -> Row:
        parameters = tool["parameters"]
        kinds = {name: about["type"] for name, about in parameters["properties"].items()}
        rest = {key: value for key, value in parameters.items() if key != "properties"}
        return {"name": tool["name"], "strict": tool["strict"], "kinds": kinds, **rest}

    theirs = real_lines("example.jsonl")[0]["responses_create_params"]["tools"]
    assert [shape(tool.schema()) for tool in OWN.tools] == [shape(tool) for tool in theirs]


def test_there_are_27_tools_that_describe_themselves() -> None:
    assert len(OWN.tools) == 27
    for tool in OWN.tools:
        schema = tool.schema()
        assert schema["description"].endswith(".")
        assert all(about["description"] for about in schema["parameters"]["properties"].values())


def test_order_and_ids_count() -> None:
    other = Call(SEND.name, {**SEND.arguments, "subject": "Other"})
    row = truth(SEND, other)
    assert reward(row, SEND, other) == 1.0
    assert reward(row, other, SEND) == 0.0
    assert reward(truth(SEND, MEET, DELETE), DELETE, MEET, SEND) == 1.0


@pytest.mark.parametrize(
    "calls",
    [(SEND, DELETE), (SEND, SEND), (DELETE,), ()],
    ids=["extra deletion", "sent twice", "something else", "nothing"],
)
def test_any_other_state_scores_nothing(calls: tuple[Call, ...]) -> None:
    assert reward(truth(SEND), *calls) == 0.0


def test_case_does_not_count_except_in_the_names_of_states() -> None:
    shouted = Call(SEND.name, {**SEND.arguments, "body": "ALL IS WELL."})
    assert reward(truth(SEND), shouted) == 1.0
    given = {"customer_name": "Ada", "assigned_to_email": "x@example.com", "status": "Lead"}
    add = Call("customer_relationship_manager_add_customer", given)
    lower = Call(add.name, {**given, "status": "lead"})
    assert reward(truth(add), lower) == 0.0
    assert reward(truth(add), Call(add.name, {**given, "customer_name": "ADA"})) == 1.0


def test_plots_count_and_analytics_do_not() -> None:
    given = {"time_min": "2023-11-01", "time_max": "2023-11-30", "value_to_plot": "total_visits"}
    plot = Call("analytics_create_plot", {**given, "plot_type": "bar"})
    assert reward(truth(plot), plot) == 1.0
    assert reward(truth(plot), Call(plot.name, {**given, "plot_type": "line"})) == 0.0
    assert reward(truth(plot), Call("analytics_total_visits_count", {}), plot) == 1.0


def test_calls_that_fail_change_nothing() -> None:
    broken = [
        Call("no_such_tool", {}),
        Call("email_delete_email", {"email_id": "99999999"}),
        Call("email_delete_email", {"email_id": "00000001", "surprise": 1}),
        Call("calendar_update_event", {"event_id": "00000001", "field": "x", "new_value": "y"}),
        Call("customer_relationship_manager_update_customer", {"customer_id": "00000001"}),
    ]
    assert reward(truth(SEND), *broken, SEND) == 1.0
    response = items(truth(SEND)["ground_truth"])
    response["output"].append({"type": "function_call", "name": SEND.name, "arguments": "{"})
    assert OWN.verify(truth(SEND), response, None)["reward"] == 1.0


def test_the_session_does_not_decide() -> None:
    state = OWN.new_session(truth())
    call(state, SEND.name, **SEND.arguments)
    assert OWN.verify(truth(SEND), {"output": []}, state)["reward"] == 0.0


def test_sessions_are_apart() -> None:
    first, second = OWN.new_session(truth()), OWN.new_session(truth())
    call(first, DELETE.name, **DELETE.arguments)
    call(first, "calendar_update_event", event_id="00000003", field="duration", new_value="15")
    assert first.content() != second.content()
    assert second.content() == OWN.new_session(truth()).content()


@pytest.mark.parametrize(
    "value", [None, 7, 1.5, True, [], ["a"], {"a": 1}, "", "x" * 5000, "\x00", "9" * 400], ids=repr
)
def test_tools_take_anything_for_an_argument(value: Any) -> None:
    """Arguments are a model's words: a tool answers whatever they are."""
    state = OWN.new_session(truth())
    for tool in OWN.tools:
        names = list(tool.schema()["parameters"]["properties"])
        for name in names:
            json.dumps(tool.function(state, {name: value}), allow_nan=False)
        json.dumps(tool.function(state, dict.fromkeys(names, value)), allow_nan=False)
    state.content()


def test_what_was_updated_can_be_searched() -> None:
    state = OWN.new_session(truth())
    for field, value in (("event_name", "Nap"), ("participant_email", "A@B.C"), ("duration", 45)):
        answer = call(
            state, "calendar_update_event", event_id="00000003", field=field, new_value=value
        )
        assert answer == "Event updated successfully."
    (event,) = call(state, "calendar_search_events", query="nap")["events"]
    assert event["participant_email"] == "a@b.c"
    for wrong in (["a"], {"a": 1}, 3):
        answer = call(
            state, "calendar_update_event", event_id="00000003", field="event_name", new_value=wrong
        )
        assert answer == "new_value must be a text."


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({}, "not a list of calls"),
        ({"ground_truth": "x"}, "not a list of calls"),
        ({"ground_truth": [{"name": "a", "arguments": "{"}]}, "text of a JSON object"),
    ],
    ids=str,
)
def test_a_row_without_ground_truth_is_refused(row: Row, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        OWN.new_session(row)
    with pytest.raises(ValueError, match=problem):
        OWN.verify(row, {"output": []}, None)


def test_tables_beside_the_config_are_used_as_in_nemo_gym(tmp_path: Path) -> None:
    tables = tmp_path / "csv_data" / "processed"
    shutil.copytree(OWN_TABLES, tables)
    (tmp_path / "csv_data" / "raw").mkdir()
    (tables / "email_addresses.csv").rename(tmp_path / "csv_data" / "raw" / "email_addresses.csv")
    lines = (tables / "emails.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tables / "emails.csv").write_text("".join(lines[:11]), encoding="utf-8")
    environment = WorkplaceAssistant({"_config_dir": str(tmp_path / "configs")})
    assert len(environment.company.tables["emails"].records) == 10
    assert len(environment.company.addresses) == 20
    assert "csv_data" in environment.description()
    assert OWN.description() == "Spotter's own tables"


def test_tables_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"emails\.csv is missing: data_dir needs all six tables"):
        WorkplaceAssistant({"data_dir": str(tmp_path)})
    shutil.copytree(OWN_TABLES, tmp_path / "tables")
    (tmp_path / "tables" / "project_tasks.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"project_tasks\.csv: the first line must be task_id"):
        WorkplaceAssistant({"data_dir": str(tmp_path / "tables")})
    with pytest.raises(ValueError, match="is not a folder"):
        WorkplaceAssistant({"data_dir": str(tmp_path / "tables" / "project_tasks.csv")})


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"aisha@example.com,\xff\n", "email_addresses.csv is not valid UTF-8"),
        (b'"a\n', "email_addresses.csv:1: unexpected end of data"),
    ],
    ids=["not UTF-8", "open quote"],
)
def test_tables_that_cannot_be_read_are_named(content: bytes, named: str, tmp_path: Path) -> None:
    shutil.copytree(OWN_TABLES, tmp_path / "tables")
    (tmp_path / "tables" / "email_addresses.csv").write_bytes(content)
    with pytest.raises(ValueError, match=named):
        WorkplaceAssistant({"data_dir": str(tmp_path / "tables")})


def test_a_table_of_a_spreadsheet_is_read_and_a_short_row_is_named(tmp_path: Path) -> None:
    shutil.copytree(OWN_TABLES, tmp_path / "tables")
    path = tmp_path / "tables" / "project_tasks.csv"
    whole = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n"))
    tables = WorkplaceAssistant({"data_dir": str(path.parent)}).company.tables
    assert tables["project_tasks"].records == OWN.company.tables["project_tasks"].records
    path.write_bytes(whole + b"1,2\n")
    with pytest.raises(ValueError, match=r"project_tasks\.csv:182: 2 values, expected 6"):
        WorkplaceAssistant({"data_dir": str(path.parent)})


def test_ids_of_emails_are_not_used_again() -> None:
    state = OWN.new_session(truth())
    for _ in range(2):
        call(state, SEND.name, **SEND.arguments)
        call(state, "email_delete_email", email_id="00000003")
    ids = [email["email_id"] for email in state.tables["emails"].records]
    assert ids[-2:] == ["299", "300"]
    assert len(set(ids)) == len(ids)


def test_row_numbers_count_as_in_nemo_gym() -> None:
    create = Call(
        "project_management_create_task",
        {
            "task_name": "New",
            "assigned_to_email": "jin.park@example.com",
            "list_name": "Backlog",
            "due_date": "2023-12-01",
            "board": "Design",
        },
    )
    delete = Call("project_management_delete_task", {"task_id": "00000001"})
    assert reward(truth(create, delete), create, delete) == 1.0
    assert reward(truth(create, delete), delete, create) == 0.0  # creating numbers the rows anew
    cancel = Call("calendar_delete_event", {"event_id": "00000001"})
    assert reward(truth(MEET, cancel), cancel, MEET) == 1.0  # except those of the calendar


@pytest.mark.parametrize(
    "start", ["2023-12-05 10:00", "2023-12-05T10:00:00", "2023-12-05", "2023/12/05 10:00:00"]
)
def test_times_may_be_written_in_several_ways(start: str) -> None:
    state = OWN.new_session(truth())
    made = call(state, MEET.name, **{**MEET.arguments, "event_start": start})
    assert made.isdecimal()
    found = call(state, "calendar_search_events", time_min="2023-12-05", time_max="2023-12-06")
    assert made in [event["event_id"] for event in found["events"]]
    assert call(state, "email_search_emails", date_min="2023-11-29 00:00:00")["emails"]


def test_a_call_that_breaks_a_tool_is_an_answer() -> None:
    """A model must not be able to break its own verdict."""
    rename = Call(
        "project_management_update_task",
        {"task_id": "00000001", "field": "task_id", "new_value": "9" * 5000},
    )
    create = Call("project_management_create_task", {
        "task_name": "a", "assigned_to_email": "jin.park@example.com", "list_name": "Backlog",
        "due_date": "2023-12-01", "board": "Design",
    })  # fmt: skip
    assert reward(truth(rename), rename, create) == 1.0
    state = OWN.new_session(truth())
    call(state, rename.name, **rename.arguments)
    assert call(state, create.name, **create.arguments).startswith("Error executing tool")


def test_null_is_an_argument_that_was_left_out() -> None:
    tool = TOOLS_BY_NAME["email_search_emails"]
    assert tool.parse_arguments({"query": "a", "page": None}) == {"query": "a"}


def test_ground_truth_that_the_tables_refuse_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    environment = WorkplaceAssistant({})
    row = truth(Call("email_delete_email", {"email_id": "00099999"}))
    for _ in range(2):
        environment.verify(row, {"output": []}, None)
    assert caplog.text.count("do not allow a call of a ground_truth") == 1
    assert "data_dir" in caplog.text


def test_tasks_are_of_a_range_of_difficulties() -> None:
    counts = [len(ground_truth(row)) for row in OWN.tasks(5, 120)]
    assert min(counts) == 1
    assert max(counts) == 5
    assert sum(count > 1 for count in counts) > 40
