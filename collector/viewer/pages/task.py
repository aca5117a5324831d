"""The page of a task: its prompt, all attempts at it, and a comparison of two attempts."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from collector.artifacts import rollouts_files
from collector.errors import FileError
from collector.stored_rollouts import StoredRollout
from collector.viewer.context import find_run, parse_index, viewer_of
from collector.viewer.links import Links, address
from collector.viewer.marts import queries
from collector.viewer.marts.neighbours import list_state, read_tasks
from collector.viewer.marts.store import Query, Reader
from collector.viewer.pages.rollout import findings_of, text_response, warnings_of
from collector.viewer.render import page
from collector.viewer.text import utc
from collector.viewer.transcripts.comparison import Comparison, compare_rollouts
from collector.viewer.transcripts.conversation import read_conversation
from collector.viewer.transcripts.files import NotReadyError, Transcripts
from collector.viewer.transcripts.items import last_message
from collector.viewer.transcripts.rollout_fields import read_details, read_sample
from collector.viewer.transcripts.run_files import RunTranscripts
from collector.viewer.transcripts.text_limits import PageBudget, resolve_pointer
from collector.warehouse.sql import Row

CARDS = 12
WORDS_CHARS = 1_500

# a task has a row for each of its agents
TASK = """
    select * from task_profiles
    where run_id = $run and task_index = $task
    order by agent_name is not distinct from $agent desc, agent_name
    limit 1
"""
BANDS = """
    select
        bands.*, profiles.measured_rollout_count, profiles.unmasked_rollout_count,
        profiles.missing_rollout_count, profiles.masked_rollout_count,
        profiles.turn_count_mean, profiles.tool_call_count_mean, profiles.latency_ms_mean,
        profiles.cost_mean
    from task_bands as bands
    left join task_profiles as profiles
        on bands.run_id = profiles.run_id and bands.task_index = profiles.task_index
        and bands.agent_name = profiles.agent_name
    where bands.run_id = $run and bands.task_index = $task
    order by bands.agent_name
"""
REPEATS = f"""{queries.ROLLOUTS.rstrip()}
        and infos.task_index = $task{{agent}}
    order by infos.rollout_index
    limit {{rows}} offset {{first}}
"""
CHOICE = """
    select rollout_index, reward, is_measured is false as is_masked from rollout_infos
    where run_id = $run and task_index = $task{agent}
    order by rollout_index
"""


@dataclass(frozen=True)
class AttemptCard:
    """A short view of one attempt."""

    row: Row
    words: str
    findings: list[str]


@dataclass(frozen=True)
class TaskFacts:
    """The rows of the marts about a task."""

    run: Row
    profile: Row
    agents: list[str]
    """All agents that attempted the task."""
    agent: str | None
    """The agent whose attempts are shown, or None for all agents."""
    bands: list[Row]
    bands_query: Query
    repeats: list[Row]
    repeats_query: Query
    choices: list[Row]
    neighbours: Row | None
    page: int

    @property
    def rollout_count(self) -> int:
        """Return the number of attempts, including those without a reward."""
        return len(self.choices)

    @property
    def pages(self) -> int:
        """Return the number of pages of attempts."""
        return max(1, math.ceil(self.rollout_count / CARDS))


class PageTranscripts:
    """Reads the transcripts of one page, and keeps the first reason why one cannot be read."""

    def __init__(self, transcripts: Transcripts, run: Row) -> None:
        """Create a reader of the transcripts of a run."""
        self._transcripts = RunTranscripts(transcripts, run)
        self.trouble = ""
        self.is_waiting = False

    def read(self, task: int, rollout: int) -> StoredRollout | None:
        """Return a rollout, or None if it cannot be read now."""
        if self.is_waiting:
            return None
        try:
            return self._transcripts.read(task, rollout)
        except NotReadyError as error:
            self.is_waiting, self.trouble = True, str(error)
        except FileError as error:
            self.trouble = self.trouble or str(error)
        return None


def task(request: Request) -> Response:
    """Show a task."""
    viewer = viewer_of(request)
    state = list_state(request.query_params)
    with viewer.store.open_reader() as reader:
        facts = _read_facts(request, reader, state)
    index, run_id, agent = facts.profile["task_index"], facts.run["run_id"], facts.agent
    transcripts = PageTranscripts(viewer.transcripts, facts.run)
    cards = [_card(row, transcripts) for row in facts.repeats]
    comparison = _comparison_data(request, facts, transcripts)
    here = functools.partial(Links().task, run_id, index, **{**state, "agent": agent})
    return page(
        "task.html",
        title=f"Task {index}",
        crumbs=_crumbs(run_id, index, state),
        facts=facts,
        run=facts.run,
        task=index,
        cards=cards,
        transcripts=transcripts,
        is_changed=_has_changed(facts.run),
        reload_seconds=2 if transcripts.is_waiting else 0,
        state=state,
        agent=agent,
        here=here,
        threshold=facts.run["pass_threshold"],
        links=Links(),
        more=functools.partial(address, "/task/text", run=run_id, task=index, agent=agent),
        **_prompt_data(facts.profile),
        **comparison,
    )


def task_text(request: Request) -> Response:
    """Return one text of a task's input in full."""
    index = parse_index(request, "task")
    with viewer_of(request).store.open_reader() as reader:
        run = find_run(request, reader)
        agent = request.query_params.get("agent") or None
        profile = _profile(reader, {"run": run["run_id"], "task": index, "agent": agent})
    return text_response(
        resolve_pointer(read_sample(profile["sample"]), request.query_params.get("part", ""))
    )


