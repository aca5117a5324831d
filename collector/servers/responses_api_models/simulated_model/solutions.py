"""The solutions that the simulated model replays, from files of tasks."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.bundled_files import GYM_ROOT, find_file
from collector.errors import FileError
from collector.servers.resources_servers.environment import Call
from collector.servers.responses_api_models.base import ModelError
from collector.servers.responses_api_models.simulated_model.request_parsing import (
    Row,
    parse_request,
)
from collector.servers.task_files import read_tasks

LOG = logging.getLogger("spotter")
BUNDLED = "resources_servers/*/data/*.jsonl"


@dataclass(frozen=True)
class LearnedSolution:
    """The calls that solve a task, or its answer if the task asks for one."""

    calls: Sequence[Call]
    answer: str | None = None


def load_solutions(paths: Iterable[str] | None, folder: Path) -> Mapping[str, LearnedSolution]:
    """Return the solutions in task files by prompt; without paths, of the bundled tasks.

    Raise FileError if a file is missing or has no solutions.
    """
    if paths is None:
        files = sorted(GYM_ROOT.glob(BUNDLED))
    else:
        files = [find_file(path, folder) for path in paths]
    solutions: dict[str, LearnedSolution] = {}
    for path in files:
        for prompt, solution in _read_solutions(path):
            if solutions.setdefault(prompt, solution) != solution:
                LOG.warning(
                    "%s: two tasks have the same prompt and different solutions; the simulated"
                    " model uses the first one: %.80s",
                    *(path, prompt),
                )
    return solutions


def _read_solutions(path: Path) -> Iterator[tuple[str, LearnedSolution]]:
    count = 0
    for number, row in read_tasks(path):
        try:
            solution = _solution(row)
            prompt = _prompt(row.get("responses_create_params")) if solution else ""
        except (ValueError, ModelError) as error:
            raise FileError(f"{path}:{number}: {error}") from error
        if solution and prompt:  # a row without a prompt may get one from a prompt_config
            count += 1
            yield prompt, solution
    if not count:
        raise FileError(f"{path} has no solutions: no task in it has an input and a ground_truth")


def _prompt(params: Any) -> str:
    if not isinstance(params, dict) or not params.get("input"):
        return ""
    return parse_request(params).prompt


def _solution(row: Row) -> LearnedSolution | None:
    truth = row.get("ground_truth", row.get("expected_answer"))
    if truth is None:
        return None
    if isinstance(truth, (str, int, float)):
        return LearnedSolution((), str(truth))
    if not isinstance(truth, list):
        raise ValueError("its ground_truth is neither a list of calls nor an answer")
    return LearnedSolution([_call(call) for call in truth])


def _call(value: Any) -> Call:
    try:
        arguments = value["arguments"]
        parsed = json.loads(arguments) if isinstance(arguments, str) else arguments
        return Call(str(value["name"]), dict(parsed))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("a call of its ground_truth has no name or no valid arguments") from error
