"""A run in one file: its page, its tasks and some of its rollouts, to be read without a server."""

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

from collector.atomic_files import Drafts
from collector.errors import FileError, UsageError
from collector.suggestions import first_names, unknown_name
from collector.viewer.links import Links
from collector.viewer.live import look_at_sources, profile_flags
from collector.viewer.marts import queries
from collector.viewer.marts.listing import FILTER
from collector.viewer.marts.lists import TASK_LIST
from collector.viewer.marts.overview import Overview, read_overview, read_run, score_label
from collector.viewer.marts.store import Query, Reader, Store
from collector.viewer.pages import tasks
from collector.viewer.pages.rollout import findings_of
from collector.viewer.render import render
from collector.viewer.transcripts.conversation import Conversation, read_conversation
from collector.viewer.transcripts.files import Transcripts
from collector.viewer.transcripts.rollout_fields import Particulars, read_particulars
from collector.viewer.transcripts.text_limits import Cutter
from collector.warehouse.sql import Row

STATIC = Path(__file__).parent / "static"
SCRIPTS = ("theme.js", "vendor/chart.umd.min.js", "chart-options.js", "charts.js", "app.js")
TASKS = 1000
ROLLOUT_CHARS = 100_000
KEY = re.compile(r"(\d{1,18}):(\d{1,18})")
Key = tuple[int, int]


@dataclass(frozen=True)
class Wanted:
    """Which run to report, and which of its rollouts: some by name, and so many others."""

    run_id: str | None
    agent: str | None
    rollout_count: int
    rollouts: Sequence[str] = ()

    def keys(self) -> list[Key]:
        """Return the rollouts that are wanted by name."""
        matches = [(text, KEY.fullmatch(text)) for text in self.rollouts]
        for text, match in matches:
            if not match:
                raise UsageError(f"--rollout {text}: write it like 12:3, the task and the rollout")
        return [(int(match[1]), int(match[2])) for _, match in matches if match]


@dataclass(frozen=True)
class Included:
    """A rollout in the report: what the marts say of it, and what it says itself."""

    known: Row
    conversation: Conversation | None
    particulars: Particulars | None
    trouble: str

    @property
    def findings(self) -> list[str]:
        """Return what is odd about it."""
        return findings_of(self.known)

    @property
    def anchor(self) -> str:
        """Return where it stands in the file."""
        return anchor(self.known["task_index"], self.known["rollout_index"])


@dataclass(frozen=True)
class ReportLinks(Links):
    """Links inside the file: to the rollouts that are in it, and to nothing else."""

    included: frozenset[Key]
    is_report = True

    def to(self, path: str, **values: Any) -> str:
        """Lead to a rollout, or to the first one of a task, if it is in the file."""
        if path == "/run":
            return "#main"
        asked = values.get("task"), values.get("rollout")
        keys = sorted(key for key in self.included if asked in (key, (key[0], None)))
        return f"#{anchor(*keys[0])}" if keys else ""


def write_report(warehouse: Path, wanted: Wanted, target: Path) -> tuple[str, int]:
    """Write the report; return the run it is about, and how many rollouts are in it."""
    try:
        run_id, html, count = _made(warehouse, wanted)
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise FileError(f"the warehouse {warehouse} cannot be read: {first}") from error
    with Drafts() as drafts:
        with drafts.open(target) as file:
            file.write(html.encode("utf-8", "replace"))
        drafts.publish()
    return run_id, count


