"""Write the stored rollouts of curated tasks as chat transcripts, for fine-tuning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from collector.chat_messages import TranslationError
from collector.curating.formats.prompts import PARAMS, ChatPrompt, read_messages, read_prompt
from collector.curating.formats.rollout_choice import RolloutPair, RolloutSource
from collector.curating.formats.staging import dump_line
from collector.curating.rows import CuratedRow
from collector.jsonl import Row, parse_object
from collector.stored_rollouts import Reader

NO_ROLLOUT = "no usable rollout"
NOTHING_PASSED = "no passing rollout"
LOW_REWARD = "the best reward is too low"
NO_FAILURE = "not both a pass and a failure"
SMALL_DIFFERENCE = "the rewards differ too little"
PROMPTS_DIFFER = "the two rollouts had different prompts"


@dataclass(frozen=True)
class TranscriptSummary:
    """What was written, and for how many tasks nothing was written, by reason."""

    row_count: int
    omitted: Counter[str]


@dataclass(frozen=True)
class Transcript:
    """The messages of a rollout: what the model was given, and what followed."""

    prompt: ChatPrompt
    completion: list[Row]

    @property
    def tools(self) -> Row:
        """Return the field with the tools, if there are any."""
        return {"tools": self.prompt.tools} if self.prompt.tools else {}


class OmittedError(Exception):
    """Nothing can be written for a task; the message is the reason."""


def write_sft(
    rows: Iterable[CuratedRow],
    draft: Path,
    source: RolloutSource,
    *,
    least_reward: float | None = None,
) -> TranscriptSummary:
    """Write the best rollout of each task as `messages`, to an existing file.

    The rollout must have at least this reward, or pass if there is no least reward.
    """

    def example(task: CuratedRow, pair: RolloutPair, read: Reader) -> Row:
        if least_reward is None and not pair.is_best_pass:
            raise OmittedError(NOTHING_PASSED)
        if least_reward is not None and pair.best_reward < least_reward:
            raise OmittedError(LOW_REWARD)
        best = read_transcript(read(task.task_index, pair.best), task)
        note: Row = {"rollout_index": pair.best, "reward": pair.best_reward}
        messages = [*best.prompt.messages, *best.completion]
        return {"messages": messages, **best.tools, **_annotation(task, note)}

    return _write(rows, draft, source, example)


def write_dpo(
    rows: Iterable[CuratedRow],
    draft: Path,
    source: RolloutSource,
    *,
    least_difference: float | None = None,
) -> TranscriptSummary:
    """Write the best and the worst rollout of each task as `chosen` and `rejected`.

    Their rewards must differ by at least `least_difference`. Without it, the best rollout must pass
    and the worst must not.
    """

    def example(task: CuratedRow, pair: RolloutPair, read: Reader) -> Row:
        _refuse_pair(pair, least_difference)
        best = read_transcript(read(task.task_index, pair.best), task)
        worst = read_transcript(read(task.task_index, pair.worst), task)
        if best.prompt != worst.prompt:
            raise OmittedError(PROMPTS_DIFFER)
        note: Row = {
            "chosen_rollout_index": pair.best,
            "chosen_reward": pair.best_reward,
            "rejected_rollout_index": pair.worst,
            "rejected_reward": pair.worst_reward,
        }
        return {
            "prompt": best.prompt.messages,
            "chosen": best.completion,
            "rejected": worst.completion,
            **best.tools,
            **_annotation(task, note),
        }

    return _write(rows, draft, source, example)


def read_transcript(rollout: Row, task: CuratedRow) -> Transcript:
    """Return the messages of a rollout up to the last one of the model.

    The prompt is that of the rollout, or that of the task if the rollout does not repeat it. Raise
    TranslationError if the rollout has no chat messages.
    """
    prompt = read_prompt(rollout if rollout.get(PARAMS) else parse_object(task.row))
    response = rollout.get("response")
    completion = read_messages(response.get("output") if isinstance(response, dict) else None)
    while completion and completion[-1]["role"] != "assistant":
        completion.pop()
    if not completion:
        raise TranslationError("the response has no message")
    return Transcript(prompt, completion)


def _write(
    rows: Iterable[CuratedRow],
    draft: Path,
    source: RolloutSource,
    example: Callable[[CuratedRow, RolloutPair, Reader], Row],
) -> TranscriptSummary:
    row_count, omitted = 0, Counter[str]()
    with source.reader() as read, draft.open("wb", buffering=1 << 20) as file:
        for task in rows:
            pair = source.pairs.get(task.task_index)
            try:
                if pair is None:
                    raise OmittedError(NO_ROLLOUT)
                line = dump_line(example(task, pair, read))
            except OmittedError as reason:
                omitted[str(reason)] += 1
            except TranslationError as error:
                omitted[f"no chat transcript: {error}"] += 1
            else:
                file.write(line)
                row_count += 1
    return TranscriptSummary(row_count, omitted)


def _refuse_pair(pair: RolloutPair, least_difference: float | None) -> None:
    if least_difference is None:
        if not pair.is_best_pass or pair.is_worst_pass:
            raise OmittedError(NO_FAILURE)
    elif pair.best == pair.worst or _is_less(pair.difference, least_difference):
        raise OmittedError(SMALL_DIFFERENCE)


def _is_less(difference: float | None, least: float) -> bool:
    """Tell whether a difference is too small; 0.6 less 0.2 is a little less than 0.4."""
    return difference is not None and difference < least and not math.isclose(difference, least)


def _annotation(task: CuratedRow, note: Row) -> Row:
    return {} if task.annotation is None else {"spotter": {**task.annotation, **note}}
