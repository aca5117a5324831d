"""The headlines of `spotter profile`: what it prints of the statistics, and what `--json` gives."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.programs import run_command
from tests.responses import response, says
from tests.support import (
    Profiled,
    Row,
    inputs_of,
    key,
    numbered,
    read_json,
    run_profile,
    write_lines,
    write_run,
)

NUMBER = re.compile(r"-?\d+\.\d{4}")


@dataclass(frozen=True)
class Printed:
    """A profiled run with what the command said, for people and as JSON."""

    run: Profiled
    lines: list[str]
    warnings: str
    data: Row

    def block(self, agent: str) -> list[str]:
        """The lines of one agent."""
        start = self.lines.index(f"  {agent}")
        return self.lines[start + 1 : self.lines.index("", start)]

    def line(self, agent: str, label: str) -> str:
        (line,) = (line for line in self.block(agent) if line.split("  ")[2:3] == [label])
        return line

    def agent(self, name: str) -> Row:
        agents: dict[str, Row] = {agent["agent_name"]: agent for agent in self.data["agents"]}
        return agents[name]


def printed(run: Profiled, *options: str) -> Printed:
    text, data = (
        run_profile(run.rollouts, *options, *more, cwd=run.rollouts.parent)
        for more in ((), ("--json",))
    )
    assert (text.returncode, data.returncode) == (0, 0), text.stderr + data.stderr
    assert text.stderr == data.stderr
    (only,) = read_json(data.stdout)["runs"]
    return Printed(run, text.stdout.split("\n"), text.stderr, only)


def shown(line: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(line)]


def rounded(*values: float) -> list[float]:
    return [round(value, 4) for value in values]


# --- a run with a partial agent that has every finding, a sound one, and one without a rollout


def told(task: int, rollout: int, agent: str, reward: float | None, **fields: object) -> Row:
    said = response(says(f"{task} {rollout}"))
    return key(task, rollout, agent_ref={"name": agent}, reward=reward) | said | fields


PARTIAL = [
    told(0, 0, "agent_a", 1, extracted_answer="7", **response(says("cut"), status="incomplete")),
    told(0, 1, "agent_a", 1, extracted_answer="7", **response(says("again"))),
    told(0, 2, "agent_a", 0, extracted_answer="8", **response(says("again"))),
    told(1, 0, "agent_a", 0, extracted_answer="5", **response()),
    told(1, 1, "agent_a", 0, extracted_answer="5"),
    told(1, 2, "agent_a", 0.5, extracted_answer="5"),
    told(2, 0, "agent_a", 1, extracted_answer="1", **response(says("unmetered"), usage={})),
    told(2, 1, "agent_a", None, extracted_answer="2"),
    told(2, 2, "agent_a", 1, extracted_answer="3"),
    told(3, 0, "agent_a", 1, extracted_answer="1"),
    told(3, 2, "agent_a", 0, extracted_answer="2"),
]
SOUND = {4: [1.0] * 16, 5: [1.0, 0.0, 1.0, 0.0], 6: [0.0] * 16}
FAILED = [(3, 1, "transport_timeout"), (3, 1, "transport_timeout"), (0, 0, "judge_failed")]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    sound = [
        told(task, index, "agent_b", reward)
        for task, rewards in SOUND.items()
        for index, reward in enumerate(rewards)
    ]
    missing = [told(3, 1, "agent_a", None), told(7, 0, "agent_c", None)]
    inputs = [
        {**row, "category": "easy" if row["_ng_task_index"] in (0, 2) else "hard"}
        for row in inputs_of([*PARTIAL, *sound, *missing])
    ]
    run = write_run(tmp_path_factory.mktemp("mixed"), [*PARTIAL, *sound], inputs=inputs)
    failures = [
        key(task, index, agent_ref={"name": "agent_a"}, _ng_failure_class=kind)
        for task, index, kind in FAILED
    ]
    write_lines(run.failures, failures)
    return printed(run, "--allow-partial", "--slice-by", "category")


LABELS = {
    "mean_reward": "mean reward",
    "pass_rate": "pass@1",
    "pass_at_k": "pass@3",
    "pass_hat_k": "pass^3",
    "max_at_k": "best of 3",
    "min_at_k": "worst of 3",
    "majority_at_k": "majority@3",
}


@pytest.mark.parametrize(
    ("score", "value"),
    [
        ("mean_reward", (2 / 3 + 1 / 6 + 1 + 1 / 2) / 4),
        ("pass_rate", (2 / 3 + 0 + 1 + 1 / 2) / 4),
        ("pass_at_k", 1 / 2),
        ("pass_hat_k", 0),
        ("max_at_k", (1 + 0.5) / 2),
        ("majority_at_k", (1 + 1 / 6) / 2),
    ],
)
def test_a_score_is_shown_with_its_interval(score: str, value: float, mixed: Printed) -> None:
    (row,) = mixed.run.table(
        f"from agent_scores where agent_name = 'agent_a' and slice_by = 'all' and score = '{score}'"
    )
    line = mixed.line("agent_a", LABELS[score])
    assert shown(line)[:3] == rounded(value, row["low"], row["high"])
    assert line.split()[-1] == str(row["task_count"])


def test_a_score_that_only_repeats_another_is_left_out(mixed: Printed) -> None:
    labels = [line.split("  ")[2] for line in mixed.block("agent_a") + mixed.block("agent_b")]
    assert "worst of 3" not in labels
    assert "best of 16" not in labels
    assert "majority@16" not in labels


@pytest.mark.parametrize(("category", "value"), [("easy", 5 / 6), ("hard", 1 / 3)])
def test_the_mean_reward_is_shown_by_slice(category: str, value: float, mixed: Printed) -> None:
    lines = mixed.block("agent_a")
    slices = lines[lines.index("    mean reward by category") + 1 :]
    (line,) = (line for line in slices if line.split()[0] == category)
    assert shown(line)[0] == round(value, 4)
    assert "2 tasks" in line


def test_failures_are_shown_by_class(mixed: Printed) -> None:
    assert "10 of 12 rollouts" in mixed.line("agent_a", "clean")
    assert "transport_timeout 2, judge_failed 1" in mixed.line("agent_a", "clean")
    assert "failed" not in mixed.line("agent_b", "clean")


def test_what_failures_could_make_of_the_mean_is_shown(mixed: Printed) -> None:
    row = next(line for line in mixed.lines if line.split()[:1] == ["agent_a"] and shown(line))
    assert shown(row)[0] == 0.55
    (line,) = (line for line in mixed.block("agent_a") if "2 without a reward" in line)
    assert shown(line) == rounded(5.5 / 12, 5.5 / 12, 7.5 / 12)
    assert not any("without a reward" in line for line in mixed.block("agent_b"))


def test_what_more_data_would_bring_is_shown(mixed: Printed) -> None:
    assert any("more data" in line for line in mixed.lines)
    for agent in mixed.data["agents"]:
        shown = [line for line in mixed.block(agent["agent_name"]) if "more data" in line]
        assert [NUMBER.findall(line) for line in shown] == [
            [f"{row['std_error_double_tasks']:.4f}", f"{row['std_error_double_repeats']:.4f}"]
            for row in agent["scores"]
            if row["score"] == "mean_reward"
            and row["slice_by"] == "all"
            and row["std_error_double_repeats"] is not None
        ]


def test_the_queries_that_are_shown_can_be_asked(mixed: Printed) -> None:
    shown = [line.split('"')[1] for line in mixed.lines if '"select' in line]
    assert len(shown) == 2
    for query in shown:
        assert mixed.run.query(query)


def test_the_queries_for_a_run_with_an_odd_name_show_that_run(tmp_path: Path) -> None:
    rows = [key(task, index, reward=index) for task in range(2) for index in range(2)]
    for name in ("other", "it's $HOME `a`"):
        mine = rows[: 2 if name == "other" else 4]
        run = write_run(tmp_path, mine, inputs=inputs_of(mine), name="odd")
        done = run_profile(run.rollouts.name, "--run-id", name, cwd=tmp_path)
    (query,) = (line for line in done.stdout.splitlines() if "learnability" in line)
    command, *words = shlex.split(query)
    shown = run_command(command, *words, "--json", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert len(read_json(shown.stdout)) == 2


def test_bands_are_counted(mixed: Printed) -> None:
    line = mixed.line("agent_b", "tasks")
    assert "1 learnable, 1 solved, 1 unsolved; rewards differ in 1 of 3" in line
    assert "4 undecided; rewards differ in 3 of 4" in mixed.line("agent_a", "tasks")


def test_findings_are_counted(mixed: Printed) -> None:
    found = [line.split("look at")[1].strip() for line in mixed.block("agent_a") if "look" in line]
    counts = {
        "with empty output": 1,
        "truncated": 1,
        "without usage": 1,
        "that repeat a response and do not pass": 1,
        "whose answer got different rewards in its task": 3,
        "of tasks that nobody solves although the answers agree": 3,
    }
    assert found == [f"{count} {what}" for what, count in counts.items()]
    assert not any("look at" in line for line in mixed.block("agent_b"))


def test_a_partial_run_says_loudly_that_it_is_biased(mixed: Printed) -> None:
    assert "is partial: 2 rollouts missing, 1 task dropped" in mixed.warnings
    assert "Rollouts that finish first are usually the short ones" in mixed.warnings
    assert "agent_a 0.4583 to 0.6250, agent_c 0.0000 to 1.0000" in mixed.warnings
    assert "agent_b" not in mixed.warnings


def test_json_holds_the_rows_of_the_marts(mixed: Printed) -> None:
    names = [agent["agent_name"] for agent in mixed.data["agents"]]
    assert names == ["agent_a", "agent_b", "agent_c"]
    for agent in mixed.data["agents"]:
        own = f"where agent_name = '{agent['agent_name']}' order by all"
        for field, mart in (("scores", "agent_scores"), ("failures", "failure_classes")):
            rows = mixed.run.table(f"select * exclude (run_id, agent_name) from {mart} {own}")
            assert sorted(agent[field], key=repr) == sorted(rows, key=repr)
        (row,) = mixed.run.table(
            f"select * exclude (run_id, agent_name) from agent_reliability {own}"
        )
        assert agent["reliability"] == row


def test_json_counts_bands_and_findings(mixed: Printed) -> None:
    assert mixed.agent("agent_b")["bands"] == [
        {"band": band, "task_count": 1, "informative_task_count": count}
        for band, count in (("learnable", 1), ("solved", 0), ("unsolved", 0))
    ]
    assert list(mixed.agent("agent_a")["health"].values()) == [1, 1, 1, 1, 3, 3, 0, 0, 0, 0, 0, 6]
    assert set(mixed.agent("agent_b")["health"].values()) == {0}


def test_an_agent_without_a_rollout_is_there_too(mixed: Printed) -> None:
    agent = mixed.agent("agent_c")
    assert (agent["scores"], agent["bands"], agent["health"]) == ([], [], None)
    assert agent["reliability"]["reward_mean"] is None
    assert "0 of 1 rollout" in mixed.line("agent_c", "clean")


def test_figures_that_do_not_exist_are_null(tmp_path: Path) -> None:
    rows = numbered({"huge": [[1e308, -1e308, 1.7e308], [1.7e308] * 3], "none": [[None], [None]]})
    run = printed(write_run(tmp_path, rows, inputs=inputs_of(rows)))
    scores = {row["score"]: row for row in run.agent("huge")["scores"]}
    assert scores["mean_reward"]["std_error"] is None
    assert run.agent("none")["reliability"]["reward_mean"] is None
    assert not re.search(r"\b(nan|inf)", "\n".join(run.lines), re.IGNORECASE)


# --- many agents and slices


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """12 agents, the first with tasks of 25 kinds; nothing is wrong with them."""
    agents = {f"agent_{i:02}": [[1.0, 0.0]] * (25 if i == 0 else 2) for i in range(12)}
    rows = [{**row, "kind": row["_ng_task_index"] % 25} for row in numbered(agents)]
    run = write_run(tmp_path_factory.mktemp("many"), rows, inputs=inputs_of(rows))
    return printed(run, "--slice-by", "kind")


def test_ten_agents_are_shown_and_more_are_said_to_be_there(many: Printed) -> None:
    shown = [line.strip() for line in many.lines if re.fullmatch(r"  agent_\d\d", line)]
    assert shown == [f"agent_{i:02}" for i in range(10)]
    (line,) = (line for line in many.lines if "2 more agents" in line)
    assert "agent_scores" in line
    assert len(many.data["agents"]) == 12


def test_twenty_slices_are_shown_and_more_are_said_to_be_there(many: Printed) -> None:
    block = many.block("agent_00")
    assert sum("1 task" in line for line in block) == 20
    assert any("… and 5 more" in line for line in block)
    slices = [row for row in many.agent("agent_00")["scores"] if row["slice_by"] == "kind"]
    assert len({row["slice_value"] for row in slices}) == 25


def test_a_complete_run_warns_of_nothing(many: Printed) -> None:
    assert many.warnings == ""
