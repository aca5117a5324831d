"""Have the agents compute their own metrics over all rollouts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from collector.artifacts import (
    AGGREGATE_SUFFIX,
    beside,
)
from collector.atomic_files import anything, write_file
from collector.collection.discovery import Servers
from collector.collection.head_config import ENVIRONMENTS
from collector.collection.requests import LATENCY
from collector.collection.routing import AGENT, SERVER, agent_name_of
from collector.collection.rows import keyed_rows
from collector.collection.settings.counting import Counting
from collector.collection.sorting import Item, sorted_lines
from collector.collection.zeros import ZeroRows
from collector.errors import ServerError
from collector.gym_client import ClientError, GymClient, url_without_password
from collector.jsonl import dump, parse_object
from collector.keys import Key

Row = dict[str, Any]
UNSENT = (
    *("response", "responses_create_params"),
    *("ng_agent_observations", "ng_model_call_capture", "ng_trajectory"),
    LATENCY,
)
KEPT_OF_RESPONSE = ("usage", "incomplete_details")
SEND_BYTES = 1 << 20
MESSAGE_CHARACTERS = 500


class AgentAggregate(BaseModel):
    """An agent's answer to `/aggregate_metrics`; unknown fields are kept."""

    model_config = ConfigDict(extra="allow")

    agent_metrics: dict[str, Any] = {}
    key_metrics: dict[str, Any] = {}
    group_level_metrics: list[Any] = []


@dataclass(frozen=True)
class Aggregated:
    """The agents' own metrics, and where they were written."""

    path: Path
    key_metrics: dict[str, dict[str, Any]]
    rollout_count: int
    zero_counts: Counter[str] = field(default_factory=Counter)
    """Rollouts that count as zero, by reason: failed or missing."""
    merged: list[Path] = field(default_factory=list)


@dataclass(frozen=True)
class Aggregation:
    """Asks the agents for their metrics over the rollouts of some files."""

    rollouts: list[Path]
    output: Path
    servers: Servers
    client: GymClient
    timeout: float
    counting: Counting

    async def run(self) -> Aggregated:
        """Ask each agent that has rollouts, and write the answers to one file."""
        await self.servers.look_again(list(self.servers.urls))
        zeros = ZeroRows(self.rollouts, self.counting, self.output.parent, self._group)
        entries: list[Row] = []
        total = 0
        zero_counts: Counter[str] = Counter()
        for name in sorted(self.servers.urls):
            counted: Counter[str] = Counter()
            answer, count = await self._ask_agent(name, zeros.items(name, counted))
            if answer is None:
                continue
            metrics = {field: value for field, value in dict(answer).items() if value is not None}
            entry = {**self._agent_fields(name), **metrics}
            if counted:
                plain, count = await self._ask_agent(name, iter(()))
                entry["counted_as_zero"] = dict(counted)
                entry["without_zeros"] = dict(plain) if plain else None
            entries.append(entry)
            total += count
            zero_counts += counted
        return Aggregated(
            self._write(entries),
            {entry[AGENT]["name"]: entry["key_metrics"] for entry in entries},
            total,
            zero_counts,
        )

    async def _ask_agent(
        self, name: str, zeros: Iterator[Item]
    ) -> tuple[AgentAggregate | None, int]:
        """Return the agent's answer and the number of rows it covers; None and 0 without rows."""
        lines = itertools.chain(self._light_lines(name), zeros)
        # sort before sending, so that a bad line is reported as such and not as a server error
        with sorted_lines(lines, self.output.parent) as ordered:
            first = next(ordered, None)
            if first is None:
                return None, 0
            body = _Body(itertools.chain([first], ordered))
            answer = await _ask(name, body, self.servers, self.client, timeout=self.timeout)
        return answer, body.count

    def _light_lines(self, name: str) -> Iterator[Item]:
        for path in self.rollouts:
            for _, key, row, _ in _rows(path):
                if self._group(row) == name:
                    yield key, dump(_light(row))

    def _group(self, row: Row) -> str | None:
        """Return the server to ask about a row: its agent, or the environment server it went to."""
        known = (name for name in (agent_name_of(row), row.get(SERVER)) if isinstance(name, str))
        return next((name for name in known if name in self.servers.urls), None)

    def _agent_fields(self, name: str) -> Row:
        config = self.servers.config
        if config is None or name not in config.names(ENVIRONMENTS):
            return {AGENT: {"name": name}}
        return {AGENT: {"name": config.behind(name) or name}, SERVER: name}

    def _write(self, entries: list[Row]) -> Path:
        path = beside(self.output, AGGREGATE_SUFFIX)
        try:
            text = orjson.dumps(entries, option=orjson.OPT_INDENT_2)
        except orjson.JSONEncodeError as error:
            raise ServerError(f"the agents' metrics cannot be written: {error}") from error
        write_file(path, text, replaces=anything)
        return path


class _Body:
    """The body of a request in chunks, so that millions of rollouts need little memory."""

    def __init__(self, lines: Iterator[Item]) -> None:
        self.count = 0
        self._lines = lines

    async def chunks(self) -> AsyncIterator[bytes]:
        held = [b'{"verify_responses":[']
        size = 0
        for _, line in self._lines:
            held.append(b"," + line if self.count else line)
            self.count += 1
            size += len(line)
            if size >= SEND_BYTES:
                yield b"".join(held)
                held, size = [], 0
        yield b"".join([*held, b"]}"])


async def _ask(
    agent: str, body: _Body, servers: Servers, client: GymClient, *, timeout: float
) -> AgentAggregate:
    url = servers.urls[agent]
    url = url.copy_with(path=url.path.rstrip("/") + "/aggregate_metrics")
    where = f"agent {agent} at {url_without_password(url)}"
    try:
        reply = await client.post(url, body.chunks(), timeout=timeout)
    except ClientError as error:
        raise ServerError(servers.redactor.redact_text(f"{where}: {error}")) from error
    if reply.status != httpx.codes.OK:
        text = reply.body[:4096].decode("utf-8", "replace")
        shown = servers.redactor.redact_text(text)[:MESSAGE_CHARACTERS]
        raise ServerError(f"{where} answered {reply.status}: {shown}")
    try:
        return AgentAggregate.model_validate(parse_object(servers.redactor.redact_line(reply.body)))
    except ValidationError as error:
        first = error.errors()[0]
        field_name = ".".join(map(str, first["loc"]))
        raise ServerError(f"{where}: wrong metrics: {field_name}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise ServerError(f"{where} does not answer with metrics: {error}") from None


def _rows(path: Path) -> Iterator[tuple[int, Key, Row, bytes]]:
    return keyed_rows(path, next_step="or resume that collection")


def _light(row: Row) -> Row:
    light = {name: value for name, value in row.items() if name not in UNSENT}
    response = row.get("response")
    fields = response if isinstance(response, dict) else {}
    kept = {name: fields[name] for name in KEPT_OF_RESPONSE if fields.get(name) is not None}
    return light | ({"response": kept} if kept else {})
