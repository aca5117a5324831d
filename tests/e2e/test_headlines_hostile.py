"""Names and values that try to act on the terminal, or to look like a line of the headlines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import (
    Profiled,
    inputs_of,
    key,
    on_terminal,
    read_json,
    run_profile,
    write_lines,
    write_run,
)

OPTIONS = ("--allow-partial", "--slice-by", "kind")
WIDEST = 160
LONG = "x" * 10_000
HOSTILE = {
    "colour": "\x1b[31mred",
    "clear_screen": "\x1b[2J\x1b[H",
    "title": "\x1b]0;title\x07",
    "eight_bit_codes": "\x9b31m\x00\x07\x08",
    "newline": "two\n  lines",
    "carriage_return": "two\rlines",
    "other_line_ends": "one\x0btwo\x0cthree\x85four\u2028five\u2029six",
    "right_to_left": "\u202egnp.exe",
    "isolates": "\u2067a\u2069",
    "zero_width": "a\u200bb\ufeffc",
}


def write_named(folder: Path, text: str, *, agent: str) -> Profiled:
    """A partial run with a slice and answers of this text; its failure is named as the agent."""
    whose = {"agent_ref": {"name": agent}}
    named = {**whose, "kind": text, "extracted_answer": text}
    rows = [key(task, index, **named, reward=index) for task in range(2) for index in range(2)]
    run = write_run(folder, rows, inputs=inputs_of([*rows, key(0, 2, **whose)]))
    write_lines(run.failures, [key(0, 2, **whose, _ng_failure_class=agent)])
    return run


def lines_of(run: Profiled) -> list[str]:
    arguments = ("profile", run.rollouts.name, *OPTIONS, "--run-id", "run")
    return on_terminal(*arguments, cwd=run.rollouts.parent).split("\n")


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("harmless")
    return lines_of(write_named(folder, "harmless", agent="harmless"))


def test_harmless_names_are_shown_as_they_are(harmless: list[str]) -> None:
    assert sum("harmless" in line for line in harmless) == 5


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_names_do_not_act_on_the_terminal(text: str, harmless: list[str], tmp_path: Path) -> None:
    lines = lines_of(write_named(tmp_path, text, agent=text))
    assert [line for line in lines if not line.isprintable()] == []
    assert len(lines) == len(harmless)
    numbers = [line.split()[-4:] for line in harmless if line.startswith("    pass")]
    assert [line.split()[-4:] for line in lines if line.startswith("    pass")] == numbers


def test_long_names_leave_the_lines_short(harmless: list[str], tmp_path: Path) -> None:
    lines = lines_of(write_named(tmp_path, LONG, agent=LONG))
    assert len(lines) == len(harmless)
    assert max(map(len, lines)) <= WIDEST


def test_file_names_do_not_act_on_the_terminal(tmp_path: Path) -> None:
    run = write_named(tmp_path, "harmless", agent="harmless")
    odd = "na\x1b[31mme\nx"
    for path in (run.rollouts, run.inputs, run.failures):
        path.rename(path.with_name(path.name.replace("run", odd)))
    shown = on_terminal("profile", f"{odd}.jsonl", *OPTIONS, cwd=tmp_path)
    assert "is partial" in shown
    assert [line for line in shown.split("\n") if not line.isprintable()] == []


def test_slices_that_begin_alike_stay_apart(tmp_path: Path) -> None:
    rows = [key(task, 0, reward=task, kind=LONG + str(task)) for task in range(2)]
    run = write_run(tmp_path, rows, inputs=inputs_of(rows))
    assert run_profile(run.rollouts.name, "--slice-by", "kind", cwd=tmp_path).returncode == 0
    values = run.query("select distinct slice_value from agent_scores where slice_by = 'kind'")
    assert len(values) == 2
    assert all(len(value) == 200 for (value,) in values)


def test_json_keeps_them_as_they_are(tmp_path: Path) -> None:
    for name, text in HOSTILE.items():
        write_named(tmp_path / name, text, agent=text)
    result = run_profile(tmp_path, *OPTIONS, "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    found = {Path(run["rollouts"]).parent.name: run for run in read_json(result.stdout)["runs"]}
    assert set(found) == set(HOSTILE)
    for name, text in HOSTILE.items():
        (agent,) = found[name]["agents"]
        slices = [row["slice_value"] for row in agent["scores"] if row["slice_by"] == "kind"]
        assert {agent["agent_name"], *slices} == {text}
        assert [row["failure_class"] for row in agent["failures"]] == [text]
