"""One rollout: its conversation, what the verifier said, and how to get to the next one."""

from __future__ import annotations

import functools
import json
import math
import re
from pathlib import Path
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.errors import FileError
from collector.profiling.headlines import FINDINGS
from collector.viewer.context import Viewer, find_run, parse_index, viewer_of
from collector.viewer.links import Links, address
from collector.viewer.marts import queries
from collector.viewer.marts.neighbours import (
    LIST,
    ROLLOUTS,
    list_state,
    read_attempts,
    read_rollouts,
    read_tasks,
)
from collector.viewer.marts.store import Query, Reader
from collector.viewer.render import page, problem_page
from collector.viewer.transcripts.conversation import read_conversation
from collector.viewer.transcripts.files import NotReadyError, StoredRollout
from collector.viewer.transcripts.rollout_fields import read_details
from collector.viewer.transcripts.text_limits import Cutter, as_json, resolve_pointer
from collector.warehouse.sql import Row

PRETTY_BYTES = 5_000_000
HALVES = re.compile("[\ud800-\udfff]")
NOSNIFF = {"x-content-type-options": "nosniff"}


def rollout(request: Request) -> Response:
    """Show a rollout."""
    viewer = viewer_of(request)
    task, index = parse_index(request, "task"), parse_index(request, "rollout")
    state = list_state(request.query_params)
    with viewer.store.open_reader() as reader:
        run = find_run(request, reader)
        values = {"run": run["run_id"], "task": task, "rollout": index}
        query = Query(queries.ROLLOUT, values)
        known = reader.row(query)
        around = _read_neighbours(
            reader, {**values, "agent": (known or {}).get("agent_name")}, state
        )
    try:
        found, trouble = viewer.transcripts.read(Path(run["rollouts_path"]), task, index), ""
    except NotReadyError as error:
        return indexing_page(error)
    except FileError as error:
        if known is None:
            raise HTTPException(404, _not_found_message(run, task, index)) from error
        found, trouble = None, str(error)
    return page(
        "rollout.html",
        title=f"Rollout {task}:{index}",
        crumbs=_crumbs(run["run_id"], task, index, state),
        above=_list_of(run["run_id"], state),
        run=run,
        known=known,
        query=query,
        trouble=trouble,
        warnings=warnings_of(run, known, found),
        findings=findings_of(known),
        state=state,
        threshold=run["pass_threshold"],
        raw=address("/rollout/raw", **values),
        more=functools.partial(address, "/rollout/text", **values),
        links=Links(),
        task=task,
        index=index,
        **around,
        **_transcript_data(found),
    )


def rollout_raw(request: Request) -> Response:
    """Answer with a rollout as JSON: laid out, unless it is very long."""
    found = _read_rollout(request)
    raw = found.raw if len(found.raw) > PRETTY_BYTES else _format_json(found)
    headers = {**NOSNIFF, "content-disposition": "inline"}
    return Response(raw, media_type="application/json", headers=headers)


def rollout_text(request: Request) -> Response:
    """Answer with one text of a rollout in full."""
    return text_response(
        resolve_pointer(_read_rollout(request).row, request.query_params.get("part", ""))
    )


def text_response(value: Any) -> Response:
    """Answer with a text that a browser shows as nothing but text."""
    text = value if isinstance(value, str) else as_json(value)
    whole = HALVES.sub("\ufffd", text).encode()
    return Response(whole, media_type="text/plain; charset=utf-8", headers=NOSNIFF)


def indexing_page(error: NotReadyError) -> Response:
    """Ask for patience while a file is indexed."""
    message = (
        f"{error.path.name} is being indexed, which is done once per file:"
        f" {100 * error.ratio:.0f} % so far. This page opens by itself."
    )
    return problem_page("One moment", message, status=503, reload_seconds=1)


def warnings_of(run: Row, known: Row | None, found: StoredRollout | None) -> list[str]:
    """Say in what the file and the marts do not agree."""
    if found is None:
        return []
    warnings = []
    if known is None:
        warnings.append(
            "This rollout came after the file was profiled: the figures are without it."
        )
    elif found.changed_at > run["profiled_at"]:
        warnings.append("The file changed after it was profiled: what it says now is shown here.")
    reward = _reward_in_file(found.row)
    # a masked rollout has none in the marts, whatever it was given
    if known and not known["is_masked"] and not _is_same(known["reward"], reward):
        warnings.append(
            f"The reward in the file is {str(reward)[:50]}, but it was {known['reward']} when the"
            " file was profiled. Profile it again."
        )
    return warnings


