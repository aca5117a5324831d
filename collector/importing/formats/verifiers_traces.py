"""The traces of verifiers and prime-rl: an episode a line, with one trace per agent and attempt."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from collector.importing.asked import asked_row
from collector.importing.attempts import Attempt, Expected, Failure, Identity, Json, Mask
from collector.importing.candidates import Candidate
from collector.importing.formats.trace_messages import branches, question_input, split_question
from collector.importing.json_values import (
    count,
    items,
    number,
    numbers,
    part,
    sampling,
    text,
    usage,
)
from collector.importing.jsonl_rows import TornLine, read_rows
from collector.importing.messages import chat_items
from collector.importing.reading import Reading

CONFIG = Path("configs", "resolved", "eval.json")
DEFAULT_AGENT = "agent"
# what is used elsewhere, repeats the task, or belongs to the training alone
OWN = (
    *("version", "id", "verifiers", "task", "agent", "tools", "nodes", "calls", "rewards"),
    *("metrics", "is_completed", "ok", "errors", "num_input_tokens", "num_output_tokens"),
    *("num_total_tokens", "mm_token_type_id_map"),
)

# what verifiers itself puts an end to a trace for, besides a reply that was cut off
LIMITS = (
    *("max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens", "max_turn_tokens"),
    "compaction_failed",
)


@dataclass
class TraceLog:
    """The episodes of one file."""

    path: Path
    reading: Reading
    repeats_left_out: bool = False
    """Whether the folder has a second file that repeats these episodes."""
    torn: TornLine = field(default_factory=TornLine)
    _episodes: Counter[str] = field(default_factory=Counter)
    _rollouts: Counter[str] = field(default_factory=Counter)
    _trace_count: int = 1
    """The most traces of an episode: so many rollouts are missing with an episode."""
    _repeated_count: int = 0
    _untrained_count: int = 0
    _traces: set[str] = field(default_factory=set)
    _rescored_count: int = 0
    _has_tokens: bool = False
    """Whether traces have token ids, which are for a trainer."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the traces, and the config if it is there."""
        config = self.path.parent / CONFIG
        return (self.path, config) if config.is_file() else (self.path,)

    @property
    def label(self) -> str:
        """Return step and kind of a training, or the name of an evaluation."""
        tags = self.identity.tags
        if "step" in tags:
            return f"step_{tags['step']}_{tags.get('type', 'train')}"
        return tags.get("name") or self.path.parent.name

    @cached_property
    def identity(self) -> Identity:
        """Return what the first episode and the config say."""
        first = self._first
        trace: Json = next((one for one in items(first, "traces") if isinstance(one, dict)), {})
        config = part(part(trace, "agent"), "config")
        model = text(config.get("model")) or text(self._config.get("model"))
        run = part(first, "run")
        work = part(run, "work")
        tags = {
            "run_id": run.get("id"),
            "name": run.get("name"),
            "type": work.get("type") or run.get("type"),
            "step": work.get("step"),
        }
        return Identity(
            framework="prime-rl" if work else "verifiers",
            framework_version=None if work else text(part(trace, "verifiers").get("version")),
            models=(model,) if model else (),
            environment=text(part(first, "env").get("id")),
            sampling=sampling({**part(self._config, "sampling"), **part(config, "sampling")}),
            tags={name: str(value) for name, value in tags.items() if value is not None},
        )

    def attempts(self) -> Iterator[Attempt]:
        """Yield an attempt per trace of an agent that is trained, in the order of the file."""
        seen: set[str] = set()
        for _, episode in read_rows(self.path, self.reading, self.torn):
            name = str(episode.get("id"))
            if name in seen:
                self._repeated_count += 1
                continue
            seen.add(name)
            self._episodes[_task_name(part(episode, "task"))] += 1
            yield from self._of_episode(episode)

    def expected(self) -> Iterator[Expected]:
        """Yield the rollouts of the episodes that the config asks for and the file lacks."""
        wanted = count(self._config.get("num_rollouts"))
        for task, present in self._episodes.items():
            for further in range(max(wanted - present, 0) * self._trace_count):
                yield Expected(task, self._rollouts[task] + further)

    def losses(self) -> list[str]:
        """Say what was left out."""
        found = []
        if self.repeats_left_out:
            found.append("the files in effective repeat episodes of all, and were left out")
        if self._repeated_count:
            found.append(f"{self._repeated_count:,} episodes are in the file twice: one counts")
        if self._rescored_count:
            found.append(
                f"{self._rescored_count:,} rollouts are traces of the same file that were scored"
                " again: each score is a rollout"
            )
        if self._untrained_count:
            found.append(
                f"{self._untrained_count:,} traces belong to agents that are not trained: they are"
                " in the field other_traces, not rollouts of their own"
            )
        if self._has_tokens:
            found.append("token ids, masks and log probabilities were left out")
        return [*found, *self.torn.losses()]

    def _of_episode(self, episode: Json) -> Iterator[Attempt]:
        traces = [one for one in items(episode, "traces") if isinstance(one, dict)]
        trained = [one for one in traces if part(one, "agent").get("trainable") is not False]
        chosen = trained or traces
        others = [one for one in traces if one not in chosen]
        self._untrained_count += len(others)
        self._trace_count = max(self._trace_count, len(chosen))
        if not chosen:
            yield self._lost(episode)
        for trace in chosen:
            self._rescored_count += trace.get("id") in self._traces
            self._traces.add(str(trace.get("id")))
            yield self._attempt(trace, episode, others)

    def _next(self, task: str) -> int:
        self._rollouts[task] += 1
        return self._rollouts[task] - 1

    def _lost(self, episode: Json) -> Attempt:
        """Return the attempt of an episode that ended before it had a trace."""
        task = part(episode, "task")
        name = _task_name(task)
        failure = _failure(episode, None) or Failure("no_trace", "the episode has no trace")
        return Attempt(
            task=name,
            rollout=self._next(name),
            asked=_request_params(task, []),
            details={"episode": episode.get("id")},
            failure=failure,
        )

    def _attempt(self, trace: Json, episode: Json, others: list[Json]) -> Attempt:
        task = part(trace, "task") or part(episode, "task")
        name = _task_name(task)
        nodes = items(trace, "nodes")
        self._has_tokens |= any(part({"node": one}, "node").get("token_ids") for one in nodes)
        paths = branches(nodes, text(trace.get("root_reply")))
        messages = paths[-1] if paths else []
        before, after = split_question(messages)
        asked = _request_params(task, before)
        given = question_input(before)
        reward = _reward(trace)
        scores = {
            one: number(part(part(trace, "rewards"), one).get("score"))
            for one in part(trace, "rewards")
        }
        metrics = numbers({**part(trace, "metrics"), **scores})
        agent = part(trace, "agent")
        details = {one: value for one, value in trace.items() if one not in OWN}
        details |= {
            "episode": episode.get("id"),
            "trace": trace.get("id"),
            "other_branches": paths[:-1],
            # how an agent was reached may be a secret
            "other_traces": [{**one, "agent": _agent(one)} for one in others],
        }
        return Attempt(
            task=name,
            rollout=self._next(name),
            asked=asked,
            given=given if given and given != asked["responses_create_params"]["input"] else None,
            reward=self.reading.rewards.choose({"reward": reward, **metrics}, reward),
            output=chat_items(after),
            usage=_usage(trace),
            metrics=metrics,
            details=details,
            failure=_failure(trace, reward),
            mask=_mask(trace),
            agent=agent["name"] if agent.get("name") not in (None, DEFAULT_AGENT) else None,
            model=text(part(agent, "config").get("model")),
            tools=[tool for tool in items(trace, "tools") if isinstance(tool, dict)],
            incomplete=_incomplete(trace),
        )

    @cached_property
    def _first(self) -> Json:
        """Return the first episode with a trace, among the first few."""
        rows = itertools.islice(read_rows(self.path, Reading(), TornLine()), 20)
        episodes = [row for _, row in rows]
        return next((one for one in episodes if one.get("traces")), episodes[0] if episodes else {})

    @cached_property
    def _config(self) -> Json:
        path = self.path.parent / CONFIG
        return (Candidate(path).whole_object or {}) if path.is_file() else {}


