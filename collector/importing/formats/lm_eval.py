"""lm-evaluation-harness: `samples_<task>_<time>.jsonl`, with `results_<time>.json` beside them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from collector.importing.asked import asked_row
from collector.importing.attempts import Attempt, Expected, Identity, Json, Log
from collector.importing.candidates import Candidate, Claim
from collector.importing.formats.lm_eval_scores import (
    Document,
    FilterScores,
    document_of,
    filter_of,
    scores_of,
)
from collector.importing.json_values import count, items, part, sampling, text
from collector.importing.jsonl_rows import TornLine, read_rows
from collector.importing.messages import chat_items, text_message
from collector.importing.reading import Reading

NAME = "lm_eval"
SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)")
RESULTS = ("results", "configs", "versions")


def claim(file: Candidate) -> Claim | None:
    """Tell samples by the fields of the first row, and results by their parts."""
    row = file.first_object or {}
    if {"doc_id", "doc", "resps", "filtered_resps"} <= row.keys():
        return Claim.LOG
    begins_with_results = file.head.lstrip()[:200].lstrip(b"{ \r\n\t").startswith(b'"results"')
    if begins_with_results and set(RESULTS) <= (file.whole_object or {}).keys():
        return Claim.PART
    return None


def open_logs(files: list[Path], reading: Reading) -> list[Log]:
    """Return one run per call of the harness: its files share a folder and a time."""
    runs: dict[tuple[Path, str], list[Path]] = {}
    for path in files:
        runs.setdefault((path.parent, _time(path)), []).append(path)
    return [LmEvalLog(sorted(paths), reading) for _, paths in sorted(runs.items())]


def _time(path: Path) -> str:
    found = SAMPLES.fullmatch(path.stem)
    return found["time"] if found else path.stem


def _benchmark(path: Path) -> str:
    found = SAMPLES.fullmatch(path.stem)
    return found["task"] if found else path.stem


@dataclass
class LmEvalLog:
    """The documents of one call of the harness."""

    samples: list[Path]
    reading: Reading
    torn: TornLine = field(default_factory=TornLine)
    _seen: dict[str, set[Document]] = field(default_factory=dict)
    _left_out: dict[str, None] = field(default_factory=dict)
    _choice_count: int = 0
    _repeat_count: int = 0

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the samples, and the results if they are there."""
        results = self._results_path
        return (*self.samples, results) if results.is_file() else tuple(self.samples)

    @property
    def label(self) -> str:
        """Return the folder, which is named after the model, and the time."""
        return f"{self.samples[0].parent.name}_{_time(self.samples[0])}"

    @cached_property
    def identity(self) -> Identity:
        """Return what the results file says; without one, only the benchmark is known."""
        results = self._results
        config = part(results, "config")
        is_named = part(config, "model_args") or text(config.get("model_args"))
        names = [text(results.get("model_name")) if is_named else None, text(config.get("model"))]
        return Identity(
            framework=NAME,
            framework_version=text(results.get("lm_eval_version")),
            models=tuple(name for name in names if name)[:1],
            environment=", ".join(sorted(map(_benchmark, self.samples))),
            sampling=sampling(part(config, "gen_kwargs")),
            started_at=_moment(results.get("date")),
            tags={"time": _time(self.samples[0])},
        )

    def attempts(self) -> Iterator[Attempt]:
        """Yield one attempt per document: that of the chosen filter."""
        for path in self.samples:
            scores = self._read_scores(path)
            for _, row in read_rows(path, self.reading, self.torn):
                if filter_of(row) == scores.chosen:
                    yield self._attempt(row, _benchmark(path), scores)

    def expected(self) -> Iterator[Expected]:
        """Yield the documents that the results file counts and the samples lack."""
        for benchmark, seen in self._seen.items():
            counts = part(part(self._results, "n-samples"), benchmark)
            absent = count(counts.get("effective")) - len(seen)
            unseen = (index for index in itertools.count() if index not in seen)
            for document in itertools.islice(unseen, max(absent, 0)):
                yield Expected(f"{benchmark}/{document}", 0)

    def losses(self) -> list[str]:
        """Say what a samples file does not have, and what was chosen."""
        found = ["lm-evaluation-harness does not log tokens"]
        if self._repeat_count:
            found.append(
                f"{self._repeat_count:,} documents have several responses and one score: the first"
                " response is the transcript, all of them are in the field responses"
            )
        if self._choice_count:
            found.append(
                f"{self._choice_count:,} documents are choices by likelihood: the model wrote no"
                " text, its likelihoods are in the field responses"
            )
        return [*found, *self._left_out, *self.torn.losses()]

    def _read_scores(self, path: Path) -> FilterScores:
        """Return the scores of a file, and say what the reward is if there was a choice."""
        rewards = self.reading.rewards
        scores = FilterScores(rewards.name)
        for _, row in read_rows(path, Reading(), TornLine()):
            scores.note(row)
        rewards.choose(dict.fromkeys(scores.all_names()))
        if rewards.name is not None and scores.chosen is not None:
            rewards.choose({rewards.name: None})
        others = scores.other_filters()
        names = ", ".join(scores.of_all_documents)
        if scores.chosen is None:
            why = f"no {rewards.name}" if rewards.name else "no score of a single document"
            more = f" (the harness computes {names} over all of them)" if names else ""
            self._left_out[f"{path.name} has {why}{more}, and was left out"] = None
            return scores
        if names:
            self._left_out[
                f"the harness computes {names} of {_benchmark(path)} over all documents: no"
                " rollout has a value of it"
            ] = None
        self._seen[_benchmark(path)] = scores.documents
        if others:
            self._left_out[
                f"the reward is {scores.metric} of the filter {scores.chosen}; {scores.metric} of"
                f" {', '.join(others)} is a metric (choose with --reward"
                f" {scores.metric},{others[0]})"
            ] = None
        return scores

    def _attempt(self, row: Json, benchmark: str, scores: FilterScores) -> Attempt:
        document = document_of(row)
        metrics = {**scores_of(row), **scores.others(document)}
        reward = metrics.pop(scores.metric, None)
        output, details = self._answer(row)
        return Attempt(
            task=f"{benchmark}/{document}",
            rollout=0,
            asked=_request_params(row),
            reward=reward,
            output=output,
            metrics=metrics,
            details={"benchmark": benchmark, "filter": scores.chosen, **details},
        )

    def _answer(self, row: Json) -> tuple[list[Json], Json]:
        """Return the transcript, and what else is known of the answer."""
        responses = items(row, "resps")
        first: Any = responses[0] if responses else []
        details: Json = {"doc": row.get("doc"), "doc_hash": row.get("doc_hash")}
        filtered = items(row, "filtered_resps")
        if len(responses) == 1 and isinstance(first, list) and first and isinstance(first[0], str):
            answer = filtered[0] if filtered else None
            details["extracted_answer"] = answer if isinstance(answer, str) else None
            if len(first) > 1:
                self._repeat_count += 1
                details["responses"] = first
            return [text_message("assistant", first[0])], details
        self._choice_count += 1
        details |= {"responses": responses, "arguments": row.get("arguments")}
        return [], details

    @property
    def _results_path(self) -> Path:
        return self.samples[0].with_name(f"results_{_time(self.samples[0])}.json")

    @cached_property
    def _results(self) -> Json:
        path = self._results_path
        return (Candidate(path).whole_object or {}) if path.is_file() else {}


def _request_params(row: Json) -> Json:
    """Return what the model was asked, and how the answer was sampled."""
    arguments = part(part(row, "arguments"), "gen_args_0")
    prompt = arguments.get("arg_0")
    if isinstance(prompt, list):
        prompt = prompt[0] if prompt else ""
    asked = asked_row(_messages(str(prompt or "")), answer=row.get("target"))
    asked["responses_create_params"] |= sampling(part(arguments, "arg_1"))
    return asked


def _messages(prompt: str) -> str | list[Json]:
    """Return the messages of a prompt for a chat endpoint, which is a list in JSON."""
    if not prompt.startswith('[{"'):
        return prompt
    try:
        found = orjson.loads(prompt)
    except orjson.JSONDecodeError:
        return prompt
    is_chat = all(isinstance(one, dict) and "role" in one for one in found)
    return chat_items(found) if is_chat else prompt


def _moment(seconds: Any) -> str | None:
    if not isinstance(seconds, (int, float)):
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
