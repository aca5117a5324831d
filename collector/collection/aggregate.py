"""Have the agents compute their own metrics over all rollouts, and merge shards before that."""

from __future__ import annotations

import glob
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from collector.artifacts import (
    AGGREGATE_SUFFIX,
    FAILURES_SUFFIX,
    INPUTS_SUFFIX,
    NO_ROLLOUTS,
    beside,
)
from collector.collection.discovery import Servers, find_servers, shown
from collector.collection.journal import Journal
from collector.collection.keys import Key
from collector.collection.requests import AGENT
from collector.collection.rows import keyed_rows
from collector.collection.settings import AggregateSettings
from collector.collection.sorting import Item, sorted_lines
from collector.drafts import Drafts, drafting
from collector.errors import FileError, InvariantError, ServerError, UsageError
from collector.gym_client import ClientError, GymClient
from collector.jsonl import dump, parse_object
from collector.terminal import counted_noun

Row = dict[str, Any]
HEAVY = ("response", "responses_create_params")
SEND_BYTES = 1 << 20
MESSAGE_CHARACTERS = 500


class AgentAggregate(BaseModel):
    """What an agent answers to `/aggregate_metrics`."""

    model_config = ConfigDict(extra="ignore")

    agent_metrics: dict[str, Any] = {}
    key_metrics: dict[str, Any] = {}
    group_level_metrics: list[Any] = []


@dataclass(frozen=True)
class Aggregated:
    """The agents' own metrics, and where they were written."""

    path: Path
    key_metrics: dict[str, dict[str, Any]]
    rollout_count: int
    merged: list[Path] = field(default_factory=list)


