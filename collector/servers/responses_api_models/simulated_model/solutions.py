"""What the simulated model knows: the solutions of the tasks in some files."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.bundled_files import GYM_ROOT, find_file
from collector.errors import FileError
from collector.jsonl import parse_object
from collector.servers.responses_api_models.base import ModelError
from collector.servers.responses_api_models.simulated_model.conversation import Call, Row, read

LOG = logging.getLogger("spotter")
BUNDLED = "resources_servers/*/data/*.jsonl"


@dataclass(frozen=True)
class Solution:
    """What solves a task: calls, and an answer if the task asks for one."""

    calls: Sequence[Call]
    answer: str | None = None


def learn(paths: Iterable[str] | None, folder: Path) -> Mapping[str, Solution]:
    """Return the solutions of the files, by what their tasks ask; the bundled ones by default."""
    if paths is None:
        files = sorted(GYM_ROOT.glob(BUNDLED))
    else:
        files = [find_file(path, folder) for path in paths]
    found: dict[str, Solution] = {}
    for path in files:
        for request, solution in _solutions(path):
            if found.setdefault(request, solution) != solution:
                LOG.warning(
                    "%s: another task asks the same, with another solution; the first one counts:"
                    " %.80s",
                    *(path, request),
                )
    return found


def _solutions(path: Path) -> Iterator[tuple[str, Solution]]:
    count = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = parse_object(line)
                solution = _solution(row)
                request = _request(row.get("responses_create_params")) if solution else ""
            except (ValueError, ModelError) as error:
                raise FileError(f"{path}:{number}: {error}") from error
            if solution and request:  # a row without a request may get one from a prompt_config
                count += 1
                yield request, solution
    if not count:
        raise FileError(f"{path} has no solutions: no task in it has an input and a ground_truth")


def _request(params: Any) -> str:
    if not isinstance(params, dict) or not params.get("input"):
        return ""
    return read(params).request


def _solution(row: Row) -> Solution | None:
    truth = row.get("ground_truth", row.get("expected_answer"))
    if truth is None:
        return None
    if isinstance(truth, (str, int, float)):
        return Solution((), str(truth))
    if not isinstance(truth, list):
        raise ValueError("its ground_truth is neither a list of calls nor an answer")
    return Solution([_call(call) for call in truth])


def _call(given: Any) -> Call:
    try:
        arguments = given["arguments"]
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
        return Call(str(given["name"]), dict(found))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("a call of its ground_truth has no name or no arguments") from error
