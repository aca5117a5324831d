"""`spotter import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from collector.commands.common import Json, print_json
from collector.overrides import OverrideName
from collector.terminal import Progress, say, show


def import_(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            readable=False, show_default=False, help="Logs, or folders that have logs of one kind."
        ),
    ] = None,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            readable=False,
            help="The rollouts file to write. Several runs get its name with a label of their own.",
        ),
    ],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            show_default="told from the content",
            help="The format of the logs, or a `mapping.yml` that says where a home-made JSONL has"
            " its fields.",
        ),
        OverrideName("from"),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(
            show_default="the format's own",
            help="The score that is the reward, such as the name of a scorer or a metric.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run if it exists.")
    ] = False,
    json: Json = False,
) -> None:
    """Import the logs of another framework as a run.

    Tells the format from the content. Writes <output>.jsonl, its materialized inputs, failed
    attempts and record, all of them or none. docs/importing.md says what maps to what.

    \b
    spotter import logs/ -o results/run.jsonl
    spotter import rollouts/ -o results/run.jsonl --from verl --reward acc
    spotter import mine.jsonl -o results/run.jsonl --from mapping.yml
    """
    from collector.importing import report
    from collector.importing.importer import ImportRequest, import_logs

    request = ImportRequest(
        paths=paths or [], output=output, format=from_, reward=reward, is_overwriting=overwrite
    )
    progress = Progress()
    try:
        result = import_logs(request, lambda text, share: _draw(progress, text, share))
    finally:
        progress.clear()
    for note in report.notes(result):
        say(note)
    if json:
        print_json(report.as_data(result))
    else:
        show(report.as_blocks(result))


def _draw(progress: Progress, text: str, share: float | None) -> None:
    progress.draw(text, share, log=text if share is None else f"{text}: {share:.0%}")
