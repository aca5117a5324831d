"""What the commands share that let agents count rollouts which are not there."""

from __future__ import annotations

from typing import Annotated

import typer

CountFailures = Annotated[
    list[str] | None,
    typer.Option(
        "--count-failure-classes-as-zero",
        metavar="CLASS",
        help="Have the agents count failures of a class with a reward of 0; may be repeated.",
    ),
]
CountMissing = Annotated[
    bool,
    typer.Option(
        "--count-missing-rollouts-as-zero",
        help="Have the agents count rollouts that left no row with a reward of 0.",
    ),
]
