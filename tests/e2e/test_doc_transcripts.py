"""The transcripts in README.md and docs/ show what their commands print."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.programs import run_command
from tests.support import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
STEP = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# differs from time to time: when, and how long
CHANGING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|\d+\.\d s\b")
# what these commands print about runs and servers that the documentation does not bring along
ILLUSTRATIONS = {
    "collecting.md": ["spotter collect -a my_agent"],
    "comparing.md": ["spotter compare results", "spotter compare results", "spotter compare step"],
    "compatibility.md": ["ng_status +head_server"],
    "curating.md": ["spotter curate results"],
    # test_gym_commands.py runs these
    "environments.md": ["spotter test counter.py", "spotter test counter.py --write"],
}


@dataclass(frozen=True)
class Step:
    """A command of a transcript, and what the page says that it prints."""

    page: str
    command: str
    output: str

    @property
    def is_of_demo(self) -> bool:
        return self.command == "spotter demo" or "spotter-demo/" in self.command


def steps(page: Path) -> Iterator[Step]:
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for command, output in STEP.findall(block):
            assert language == "console", f"{page.name}: {command} is not in a console block"
            yield Step(page.name, re.sub(r"\s+#.*|\\\n\s*", "", command), output)


def pattern(output: str) -> str:
    """What a page shows as an expression: `…` on a line of its own is any number of lines."""
    lines = (
        r"(?:.*\n)*?"
        if line == "…\n"
        else ".*?".join(map(re.escape, CHANGING.split(line.rstrip()))) + r" *\n"
        for line in output.splitlines(keepends=True)
    )
    return "".join(lines)


STEPS = [step for page in PAGES for step in steps(page)]
OF_DEMO = [step for step in STEPS if step.is_of_demo]


@pytest.mark.slow
def test_what_the_pages_show_of_the_demo_is_what_it_prints(workspace: Path) -> None:
    assert OF_DEMO[0].command == "spotter demo"
    assert sum(bool(step.output) for step in OF_DEMO) >= 3
    for step in OF_DEMO:
        done = run_command(*shlex.split(step.command), cwd=workspace)
        assert done.returncode == 0, (step, done.stderr)
        printed = done.stderr + done.stdout
        assert re.fullmatch(pattern(step.output or "…\n"), printed), f"{step}\n{printed}"


def test_every_other_transcript_is_known_to_be_an_illustration() -> None:
    others = [step for step in STEPS if step.output and not step.is_of_demo]
    for page, commands in ILLUSTRATIONS.items():
        own = [step.command for step in others if step.page == page]
        assert len(own) == len(commands), (page, own)
        assert all(map(str.startswith, own, commands)), (page, own)
    assert {step.page for step in others} == ILLUSTRATIONS.keys()
