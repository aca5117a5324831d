"""terminal-bench 1: `results.json` of the trials, and that of the run, which repeats them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.errors import FileError
from collector.importing.asked import asked_row
from collector.importing.attempts import Attempt, Expected, Failure, Identity, Json, Log
from collector.importing.candidates import Candidate, Claim
from collector.importing.json_scanner import JsonScanner
from collector.importing.json_values import count, part, text, usage
from collector.importing.reading import Reading
from collector.terminal import counted_noun

NAME = "terminal_bench"
RESULTS, METADATA, LOCK = "results.json", "run_metadata.json", "tb.lock"
TRIAL = (b'"trial_name"', b'"is_resolved"', b'"parser_results"')
SUMMARY = re.compile(rb'\s*\{[^\[]*"results"\s*:\s*\[')
NUMBER = re.compile(r"\.(\d{1,9})-of-(\d{1,9})(?:\.|$)")
NO_FAILURE = (None, "", "unset", "none")
TRIAL_BYTES = 16 << 20
OWN = (
    "task_id", "instruction", "is_resolved", "failure_mode", "total_input_tokens",
    "total_output_tokens",
)  # fmt: skip


def claim(file: Candidate) -> Claim | None:
    """Tell the results of a trial or of a run by their fields."""
    if file.path.name == RESULTS and (_is_trial(file.head) or _is_summary(file.head)):
        return Claim.LOG
    if file.path.name in (METADATA, LOCK) and b'"n_attempts"' in file.head:
        return Claim.PART
    return None


def open_logs(files: list[Path], reading: Reading) -> list[Log]:
    """Return a run per folder of a run, which has a folder per task with one per trial."""
    runs: dict[Path, list[Path]] = {}
    for path in files:
        levels = 0 if _is_summary(Candidate(path).head) else 2
        runs.setdefault([*path.parents][: levels + 1][-1], []).append(path)
    return [TerminalBenchLog(folder, paths, reading) for folder, paths in sorted(runs.items())]


@dataclass
class TerminalBenchLog:
    """The trials of one run."""

    folder: Path
    paths: list[Path]
    reading: Reading
    _repeats: dict[str, int] = field(default_factory=dict)
    _numbers: dict[str, set[int]] = field(default_factory=dict)
    _unreported_count: int = 0

    @property
    def identity(self) -> Identity:
        """Return what the settings of the run say; the leaderboard's files may lack them."""
        run = Candidate(self.folder / METADATA).whole_object if _has(self.folder, METADATA) else {}
        lock = Candidate(self.folder / LOCK).whole_object if _has(self.folder, LOCK) else {}
        run = run or {}
        model = text(run.get("model_name"))
        dataset = filter(None, (text(run.get("dataset_name")), text(run.get("dataset_version"))))
        return Identity(
            framework=NAME,
            framework_version=text(part(lock or {}, "harness").get("version")),
            models=(model,) if model else (),
            agent=text(run.get("agent_name")),
            environment=" ".join(dataset) or None,
            started_at=text(run.get("start_time")),
            ended_at=text(run.get("end_time")),
            tags={"terminal_bench_run_id": run["run_id"]} if text(run.get("run_id")) else {},
        )

    @property
    def label(self) -> str:
        """Return the folder of the run."""
        return self.folder.name

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the results."""
        return tuple(self.paths)

    def attempts(self) -> Iterator[Attempt]:
        """Yield an attempt per trial: those with a file of their own, then those without one."""
        seen: set[str] = set()
        summaries = [path for path in self.paths if _is_summary(Candidate(path).head)]
        trials = [path for path in self.paths if path not in summaries]
        for row in _rows(trials, summaries, self.reading):
            name = str(row.get("trial_name"))
            if name not in seen:
                seen.add(name)
                yield self._attempt(row, name)

    def expected(self) -> Iterator[Expected]:
        """Yield each task that was tried, as often as the names of its trials say."""
        for task, repeats in self._repeats.items():
            for rollout in range(repeats):
                yield Expected(task, rollout)

    def losses(self) -> list[str]:
        """Say what of the run is not in the files that are written."""
        said = [
            "terminal-bench has no transcripts in its results: a rollout has the instruction"
            " only, and the recordings of the terminal stay in the run"
        ]
        if self._unreported_count:
            trials = counted_noun(self._unreported_count, "trial")
            said.append(f"{trials} have 0 tokens, which terminal-bench stores if none are reported")
        return said

    def _attempt(self, row: Json, name: str) -> Attempt:
        task = str(row.get("task_id"))
        found = NUMBER.match(name.removeprefix(task))
        rollout = self._number(task, max(0, count(int(found[1])) - 1) if found else 0)
        self._repeats[task] = max(self._repeats.get(task, 0), count(int(found[2])) if found else 1)
        reward = None if row.get("is_resolved") is None else float(bool(row["is_resolved"]))
        tests = Counter(map(str, part(row, "parser_results").values()))
        metrics = _metrics(tests)
        tokens = usage(row.get("total_input_tokens"), row.get("total_output_tokens"))
        self._unreported_count += bool(tokens) and not (tokens or {}).get("total_tokens")
        details = {key: value for key, value in row.items() if key not in OWN and value is not None}
        failure = _failure(row)
        chosen = self.reading.rewards.choose({"is_resolved": reward, **metrics}, reward)
        if failure and chosen is not None:
            details["error"] = failure.kind
            failure = None
        return Attempt(
            task=task,
            rollout=rollout,
            asked=asked_row(str(row.get("instruction") or "")),
            reward=chosen,
            usage=tokens,
            metrics=metrics,
            details=details,
            failure=failure,
        )

    def _number(self, task: str, wanted: int) -> int:
        """Return the number of an attempt: a run that was resumed may have one twice."""
        taken = self._numbers.setdefault(task, set())
        number = wanted if wanted not in taken else max(taken) + 1
        taken.add(number)
        return number


def _rows(trials: list[Path], summaries: list[Path], reading: Reading) -> Iterator[Json]:
    for path in trials:
        row = Candidate(path).whole_object
        if row is None:
            raise FileError(f"{path} is not the complete result of a trial of terminal-bench")
        reading.meter.add(path.stat().st_size)
        yield row
    for path in summaries:
        try:
            with path.open("rb") as file:
                yield from _summary_rows(JsonScanner(file.read))
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror}") from error
        except ValueError as error:
            raise FileError(
                f"{path} is not the complete result of a run of terminal-bench: {error}"
            ) from error
        reading.meter.add(path.stat().st_size)


def _summary_rows(scanner: JsonScanner) -> Iterator[Json]:
    for name in scanner.members():
        if name == "results" and scanner.kind() == "[":
            for _ in scanner.elements():
                row: Any = scanner.parse(TRIAL_BYTES)
                if isinstance(row, dict):
                    yield row


def _is_trial(head: bytes) -> bool:
    return all(name in head for name in TRIAL) and not _is_summary(head)


def _is_summary(head: bytes) -> bool:
    return bool(SUMMARY.match(head)) and b'"trial_name"' in head


def _has(folder: Path, name: str) -> bool:
    return (folder / name).is_file()


def _metrics(tests: Counter[str]) -> dict[str, float]:
    total = tests.total()
    if not total:
        return {}
    passed = tests["passed"]
    return {"tests": total, "tests_passed": passed, "tests_passed_ratio": passed / total}


def _failure(row: Json) -> Failure | None:
    mode = row.get("failure_mode")
    if mode in NO_FAILURE:
        return None
    return Failure(str(mode), "the tests gave no result")
