"""NeMo Evaluator: `results.jsonl` and `trajectories.jsonl`, or the logs of an unfinished run."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from collector.importing.asked import asked_row
from collector.importing.atif_steps import step_items
from collector.importing.attempts import Attempt, Expected, Failure, Identity, Json, Log
from collector.importing.candidates import Candidate, Claim
from collector.importing.formats.nemo_evaluator_bundles import (
    RESULTS,
    TRAJECTORIES,
    VERIFIED,
    BenchmarkFiles,
    Bundle,
    benchmark_files,
)
from collector.importing.indexed_rows import IndexedRows
from collector.importing.json_values import (
    items,
    number,
    numbers,
    part,
    sampling,
    text,
    token_count,
    usage,
)
from collector.importing.jsonl_rows import TornLine, read_rows
from collector.importing.messages import text_message
from collector.importing.reading import Reading
from collector.terminal import counted_noun

NAME = "nemo_evaluator"
# the endpoint or the harness broke; `graceful` means that the agent did, which is a result
BROKEN = ("infra_error", "tool_infra", "system")
OWN = (
    *("problem_idx", "repeat", "reward", "prompt", "model_response", "response", "expected_answer"),
    *("scorer_rewards", "trajectory", "tokens", "latency_ms", "failure_category", "model"),
)


def claim(file: Candidate) -> Claim | None:
    """Tell results by the fields of the first row; bundle and logs lie beside them."""
    row = file.first_object or {}
    if "problem_idx" in row and "reward" in row:
        is_unfinished = file.path.name == VERIFIED and not file.path.with_name(RESULTS).exists()
        is_part = "step_id" in row or "scoring_metadata" in row
        return Claim.PART if is_part and not is_unfinished else Claim.LOG
    if row.get("_type") == "meta" and "config_hash" in row:
        return Claim.PART
    whole = (file.whole_object or {}) if file.path.suffix == ".json" else {}
    is_bundle = "benchmark" in whole and "config" in whole
    is_statistic = "total_steps" in whole or "completed_benchmarks" in whole
    return Claim.PART if is_bundle or is_statistic else None


def open_logs(files: list[Path], reading: Reading) -> list[Log]:
    """Return one run per benchmark; its shards are one run, whether they are merged or not."""
    return [EvaluatorLog(one, reading) for one in benchmark_files(files)]


@dataclass
class EvaluatorLog:
    """The steps of one benchmark."""

    benchmark: BenchmarkFiles
    reading: Reading
    torn: TornLine = field(default_factory=TornLine)
    _counts: Counter[str] = field(default_factory=Counter)
    _broken_count: int = 0

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files of all bundles."""
        return tuple(path for one in self.benchmark.bundles for path in one.files)

    @property
    def label(self) -> str:
        """Return the benchmark."""
        return text(self._first.benchmark.get("name")) or self._first.path.parent.name

    @cached_property
    def identity(self) -> Identity:
        """Return what the bundle says; an unfinished run has none, but its rows name the model."""
        config, benchmark, content = self._first.config, self._first.benchmark, self._first.content
        further = self._first.first_further()
        model = text(config.get("model")) or text(further.get("model"))
        model = model or text(part(further, "model").get("model"))
        names = [text(benchmark.get("name")), text(config.get("benchmark"))]
        environment = next((name for name in names if name), None)
        run_id = text(content.get("run_id"))
        return Identity(
            framework=NAME,
            framework_version=text(content.get("sdk_version")),
            models=(model,) if model else (),
            environment=environment,
            sampling=sampling(config),
            ended_at=text(content.get("timestamp")),
            tags={"run_id": run_id} if run_id else {},
        )

    def attempts(self) -> Iterator[Attempt]:
        """Yield an attempt per row."""
        for bundle in self.benchmark.bundles:
            with IndexedRows(bundle.further, _key) as further:
                for _, row in read_rows(bundle.path, self.reading, self.torn):
                    yield self._attempt(row, further.find(_key(row)) or {})

    def expected(self) -> Iterator[Expected]:
        """Yield the repeats of each problem that the bundle asks for."""
        unseen = (name for name in map(str, itertools.count()) if name not in self._counts)
        absent = max(self.benchmark.problem_count - len(self._counts), 0)
        for problem in (*self._counts, *itertools.islice(unseen, absent)):
            for repeat in range(self._first.repeats):
                yield Expected(problem, repeat)

    def losses(self) -> list[str]:
        """Say what the files do not have."""
        found = []
        if any(one.is_unfinished for one in self.benchmark.bundles):
            found.append(
                "the run is unfinished: there is no results.jsonl and no bundle, so the attempts"
                " come from its step logs, and how many there should be is unknown"
            )
        elif not all(one.further.is_file() for one in self.benchmark.bundles):
            found.append(f"there is no {TRAJECTORIES}: only the sum of the tokens is known")
        if self.benchmark.merged_count:
            shards = counted_noun(self.benchmark.merged_count, "shard")
            found.append(f"{shards} were left out: there are merged results")
        if self._broken_count:
            found.append(
                f"{self._broken_count:,} results are errors of the endpoint or the harness, stored"
                " with a reward of 0: they are failures"
            )
        return [*found, *self.torn.losses()]

    @property
    def _first(self) -> Bundle:
        return self.benchmark.first

    def _attempt(self, row: Json, further: Json) -> Attempt:
        problem, repeat = _key(row)
        self._counts[problem] += 1
        reward = number(row.get("reward"))
        scores = {**numbers(part(row, "scorer_rewards")), **numbers(part(row, "scoring_details"))}
        failure = self._failure(row, further, reward)
        merged = {**further, **row}
        prompt = text(merged.get("prompt"))
        category = _category(row, further)
        return Attempt(
            task=problem,
            rollout=repeat,
            asked=asked_row(prompt if prompt else [], answer=merged.get("expected_answer")),
            reward=self.reading.rewards.choose({"reward": reward, **scores}, reward),
            output=_output(merged),
            usage=_usage(row, further),
            metrics=scores,
            details={**_details(row, further), "failure_category": category},
            failure=failure,
            incomplete="max_output_tokens" if _finish(further) == "length" else None,
        )

    def _failure(self, row: Json, further: Json, reward: float | None) -> Failure | None:
        details = part(row, "scoring_details") or part(further, "scoring_details")
        given = (details.get("error_category"), _category(row, further))
        kind = next((one for one in given if one in BROKEN), None)
        if kind is None:
            return None
        self._broken_count += 1
        message = text(details.get("error")) or "the log does not say why"
        return Failure(kind, message, stored_reward=reward)