def findings_of(known: Row | None) -> list[str]:
    """Say what is odd about a rollout."""
    return [f"A rollout {text}" for flag, text in FINDINGS.items() if known and known.get(flag)]


def _read_neighbours(reader: Reader, values: Row, state: dict[str, str]) -> dict[str, Any]:
    strips = reader.rows(Query(queries.STRIPS, {**values, "tasks": [values["task"]]}))
    is_listed = state.get(LIST) == ROLLOUTS
    return {
        "listed": read_rollouts(reader, values, state) if is_listed else None,
        "attempts": read_attempts(reader, values),
        "tasks": read_tasks(reader, values, {} if is_listed else state),
        "repeats": sorted((strip["agent_name"], strip["rollouts"]) for strip in strips),
    }


def _transcript_data(found: StoredRollout | None) -> dict[str, Any]:
    if found is None:
        return {"conversation": None, "particulars": None, "reward": None, "size": 0}
    cutter = Cutter()
    return {
        "conversation": read_conversation(found.row, cutter),
        "particulars": read_details(found.row, cutter),
        "reward": _as_number(_reward_in_file(found.row)),
        "size": len(found.raw),
    }


def _crumbs(run: str, task: int, index: int, state: dict[str, str]) -> list[tuple[str, str | None]]:
    links = Links()
    is_listed = state.get(LIST) == ROLLOUTS
    return [
        (run, links.run(run)),
        ("Rollouts" if is_listed else "Tasks", _list_of(run, state)),
        (f"Task {task}", links.task(run, task, **({} if is_listed else state))),
        (f"Rollout {index}", None),
    ]


def _list_of(run: str, state: dict[str, str]) -> str:
    """Return the table that somebody came from, as it was."""
    rest = {name: value for name, value in state.items() if name != LIST}
    links = Links()
    return links.rollouts(run, **rest) if state.get(LIST) == ROLLOUTS else links.tasks(run, **rest)


def _read_rollout(request: Request) -> StoredRollout:
    viewer: Viewer = viewer_of(request)
    task, index = parse_index(request, "task"), parse_index(request, "rollout")
    with viewer.store.open_reader() as reader:
        run = find_run(request, reader)
    try:
        return viewer.transcripts.read(Path(run["rollouts_path"]), task, index)
    except NotReadyError as error:
        raise HTTPException(503, str(error), {"retry-after": "1"}) from error
    except FileError as error:
        raise HTTPException(404, str(error)) from error


def _not_found_message(run: Row, task: int, index: int) -> str:
    return (
        f"There is no rollout {index} of task {task} in {run['run_id']}: neither in the warehouse"
        f" nor in {run['rollouts_path']}."
    )


def _format_json(found: StoredRollout) -> bytes:
    try:
        if b"NaN" not in found.raw and b"Infinity" not in found.raw:  # orjson makes null of them
            return orjson.dumps(found.row, option=orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError:  # half of a surrogate pair, a long number, a deep nest
        pass
    try:
        return json.dumps(found.row, indent=2).encode()
    except RecursionError:
        return found.raw


def _reward_in_file(row: Row) -> Any:
    """Return the reward that counts: the usage's, if that has one."""
    response = row.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    return (usage if isinstance(usage, dict) and "reward" in usage else row).get("reward")


def _as_number(value: Any) -> float | None:
    """Return a number as the marts know it: one that is not finite counts as none."""
    try:
        number = float(value) if isinstance(value, (bool, int, float)) else None
    except OverflowError:
        return None
    return number if number is not None and math.isfinite(number) else None


def _is_same(known: float | None, reward: Any) -> bool:
    found = _as_number(reward)
    if known is None or found is None:
        return known is found or isinstance(reward, bool)
    return math.isclose(known, found, rel_tol=1e-9, abs_tol=1e-12)


ROUTES = [
    Route("/rollout", rollout),
    Route("/rollout/raw", rollout_raw),
    Route("/rollout/text", rollout_text),
]
