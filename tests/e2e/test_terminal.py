"""What a person sees on a terminal: colour, tables that fit, progress that goes away again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.held_programs import hold_first_bar
from tests.programs import run_process
from tests.support import (
    Profiled,
    inputs_of,
    key,
    profiled,
    through_terminal,
    without_progress,
    write_run,
)

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
QUERY = "select agent_name, score, value from agent_scores where slice_by = 'all' order by score"
HOSTILE = "\x1b[2Jred[/] [bold]x"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    rows = [key(task, index, reward=index) for task in range(3) for index in range(2)]
    masked = key(3, 0, reward=1, mask_sample=True)
    inputs = inputs_of([*rows, masked, key(4, 0)])
    folder = tmp_path_factory.mktemp("terminal")
    return profiled(write_run(folder, [*rows, masked], inputs=inputs), "--allow-partial")


def look(run: Profiled, *words: str, **options: Any) -> str:
    return through_terminal(*words, cwd=run.rollouts.parent, **options)


def profile(run: Profiled, **options: Any) -> str:
    words = ("profile", run.rollouts.name, "--allow-partial", "--run-id", "r")
    return look(run, *words, **options)


def test_values_and_warnings_stand_out(run: Profiled) -> None:
    text = without_progress(profile(run))
    assert re.search(r"mean reward +\x1b\[1m 0\.5000\x1b\[0m  ", text)
    assert "\x1b[33m7/8 (87.50%)\x1b[0m\x1b[33m, 1 of them masked\x1b[0m" in text
    assert "\n\x1b[1;33mwarning: \x1b[0mr is partial" in text


@pytest.fixture(scope="module")
def with_progress(run: Profiled) -> str:
    """A profile on a terminal without colour that has seen its progress."""
    return profile(run, prepare=hold_first_bar, NO_COLOR="1")


def test_the_progress_is_gone_in_the_end(with_progress: str) -> None:
    assert "━" in with_progress
    left = without_progress(with_progress)
    assert "━" not in left
    assert left.startswith("Run          r  (run.jsonl)\n")


def test_no_color_is_followed(with_progress: str) -> None:
    assert set(ESCAPE.findall(with_progress)) == {"\x1b[1A", "\x1b[2K"}


def test_a_dumb_terminal_gets_what_a_pipe_gets(run: Profiled) -> None:
    text = profile(run, TERM="dumb")
    words = ("profile", run.rollouts.name, "--allow-partial", "--run-id", "r")
    piped = run_process("spotter", *words, cwd=run.rollouts.parent)
    assert text == piped.stdout + piped.stderr


def test_a_narrow_terminal_keeps_the_figures_whole(run: Profiled) -> None:
    text = COLOUR.sub("", without_progress(profile(run, columns=60)))
    scores = [line for line in text.splitlines() if line.startswith(("    mean rew", "    pass"))]
    assert len(scores) == 4
    assert all(re.fullmatch(r" +\S+( reward)? +\d\.\d{4} .*\d", line) for line in scores)
    assert max(map(len, scores)) <= 60


def test_names_bring_no_escape_sequence_or_markup(run: Profiled, tmp_path: Path) -> None:
    rows = [key(0, 0, agent_ref={"name": HOSTILE}, reward=1)]
    text = without_progress(profile(write_run(tmp_path, rows, inputs=inputs_of(rows))))
    assert "\x1b[1m [2Jred[/] [bold]x\x1b[0m" in text
    # without the progress, which only one of the two may take long enough to show
    usual = ESCAPE.findall(without_progress(profile(run)))
    assert set(ESCAPE.findall(text)) <= {*usual, "\x1b[32m"}


def test_query_results_are_a_box_that_fits(run: Profiled) -> None:
    wide = COLOUR.sub("", look(run, "sql", QUERY)).splitlines()
    assert wide[1].replace("│", " ").split() == ["agent_name", "score", "value"]
    assert wide[-1] == f"{len(wide) - 6} rows"
    assert len({len(line.rstrip()) for line in wide[:-1]}) == 1
    narrow = COLOUR.sub("", look(run, "sql", "select * from agent_scores limit 1", columns=60))
    assert max(map(len, narrow.splitlines())) <= 60
    assert "…" in narrow


def test_errors_stand_out(run: Profiled) -> None:
    text = without_progress(look(run, "profile", "gone.jsonl"))
    assert text.startswith("\x1b[1;31merror: \x1b[0m")


def test_scripts_get_the_same_on_a_terminal(run: Profiled) -> None:
    for option in ("--json", "--csv"):
        piped = run_process("spotter", "sql", QUERY, option, cwd=run.rollouts.parent)
        assert look(run, "sql", QUERY, option) == piped.stdout.replace("\r\n", "\n")
