"""Every command explains itself, on the terminal and in the docs."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from collector.cli import COMMANDS, HELP, known_overrides, make_app
from collector.errors import ServerError
from collector.overrides import ANY
from tests.programs import run_command
from tests.support import ROOT

APP = make_app(*COMMANDS)
PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
with_tables = runpy.run_path(str(ROOT / "docs" / "site" / "option_tables.py"))["with_tables"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_describes_every_option(command: str, flag: str) -> None:
    result = CliRunner().invoke(APP, [command, flag])
    assert result.exit_code == 0
    assert f"spotter {command} " in result.output.split("Arguments:")[0]
    group = typer.main.get_command(APP)
    for parameter in group.commands[command].params:  # type: ignore[attr-defined]
        assert parameter.help, f"{command} {parameter.name} has no help"


@pytest.mark.parametrize("command", COMMANDS)
def test_an_override_shows_the_help_too(command: str, workspace: Path) -> None:
    done = run_command("spotter", command, "+h=true", cwd=workspace)
    assert done.returncode == 0
    assert f"spotter {command} " in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_the_docs_show_the_command(command: str) -> None:
    assert f"## spotter {command}" in PAGE
    for name, override in known_overrides(command, with_serve=True).items():
        # the page has a rule for names that are those of the flags
        is_alike = override.flag == f"--{name.replace('_', '-')}"
        assert is_alike or name in (ANY, *HELP) or f"+{name}=" in PAGE


@pytest.mark.parametrize("command", COMMANDS)
def test_the_docs_have_the_table_of_the_options(command: str) -> None:
    section = PAGE.split(f"## spotter {command}\n")[1].split("\n## ")[0]
    assert section.count(f"<!-- options of spotter {command} -->\n| option |") == 1


def test_documented_and_declared_options_are_the_same() -> None:
    assert with_tables(PAGE) == PAGE, "run python docs/site/option_tables.py"


def test_a_changed_option_changes_its_row() -> None:
    changed = PAGE.replace("| `--shard K/N` |", "| `--part K/N` |")
    assert changed != PAGE
    assert with_tables(changed) == PAGE


def test_the_list_of_commands_needs_no_options() -> None:
    """And the help of most commands needs nothing that takes long to import."""
    slow = {"aggregate", "collect", "reverify"}  # their options are the fields of pydantic models
    calls = [["--help"], *([name, "--help"] for name in COMMANDS if name not in slow)]
    code = (
        "import contextlib, sys; from collector.cli import main\n"
        f"for words in {calls}:\n"
        "    with contextlib.suppress(SystemExit): main(words)\n"
        "print({'pydantic', 'duckdb', 'rich', 'httpx'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(f"  {command} " in done.stdout for command in COMMANDS)
    assert done.stdout.endswith("\nset()\n")


def test_no_placeholder_is_left_in_the_documents() -> None:
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = re.sub(
            r"\b(SPOTTER|WANDB|MLFLOW|NEMO|NO|SLURM|AWS|SPARK|JAVA)_[A-Z_]+",
            "",
            path.read_text(encoding="utf-8"),
        )
        assert not re.search(r"[A-Z]{2,}_[A-Z]{2,}", text), path


def test_version_is_told() -> None:
    result = CliRunner().invoke(APP, ["--version"])
    assert result.output.startswith("spotter 0.")


def test_the_docs_example_of_the_python_api_runs() -> None:
    """As written, but for the server: there is none, and the error says so."""
    text = (ROOT / "docs" / "collecting.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    with pytest.raises(ServerError, match="my_agent cannot be reached"):
        exec(code.replace(":8000", ":1"), {})  # noqa: S102
