"""`spotter reverify`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.collection_problem import collection_problem
from collector.commands.common import UNUSED, Json, print_json
from collector.errors import UsageError
from collector.overrides import Override
from collector.terminal import relative_path, say, show

if TYPE_CHECKING:
    from collector.collection.collected import Collected
    from collector.collection.settings import ReverifyOptions, ReverifySettings

FOREIGN = {
    "append": Override("", refused="the stored run stays as it is; give another output"),
    "input_format": Override("", refused="only NeMo Gym's command reads trajectories"),
    "retry_invalid_judge_responses": Override(
        "", refused="it would move rollouts out of the rollouts file"
    ),
    **UNUSED,
}


def reverify(
    rollouts: Annotated[
        Path | None,
        typer.Argument(
            readable=False, show_default=False, help="The rollouts file to verify again."
        ),
    ] = None,
    *,
    settings: ReverifyOptions,
    json: Json = False,
) -> None:
    """Verify stored rollouts again, without the model.

    Sends each stored response with its row to the resources server of its agent, and writes a new
    run beside the old one: <output>.jsonl with the new verdicts, its materialized inputs, failed
    attempts and record. The old run is only read. `spotter compare OLD NEW` then compares the two
    verdicts rollout by rollout.

    \b
    spotter reverify results/rollouts.jsonl -o results/reverified.jsonl
    spotter reverify results/rollouts.jsonl -o results/reverified.jsonl --resume
    spotter reverify results/rollouts.jsonl -o results/repaired.jsonl --judge-failed-only
    """
    from collector.collection.progress import CollectProgress
    from collector.collection.reverification.reverify import reverify as reverify_run
    from collector.collection.settings import ReverifySettings
    from collector.validation import validate_settings

    named = [path for path in (rollouts, settings.rollouts_jsonl_fpath) if path]
    if len(named) != 1:
        raise UsageError("name one rollouts file, like: spotter reverify A.jsonl -o B.jsonl")
    given = {**dict(settings), "rollouts_jsonl_fpath": named[0]}
    checked = validate_settings(ReverifySettings, given)
    _report(reverify_run(checked, CollectProgress()), checked, as_json=json)


def _report(result: Collected, settings: ReverifySettings, *, as_json: bool) -> None:
    from collector.collection import report
    from collector.terminal.blocks import Line, Styled

    if as_json:
        print_json(report.as_data(result))
    else:
        paths = (settings.rollouts_jsonl_fpath, result.files.rollouts)
        compare = " ".join(["spotter compare", *(shlex.quote(relative_path(p)) for p in paths)])
        partial = " --allow-partial" if result.missing_count else ""
        step = Line(("To compare the verdicts: ", Styled(compare + partial, "command")))
        show([*report.as_blocks(result), step])
    if result.aggregation_error:
        say(f"warning: the rollouts are on disk, but not aggregated: {result.aggregation_error}")
    if error := collection_problem(result, require_complete=settings.require_complete):
        raise error
