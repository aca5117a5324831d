"""The simulated model: without slips it solves every task it knows, and it is honest."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.errors import FileError
from collector.servers.resources_servers.environment import Environment
from collector.servers.resources_servers.generate import FOLDER
from collector.servers.resources_servers.workplace_assistant import TOOLS_BY_NAME
from collector.servers.responses_api_models import simulated_model
from collector.servers.responses_api_models.base import ModelError
from collector.servers.responses_api_models.simulated_model import SimulatedModel
from tests.support import write_lines
from tests.unit.test_environments import ENVIRONMENTS, FILES, rows_of

Row = dict[str, Any]
PERFECT = SimulatedModel({"slip_rate": 0.0})
USUAL = SimulatedModel({})
WORKPLACE = {path.stem: path for path in FILES if path.parts[-3] == "workplace_assistant"}
# what the bundled tasks of the arithmetic environment ask
SUM = rows_of(FOLDER / "arithmetic" / "data" / "example.jsonl")[0]
QUESTION = SUM["responses_create_params"]["input"][-1]["content"]


def ask(model: SimulatedModel, request: Row) -> Row:
    return asyncio.run(model.respond(request))


def seeded(params: Row, seed: int, **more: Any) -> Row:
    return {**params, "metadata": {"extra_body": json.dumps({"seed": seed})}, **more}


def tool_output(state: Any, item: Row) -> Row:
    try:
        found = TOOLS_BY_NAME[item["name"]].function(state, json.loads(item["arguments"]))
        result: Row = {"output": found}
    except ValueError as error:
        result = {"error": str(error)}
    output = json.dumps(result)
    return {"type": "function_call_output", "call_id": item["call_id"], "output": output}


def rollout(
    environment: Environment[Any], model: SimulatedModel, row: Row, params: Row | None = None
) -> tuple[Row, list[Row]]:
    """Let model and tools take turns, as the agent does; return the verdict and the items."""
    params = params or row["responses_create_params"]
    state = environment.new_session(row)
    items: list[Row] = []
    for _ in range(max_steps(row["environment_name"])):
        response = ask(model, {**params, "input": [*params["input"], *items]})
        items += response["output"]
        calls = [item for item in response["output"] if item["type"] == "function_call"]
        assert len(calls) <= 1
        if not calls:
            break
        items += [tool_output(state, call) for call in calls]
    return environment.verify(row, {"output": items}, state), items


def max_steps(name: str) -> int:
    config = yaml.safe_load((FOLDER / name / "configs" / f"{name}.yaml").read_text())
    agent = config[f"{name}_simple_agent"]["responses_api_agents"]["simple_agent"]
    return int(agent["max_steps"])


def mean_reward(rows: list[Row], temperature: float) -> float:
    rewards = []
    for row in rows:
        environment = ENVIRONMENTS[row["environment_name"]]({})
        params = seeded(row["responses_create_params"], 1, temperature=temperature)
        rewards.append(rollout(environment, USUAL, row, params)[0]["reward"])
    return float(sum(rewards)) / len(rewards)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_without_slips_every_bundled_task_is_solved(path: Path) -> None:
    environment: Environment[Any] = ENVIRONMENTS[path.parts[-3]]({})
    for row in rows_of(path):
        verdict, items = rollout(environment, PERFECT, row)
        assert verdict["reward"] == 1.0, (row["id"], items[-1])


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_any_file_with_ground_truth_can_be_learned(name: str, tmp_path: Path) -> None:
    environment: Environment[Any] = ENVIRONMENTS[name]({})
    rows = list(environment.tasks(77, 40))
    write_lines(tmp_path / "mine.jsonl", rows)
    for tasks in ("mine.jsonl", ["mine.jsonl"]):
        model = SimulatedModel({"slip_rate": 0.0, "tasks": tasks, "_config_dir": str(tmp_path)})
        for row in rows:
            assert rollout(environment, model, row)[0]["reward"] == 1.0, row["id"]
        # and only that file is known then
        assert messages(ask(model, {"input": QUESTION}))[0].startswith("I am a simulated model")


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"id": 1}, "has no solutions"),
        ({"ground_truth": {"a": 1}}, ":1: its ground_truth is neither"),
        ({"ground_truth": [{"name": "x"}]}, ":1: a call of its ground_truth has no name"),
        ({"ground_truth": [{"name": "x", "arguments": "{"}]}, ":1: a call of its ground_truth"),
    ],
    ids=str,
)
def test_files_that_cannot_be_learned_are_named(row: Row, named: str, tmp_path: Path) -> None:
    write_lines(tmp_path / "mine.jsonl", [row])
    with pytest.raises(FileError, match=named):
        SimulatedModel({"tasks": str(tmp_path / "mine.jsonl")})
    with pytest.raises(FileError, match=r"cannot find no\.jsonl"):
        SimulatedModel({"tasks": ["no.jsonl"]})


def test_a_seed_determines_everything_but_the_clock() -> None:
    environment = ENVIRONMENTS["workplace_assistant"]({})
    for row in rows_of(WORKPLACE["train"])[:30]:
        params = seeded(row["responses_create_params"], 3, temperature=2.0)
        first, second = (rollout(environment, USUAL, row, params) for _ in range(2))
        assert first == second


def test_seeds_and_settings_make_a_difference() -> None:
    params = rows_of(WORKPLACE["train"])[0]["responses_create_params"]
    ids = {ask(USUAL, seeded(params, seed))["id"] for seed in range(5)}
    other = ask(SimulatedModel({"seed": 9}), seeded(params, 0))["id"]
    assert len(ids | {other}) == 6


def test_without_a_seed_answers_vary() -> None:
    params = rows_of(WORKPLACE["train"])[0]["responses_create_params"]
    assert len({ask(USUAL, params)["id"] for _ in range(5)}) == 5


def test_slips_grow_with_temperature_and_with_every_step() -> None:
    rows = rows_of(WORKPLACE["train"])[::3]
    short, long = (
        [row for row in rows if (len(row["ground_truth"]) > 2) is is_long]
        for is_long in (False, True)
    )
    cold, warm, hot = (mean_reward(rows, temperature) for temperature in (0.0, 1.0, 2.0))
    assert 1 > cold > warm > hot > 0
    assert mean_reward(short, 1.0) > mean_reward(long, 1.0)


def test_tasks_differ_in_difficulty() -> None:
    environment = ENVIRONMENTS["workplace_assistant"]({})
    rates = [
        sum(
            rollout(environment, USUAL, row, seeded(row["responses_create_params"], seed))[0][
                "reward"
            ]
            for seed in range(8)
        )
        for row in rows_of(WORKPLACE["train"])[:24]
    ]
    assert min(rates) == 0
    assert max(rates) == 8
    assert len(set(rates)) > 5


def test_every_kind_of_slip_happens() -> None:
    environment = ENVIRONMENTS["workplace_assistant"]({})
    seen = set()
    for row in rows_of(WORKPLACE["train"]):
        right = [(call["name"], json.loads(call["arguments"])) for call in row["ground_truth"]]
        params = seeded(row["responses_create_params"], 1, temperature=2.0)
        _, items = rollout(environment, USUAL, row, params)
        calls = [item for item in items if item["type"] == "function_call"]
        made = []
        for item in calls:
            try:
                made.append((item["name"], json.loads(item["arguments"])))
            except ValueError:
                seen.add("broken arguments")
        if any(call not in right for call in made):
            seen.add("wrong record")
        if made and all(call in right for call in made) and made != right[: len(made)]:
            seen.add("forgotten step")
        if made == right[: len(made)] and len(made) < len(right):
            seen.add("stopped early")
    assert seen == {"broken arguments", "wrong record", "forgotten step", "stopped early"}


@pytest.mark.parametrize(
    "change",
    [{"tools": []}, {"tool_choice": "none"}, {"tools": None}],
    ids=["no tools", "none may be called", "null"],
)
def test_without_tools_it_says_that_it_cannot(change: Row) -> None:
    params = rows_of(WORKPLACE["example"])[0]["responses_create_params"]
    (item,) = messages(ask(PERFECT, {**params, **change}))
    assert item.startswith("I cannot do this: I am not offered the tool")


def messages(response: Row) -> list[str]:
    assert all(item["type"] in ("message", "reasoning") for item in response["output"])
    return [item["content"][0]["text"] for item in response["output"] if "content" in item]


@pytest.mark.parametrize("request_", ["Paint the office blue.", "", "x" * 100_000])
def test_it_is_honest_about_tasks_that_it_does_not_know(request_: str) -> None:
    tools = rows_of(WORKPLACE["example"])[0]["responses_create_params"]["tools"]
    (text,) = messages(ask(PERFECT, {"input": request_, "tools": tools}))
    assert text.startswith("I am a simulated model and do not know this task")


def test_a_malformed_call_is_made_again() -> None:
    row = rows_of(WORKPLACE["train"])[0]
    params = row["responses_create_params"]
    (call,) = [item for item in ask(PERFECT, params)["output"] if item["type"] == "function_call"]
    broken = {**call, "arguments": call["arguments"][:-1]}
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "no JSON"}
    again = ask(PERFECT, {**params, "input": [*params["input"], broken, output]})
    assert again["output"][-1]["arguments"] == call["arguments"]


def test_the_response_is_whole_and_its_usage_adds_up() -> None:
    params = rows_of(WORKPLACE["train"])[0]["responses_create_params"]
    response = ask(PERFECT, seeded(params, 0))
    usage = response["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert usage["output_tokens_details"]["reasoning_tokens"] <= usage["output_tokens"]
    assert usage["input_tokens"] > len(json.dumps(params["tools"])) // 4
    assert response["object"] == "response"
    assert response["status"] == "completed"
    assert response["model"] == "simulated"
    assert response["tools"] == params["tools"]
    assert response["parallel_tool_calls"] is False
    assert response["metadata"] == {"extra_body": '{"seed": 0}'}


@pytest.mark.parametrize("seed", range(6))
def test_a_small_limit_breaks_the_answer_off(seed: int) -> None:
    limited = seeded({"input": QUESTION, "max_output_tokens": 3}, seed)
    response = ask(PERFECT, limited)
    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert response["usage"]["output_tokens"] == 3


def test_input_may_be_a_text_and_content_may_come_in_parts() -> None:
    parts = [{"type": "input_text", "text": QUESTION}]
    for given in (QUESTION, [{"role": "user", "content": parts}]):
        (text,) = messages(ask(PERFECT, {"input": given}))
        assert text.endswith(f"Answer: {SUM['expected_answer']}")


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"input": 3},
        {"input": "Compute 1 + 1.", "temperature": "hot"},
        {"input": "Compute 1 + 1.", "max_output_tokens": 0},
        {"input": "Compute 1 + 1.", "metadata": {"extra_body": "{"}},
    ],
    ids=str,
)
def test_requests_that_make_no_sense_are_refused(request_: Row) -> None:
    with pytest.raises(ModelError) as caught:
        ask(USUAL, request_)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    "settings",
    [
        {"slip_rate": 2},
        {"latency": -1},
        {"seed": "x"},
        {"hang_rate": -0.1},
        {"mask_rate": 0.5, "failure_rate": 0.4, "hang_rate": 0.2},
    ],
    ids=str,
)
def test_wrong_settings_are_refused(settings: Row) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        SimulatedModel(settings)


def test_the_config_names_the_defaults() -> None:
    folder = Path(str(simulated_model.__file__)).parent
    config = yaml.safe_load((folder / "configs/simulated_model.yaml").read_text())
    settings = config["policy_model"]["responses_api_models"]["simulated_model"]
    assert settings == simulated_model.SimulatedModelSettings().model_dump()


@pytest.mark.parametrize(
    ("given", "shown"),
    [("simulated", "simulated"), ("gpt-9", "simulated-gpt-9"), ("Simulated X", "Simulated X")],
)
def test_nobody_takes_it_for_a_real_model(given: str, shown: str) -> None:
    model = SimulatedModel({"model_name": given})
    assert ask(model, {"input": "What is 2 + 3?"})["model"] == shown


FAULTY = {"failure_rate": 0.2, "hang_rate": 0.1, "mask_rate": 0.2, "slip_rate": 0.0}


def outcome(model: SimulatedModel, params: Row) -> str:
    """Send one request, and return its outcome."""

    async def ask_once() -> Row:
        asking = asyncio.create_task(model.respond(params))
        await asyncio.sleep(0)  # nothing but a hang waits at all
        if asking.done():
            return asking.result()
        asking.cancel()
        return {"status": "hanging"}

    try:
        return str(asyncio.run(ask_once())["status"])
    except ModelError as error:
        return f"HTTP {error.status}"


def test_faults_come_at_their_rates_and_the_same_ones_again() -> None:
    params = {"input": "What is 2 + 3?"}
    first, second = (
        [outcome(model, seeded(params, seed)) for seed in range(100)]
        for model in (SimulatedModel(FAULTY), SimulatedModel(FAULTY))
    )
    assert first == second
    counts = Counter(first)
    assert 10 <= counts["HTTP 503"] <= 30
    assert 3 <= counts["hanging"] <= 20
    assert 10 <= counts["failed"] <= 30
    assert counts["completed"] == 100 - counts["HTTP 503"] - counts["hanging"] - counts["failed"]


def test_a_retry_has_a_chance_and_a_new_collection_the_same_faults() -> None:
    model = SimulatedModel({"failure_rate": 0.5})
    params = [seeded({"input": "What is 2 + 3?"}, seed) for seed in range(20)]

    def attempts(request: Row) -> int:
        for number in range(1, 50):
            if outcome(model, request) == "completed":
                return number
        raise AssertionError("no attempt succeeds")

    first, second = ([attempts(request) for request in params] for _ in range(2))
    assert first == second
    assert min(first) == 1
    assert max(first) > 2


def test_without_a_seed_faults_vary() -> None:
    model = SimulatedModel({"failure_rate": 0.5})
    found = {outcome(model, {"input": "What is 2 + 3?"}) for _ in range(50)}
    assert found == {"completed", "HTTP 503"}


def test_only_the_first_step_of_a_rollout_goes_wrong() -> None:
    params = rows_of(WORKPLACE["train"])[0]["responses_create_params"]
    (call,) = [item for item in ask(PERFECT, params)["output"] if item["type"] == "function_call"]
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "{}"}
    later = {**params, "input": [*params["input"], call, output]}
    model = SimulatedModel({"failure_rate": 1.0})
    assert outcome(model, params) == "HTTP 503"
    assert outcome(model, later) == "completed"


def test_faults_leave_the_other_answers_alone() -> None:
    for seed in range(20):
        params = seeded({"input": "What is 2 + 3?"}, seed)
        found = outcome(SimulatedModel(FAULTY), params)
        if found == "completed":
            assert ask(SimulatedModel(FAULTY), params)["id"] == ask(PERFECT, params)["id"]


def test_an_outage_is_a_whole_response_without_an_answer() -> None:
    model = SimulatedModel({"mask_rate": 1.0})
    found = [ask(model, seeded({"input": "What is 2 + 3?"}, seed)) for seed in range(20)]
    assert {response["error"]["code"] for response in found} == {
        "server_error",
        "rate_limit_exceeded",
    }
    whole = ask(PERFECT, {"input": "What is 2 + 3?"})
    for response in found:
        assert response.keys() == whole.keys()
        assert (response["status"], response["output"], response["usage"]) == ("failed", [], None)
        assert "simulated" in response["error"]["message"]


def test_tasks_with_the_same_prompt_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [
        {"responses_create_params": {"input": "What now?"}, "ground_truth": answer}
        for answer in ("1", "1", "2")
    ]
    write_lines(tmp_path / "mine.jsonl", [*rows, {"ground_truth": "3"}])
    model = SimulatedModel({"slip_rate": 0.0, "tasks": str(tmp_path / "mine.jsonl")})
    assert messages(ask(model, {"input": "What now?"}))[0].endswith("Answer: 1")
    assert caplog.text.count("two tasks have the same prompt") == 1


@pytest.mark.parametrize("answer", ["1e5000000", "9" * 5000, "1/0", "x", ""])
def test_odd_answers_take_no_time(answer: str, tmp_path: Path) -> None:
    row = {"responses_create_params": {"input": "What now?"}, "ground_truth": answer}
    write_lines(tmp_path / "mine.jsonl", [row])
    model = SimulatedModel({"slip_rate": 1.0, "tasks": str(tmp_path / "mine.jsonl")})
    for seed in range(5):
        assert messages(ask(model, seeded({"input": "What now?"}, seed, temperature=2.0)))
