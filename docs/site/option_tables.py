"""Write the option tables of docs/commands.md from the options' declarations.

.venv/bin/python docs/site/option_tables.py
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from collector.cli import COMMANDS, known_overrides, make_app
from collector.overrides import ANY

PAGE = Path(__file__).parents[1] / "commands.md"
TABLE = re.compile(r"(<!-- options of spotter (\w+) -->\n).*?(<!-- end of options -->)", re.DOTALL)
HEAD = ("option", "override", "meaning", "default")


def with_tables(page: str) -> str:
    """Return the page with each option table as the options are declared now."""
    group: Any = typer.main.get_command(make_app(*COMMANDS))
    return TABLE.sub(
        lambda found: found[1] + _table(found[2], group.commands[found[2]].params) + found[3], page
    )


def _table(command: str, parameters: list[Any]) -> str:
    keys = {
        override.flag: key for key, override in known_overrides(command, with_serve=True).items()
    }
    rows = [
        (_option(parameter), _override(parameter, keys), parameter.help, _default(parameter))
        for parameter in parameters
        if not getattr(parameter, "hidden", False)
    ]
    columns = [column for column in zip(HEAD, *rows, strict=True) if any(column[1:])]
    head, *lines = [" | ".join(cells) for cells in zip(*columns, strict=True)]
    rule = " | ".join("---" for _ in columns)
    return "".join(f"| {line} |\n" for line in (head, rule, *lines))


def _option(parameter: Any) -> str:
    """Return the flags, the first with the name of its value if it has one."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    flags: list[str] = parameter.opts + parameter.secondary_opts
    value = f" {parameter.metavar}" if parameter.metavar else ""
    return ", ".join(f"`{flag}`" for flag in (flags[0] + value, *flags[1:]))


def _override(parameter: Any, keys: dict[str, str]) -> str:
    """Return the override, unless its key is the first flag with underscores."""
    first = parameter.opts[0]
    key = keys.get(first)
    if key is None or first == f"--{key.replace('_', '-')}":
        return ""
    return "any other `+key=value`" if key == ANY else f"`+{key}=…`"


def _default(parameter: Any) -> str:
    if isinstance(parameter.show_default, str):
        return str(parameter.show_default)
    if parameter.param_type_name == "option" and parameter.required:
        return "required"
    variable = f"`${parameter.envvar}`, else " if parameter.envvar else ""
    if parameter.secondary_opts:
        return f"`{(parameter.opts if parameter.default else parameter.secondary_opts)[0]}`"
    if parameter.default is None or parameter.default is False:
        return ""
    values = parameter.default if isinstance(parameter.default, list) else [parameter.default]
    texts = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    return variable + f"`{', '.join(texts)}`"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
