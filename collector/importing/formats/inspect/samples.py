"""Turn a sample of an Inspect log into an attempt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from collector.importing.asked import asked_row
from collector.importing.attempts import Attempt, Failure, Json
from collector.importing.formats.inspect.messages import (
    attachment_names,
    items_of,
    resolve,
    split_prompt,
    tools_of,
)
from collector.importing.formats.inspect.sample_rows import EVENT
from collector.importing.formats.inspect.scores import Scores

CUT_OFF = ("max_tokens", "length", "model_length")
"""The reasons to stop of a reply that is not finished; `length` is that of old logs."""
ERROR_NAME = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(?:[(:]|$)")
DETAILS = (
    "choices", "description", "metadata", "limit", "invalidation", "uuid", "started_at",
    "completed_at", "total_time", "working_time", "model_usage", "role_usage", "model_fallbacks",
    "sandbox", "files", "setup",
)  # fmt: skip
COUNTED = {
    "input_tokens_cache_read": "cached_tokens",
    "input_tokens_cache_write": "cache_write_tokens",
}


class SampleReader:
    """Turns samples into attempts; what it learns on the way is in `losses`."""

    def __init__(self, model: str, scores: Scores, scorers: list[str]) -> None:
        """Take the name of the evaluated model, and how scores are read."""
        self._model = model
        self._scores = scores
        self._scorers = scorers
        self.invalidated_count = 0
        self.lost_attachment_count = 0

    def attempts(self, sample: Json) -> Iterator[Attempt]:
        """Yield the tries that failed and were repeated, and then the one that counts."""
        last = self._attempt(sample)
        for error in _objects(sample.get("error_retries")):
            failure = replace(_failure(error), is_retried=True)
            yield Attempt(last.task, last.rollout, last.asked, failure=failure)
        yield last

    def _attempt(self, sample: Json) -> Attempt:
        """Return the attempt; raise ValueError if the sample has no id or epoch."""
        task, rollout = sample_key(sample)
        attachments = _texts(sample.get("attachments"))
        given = resolve(sample.get("input"), attachments)
        messages = _objects(resolve(sample.get("messages"), attachments))
        self.lost_attachment_count += len({*attachment_names([given, messages])})
        prompt, rest = split_prompt(messages, given)
        scores = self._scores_of(sample)
        scored = self._scores.read(scores)
        stop_reason = _stop_reason(sample)
        error = sample.get("error")
        failure = _failure(error) if isinstance(error, dict) else None
        self.invalidated_count += bool(sample.get("invalidation"))
        details = _details(sample, scores, stop_reason)
        if failure and scored.reward is not None:  # scored in spite of its error
            details["error"], details["error_message"] = failure.kind, failure.message
            failure = None
        return Attempt(
            task=task,
            rollout=rollout,
            asked=_request_params(given, prompt, rest, answer=_answer(sample)),
            reward=scored.reward,
            output=items_of(rest),
            usage=self._usage(sample),
            metrics=scored.metrics,
            details=details,
            failure=failure,
            mask=scored.mask,
            finding=scored.finding,
            tools=tools_of(sample.get(EVENT) or {}, attachments),
            incomplete="max_output_tokens" if stop_reason in CUT_OFF else None,
        )

    def _scores_of(self, sample: Json) -> Json:
        scores = sample.get("scores")
        if isinstance(scores, dict):
            return scores
        single = sample.get("score")  # version 1
        return {(self._scorers or ["score"])[0]: single} if isinstance(single, dict) else {}

    def _usage(self, sample: Json) -> Json | None:
        """Return the tokens of the evaluated model: graders have their own."""
        by_model = sample.get("model_usage")
        usage = by_model.get(self._model) if isinstance(by_model, dict) else None
        if not isinstance(usage, dict):
            return None
        counts = {
            name: usage.get(name) for name in ("input_tokens", "output_tokens", "total_tokens")
        }
        inputs = {new: usage[old] for old, new in COUNTED.items() if usage.get(old) is not None}
        thoughts = usage.get("reasoning_tokens")
        return {
            **counts,
            **({"input_tokens_details": inputs} if inputs else {}),
            **({"output_tokens_details": {"reasoning_tokens": thoughts}} if thoughts else {}),
        }


def sample_key(sample: Json) -> tuple[str, int]:
    """Return the task and the number of a sample, from its content; raise ValueError without."""
    name, epoch = sample.get("id"), sample.get("epoch", 1)
    if not isinstance(name, str | int) or not isinstance(epoch, int) or epoch < 1:
        raise ValueError("a sample has no id, or its epoch is not a number from 1")
    return str(name), epoch - 1


def _request_params(given: Any, prompt: list[Json], rest: list[Json], *, answer: Any) -> Json:
    """Return the input row: the prompt, or what the dataset asks if the log has no prompt."""
    question = items_of(_objects(given)) if isinstance(given, list) else str(given or "")
    row = asked_row(items_of(prompt) if prompt or rest else question, answer=answer)
    return row if prompt or not rest else {**row, "question": question}


def _answer(sample: Json) -> Any:
    target = sample.get("target")
    return target[0] if isinstance(target, list) and len(target) == 1 else target


def _objects(values: Any) -> list[Json]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def _texts(attachments: Any) -> Mapping[str, str]:
    return attachments if isinstance(attachments, dict) else {}


def _failure(error: Json) -> Failure:
    message = str(error.get("message") or "")
    trace = str(error.get("traceback") or "").strip().rpartition("\n")[2]
    found = ERROR_NAME.match(message) or ERROR_NAME.match(trace)
    return Failure(found[1].rpartition(".")[2] if found else "Error", message or trace)


def _stop_reason(sample: Json) -> str | None:
    output = sample.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    reason = first.get("stop_reason") if isinstance(first, dict) else None
    return "max_tokens" if reason == "length" else reason


def _details(sample: Json, scores: Json, stop_reason: str | None) -> Json:
    """Return what Inspect says besides; texts of the metadata are fields, to slice by them."""
    details = {name: sample[name] for name in DETAILS if sample.get(name) not in (None, {}, [])}
    retries = _objects(sample.get("error_retries"))
    error = sample.get("error")
    if isinstance(error, dict) and error.get("traceback"):
        details["traceback"] = error["traceback"]
    if retries:
        details["error_retries"] = [one.get("message") for one in retries]
    if stop_reason:
        details["stop_reason"] = stop_reason
    if scores:
        details["scores"] = scores
    metadata = sample.get("metadata")
    categories = metadata.items() if isinstance(metadata, dict) else ()
    return {**{name: value for name, value in categories if isinstance(value, str)}, **details}
