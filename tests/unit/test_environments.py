"""The built-in environments: their tasks can be solved, and nothing but a solution scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.servers.resources_servers import generate
from collector.servers.resources_servers.arithmetic import ArithmeticEnvironment
from collector.servers.resources_servers.arithmetic.answers import as_number, extract_answer
from collector.servers.resources_servers.environment import Call, Environment
from collector.servers.resources_servers.generate import FOLDER, TASKS
from collector.servers.resources_servers.workplace_assistant import WorkplaceAssistant

Row = dict[str, Any]
ARITHMETIC = ArithmeticEnvironment({})
ENVIRONMENTS: dict[str, type[Environment[Any]]] = {
    "arithmetic": ArithmeticEnvironment,
    "workplace_assistant": WorkplaceAssistant,
}
FILES = sorted(FOLDER.glob("*/data/*.jsonl"))


def rows_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def response_of(calls: list[Call], answer: str = "Done.") -> Row:
    items: list[Row] = [
        {"type": "function_call", "name": call.name, "arguments": json.dumps(call.arguments)}
        for call in calls
    ]
    content = [{"type": "output_text", "text": answer, "annotations": []}]
    return {"output": [*items, {"type": "message", "role": "assistant", "content": content}]}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_solutions_score_and_empty_answers_do_not(path: Path) -> None:
    environment = ENVIRONMENTS[path.parts[-3]]({})
    rows = rows_of(path)
    assert len(rows) == TASKS[type(environment)][path.stem][1]
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        solution = environment.solution(row)
        response = response_of(list(solution.calls), solution.answer)
        assert environment.verify(row, response, None)["reward"] == 1.0, row["id"]
        assert environment.verify(row, {"output": []}, None)["reward"] == 0.0, row["id"]


def test_the_files_are_up_to_date() -> None:
    assert list(generate.outdated_paths()) == []
    assert {path for path, _ in generate.generated_files()} >= set(FILES)


def test_the_check_names_files_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data" / "example.jsonl"
    monkeypatch.setattr(generate, "generated_files", lambda: iter([(path, b"{}\n")]))
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    path.write_bytes(path.read_bytes() + b"{}\n")
    assert generate.main(["--check"]) == 1
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_seeds_make_other_tasks_of_every_category(name: str) -> None:
    environment = ENVIRONMENTS[name]({})
    train, validation = (list(environment.tasks(seed, 90)) for seed in (1, 2))
    prompts = [
        {row["responses_create_params"]["input"][-1]["content"] for row in rows}
        for rows in (train, validation)
    ]
    assert len(prompts[0]) == len(prompts[1]) == 90
    assert len(prompts[0] & prompts[1]) < (9 if name == "arithmetic" else 1)
    assert len({row["category"] for row in validation}) == 6


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_configs_list_the_datasets(name: str) -> None:
    config = yaml.safe_load((FOLDER / name / "configs" / f"{name}.yaml").read_text())
    agent = config[f"{name}_simple_agent"]["responses_api_agents"]["simple_agent"]
    assert name in config[name]["resources_servers"]
    paths = {FOLDER.parent / dataset["jsonl_fpath"] for dataset in agent["datasets"]}
    assert paths == {path for path in FILES if path.parts[-3] == name}


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
def test_text_without_a_number_has_no_answer(text: str) -> None:
    assert extract_answer(text) is None


def test_a_number_is_compared_to_its_last_digit() -> None:
    almost = "42." + 250 * "0" + "1"
    assert as_number(extract_answer(f"Answer: {almost}")) != as_number("42")


def test_too_many_tasks_are_refused() -> None:
    with pytest.raises(ValueError, match="ask for fewer"):
        list(ARITHMETIC.tasks(0, 50_000))
