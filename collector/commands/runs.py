"""`spotter runs`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import (
    Explain,
    Json,
    Warehouse,
    parse_tags,
    print_json,
    with_explanation,
)
from collector.errors import UsageError
from collector.overrides import FLAG_ONLY
from collector.terminal import Progress, counted_noun, label, say, show
from collector.terminal.streams import is_terminal

if TYPE_CHECKING:
    from collector.profiling.stored_runs import StoredRuns


class Action(StrEnum):
    """What to do with the runs."""

    list = "list"
    show = "show"
    tag = "tag"
    rename = "rename"
    remove = "remove"


FORMS = {
    Action.list: "spotter runs list [NAME=VALUE …]",
    Action.show: "spotter runs show RUN",
    Action.tag: "spotter runs tag RUN NAME=VALUE … (NAME= removes a tag)",
    Action.rename: "spotter runs rename RUN NEW_NAME",
    Action.remove: "spotter runs remove RUN …",
}


def runs(
    action: Annotated[
        Action, typer.Argument(help="What to do; without it, the runs are listed.")
    ] = Action.list,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            show_default=False,
            metavar="[RUN | NAME=VALUE]...",
            help="The run, or its rollouts file; tags; the new name. `list` shows only runs with"
            " the tags given.",
        ),
    ] = None,
    *,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Remove without asking."), FLAG_ONLY
    ] = False,
    explain: Explain = False,
    json: Json = False,
) -> None:
    """List, describe, tag, rename or remove the runs of the warehouse.

    Nothing here changes the files of a run: `spotter profile` adds a removed run again. A renamed
    run keeps its name and its tags when it is profiled again.

    \b
    spotter runs
    spotter runs list checkpoint=1200
    spotter runs show results-rollouts
    spotter runs tag results-rollouts checkpoint=1200 ablation=no-tools
    spotter runs rename results-rollouts baseline
    spotter runs remove baseline
    """
    from collector.profiling.stored_runs import StoredRuns

    progress = Progress()
    given = list(names or ())
    stored = StoredRuns(warehouse.absolute(), lambda text: progress(0, 0, text))
    try:
        if action is Action.list:
            _list(stored, given, as_json=json)
        elif action is Action.show:
            _show(stored, *_exactly(action, given, 1), as_json=json, is_explained=explain)
        elif action is Action.tag:
            _tag(stored, given, as_json=json)
        elif action is Action.rename:
            _rename(stored, *_exactly(action, given, 2), as_json=json)
        else:
            _remove(stored, given, is_sure=yes, as_json=json)
    finally:
        progress.clear()


def _exactly(action: Action, given: list[str], count: int) -> list[str]:
    if len(given) != count:
        raise UsageError(f"`runs {action}` is used like: {FORMS[action]}")
    return given


def _list(stored: StoredRuns, given: list[str], *, as_json: bool) -> None:
    from collector.profiling.run_table import run_table

    tags = parse_tags(given, "runs list")
    rows = stored.overviews(tags)
    if as_json:
        print_json([_plain(row) for row in rows])
    elif rows:
        show([run_table(rows)])
    else:
        say("no run has these tags" if tags else "there are no runs: `spotter profile` adds them")


def _show(stored: StoredRuns, name: str, *, as_json: bool, is_explained: bool) -> None:
    from collector.profiling import headlines, identity_blocks
    from collector.profiling.headline_blocks import headline_blocks
    from collector.profiling.report import count_facts, sql_command
    from collector.terminal.blocks import Line

    run, found = stored.show(name)
    if as_json:
        agents = [
            {"agent_name": agent, **headlines.as_data(found, agent)} for agent in found.agents()
        ]
        print_json({**_plain(run), "agents": agents})
        return
    blocks = [
        *identity_blocks.all_facts(run),
        *count_facts(run),
        Line(),
        *headline_blocks(found, run_id=run["run_id"], sql=sql_command(stored.warehouse)),
    ]
    show(with_explanation(blocks) if is_explained else blocks)


def _tag(stored: StoredRuns, given: list[str], *, as_json: bool) -> None:
    if len(given) < 2:
        raise UsageError(f"`runs tag` is used like: {FORMS[Action.tag]}")
    name, *words = given
    tags = parse_tags(words, "runs tag")
    run_id, kept = stored.tag(
        name,
        {name: value for name, value in tags.items() if value},
        [name for name, value in tags.items() if not value],
    )
    if as_json:
        print_json({"run_id": run_id, "tags": kept})
    else:
        from collector.profiling.run_table import tags_text

        say(f"the tags of {label(run_id)}: {label(tags_text(kept), 1000) or 'none'}")


def _rename(stored: StoredRuns, name: str, new: str, *, as_json: bool) -> None:
    old = stored.rename(name, new)
    if as_json:
        print_json({"run_id": new, "old_run_id": old})
    else:
        say(f"{label(old)} is now {label(new)}")


def _remove(stored: StoredRuns, names: list[str], *, is_sure: bool, as_json: bool) -> None:
    import sys

    if not names:
        raise UsageError(f"`runs remove` is used like: {FORMS[Action.remove]}")
    if not is_sure:
        run_ids, counts = stored.contents(names)
        total = counted_noun(sum(counts.values()), "row")
        marts = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        say(
            f"would remove {counted_noun(len(run_ids), 'run')}, {total}: {marts}\n"
            "  the files of the runs stay as they are: `spotter profile` adds the runs again"
        )
        if not is_terminal(sys.stdin):
            raise UsageError("nothing was removed: give --yes to remove without being asked")
        if not typer.confirm("Remove?", err=True):
            raise UsageError("nothing was removed")
    run_ids, counts = stored.remove(names)
    if as_json:
        print_json({"run_ids": run_ids, "rows": counts})
    else:
        total = counted_noun(sum(counts.values()), "row")
        say(f"removed {counted_noun(len(run_ids), 'run')}, {total}")


def _plain(row: dict[str, object]) -> dict[str, object]:
    """Return a row with its times and tags as JSON has them."""
    from collector.profiling.headlines import plain_value
    from collector.profiling.known_runs import stored_tags

    plain = {name: plain_value(value) for name, value in row.items()}
    return {**plain, "tags": stored_tags(row)}
