"""Writes a run as one HTML file: its page, its tasks and some rollouts, without a server."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
from markupsafe import Markup

from collector.atomic_files import write_file
from collector.errors import FileError, UsageError
from collector.profiling.known_runs import stored_run_ids
from collector.suggestions import first_names
from collector.viewer.links import Links
from collector.viewer.live_runs import check_sources
from collector.viewer.marts import queries
from collector.viewer.marts.listing import FILTER
from collector.viewer.marts.overview import Overview, read_overview, read_run, score_label
from collector.viewer.marts.run_lists import task_source
from collector.viewer.marts.store import Query, Reader, Store
from collector.viewer.pages import tasks
from collector.viewer.pages.rollout import findings_of
from collector.viewer.render import render
from collector.viewer.text import without_folders
from collector.viewer.transcripts.conversation import RolloutConversation, read_conversation
from collector.viewer.transcripts.files import Transcripts
from collector.viewer.transcripts.rollout_fields import (
    RolloutDetails,
    read_details,
    read_task_truths,
)
from collector.viewer.transcripts.run_files import RunTranscripts
from collector.viewer.transcripts.text_limits import PageBudget, Text
from collector.warehouse.sql import Row

STATIC = Path(__file__).parent / "static"
SCRIPTS = (
    "theme.js",
    "vendor/chart.umd.min.js",
    "chart-options.js",
    "charts.js",
    "tables.js",
    "app.js",
)
TASKS = 1000
ROLLOUT_CHARS = 100_000
KEY = re.compile(r"(\d{1,18}):(\d{1,18})")
Key = tuple[int, int]
HEAD_BYTES = 1 << 16
TITLE_END = " · Spotter</title>".encode()


@dataclass(frozen=True)
class ReportRequest:
    """The run to report, the rollouts that the user named, and how many others to include."""

    run: str | None
    """Its id, or the path of its rollouts."""
    agent: str | None
    rollout_count: int
    rollouts: Sequence[str] = ()

    def keys(self) -> list[Key]:
        """Return the keys of the named rollouts; raise UsageError for a name of another form."""
        matches = [(text, KEY.fullmatch(text)) for text in self.rollouts]
        for text, match in matches:
            if not match:
                raise UsageError(f"--rollout {text}: write TASK:ROLLOUT, such as 12:3")
        return [(int(match[1]), int(match[2])) for _, match in matches if match]


@dataclass(frozen=True)
class ReportedRollout:
    """A rollout in the report: its row of the marts, and its transcript or why that is missing."""

    row: Row
    conversation: RolloutConversation | None
    details: RolloutDetails | None
    trouble: str

    @property
    def findings(self) -> list[str]:
        """Return the findings of the health checks."""
        return findings_of(self.row)

    @property
    def task_truths(self) -> list[Text]:
        """Return the right answers in the input of its task."""
        return read_task_truths(self.row.get("sample"))

    @property
    def anchor(self) -> str:
        """Return the id of its section in the file."""
        return anchor(self.row["task_index"], self.row["rollout_index"])


@dataclass(frozen=True)
class ReportLinks(Links):
    """Links inside the report: they lead only to rollouts that the report includes."""

    included: frozenset[Key]
    is_report = True

    def to(self, path: str, **values: Any) -> str:
        """Return the anchor of a rollout or of a task's first rollout; empty if not included."""
        if path == "/run":
            return "#main"
        target = values.get("task"), values.get("rollout")
        keys = sorted(key for key in self.included if target in (key, (key[0], None)))
        return f"#{anchor(*keys[0])}" if keys else ""


def write_report(warehouse: Path, request: ReportRequest, target: Path) -> tuple[str, int]:
    """Write the report; return the id of its run and the number of included rollouts."""
    try:
        run_id, html, count = _build_report(warehouse, request)
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise FileError(f"the warehouse {warehouse} cannot be read: {first}") from error
    write_html(html, target)
    return run_id, count


def write_html(html: str, target: Path) -> None:
    """Write a report, completely or not at all; only another report is replaced."""
    write_file(target, html.encode("utf-8", "replace"), replaces=_is_report)


def _is_report(path: Path) -> bool:
    with path.open("rb") as file:
        return TITLE_END in file.read(HEAD_BYTES)


