"""Options that several commands share, and functions that print results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.artifacts import TAG_CHARACTERS, TAG_NAME
from collector.errors import UsageError
from collector.overrides import ANY, FLAG_ONLY, Override, OverrideName

if TYPE_CHECKING:
    from collector.terminal.blocks import Block

Warehouse = Annotated[
    Path,
    typer.Option(
        "--warehouse",
        "-w",
        envvar="SPOTTER_WAREHOUSE",
        readable=False,
        help="The DuckDB file with the marts.",
    ),
]
ConfigPaths = Annotated[
    list[str] | None,
    typer.Argument(
        show_default=False,
        help="Config files, merged left to right: the same as `--config`.",
    ),
]
Configs = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        "-c",
        help="A config file, looked up in the current folder, then among those that come with"
        " Spotter. May be repeated: a later file is merged over an earlier one.",
    ),
    OverrideName("config_paths"),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Add or replace any setting of the configs; KEY may be dotted. May be repeated.",
    ),
    OverrideName(ANY),
]
AllowPartial = Annotated[
    bool,
    typer.Option(
        "--allow-partial", help="Profile the rollouts present if some are missing in a file."
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        show_default="half of the machine's memory",
        help="Memory for DuckDB, like `4GB`; DuckDB spills the rest to disk beside the warehouse.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON."), FLAG_ONLY]
Explain = Annotated[
    bool, typer.Option("--explain", help="Say what the words of the output mean."), FLAG_ONLY
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Show the figures of every run, however many there are."),
]
PRINTED: list[object] = []
"""The data that was printed as JSON so far: an error is printed as JSON only if there is none."""
HEALTH = "Spotter's own findings are in the mart rollout_health"
UNUSED = {
    "disable_health_check": Override("", unused=HEALTH),
    "health_check_workers": Override("", unused=HEALTH),
    "health_check_ignored_checks": Override("", unused=HEALTH),
    "verbose": Override("", unused="failures are always written down in full"),
    "global_aiohttp_connector_limit": Override("", unused="num_samples_in_parallel is the limit"),
    "global_aiohttp_connector_limit_per_host": Override(
        "", unused="num_samples_in_parallel is the limit"
    ),
}


def parse_tags(given: Sequence[str], option: str = "--tag") -> dict[str, str]:
    """Return the names and values of tags like `checkpoint=1200`; raise UsageError otherwise."""
    tags = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not TAG_NAME.fullmatch(name):
            raise UsageError(
                f"{option} {text!r}: not of the form NAME=VALUE, like checkpoint=1200. A name has"
                " letters, digits, '_', '-' and '.'"
            )
        if not value.isprintable() or len(value) > TAG_CHARACTERS:
            raise UsageError(
                f"{option} {text[:80]!r}: a value has at most {TAG_CHARACTERS} printable characters"
            )
        tags[name] = value
    return tags


def with_explanation(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks, and what the words in them mean."""
    from collector.terminal.blocks import Fact, Line, Styled, plain_text
    from collector.terms import TERMS

    text = plain_text(blocks)
    width = max(map(len, TERMS)) + 2
    meanings: list[Block] = [
        Fact(f"{word}k" if word.endswith(("@", "^")) else word, meaning, indent=2, width=width)
        for word, meaning in TERMS.items()
        if word in text
    ]
    heading = Line(Styled("What the words mean", "heading"))
    return [*blocks, Line(), heading, *meanings] if meanings else list(blocks)


def print_json(data: object) -> None:
    """Print data as JSON, for scripts."""
    import json

    PRINTED.append(data)
    text = json.dumps(data, indent=2, ensure_ascii=False)
    if not text.isprintable() and any("\ud800" <= char <= "\udfff" for char in text):
        text = json.dumps(data, indent=2)  # half of a surrogate pair cannot be encoded
    print_text(text)


def print_text(text: str) -> None:
    """Print a text to standard output."""
    from collector.terminal import write_output

    write_output(f"{text}\n")
