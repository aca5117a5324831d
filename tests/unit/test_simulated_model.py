"""The simulated policy: without slips it solves every bundled task, and it is honest."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.servers.resources_servers.environment import Call, Environment, ToolError
from collector.servers.resources_servers.generate import DATASETS, ENVIRONMENTS, FOLDER, Dataset
from collector.servers.resources_servers.workplace.tools import run
from collector.servers.responses_api_models import simulated_model
from collector.servers.responses_api_models.base import ModelError
from collector.servers.responses_api_models.simulated_model import SimulatedModel

Row = dict[str, Any]
PERFECT = SimulatedModel({"slip_rate": 0.0})
USUAL = SimulatedModel({})
WORKPLACE = {dataset.name: dataset for dataset in DATASETS if dataset.environment == "workplace"}


def rows_of(dataset: Dataset) -> list[Row]:
    return [json.loads(line) for line in dataset.path.read_bytes().splitlines()]


def ask(model: SimulatedModel, request: Row) -> Row:
    return asyncio.run(model.respond(request))


def seeded(params: Row, seed: int, **more: Any) -> Row:
    return {**params, "metadata": {"extra_body": json.dumps({"seed": seed})}, **more}


def called(state: Any, item: Row) -> Row:
    try:
        result: Row = {"output": run(state, Call(item["name"], json.loads(item["arguments"])))}
    except (ToolError, ValueError) as error:
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
        items += [called(state, call) for call in calls]
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


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda d: f"{d.environment}-{d.name}")
def test_without_slips_every_bundled_task_is_solved(dataset: Dataset) -> None:
    environment: Environment[Any] = ENVIRONMENTS[dataset.environment]({})
    for row in rows_of(dataset):
        verdict, items = rollout(environment, PERFECT, row)
        assert verdict["reward"] == 1.0, (row["id"], items[-1])


def test_without_slips_tasks_of_other_seeds_are_solved_too() -> None:
    for name, kind in ENVIRONMENTS.items():
        environment: Environment[Any] = kind({})
        for row in environment.tasks(77, 60):
            assert rollout(environment, PERFECT, row)[0]["reward"] == 1.0, (name, row["id"])


def test_a_seed_determines_everything_but_the_clock() -> None:
    environment = ENVIRONMENTS["workplace"]({})
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


def test_slips_grow_with_temperature_and_difficulty() -> None:
    rows = rows_of(WORKPLACE["train"])[:75]
    easy, hard = ([row for row in rows if row["difficulty"] == level] for level in ("easy", "hard"))
    cold, warm, hot = (mean_reward(rows, temperature) for temperature in (0.0, 1.0, 2.0))
    assert 1 > cold > warm > hot > 0
    assert mean_reward(easy, 1.0) > mean_reward(hard, 1.0)


def test_only_offered_tools_are_called_with_arguments_that_fit() -> None:
    environment = ENVIRONMENTS["workplace"]({})
    for row in rows_of(WORKPLACE["validation"]):
        params = row["responses_create_params"]
        schemas = {tool["name"]: tool["parameters"] for tool in params["tools"]}
        _, items = rollout(environment, PERFECT, row)
        for item in items:
            if item["type"] == "function_call":
                given = json.loads(item["arguments"])
                assert set(given) == set(schemas[item["name"]]["required"])


@pytest.mark.parametrize(
    "change",
    [{"tools": []}, {"tool_choice": "none"}, {"tools": None}],
    ids=["no tools", "none may be called", "null"],
)
def test_without_tools_it_says_that_it_cannot(change: Row) -> None:
    params = rows_of(WORKPLACE["example"])[0]["responses_create_params"]
    (item,) = messages(ask(PERFECT, {**params, **change}))
    assert item.startswith("I could not do all of this: I would need a tool")


def test_tools_of_another_shape_are_not_called() -> None:
    params = rows_of(WORKPLACE["example"])[0]["responses_create_params"]
    tools = [
        {**tool, "parameters": {"type": "object", "properties": {}, "required": []}}
        for tool in params["tools"]
    ]
    (text,) = messages(ask(PERFECT, {**params, "tools": tools}))
    assert "takes other arguments" in text


def messages(response: Row) -> list[str]:
    assert all(item["type"] in ("message", "reasoning") for item in response["output"])
    return [item["content"][0]["text"] for item in response["output"] if "content" in item]


@pytest.mark.parametrize(
    "request_",
    [
        "Paint the office blue.",
        "",
        'Delete the task "Write the help centre". Paint the office blue.',
        "What is the capital of France?",
        "Compute 1 / 0.",
        "Compute 2 ** 99999999.",
        "A sequence begins with 1, 1, and every further term is the sum of the two before it. "
        "What is its term number 99999999999?",
        "Cancel all my meetings tomorrow.",
    ],
)
def test_it_is_honest_about_what_it_does_not_understand(request_: str) -> None:
    tools = rows_of(WORKPLACE["example"])[0]["responses_create_params"]["tools"]
    (text,) = messages(ask(PERFECT, {"input": request_, "tools": tools}))
    assert text.startswith("I cannot do that")


def test_it_is_honest_about_what_it_does_not_find() -> None:
    row = rows_of(WORKPLACE["example"])[0]
    system = row["responses_create_params"]["input"][0]
    params = {
        **row["responses_create_params"],
        "input": [system, {"role": "user", "content": 'Delete the task "Fly to the moon".'}],
    }
    verdict, items = rollout(ENVIRONMENTS["workplace"]({}), PERFECT, row, params)
    assert items[-1]["content"][0]["text"].startswith("I could not do all of this")
    assert verdict["wrong_change_count"] == 0


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
    limited = seeded({"input": "Compute 1 + 1.", "max_output_tokens": 3}, seed)
    response = ask(PERFECT, limited)
    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert response["usage"]["output_tokens"] == 3


def test_input_may_be_a_text_and_content_may_come_in_parts() -> None:
    parts = [{"type": "input_text", "text": "Compute 1/2 + 1/3."}]
    for given in ("Compute 1/2 + 1/3.", [{"role": "user", "content": parts}]):
        (text,) = messages(ask(PERFECT, {"input": given}))
        assert text.endswith("Answer: 5/6")


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
    assert settings == simulated_model.Settings().model_dump()


@pytest.mark.parametrize(
    ("given", "shown"),
    [("simulated", "simulated"), ("gpt-9", "simulated-gpt-9"), ("Simulated X", "Simulated X")],
)
def test_nobody_takes_it_for_a_real_model(given: str, shown: str) -> None:
    model = SimulatedModel({"model_name": given})
    assert ask(model, {"input": "What is 2 + 3?"})["model"] == shown


FAULTY = {"failure_rate": 0.2, "hang_rate": 0.1, "mask_rate": 0.2, "slip_rate": 0.0}


def fate(model: SimulatedModel, params: Row) -> str:
    """Ask once, and say what became of it."""

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
        [fate(SimulatedModel(FAULTY), seeded(params, seed)) for seed in range(100)]
        for _ in range(2)
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
            if fate(model, request) == "completed":
                return number
        raise AssertionError("no attempt succeeds")

    first, second = ([attempts(request) for request in params] for _ in range(2))
    assert first == second
    assert min(first) == 1
    assert max(first) > 2


def test_without_a_seed_faults_vary() -> None:
    model = SimulatedModel({"failure_rate": 0.5})
    found = {fate(model, {"input": "What is 2 + 3?"}) for _ in range(50)}
    assert found == {"completed", "HTTP 503"}


def test_only_the_first_step_of_a_rollout_goes_wrong() -> None:
    params = rows_of(WORKPLACE["train"])[0]["responses_create_params"]
    (call,) = [item for item in ask(PERFECT, params)["output"] if item["type"] == "function_call"]
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "{}"}
    later = {**params, "input": [*params["input"], call, output]}
    model = SimulatedModel({"failure_rate": 1.0})
    assert fate(model, params) == "HTTP 503"
    assert fate(model, later) == "completed"


def test_faults_leave_the_other_answers_alone() -> None:
    for seed in range(20):
        params = seeded({"input": "What is 2 + 3?"}, seed)
        found = fate(SimulatedModel(FAULTY), params)
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