def _build_report(warehouse: Path, request: ReportRequest) -> tuple[str, str, int]:
    """Return the id of the run, the HTML of the report, and the number of included rollouts."""
    named_keys = request.keys()
    with contextlib.closing(Store(warehouse)) as store, store.open_reader() as reader:
        run = find_run(reader, request.run)
        keys = _choose_rollouts(reader, run, request, named_keys)
        links = ReportLinks(frozenset(keys))
        overview = read_overview(reader, run, request.agent, links)
        if request.agent and overview.agent != request.agent:
            agents = ", ".join(overview.agents)
            raise UsageError(f"--agent {request.agent}: the agents of the run are {agents}")
        filters = {f"{FILTER}agent_name": request.agent} if request.agent else {}
        source = replace(task_source(reader, run["run_id"], filters), page_rows=TASKS)
        listing = source.read_page(reader, source.state(filters), {"run": run["run_id"]})
        strips = tasks.read_strips(reader, run["run_id"], listing)
        rows = [_read_row(reader, run, key) for key in keys]
    included = _read_rollouts(run, rows, warehouse.absolute().parent)
    html = _render_page(overview, links, listing=listing, strips=strips, included=included)
    return run["run_id"], html, len(included)


def anchor(task: int, rollout: int) -> str:
    """Return the id of a rollout's section in the file."""
    return f"rollout-{task}-{rollout}"


def find_run(reader: Reader, name: str | None) -> Row:
    """Return the run with this id or of this path, or the only one; raise UsageError if none."""
    rows = reader.rows(Query("select run_id, rollouts_path from runs order by all"))
    ids = [row["run_id"] for row in rows]
    if name is None and len(ids) != 1:
        raise UsageError(
            f"name one of the runs: {first_names(ids)}" if ids else "the warehouse has no run"
        )
    (run_id,) = ids if name is None else stored_run_ids([name], rows)
    run = read_run(reader, run_id)
    assert run  # of this snapshot of the warehouse
    return run


def _choose_rollouts(
    reader: Reader, run: Row, request: ReportRequest, named_keys: list[Key]
) -> list[Key]:
    """Return the keys to include: the named rollouts, then the ones most worth reading."""
    count = request.rollout_count + len(named_keys)
    values = {"run": run["run_id"], "agent": request.agent, "count": count}
    rows = reader.rows(Query(queries.WORTH_READING, values)) if request.rollout_count else []
    others = [(row["task_index"], row["rollout_index"]) for row in rows]
    others = [key for key in others if key not in named_keys][: request.rollout_count]
    return [*dict.fromkeys(named_keys), *others]


def _read_row(reader: Reader, run: Row, key: Key) -> Row:
    values = {"run": run["run_id"], "task": key[0], "rollout": key[1]}
    row = reader.row(Query(queries.ROLLOUT, values))
    if row is None:
        raise UsageError(f"--rollout {key[0]}:{key[1]}: {run['run_id']} has no such rollout")
    task = reader.row(Query(queries.TASK_WORDS, {**values, "agent": row["agent_name"]})) or {}
    return {**row, **task}


def _read_rollouts(run: Row, rows: list[Row], folder: Path) -> list[ReportedRollout]:
    transcripts = Transcripts(folder, lambda _: None)
    try:
        own = RunTranscripts(transcripts, run)
        if rows and not check_sources(run).is_missing:
            own.build()
        return [_read_rollout(own, row) for row in rows]
    finally:
        transcripts.close()


def _read_rollout(transcripts: RunTranscripts, row: Row) -> ReportedRollout:
    try:
        stored = transcripts.read(row["task_index"], row["rollout_index"])
    except FileError as error:
        return ReportedRollout(row, None, None, without_folders(str(error), *transcripts.files))
    budget = PageBudget(ROLLOUT_CHARS)
    try:
        conversation = read_conversation(stored.row, budget)
        return ReportedRollout(row, conversation, read_details(stored.row, budget), "")
    except RecursionError:
        return ReportedRollout(row, None, None, "its JSON is nested too deeply")


def _render_page(overview: Overview, links: ReportLinks, **data: Any) -> str:
    run = overview.run
    return render(
        "report.html",
        title=f"Report on {run['run_id']}",
        o=overview,
        run=run,
        sources=check_sources(run),
        score_label=score_label,
        threshold=run["pass_threshold"],
        path=functools.partial(links.tasks, run["run_id"]),
        links=links,
        **frame_data(),
        **data,
    )


def frame_data() -> dict[str, Any]:
    """Return the style and scripts of a report, and the policy that allows only these."""
    style = (STATIC / "app.css").read_text(encoding="utf-8")
    scripts = [(STATIC / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return {
        "style": Markup(style),  # noqa: S704 - our own file
        "scripts": [Markup(script) for script in scripts],  # noqa: S704 - our own files
        "policy": _policy(style, scripts),
    }


def _policy(style: str, scripts: list[str]) -> str:
    """Return a Content-Security-Policy that allows only the report's own style and scripts."""
    hashes = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
