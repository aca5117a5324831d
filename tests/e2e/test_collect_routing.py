"""Which agents run the rows, and whether a run can be resumed whoever began it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collector.collection.collected import Collected
from collector.errors import UsageError
from tests.collecting import Told, collected, metrics_of, record_of
from tests.gym import AGENT, Gym, GymFactory, keys_of, rows_of, write_tasks
from tests.support import Row

OWN: Row = {"agent_ref": {"type": "responses_api_agents", "name": "other_agent"}}

pytestmark = pytest.mark.usefixtures("quick_retries")


def agents_of(rows: list[Row]) -> list[str]:
    return [row["agent_ref"]["name"] for row in rows]


def test_agent_name_overrides_every_row_and_says_so_once(
    start_gym: GymFactory, workspace: Path
) -> None:
    told = Told()
    tasks = write_tasks(workspace, [OWN, {}, OWN])
    result = collected(start_gym(), tasks, told, agent_name=AGENT)
    assert agents_of(rows_of(result.files.rollouts)) == [AGENT] * 3
    assert told.lines == [
        "warning: agent_name overrides the agent_ref of rows: other_agent → my_agent (2 rows)"
    ]


def test_one_task_is_run_by_several_agents(start_gym: GymFactory, workspace: Path) -> None:
    tasks = write_tasks(workspace, [OWN, {"agent_ref": {"name": "third"}}])
    result = collected(
        start_gym(),
        tasks,
        agent_map={"third": "source_agent"},
        fan_out={"other_agent": [AGENT, "other_agent"]},
        num_repeats={AGENT: 2, "third": 3, "_default": 1},
    )
    kept = sorted(rows_of(result.files.rollouts), key=lambda row: keys_of([row]))
    assert keys_of(kept) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert agents_of(kept) == [AGENT, AGENT, "other_agent", *["source_agent"] * 3]
    counts = {e["agent_ref"]["name"]: e["agent_metrics"]["count"] for e in metrics_of(result)}
    assert counts == {AGENT: 2, "other_agent": 1, "source_agent": 3}


def test_names_that_no_row_has_are_told(start_gym: GymFactory, workspace: Path) -> None:
    told = Told()
    collected(
        start_gym(),
        write_tasks(workspace, [OWN]),
        told,
        agent_map={"othr_agent": AGENT, "_default": AGENT},
        fan_out={"nobody": [AGENT]},
        num_repeats={"noone": 2, "_default": 1},
    )
    assert told.lines[1:] == [
        "warning: num_repeats has names that no row has: noone",
        "warning: agent_map has names that no row has: othr_agent",
        "warning: fan_out has names that no row has: nobody",
    ]


def test_a_task_source_is_run_by_the_agent_of_the_config(
    start_gym: GymFactory, workspace: Path
) -> None:
    tasks = write_tasks(workspace, [{"task_source": "my_source"}])
    result = collected(start_gym(), tasks)
    (kept,) = rows_of(result.files.rollouts)
    assert (kept["agent_ref"], kept["task_source"]) == ({"name": "source_agent"}, "my_source")


def test_a_task_source_without_an_agent_says_how_to_name_one(
    start_gym: GymFactory, workspace: Path
) -> None:
    tasks = write_tasks(workspace, [{"task_source": "nowhere"}])
    with pytest.raises(UsageError, match=r"agent_map=\{nowhere: AGENT\}"):
        collected(start_gym(), tasks)
    assert [path.name for path in workspace.iterdir()] == ["tasks.jsonl"]


def test_an_agent_without_an_address_is_found_behind_its_environment_server(
    start_gym: GymFactory, workspace: Path
) -> None:
    result = collected(start_gym(), write_tasks(workspace, 1), agent_name="hidden_agent")
    assert agents_of(rows_of(result.files.rollouts)) == ["hidden_agent"]


def begin(gym: Gym, tasks: Path, kept: int, **settings: Any) -> Collected:
    """Collect, then leave the files of a run that was stopped and has no record."""
    result = collected(gym, tasks, **settings)
    result.files.record.unlink()
    lines = result.files.rollouts.read_bytes().splitlines(keepends=True)
    result.files.rollouts.write_bytes(b"".join(lines[:kept]))
    return result


@pytest.mark.parametrize("is_given", [True, False])
def test_interleaved_repeats_can_be_resumed(
    start_gym: GymFactory, workspace: Path, is_given: bool
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 3)
    settings: Row = {"agent_name": AGENT, "num_repeats": 2}
    begun = begin(gym, tasks, 2, **settings, interleave_repeats=True)
    order = keys_of(rows_of(begun.files.inputs))
    assert order == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]
    result = collected(gym, tasks, **settings, interleave_repeats=is_given, resume_from_cache=True)
    assert (result.completed_count, result.new_count) == (6, 4)
    assert keys_of(rows_of(result.files.inputs)) == order


def test_a_run_whose_rows_kept_their_agents_goes_on_like_that(
    start_gym: GymFactory, workspace: Path
) -> None:
    """Until NeMo Gym 0.5, agent_name was only for rows without an agent."""
    gym = start_gym()
    tasks = write_tasks(workspace, [OWN, {}])
    begin(gym, tasks, 1, agent_map={"other_agent": "other_agent"}, agent_name=AGENT)
    result = collected(gym, tasks, agent_name=AGENT, resume_from_cache=True)
    assert sorted(agents_of(rows_of(result.files.rollouts))) == [AGENT, "other_agent"]
    assert record_of(result)["settings"]["keeps_own_agents"] is True
    more = collected(gym, tasks, agent_name=AGENT, num_repeats=2, resume_from_cache=True)
    agents = agents_of(rows_of(more.files.inputs))
    assert agents == ["other_agent", "other_agent", AGENT, AGENT]


def test_a_record_without_the_new_settings_is_of_such_a_run(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [OWN, {}])
    begun = collected(gym, tasks, agent_name=AGENT, agent_map={"other_agent": "other_agent"})
    record = record_of(begun)
    for name in ("agent_map", "fan_out", "keeps_own_agents", "interleave_repeats"):
        del record["settings"][name]
    begun.files.record.write_text(json.dumps(record), encoding="utf-8")
    result = collected(gym, tasks, agent_name=AGENT, num_repeats=2, resume_from_cache=True)
    assert sorted(agents_of(rows_of(result.files.rollouts))) == [AGENT] * 2 + ["other_agent"] * 2


def test_a_run_of_nemo_gym_is_known_by_its_rows_not_by_their_form(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 2)
    begun = begin(gym, tasks, 1, agent_name=AGENT)
    rows = rows_of(begun.files.inputs)
    other = [
        {**row, "agent_ref": {"type": "responses_api_agents", "name": AGENT}} for row in rows[::-1]
    ]
    text = "".join(json.dumps(row, sort_keys=True) + "\n" for row in other)
    begun.files.inputs.write_text(text, encoding="utf-8")
    stamp = {"_ng_environment_server": "my_agent_environment_server", "_ng_result_type": "x"}
    kept = [{**row, **stamp} for row in rows_of(begun.files.rollouts)]
    lines = "".join(json.dumps(row) + "\n" for row in kept)
    begun.files.rollouts.write_text(lines, encoding="utf-8")
    result = collected(gym, tasks, agent_name=AGENT, resume_from_cache=True)
    assert result.completed_count == 2
    (entry,) = metrics_of(result)  # the rollout of NeMo Gym counts for the same agent
    assert entry["agent_metrics"]["count"] == 2
    assert begun.files.inputs.read_text(encoding="utf-8") == text
    begun.files.record.unlink()
    with pytest.raises(UsageError, match="agent_name: the rows of the run have another agent_ref"):
        collected(gym, tasks, agent_name="other_agent", resume_from_cache=True)


def test_more_repeats_would_mix_the_agents_of_a_fan_out(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [OWN])
    fan_out = {"other_agent": [AGENT, "other_agent"]}
    collected(gym, tasks, fan_out=fan_out)
    with pytest.raises(UsageError, match="with fan_out the agents share the indices"):
        collected(gym, tasks, fan_out=fan_out, num_repeats=2, resume_from_cache=True)


def test_agent_name_is_short_for_the_default_of_agent_map(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 1)
    collected(gym, tasks, agent_name=AGENT)
    again = collected(gym, tasks, agent_map={"_default": AGENT}, resume_from_cache=True)
    assert again.new_count == 0
    with pytest.raises(UsageError, match=r"agent_map: it was \{\}, now"):
        collected(gym, tasks, agent_map={"_default": "other_agent"}, resume_from_cache=True)


def test_captures_that_nobody_here_merges_are_told(start_gym: GymFactory, workspace: Path) -> None:
    told = Told()
    collected(start_gym("--observed"), write_tasks(workspace, 1), told, agent_name=AGENT)
    (line,) = told.lines
    assert "observability_enabled" in line
    assert AGENT in line