def _key(row: Json) -> tuple[str, int]:
    repeat = row.get("repeat", 0)
    return str(row.get("problem_idx")), repeat if isinstance(repeat, int) else 0


def _output(row: Json) -> list[Json]:
    """Return the steps after the question; the reply alone if there is no trajectory."""
    trajectories = [one for one in items(row, "trajectory") if isinstance(one, dict)]
    steps = [step for one in trajectories for step in items(one, "steps")]
    while steps and isinstance(steps[0], dict) and steps[0].get("source") in ("user", "system"):
        steps = steps[1:]
    if steps:
        return step_items(steps)
    reply = row.get("model_response", row.get("response"))
    return [text_message("assistant", reply)] if isinstance(reply, str) else []


def _usage(row: Json, further: Json) -> Json | None:
    """Return the tokens: those of the trajectories, else those of the steps in the row."""
    tokens = part(part(further, "model"), "tokens") or {
        "prompt": further.get("prompt_tokens"),
        "completion": further.get("completion_tokens"),
        "reasoning": further.get("reasoning_tokens"),
    }
    found = usage(tokens.get("prompt"), tokens.get("completion"), reasoning=tokens.get("reasoning"))
    if found is None:
        totals = [part(one, "final_metrics") for one in items(row, "trajectory")]
        total = totals[0] if totals else {}
        found = usage(total.get("total_prompt_tokens"), total.get("total_completion_tokens"))
    total_only = token_count(row.get("tokens"))
    return found or ({"total_tokens": total_only} if total_only else None)


def _category(row: Json, further: Json) -> Any:
    return row.get("failure_category") or further.get("failure_category")


def _finish(further: Json) -> Any:
    return further.get("finish_reason") or part(further, "model").get("finish_reason")


def _details(row: Json, further: Json) -> Json:
    """Return the rest: the fields of the metadata one by one, so that they can be slices."""
    metadata = part(row, "metadata") or part(further, "seed_metadata")
    rest = {name: value for name, value in row.items() if name not in (*OWN, "metadata")}
    return {
        **{name: value for name, value in metadata.items() if name not in rest},
        **rest,
        "finish_reason": _finish(further),
        "latency_ms": row.get("latency_ms"),
    }
