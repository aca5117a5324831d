"""The page of a rollout: its conversation, its verdict, and links to the next rollouts."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Sequence
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.artifacts import rollouts_files
from collector.errors import FileError
from collector.keys import Key
from collector.stored_rollouts import StoredRollout
from collector.viewer.context import Viewer, find_run, parse_index, viewer_of
from collector.viewer.links import Links, address
from collector.viewer.marts import queries
from collector.viewer.marts.findings import FINDINGS
from collector.viewer.marts.neighbours import (
    LIST,
    ROLLOUTS,
    list_state,
    read_attempts,
    read_rollouts,
    read_tasks,
)
from collector.viewer.marts.rivals import find_rival
from collector.viewer.marts.store import Query, Reader
from collector.viewer.render import page, problem_page
from collector.viewer.transcripts.conversation import read_conversation
from collector.viewer.transcripts.files import NotReadyError
from collector.viewer.transcripts.rollout_fields import read_details, read_task_truths
from collector.viewer.transcripts.run_files import RunTranscripts
from collector.viewer.transcripts.text_limits import PageBudget, as_json, resolve_pointer
from collector.warehouse.sql import Row

INDENTED_BYTES = 5_000_000
HALF_SURROGATES = re.compile("[\ud800-\udfff]")
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
        row = reader.row(query)
    found = _search(viewer, run, state)
    with viewer.store.open_reader() as reader:
        agent = (row or {}).get("agent_name")
        words = reader.row(Query(queries.TASK_WORDS, {**values, "agent": agent})) or {}
        around = _read_neighbours(reader, {**values, "agent": agent}, state, found)
    try:
        stored, trouble = RunTranscripts(viewer.transcripts, run).read(task, index), ""
    except NotReadyError as error:
        return indexing_page(error)
    except FileError as error:
        if row is None:
            raise HTTPException(404, _not_found_message(run, task, index)) from error
        stored, trouble = None, str(error)
    return page(
        "rollout.html",
        title=f"Rollout {task}:{index}",
        crumbs=_crumbs(run["run_id"], task, index, state),
        above=_list_of(run["run_id"], state),
        run=run,
        row=row,
        query=query,
        trouble=trouble,
        warnings=warnings_of(run, row, stored),
        findings=findings_of(row),
        state=state,
        threshold=run["pass_threshold"],
        raw=address("/rollout/raw", **values),
        more=functools.partial(address, "/rollout/text", **values),
        task_truths=read_task_truths(words.get("sample")),
        task_more=functools.partial(
            address, "/task/text", run=run["run_id"], task=task, agent=agent
        ),
        links=Links(),
        task=task,
        task_name=words.get("task_name"),
        index=index,
        rival=find_rival(row, around["repeats"], run["pass_threshold"]) if row else None,
        **around,
        **_transcript_data(stored),
    )


def rollout_raw(request: Request) -> Response:
    """Return a rollout as JSON, indented unless it is very long."""
    stored = _read_rollout(request)
    raw = stored.raw if len(stored.raw) > INDENTED_BYTES else _format_json(stored)
    headers = {**NOSNIFF, "content-disposition": "inline"}
    return Response(raw, media_type="application/json", headers=headers)


def rollout_text(request: Request) -> Response:
    """Return one text of a rollout in full."""
    return text_response(
        resolve_pointer(_read_rollout(request).row, request.query_params.get("part", ""))
    )


def text_response(value: Any) -> Response:
    """Return a response that browsers show as plain text."""
    text = value if isinstance(value, str) else as_json(value)
    encoded = HALF_SURROGATES.sub("\ufffd", text).encode()
    return Response(encoded, media_type="text/plain; charset=utf-8", headers=NOSNIFF)


def indexing_page(error: NotReadyError) -> Response:
    """Return a page that reloads until a file is indexed."""
    message = (
        f"Spotter is indexing {error.path.name}, which it does once per file:"
        f" {100 * error.ratio:.0f} % so far. This page opens by itself."
    )
    return problem_page("One moment", message, status=503, reload_seconds=1)


def warnings_of(run: Row, row: Row | None, stored: StoredRollout | None) -> list[str]:
    """Return how the rollout in the file differs from its row in the marts, as sentences."""
    if stored is None:
        return []
    warnings = []
    if row is None:
        warnings.append(
            "This rollout was collected after the file was profiled. The figures do not include it."
        )
    elif stored.changed_at > run["profiled_at"]:
        warnings.append(
            "The file changed after it was profiled. This page shows its current content."
        )
    reward = _reward_in_file(stored.row)
    # the marts have no reward for a masked rollout, whatever the file says
    if row and not row["is_masked"] and not _is_same(row["reward"], reward):
        warnings.append(
            f"The reward in the file is {str(reward)[:50]}, but it was {row['reward']} when the"
            " file was profiled. Profile the file again."
        )
    return warnings


def findings_of(row: Row | None) -> list[str]:
    """Return the findings of the health checks about a rollout, as sentences."""
    return [
        finding.sentence.format_map(row | {"failure_reason": row["failure_reason"] or ""})
        for flag, finding in FINDINGS.items()
        if row and row.get(flag) and not (flag == "is_response_repeated" and row.get("is_passing"))
    ]


def _search(viewer: Viewer, run: Row, state: dict[str, str]) -> Sequence[Key]:
    """Return the rollouts that the search of the table has found that the user came from."""
    query = state.get("q", "").strip() if state.get(LIST) == ROLLOUTS else ""
    return viewer.searches.search(rollouts_files(run["rollouts_path"]), query).keys


def _read_neighbours(
    reader: Reader, values: Row, state: dict[str, str], found: Sequence[Key]
) -> dict[str, Any]:
    strips = reader.rows(Query(queries.STRIPS, {**values, "tasks": [values["task"]]}))
    is_listed = state.get(LIST) == ROLLOUTS
    return {
        "listed": read_rollouts(reader, values, state, found) if is_listed else None,
        "attempts": read_attempts(reader, values),
        "tasks": read_tasks(reader, values, {} if is_listed else state),
        "repeats": sorted((strip["agent_name"], strip["rollouts"]) for strip in strips),
    }


def _transcript_data(stored: StoredRollout | None) -> dict[str, Any]:
    if stored is None:
        return {"conversation": None, "details": None, "reward": None, "size": 0}
    budget = PageBudget()
    return {
        "conversation": read_conversation(stored.row, budget),
        "details": read_details(stored.row, budget),
        "reward": _as_number(_reward_in_file(stored.row)),
        "size": len(stored.raw),
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
    """Return the address of the table that the user came from, in the same state."""
    rest = {name: value for name, value in state.items() if name != LIST}
    links = Links()
    return links.rollouts(run, **rest) if state.get(LIST) == ROLLOUTS else links.tasks(run, **rest)


def _read_rollout(request: Request) -> StoredRollout:
    viewer: Viewer = viewer_of(request)
    task, index = parse_index(request, "task"), parse_index(request, "rollout")
    with viewer.store.open_reader() as reader:
        run = find_run(request, reader)
    try:
        return RunTranscripts(viewer.transcripts, run).read(task, index)
    except NotReadyError as error:
        raise HTTPException(503, str(error), {"retry-after": "1"}) from error
    except FileError as error:
        raise HTTPException(404, str(error)) from error


def _not_found_message(run: Row, task: int, index: int) -> str:
    return (
        f"The run {run['run_id']} has no rollout {index} of task {task}, neither in the warehouse"
        f" nor in {run['rollouts_path']}."
    )


def _format_json(stored: StoredRollout) -> bytes:
    try:
        if b"NaN" not in stored.raw and b"Infinity" not in stored.raw:  # orjson writes null
            return orjson.dumps(stored.row, option=orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError:  # half of a surrogate pair, a large integer, deep nesting
        pass
    try:
        return json.dumps(stored.row, indent=2).encode()
    except RecursionError:
        return stored.raw


def _reward_in_file(row: Row) -> Any:
    """Return the reward that counts: the one in the usage, if it has one."""
    response = row.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    return (usage if isinstance(usage, dict) and "reward" in usage else row).get("reward")


def _as_number(value: Any) -> float | None:
    """Return a number as the marts have it, or None if it is not a finite number."""
    try:
        number = float(value) if isinstance(value, (bool, int, float)) else None
    except OverflowError:
        return None
    return number if number is not None and math.isfinite(number) else None


def _is_same(profiled: float | None, reward: Any) -> bool:
    number = _as_number(reward)
    if profiled is None or number is None:
        return profiled is number or isinstance(reward, bool)
    return math.isclose(profiled, number, rel_tol=1e-9, abs_tol=1e-12)


ROUTES = [
    Route("/rollout", rollout),
    Route("/rollout/raw", rollout_raw),
    Route("/rollout/text", rollout_text),
]