async def aggregate(
    rollouts: list[Path], output: Path, servers: Servers, client: GymClient, *, timeout: float
) -> Aggregated:
    """Ask each agent for its metrics and write them to one file."""
    entries: list[Row] = []
    count = 0
    for name in sorted(servers.urls):
        # sorted before anything is sent, so that a bad line is no error of the server
        with sorted_lines(_light_lines(name, rollouts), output.parent) as ordered:
            body = _Body(ordered)
            answer = await _ask(name, body, servers, client, timeout=timeout)
        count += body.count
        entries.append({AGENT: {"name": name}, **dict(answer)})
    path = beside(output, AGGREGATE_SUFFIX)
    try:
        text = orjson.dumps(entries, option=orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError as error:
        raise ServerError(f"the agents' metrics cannot be written: {error}") from error
    with drafting() as drafts:
        with drafts.open(path) as file:
            file.write(text)
        drafts.publish()
    return Aggregated(
        path, {entry[AGENT]["name"]: entry["key_metrics"] for entry in entries}, count
    )


async def aggregate_shards(settings: AggregateSettings) -> Aggregated:
    """Merge the rollouts of several collections into one run, and have them aggregated."""
    output = settings.output_jsonl_fpath.absolute()
    shards = find_shards(settings.input_glob, output)
    names = {name for path in shards for _, _, row, _ in _rows(path) if (name := _agent_of(row))}
    if not names:
        raise FileError(f"no rollout of {settings.input_glob} names an agent (agent_ref)")
    merged: list[Path] = []
    if settings.merge_shards:
        merged = merge_shards(shards, output, overwrite=settings.overwrite)
    rollouts = [output] if merged else shards
    try:
        async with GymClient() as client:
            servers = await find_servers(names, settings, client)
            timeout = settings.request_timeout
            done = await aggregate(rollouts, output, servers, client, timeout=timeout)
    except ServerError as error:
        if merged:
            raise ServerError(
                f"the shards are merged into {output}, but not aggregated: {error}\n"
                "  what to do: once the servers are there, aggregate again with --no-merge-shards"
            ) from error
        raise
    return Aggregated(done.path, done.key_metrics, done.rollout_count, merged)


def find_shards(patterns: str, output: Path) -> list[Path]:
    """Return the rollouts files that match any of the comma-separated patterns, in order."""
    found = {
        Path(name)
        for pattern in patterns.split(",")
        for name in glob.glob(pattern.strip(), recursive=True)  # noqa: PTH207 - absolute ones too
    }
    shards = sorted(
        path
        for path in found
        if path.is_file()
        and not path.name.endswith((*NO_ROLLOUTS, ".json"))
        and path.absolute() != output.absolute()
    )
    if not shards:
        raise FileError(f"no rollouts file matches {patterns}")
    return shards


def merge_shards(shards: list[Path], output: Path, *, overwrite: bool) -> list[Path]:
    """Write one run from several: rollouts, and inputs and failures where they are."""
    if output.exists():
        if not overwrite:
            raise UsageError(
                f"{output} is there already\n  what to do: replace it with --overwrite"
            )
        Journal(output, is_locked=True).close()  # refuses what a collector is writing
    kinds: list[tuple[Path, list[Path], bool]] = [(output, shards, True)]
    for suffix, is_unique in ((INPUTS_SUFFIX, True), (FAILURES_SUFFIX, False)):
        companions = [beside(path, suffix) for path in shards]
        found = [path for path in companions if path.is_file()]
        # inputs of some shards only would make the others' rollouts unknown
        if found and (suffix == FAILURES_SUFFIX or len(found) == len(shards)):
            kinds.append((beside(output, suffix), found, is_unique))
    with drafting() as drafts:
        for target, sources, is_unique in kinds:
            _merge(sources, target, drafts, is_unique=is_unique)
        drafts.publish()
    return [target for target, _, _ in kinds]


def _merge(sources: list[Path], target: Path, drafts: Drafts, *, is_unique: bool) -> None:
    items = ((key, line) for path in sources for _, key, _, line in _rows(path))
    repeated: list[Key] = []
    with drafts.open(target) as file, sorted_lines(items, target.parent) as ordered:
        last: Key | None = None
        for key, line in ordered:
            if is_unique and key == last:
                repeated.append(key)
            last = key
            file.write(line + b"\n")
    if repeated:
        keys = list(dict.fromkeys(repeated))
        first = ", ".join(f"{task}:{rollout}" for task, rollout in keys[:10])
        raise InvariantError(
            f"{counted_noun(len(keys), 'rollout')} in more than one shard, or twice in one:"
            f" {first}{' …' if len(keys) > 10 else ''}\n"
            "  what to do: collect the shards with --shard 1/N to N/N, so that every task has an"
            " index of its own, or take out the shard that is there twice"
        )


class _Body:
    """The body of a request, piece by piece: millions of rollouts are never in memory at once."""

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


def _light_lines(agent: str, rollouts: list[Path]) -> Iterator[Item]:
    for path in rollouts:
        for _, key, row, _ in _rows(path):
            if _agent_of(row) == agent:
                yield key, dump(_light(row))


async def _ask(
    agent: str, body: _Body, servers: Servers, client: GymClient, *, timeout: float
) -> AgentAggregate:
    url = servers.urls[agent]
    url = url.copy_with(path=url.path.rstrip("/") + "/aggregate_metrics")
    where = f"agent {agent} at {shown(url)}"
    try:
        reply = await client.post(url, body.chunks(), timeout=timeout)
    except ClientError as error:
        raise ServerError(servers.redactor.text(f"{where}: {error}")) from error
    if reply.status != httpx.codes.OK:
        text = reply.body[:4096].decode("utf-8", "replace")
        raise ServerError(
            f"{where} answered {reply.status}: {servers.redactor.text(text)[:MESSAGE_CHARACTERS]}"
        )
    try:
        return AgentAggregate.model_validate(parse_object(servers.redactor.line(reply.body)))
    except ValidationError as error:
        first = error.errors()[0]
        named = ".".join(map(str, first["loc"]))
        raise ServerError(f"{where}: wrong metrics: {named}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise ServerError(f"{where} does not answer with metrics: {error}") from None


def _rows(path: Path) -> Iterator[tuple[int, Key, Row, bytes]]:
    return keyed_rows(path, hint="correct or remove them, or resume that collection")


def _light(row: Row) -> Row:
    light = {name: value for name, value in row.items() if name not in HEAVY}
    response = row.get("response")
    usage = response.get("usage") if isinstance(response, dict) else None
    return light | ({"response": {"usage": usage}} if usage else {})


def _agent_of(row: Row) -> str | None:
    reference = row.get(AGENT)
    name = reference.get("name") if isinstance(reference, dict) else None
    return name if isinstance(name, str) else None
