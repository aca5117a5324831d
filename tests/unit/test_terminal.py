"""Blocks as plain text and on terminals of any width, messages, and text that is not trusted."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time

import pytest

from collector.terminal import progress
from collector.terminal.blocks import (
    Block,
    Fact,
    Line,
    Styled,
    TextColumn,
    TextTable,
    plain_text,
)
from collector.terminal.drawing import DRAWN_ROWS, draw_blocks, draw_message, draw_progress

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SCORES = TextTable(
    (
        TextColumn(width=13),
        TextColumn("value", 7, "right", "value"),
        TextColumn("95% interval", 16),
        TextColumn("rerun noise", 11, "right"),
    ),
    [("mean reward", "0.6833", "0.6198 … 0.7469", "0.0161"), ("pass@4", "0.8917", "–", "–")],
    indent=4,
)
HOSTILE = "\x1b[31mred[/] [bold]x[/bold] :smile: \x9b2J\r\n\u202e"
HARMLESS = " [31mred[/] [bold]x[/bold] :smile:  2J   "


@pytest.fixture(autouse=True)
def _in_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


def drawn(*blocks: Block, columns: int = 80) -> list[str]:
    return COLOUR.sub("", draw_blocks(blocks, columns=columns)).splitlines()


def test_plain_text_aligns_the_columns() -> None:
    assert plain_text([SCORES]).split("\n") == [
        "                     value  95% interval      rerun noise",
        "    mean reward     0.6833  0.6198 … 0.7469        0.0161",
        "    pass@4          0.8917  –                           –",
    ]


def test_a_wide_terminal_has_the_same_layout_in_colour() -> None:
    blocks: list[Block] = [Line(), Line("Run", 2), Fact("Profile", "a.jsonl"), SCORES]
    text = draw_blocks(blocks, columns=200)
    assert [line.rstrip() for line in drawn(*blocks, columns=200)] == plain_text(blocks).split("\n")
    assert "\x1b[1m 0.6833\x1b[0m" in text


@pytest.mark.parametrize("columns", [12, 36, 46, 60])
def test_no_figure_is_broken_on_a_narrow_terminal(columns: int) -> None:
    lines = drawn(SCORES, columns=columns)
    for figure in ("0.6833", "0.6198 … 0.7469", "0.0161"):
        assert sum(figure in line for line in lines) == 1
    if columns >= 36:
        assert max(map(len, lines)) <= columns


def test_a_table_that_cannot_fit_is_shown_row_by_row() -> None:
    columns = [TextColumn(f"column_{number}") for number in range(9)]
    table = TextTable(columns, [[f"value {number}" for number in range(9)]], has_rule=True)
    lines = drawn(table, columns=40)
    assert lines[0] == "row 1"
    assert lines[9] == "  column_8  value 8"


def test_a_long_table_is_not_drawn() -> None:
    rows = [[str(number)] for number in range(DRAWN_ROWS + 1)]
    table = TextTable([TextColumn("n")], rows)
    assert draw_blocks([table], columns=80) == plain_text([table]) + "\n"


def test_facts_wrap_beside_their_label_but_paths_stay_whole() -> None:
    words = "many words that do not fit into one line"
    assert drawn(Fact("Tasks", words), columns=30) == [
        "Tasks        many words that",
        "             do not fit into",
        "             one line",
    ]
    path = "/a/very/long/path/to/some/rollouts.jsonl"
    assert drawn(Fact("Profile", path), columns=30) == [f"Profile      {path}"]


def test_commands_are_never_broken() -> None:
    command = 'spotter sql "select * from task_bands order by learnability desc"'
    assert drawn(Line(Styled(command, "command"), 4), columns=20) == [f"    {command}"]


@pytest.mark.parametrize("is_table", [False, True], ids=["line", "table"])
def test_text_cannot_act_on_the_terminal(is_table: bool) -> None:
    block: Block = TextTable([TextColumn()], [[HOSTILE]]) if is_table else Line(HOSTILE)
    assert plain_text([block]).rstrip() == HARMLESS.rstrip()
    assert [line.rstrip() for line in draw_blocks([block], columns=80).splitlines()] == [
        HARMLESS.rstrip()
    ]


def test_messages_stand_out() -> None:
    text = draw_message("error: it is broken\n  what to do: mend it\nerror: quoted", columns=80)
    assert text.splitlines() == [
        "\x1b[1;31merror: \x1b[0mit is broken",
        "\x1b[36m  what to do: mend it\x1b[0m",
        "error: quoted",
    ]
    assert draw_message("warning: x", columns=80) == "\x1b[1;33mwarning: \x1b[0mx\n"
    assert draw_message(f"just so {HOSTILE.splitlines()[0]}", columns=9).count("\x1b") == 0


def test_no_color_leaves_no_escape_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    details = [Line(Styled("3 failed", "caution"))]
    texts = [
        draw_blocks([SCORES, Fact("Run", Styled("r", "heading"))], columns=80),
        draw_message("error: broken", columns=80),
        *draw_progress("half", 0.5, details, columns=120),
    ]
    assert "\x1b" not in "".join(texts)
    assert texts[2].count("━") == 15


@pytest.mark.parametrize("columns", [1, 20, 60, 200])
def test_progress_fits_into_its_lines(columns: int) -> None:
    details = [Line(HOSTILE * 20), Line(Styled("x" * 500, "caution"), 2)]
    lines = draw_progress("y" * 500, 0.3, details, columns=columns)
    assert len(lines) == 3
    assert all(len(COLOUR.sub("", line)) <= max(columns - 1, 1) for line in lines)


def test_rich_is_imported_only_to_draw() -> None:
    code = (
        "import sys; from collector import cli; from collector.terminal import say, show, Progress;"
        "from collector.terminal.blocks import Line; show([Line('a')]); say('error: b');"
        "Progress()(1, 2, 'c'); assert 'rich' not in sys.modules"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.stdout, result.stderr) == ("a\n", "error: b\n")


class Screen(io.StringIO):
    """A stream that a terminal reads."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("seconds", "is_shown"), [(0, True), (3600, False)])
def test_progress_begins_after_a_while(
    seconds: float, is_shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "FIRST_SECONDS", seconds)
    display = progress.Progress()
    display(0, 0, "preparing the models")
    while is_shown and "preparing the models" not in screen.getvalue():
        time.sleep(0.01)
    display.clear()
    assert ("preparing the models" in screen.getvalue()) == is_shown
