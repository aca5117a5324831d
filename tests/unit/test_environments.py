"""The built-in environments: their tasks can be solved, and nothing but a solution scores."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.servers.resources_servers import generate
from collector.servers.resources_servers.arithmetic import ArithmeticEnvironment
from collector.servers.resources_servers.arithmetic.answers import as_number, extract_answer
from collector.servers.resources_servers.environment import Call, Environment, ToolError
from collector.servers.resources_servers.generate import DATASETS, ENVIRONMENTS, FOLDER, Dataset
from collector.servers.resources_servers.workplace import WorkplaceEnvironment
from collector.servers.resources_servers.workplace.company import PEOPLE, fresh_state
from collector.servers.resources_servers.workplace.state import State, changes
from collector.servers.resources_servers.workplace.tools import TOOLS, run

Row = dict[str, Any]
WORKPLACE = WorkplaceEnvironment({})
ARITHMETIC = ArithmeticEnvironment({})
SEND = Call(
    "email_send", {"recipient": "jin.park@example.com", "subject": "Update", "body": "All well."}
)
MEET = Call(
    "calendar_create",
    {
        "title": "Coffee chat",
        "participant": "jin.park@example.com",
        "start": "2026-03-17T10:00",
        "duration_minutes": 30,
    },
)
DELETE = Call("customer_delete", {"customer_id": "customer-0007"})
SEARCHES = (
    Call("directory_find", {"name": "Jin"}),
    Call("email_search", {"query": "launch"}),
    Call("calendar_search", {"date_from": "2026-03-12"}),
    Call("project_search", {"status": "backlog"}),
    Call("customer_search", {}),
)


def rows_of(dataset: Dataset) -> list[Row]:
    return [json.loads(line) for line in dataset.path.read_bytes().splitlines()]


def response_of(calls: list[Call], answer: str = "Done.") -> Row:
    items: list[Row] = [
        {"type": "function_call", "name": call.name, "arguments": json.dumps(call.arguments)}
        for call in calls
    ]
    content = [{"type": "output_text", "text": answer, "annotations": []}]
    return {"output": [*items, {"type": "message", "role": "assistant", "content": content}]}


def row_for(*calls: Call) -> Row:
    truth = [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in calls]
    return {"ground_truth": truth}


def played(*calls: Call) -> State:
    state = WORKPLACE.new_session({})
    for call in calls:
        run(state, call)
    return state


def reward(row: Row, *calls: Call) -> float:
    with_session = WORKPLACE.verify(row, {"output": []}, played(*calls))
    without = WORKPLACE.verify(row, response_of(list(calls)), None)
    assert with_session == without
    return float(with_session["reward"])


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.path.stem)
def test_solutions_score_and_empty_answers_do_not(dataset: Dataset) -> None:
    environment: Environment[Any] = ENVIRONMENTS[dataset.environment]({})
    for row in rows_of(dataset):
        solution = environment.solution(row)
        state = environment.new_session(row)
        for call in solution.calls:
            run(state, call)
        response = response_of(list(solution.calls), solution.answer)
        assert environment.verify(row, response, state)["reward"] == 1.0, row["id"]
        assert environment.verify(row, response, None)["reward"] == 1.0, row["id"]
        fresh = environment.new_session(row)
        assert environment.verify(row, {"output": []}, fresh)["reward"] == 0.0, row["id"]


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.path.stem)
def test_datasets_are_what_the_generator_makes(dataset: Dataset) -> None:
    assert dataset.path.read_bytes() == dataset.content()
    assert dataset.path.stat().st_size < 1_500_000
    ids = [row["id"] for row in rows_of(dataset)]
    assert len(set(ids)) == len(ids) == dataset.count


def test_the_check_names_files_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generate, "FOLDER", tmp_path)
    monkeypatch.setattr(generate, "DATASETS", (Dataset("arithmetic", "example", seed=0, count=5),))
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    path = tmp_path / "arithmetic/data/example.jsonl"
    path.write_bytes(path.read_bytes() + b"{}\n")
    assert generate.main(["--check"]) == 1
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_seeds_make_other_tasks_of_every_category_and_difficulty(name: str) -> None:
    environment: Environment[Any] = ENVIRONMENTS[name]({})
    train, validation = (list(environment.tasks(seed, 90)) for seed in (1, 2))
    prompts = [
        {row["responses_create_params"]["input"][-1]["content"] for row in rows}
        for rows in (train, validation)
    ]
    assert len(prompts[0]) == len(prompts[1]) == 90
    assert len(prompts[0] & prompts[1]) < 9
    kinds = {(row["category"], row["difficulty"]) for row in validation}
    assert len(kinds) == 3 * len({category for category, _ in kinds})


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_configs_list_the_datasets(name: str) -> None:
    config = yaml.safe_load((FOLDER / name / "configs" / f"{name}.yaml").read_text())
    agent = config[f"{name}_simple_agent"]["responses_api_agents"]["simple_agent"]
    assert name in config[name]["resources_servers"]
    paths = {FOLDER.parent / dataset["jsonl_fpath"] for dataset in agent["datasets"]}
    assert paths == {dataset.path for dataset in DATASETS if dataset.environment == name}


def test_any_order_of_independent_changes_passes() -> None:
    twice = Call("email_send", {**SEND.arguments, "subject": "Other"})
    row = row_for(SEND, twice, MEET, DELETE)
    for calls in itertools.permutations((SEND, twice, MEET, DELETE)):
        assert reward(row, *calls) == 1.0


def test_hard_tasks_pass_in_reverse_order() -> None:
    rows = [row for row in rows_of(DATASETS[4]) if row["difficulty"] == "hard"]
    for row in rows:
        assert reward(row, *reversed(WORKPLACE.solution(row).calls)) == 1.0, row["id"]


@pytest.mark.parametrize(
    ("calls", "missing", "wrong"),
    [
        ((SEND, DELETE), 0, 1),
        ((SEND, SEND), 0, 1),
        ((DELETE,), 1, 1),
        ((), 1, 0),
        ((Call("email_send", {**SEND.arguments, "body": "All wrong."}),), 1, 1),
    ],
    ids=["extra deletion", "sent twice", "something else", "nothing", "other text"],
)
def test_what_is_missing_or_wrong_fails_and_is_counted(
    calls: tuple[Call, ...], missing: int, wrong: int
) -> None:
    verdict = WORKPLACE.verify(row_for(SEND), response_of(list(calls)), None)
    assert verdict == {
        "reward": 0.0,
        "state_matches": False,
        "missing_change_count": missing,
        "wrong_change_count": wrong,
    }


def test_outer_blanks_do_not_matter_but_words_do() -> None:
    padded = Call("email_send", {**SEND.arguments, "subject": " Update "})
    assert reward(row_for(SEND), padded) == 1.0
    shouted = Call("email_send", {**SEND.arguments, "subject": "UPDATE"})
    assert reward(row_for(SEND), shouted) == 0.0


def test_what_was_sent_cannot_be_taken_back() -> None:
    environment = WorkplaceEnvironment({})
    state = environment.new_session({})
    run(state, SEND)
    leaked = run(state, Call("email_send", {**SEND.arguments, "body": "a secret"}))
    run(state, Call("email_delete", {"email_id": leaked["id"]}))
    assert environment.verify(row_for(SEND), {"output": []}, state)["reward"] == 0.0


def test_a_wrong_ground_truth_is_refused() -> None:
    with pytest.raises(ValueError, match="ground_truth is wrong"):
        reward(row_for(Call("email_send", {})))


def test_searches_are_harmless() -> None:
    assert reward(row_for(SEND), *SEARCHES, SEND, *SEARCHES) == 1.0
    assert not changes(fresh_state(), played(*SEARCHES))


def test_calls_that_fail_change_nothing() -> None:
    broken = [Call("no_such_tool", {}), Call("email_delete", {"email_id": "email-9999"})]
    response = response_of([*broken, SEND])
    response["output"].append({"type": "function_call", "name": "email_delete", "arguments": "{"})
    assert WORKPLACE.verify(row_for(SEND), response, None)["reward"] == 1.0


def test_sessions_are_independent() -> None:
    first, second = WORKPLACE.new_session({}), WORKPLACE.new_session({})
    run(first, DELETE)
    run(first, SEND)
    assert changes(first, second)
    assert not changes(second, fresh_state())


@pytest.mark.parametrize(
    "call",
    [
        Call("email_send", {**SEND.arguments, "cc": "all@example.com"}),
        Call("email_send", {"recipient": "nobody", "subject": "a", "body": "b"}),
        Call("email_send", {**SEND.arguments, "subject": " "}),
        Call("calendar_create", {**MEET.arguments, "start": "17 March"}),
        Call("calendar_create", {**MEET.arguments, "start": "2026-02-30T10:00"}),
        Call("calendar_create", {**MEET.arguments, "participant": "who@example.com"}),
        Call("project_update", {"task_id": "task-0001"}),
        Call("project_update", {"task_id": "task-0001", "status": "finished"}),
        Call("customer_delete", {"customer_id": "customer-9999"}),
    ],
    ids=str,
)
def test_tools_refuse_what_they_cannot_do(call: Call) -> None:
    state = WORKPLACE.new_session({})
    with pytest.raises(ToolError):
        run(state, call)
    assert not changes(fresh_state(), state)


def test_schemas_are_strict() -> None:
    for schema in (tool.schema() for tool in TOOLS):
        parameters = schema["parameters"]
        assert parameters["required"] == list(parameters["properties"])
        assert "$ref" not in json.dumps(schema)
        assert "default" not in json.dumps(schema)


def test_searches_are_short_and_sorted() -> None:
    found = run(fresh_state(), Call("email_search", {}))
    times = [email["sent_at"] for email in found["emails"]]
    assert found["total"] == 60
    assert len(times) == 20
    assert times == sorted(times, reverse=True)


def test_the_company_is_unambiguous() -> None:
    state = fresh_state()
    assert len({person.name.split()[0] for person in PEOPLE}) == len(PEOPLE) == 20
    for table, field in zip(state.tables(), ("subject", "title", "title", "name"), strict=True):
        assert len({getattr(row, field) for row in table.rows.values()}) == len(table.rows)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Answer: 42", "42"),
        ("first Answer: 41, no: **Answer: 1,234**", "1234"),
        ("The answer is -3/4.", "-3/4"),
        (r"thus \boxed{\frac{1}{2}} of 10", "0.5"),
        ("1 + 2 makes 3.50", "7/2"),
        ("Answer: −5", "-5"),
        ("Answer: 1 1/2", "1.5"),
        ("Answer: $12.50", "25/2"),
        ("Answer: 20%", "20"),
        ("Answer: 1e5", "100000"),
        ("Answer: –42", "-42"),
        ("My first answer is 5, but no. Answer: \\boxed{42}", "42"),
        ("A wrong answer: 5. Final Answer: x = 42", "42"),
        (r"so \boxed{1\frac{1}{2}}", "1.5"),
    ],
)
def test_answers_are_found_and_compared_exactly(text: str, value: str) -> None:
    assert as_number(extract_answer(text)) == as_number(value)


@pytest.mark.parametrize("text", ["", "no idea", "Answer: 1/0", "Answer: " + "9" * 9999])
def test_texts_without_a_usable_answer_score_nothing(text: str) -> None:
    row = {"expected_answer": "1"}
    assert ARITHMETIC.verify(row, response_of([], text), None)["reward"] == 0.0


def test_the_verdict_shows_what_was_understood() -> None:
    row = {"expected_answer": "3/4"}
    verdict = ARITHMETIC.verify(row, response_of([], "Answer: 0.75"), None)
    assert verdict == {"reward": 1.0, "extracted_answer": "0.75", "expected_answer": "3/4"}
    assert ARITHMETIC.verify(row, {"output": []}, None)["extracted_answer"] is None


@pytest.mark.parametrize(
    "text",
    [
        *("Answer: 9**9**9", "Answer: 2^10", "Answer: 6*7", "Answer: 0x2A", "Answer: 12,34"),
        *("Answer: 1,0000", "Answer: 1e999999999", "Answer: " + "1" * 5000, "Answer: none", ""),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_number_is_no_answer(text: str) -> None:
    assert extract_answer(text) is None


def test_a_number_is_compared_to_its_last_digit() -> None:
    almost = "42." + 250 * "0" + "1"
    assert as_number(extract_answer(f"Answer: {almost}")) != as_number("42")


def test_too_many_tasks_are_refused() -> None:
    with pytest.raises(ValueError, match="ask for fewer"):
        list(ARITHMETIC.tasks(0, 50_000))


@pytest.mark.parametrize("minutes", ["30", 30.0, True], ids=str)
def test_arguments_of_another_type_are_refused(minutes: object) -> None:
    wrong = Call("calendar_create", {**MEET.arguments, "duration_minutes": minutes})
    with pytest.raises(ToolError, match="duration_minutes"):
        run(fresh_state(), wrong)