def _agent(trace: Json) -> Json:
    """Return who made a trace."""
    agent = part(trace, "agent")
    return {"name": agent.get("name"), "model": part(agent, "config").get("model")}


def _task_name(task: Json) -> str:
    data = part(task, "data")
    names = (data.get("id"), data.get("name"), data.get("idx"), task.get("key"), task.get("hash"))
    return next((str(name) for name in names if name is not None), "task")


def _request_params(task: Json, before: list[Json]) -> Json:
    """Return the question of a task; without a prompt, what the agent was given first."""
    data = part(task, "data")
    prompt = data.get("prompt")
    question: list[Json] = prompt if isinstance(prompt, list) else []
    if isinstance(prompt, str):
        question = [{"role": "user", "content": prompt}]
    if question and text(data.get("system_prompt")):
        question = [{"role": "system", "content": data["system_prompt"]}, *question]
    return asked_row(chat_items(question or before), answer=data.get("answer"))


def _reward(trace: Json) -> float | None:
    """Return the sum of score times weight; None if no reward was recorded."""
    rewards = [one for one in part(trace, "rewards").values() if isinstance(one, dict)]
    if not rewards:
        return None
    pairs = [(number(one.get("score")), number(one.get("weight", 1.0))) for one in rewards]
    return sum(
        score * weight for score, weight in pairs if score is not None and weight is not None
    )


def _usage(trace: Json) -> Json | None:
    """Return the tokens of all calls; what came from a cache was read too."""
    found = [part(call, "usage") for call in items(trace, "calls")]
    found = [one for one in found if one]
    if not found:
        return None

    def total(name: str) -> float:
        return sum(number(one.get(name)) or 0 for one in found)

    cached = total("cached_input_tokens")
    return usage(
        total("prompt_tokens") + cached,
        total("completion_tokens"),
        cached=cached or None,
        reasoning=total("reasoning_tokens") or None,
    )


def _failure(record: Json, reward: float | None) -> Failure | None:
    """Return why a trace or an episode failed; None if it is fine."""
    if record.get("ok") is not False:
        return None
    errors = [one for one in items(record, "errors") if isinstance(one, dict)]
    first = errors[0] if errors else {}
    kind = text(first.get("type")) or text(record.get("stop_condition")) or "error"
    return Failure(kind, text(first.get("message")) or kind, stored_reward=reward)


def _mask(trace: Json) -> Mask | None:
    """Return why verifiers leaves a trace out of reward means, if it does."""
    reason = trace.get("dropped")
    return None if reason is None else Mask("verifiers:dropped", str(reason))


def _incomplete(trace: Json) -> str | None:
    """Return the limit that ended a trace, if verifiers calls it truncated."""
    stop = trace.get("stop_condition")
    calls = [one for one in items(trace, "calls") if isinstance(one, dict) and not one.get("error")]
    is_cut = bool(calls) and calls[-1].get("finish_reason") == "length"
    return stop if stop in LIMITS else "max_output_tokens" if is_cut else None