def _made(warehouse: Path, wanted: Wanted) -> tuple[str, str, int]:
    """Return the run, the text of the report, and how many rollouts it holds."""
    named = wanted.keys()
    with contextlib.closing(Store(warehouse)) as store, store.reading() as reader:
        run = _find_run(reader, wanted.run_id)
        keys = _chosen(reader, run, wanted, named)
        links = ReportLinks(frozenset(keys))
        overview = read_overview(reader, run, wanted.agent, links)
        if wanted.agent and overview.agent != wanted.agent:
            raise UsageError(f"--agent {wanted.agent}: the run has {', '.join(overview.agents)}")
        source = replace(TASK_LIST, page_rows=TASKS)
        given = {f"{FILTER}agent_name": wanted.agent} if wanted.agent else {}
        listing = tasks.read_tasks(reader, source, given, run)
        strips = tasks.read_strips(reader, run["run_id"], listing)
        known = [_known(reader, run, key) for key in keys]
    included = _read_rollouts(run, known, warehouse.absolute().parent)
    html = _page(overview, links, listing=listing, strips=strips, included=included)
    return run["run_id"], html, len(included)


def anchor(task: int, rollout: int) -> str:
    """Return where a rollout stands in the file."""
    return f"rollout-{task}-{rollout}"


def _find_run(reader: Reader, run_id: str | None) -> Row:
    ids = [row["run_id"] for row in reader.rows(Query("select run_id from runs order by all"))]
    wanted = ids[0] if run_id is None and len(ids) == 1 else run_id
    run = read_run(reader, wanted) if wanted is not None else None
    if run:
        return run
    if run_id is None:
        raise UsageError(
            f"which run? There are {first_names(ids)}" if ids else "the warehouse has no run"
        )
    raise UsageError(f"run {unknown_name(run_id, ids)}")


def _chosen(reader: Reader, run: Row, wanted: Wanted, named: list[Key]) -> list[Key]:
    """Return the rollouts to include: those that were named, then those worth reading."""
    count = wanted.rollout_count + len(named)
    values = {"run": run["run_id"], "agent": wanted.agent, "count": count}
    rows = reader.rows(Query(queries.WORTH_READING, values)) if wanted.rollout_count else []
    others = [(row["task_index"], row["rollout_index"]) for row in rows]
    others = [key for key in others if key not in named][: wanted.rollout_count]
    return [*dict.fromkeys(named), *others]


def _known(reader: Reader, run: Row, key: Key) -> Row:
    values = {"run": run["run_id"], "task": key[0], "rollout": key[1]}
    found = reader.row(Query(queries.ROLLOUT, values))
    if found is None:
        raise UsageError(f"--rollout {key[0]}:{key[1]}: {run['run_id']} has no such rollout")
    return found


def _read_rollouts(run: Row, known: list[Row], folder: Path) -> list[Included]:
    transcripts = Transcripts(folder, lambda _: None)
    try:
        path = Path(run["rollouts_path"])
        if known and not look_at_sources(run).is_missing:
            transcripts.build(path)
        return [_included(transcripts, path, row) for row in known]
    finally:
        transcripts.close()


def _included(transcripts: Transcripts, path: Path, known: Row) -> Included:
    try:
        found = transcripts.read(path, known["task_index"], known["rollout_index"])
    except FileError as error:
        return Included(known, None, None, str(error))
    cutter = Cutter(ROLLOUT_CHARS)
    try:
        conversation = read_conversation(found.row, cutter)
        return Included(known, conversation, read_particulars(found.row, cutter), "")
    except RecursionError:
        return Included(known, None, None, "it is nested too deeply")


def _page(overview: Overview, links: ReportLinks, **data: Any) -> str:
    style = (STATIC / "app.css").read_text(encoding="utf-8")
    scripts = [(STATIC / name).read_text(encoding="utf-8") for name in SCRIPTS]
    run = overview.run
    return render(
        "report.html",
        title=f"Report on {run['run_id']}",
        style=Markup(style),  # noqa: S704 - our own file
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - our own files
        policy=_policy(style, scripts),
        o=overview,
        run=run,
        sources=look_at_sources(run),
        again=profile_flags(run),
        score_label=score_label,
        threshold=run["pass_threshold"],
        path=functools.partial(links.tasks, run["run_id"]),
        links=links,
        **data,
    )


def _policy(style: str, scripts: list[str]) -> str:
    """Return a policy that allows just the style and the scripts of this file."""
    hashes = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