def _read_facts(request: Request, reader: Reader, state: dict[str, str]) -> TaskFacts:
    run = find_run(request, reader)
    requested = request.query_params.get("agent") or None
    values = {"run": run["run_id"], "task": parse_index(request, "task"), "agent": requested}
    bands_query = Query(BANDS, values)
    bands = reader.rows(bands_query)
    agents = [row["agent_name"] for row in bands]
    agent = requested if requested in agents else None
    choices = reader.rows(
        Query(CHOICE.format(agent=" and agent_name = $agent" if agent else ""), values)
    )
    number = _parse_page(request, len(choices))
    window = {"rows": CARDS, "first": (number - 1) * CARDS}
    agent_condition = " and infos.agent_name = $agent" if agent else ""
    repeats = Query(REPEATS.format(agent=agent_condition, **window), values)
    return TaskFacts(
        run=run,
        profile=_profile(reader, values),
        agents=agents,
        agent=agent,
        bands=[row for row in bands if agent in (None, row["agent_name"])],
        bands_query=bands_query,
        repeats=reader.rows(repeats),
        repeats_query=repeats,
        choices=choices,
        neighbours=read_tasks(reader, values, state),
        page=number,
    )


def _profile(reader: Reader, values: Row) -> Row:
    row = reader.row(Query(TASK, values))
    if row is None:
        raise HTTPException(404, f"The run {values['run']} has no task {values['task']}.")
    return row


def _parse_page(request: Request, total: int) -> int:
    text = request.query_params.get("attempts", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1
    return min(max(1, number), max(1, math.ceil(total / CARDS)))


def _card(row: Row, transcripts: PageTranscripts) -> AttemptCard:
    stored = transcripts.read(row["task_index"], row["rollout_index"])
    words = last_message(stored.row) if stored else ""
    short = words[:WORDS_CHARS] + ("…" if len(words) > WORDS_CHARS else "")
    return AttemptCard(row, short, findings_of(row))


def _prompt_data(profile: Row) -> dict[str, Any]:
    """Return the prompt and other fields of the task's input, from the sample in the warehouse."""
    sample = read_sample(profile["sample"])
    budget = PageBudget()
    return {
        "prompt": read_conversation(
            {"responses_create_params": sample.get("responses_create_params")}, budget
        ),
        "details": read_details(sample, budget),
    }


def _comparison_data(
    request: Request, facts: TaskFacts, transcripts: PageTranscripts
) -> dict[str, Any]:
    chosen = _choose_attempts(request, facts)
    sides = [row for row in chosen if row is not None]
    is_requested = "a" in request.query_params and "b" in request.query_params
    comparison: Comparison | None = None
    warnings: list[str] = []
    if is_requested and len(sides) == 2:
        task_index = facts.profile["task_index"]
        first, second = (transcripts.read(task_index, row["rollout_index"]) for row in sides)
        if first and second:
            comparison = compare_rollouts(first.row, second.row)
            pairs = zip(sides, (first, second), strict=True)
            warnings = [text for row, side in pairs for text in warnings_of(facts.run, row, side)]
    return {
        "chosen": chosen,
        "is_requested": is_requested,
        "comparison": comparison,
        "warnings": list(dict.fromkeys(warnings)),
    }


def _choose_attempts(request: Request, facts: TaskFacts) -> tuple[Row | None, Row | None]:
    """Return the two attempts to compare; by default the ones with the best and worst reward."""
    rows = {str(row["rollout_index"]): row for row in facts.choices}
    scored = (
        sorted(
            (row for row in facts.choices if row["reward"] is not None),
            key=lambda row: (-row["reward"], row["rollout_index"]),
        )
        or facts.choices
    )
    first = rows.get(request.query_params.get("a", ""), scored[0] if scored else None)
    second = rows.get(request.query_params.get("b", ""), scored[-1] if scored else None)
    return first, second


def _has_changed(run: Row) -> bool:
    try:
        times = [path.stat().st_mtime for path in rollouts_files(run["rollouts_path"])]
        return bool(utc(max(times)) > run["profiled_at"])
    except (OSError, ValueError):
        return False  # another message says that the file is missing


def _crumbs(run: str, index: int, state: dict[str, str]) -> list[tuple[str, str | None]]:
    links = Links()
    tasks = links.tasks(run, **state)
    return [(run, links.run(run)), ("Tasks", tasks), (f"Task {index}", None)]


ROUTES = [Route("/task", task), Route("/task/text", task_text)]
