"""Harbor: `<job>/<trial>/result.json`, with the trajectories of the agents in ATIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from collector.errors import FileError
from collector.importing.atif_steps import step_items
from collector.importing.attempts import Attempt, Expected, Failure, Identity, Json, Log, Mask
from collector.importing.candidates import Candidate, Claim
from collector.importing.formats import atif, harbor_jobs
from collector.importing.formats.atif_files import TrajectoryFiles
from collector.importing.formats.harbor_jobs import AgentKey, TrialFile
from collector.importing.json_values import items, number, numbers, part, text, usage
from collector.importing.reading import Reading
from collector.terminal import counted_noun

NAME = "harbor"
TRAJECTORY = Path("agent", "trajectory.json")
JOB_NAMES = (b'"n_total_trials"', b'"job_name"', b'"jobs_dir"', b'"harbor"')
DETAILS = (
    "trial_name", "task_checksum", "source", "started_at", "finished_at", "environment_setup",
    "agent_setup", "agent_execution", "verifier", "step_results", "id",
)  # fmt: skip

# the exceptions after which the reward still measures the agent; Harbor calls it invalid after
# any other, and after one that it does not know
MEASURING_ERRORS = frozenset(
    {
        *("AgentTimeoutError", "ContextWindowExceededError", "ContextLengthExceededError"),
        *("OutputTokenExceededError", "OutputLengthExceededError", "AgentSafetyRefusalError"),
        "ContentPolicyViolationError",
    }
)


def claim(file: Candidate) -> Claim | None:
    """Tell the result of a trial by its fields; other files of jobs and trials go with it."""
    is_result = file.path.name == harbor_jobs.RESULT
    if is_result and b'"trial_name"' in file.head and b'"task_name"' in file.head:
        return Claim.LOG
    if harbor_jobs.is_in_trial(file.path.parent):
        return Claim.PART
    is_of_job = file.path.suffix == ".json" and any(name in file.head for name in JOB_NAMES)
    return Claim.PART if is_of_job and harbor_jobs.is_job(file.whole_object or {}) else None


def open_logs(files: list[Path], reading: Reading) -> list[Log]:
    """Return a run per agent and model: the trials of several jobs are attempts of one run.

    A result that was cut off is left out and said; raise FileError if there is no other.
    """
    found = {path: harbor_jobs.trial_file(path) for path in files}
    damaged = [path for path, one in found.items() if one is None]
    groups: dict[AgentKey, list[TrialFile]] = {}
    for one in filter(None, found.values()):
        groups.setdefault(one.key, []).append(one)
    if not groups:
        raise FileError(f"{damaged[0]} is not the complete result of a trial of Harbor")
    ordered = sorted(groups, key=lambda key: (key.agent, key.model))
    return [HarborLog(key, groups[key], reading, damaged) for key in ordered]


@dataclass
class HarborLog:
    """The trials of one agent with one model."""

    key: AgentKey
    trials: list[TrialFile]
    reading: Reading
    damaged: list[Path] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Sort the trials by time: that numbers the attempts at a task."""
        found = sorted(self.trials, key=lambda one: (one.started_at, one.name, one.path))
        newest = harbor_jobs.newest_grades(found)
        self.trials = [one for one in found if one in newest]
        self._regraded = [one for one in found if one not in newest]
        self._files = TrajectoryFiles(self.reading.meter)
        checksums: dict[str, set[str]] = {}
        for one in self.trials:
            checksums.setdefault(one.task, set()).add(one.checksum)
        self._changed = {task for task, found in checksums.items() if len(found) > 1}

    @property
    def identity(self) -> Identity:
        """Return the agent and the model, as the trials name them."""
        last = harbor_jobs.read_trial(self.trials[-1].path)
        version = harbor_jobs.harbor_version(_job(self.trials[0]))
        info = part(last, "agent_info")
        return Identity(
            framework=NAME,
            framework_version=version,
            models=(self.key.model,) if self.key.model else (),
            agent=text(info.get("name")) or self.key.agent or None,
            environment=text(last.get("source")),
            started_at=self.trials[0].started_at or None,
            ended_at=text(last.get("finished_at")),
            tags={"agent_version": str(info["version"])} if info.get("version") else {},
        )

    @property
    def label(self) -> str:
        """Return the agent and the model."""
        return "-".join(filter(None, (self.key.agent, self.key.model)))

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the results of the trials."""
        return tuple(one.path for one in self.trials)

    def attempts(self) -> Iterator[Attempt]:
        """Yield an attempt per trial; those at a task are numbered in the order of time."""
        for one in self.trials:
            task = self._task(one)
            yield self._attempt(one, task, self._counts[task])
            self._counts[task] += 1

    def expected(self) -> Iterator[Expected]:
        """Yield as many attempts as the jobs were to make at each task."""
        names: dict[Path, dict[str, str]] = {_job(one): {} for one in self._regraded}
        for one in self.trials:
            names.setdefault(_job(one), {})[one.task] = self._task(one)
        planned: Counter[str] = Counter()
        for job, known in names.items():
            listed = [one for one in harbor_jobs.planned_tasks(job) if one[0] == self.key]
            if listed:
                planned.update({known.get(task, task): count for _, task, count in listed})
            else:
                planned.update(dict.fromkeys(known.values(), harbor_jobs.planned_attempts(job)))
        planned.subtract(map(self._task, self._regraded))
        for task, count in planned.items():
            for rollout in range(count):
                yield Expected(task, rollout)

    def losses(self) -> list[str]:
        """Say what of the job is not in the run."""
        said = ["the files of the trials, such as the output of the tests, stay in the job"]
        if self._regraded:
            trials = counted_noun(len(self._regraded), "trial")
            said.append(f"{trials} were graded again: the newest grade counts")
        if self._changed:
            tasks = counted_noun(len(self._changed), "task")
            said.append(f"{tasks} changed between the trials: each version is a task of its own")
        said += [f"{path} is cut off or damaged, and was left out" for path in self.damaged]
        return said + atif.trajectory_losses(self._files)

    def _task(self, one: TrialFile) -> str:
        return f"{one.task}@{one.checksum[:8]}" if one.task in self._changed else one.task

    def _attempt(self, one: TrialFile, task: str, rollout: int) -> Attempt:
        row = harbor_jobs.read_trial(one.path)
        self.reading.meter.add(one.path.stat().st_size)
        reward, metrics = self._rewards(row)
        tokens, cost = _totals(row)
        errors = _exceptions(row)
        failure = _failure(errors[0]) if errors else None
        output, tools, details = self._transcript(one.path.parent, row)
        details |= {name: row[name] for name in DETAILS if row.get(name) not in (None, [], {})}
        if failure:
            details["traceback"] = errors[0].get("exception_traceback")
        if failure and reward is not None:
            details["error"], details["error_message"] = failure.kind, failure.message
            failure = None
        return Attempt(
            task=task,
            rollout=rollout,
            asked=_request_params(one),
            reward=reward,
            output=output,
            usage=tokens,
            metrics={**metrics, **({"cost_usd": cost} if cost is not None else {})},
            details=details,
            failure=failure,
            mask=_mask(errors) if reward is not None else None,
            tools=tools,
        )

    def _rewards(self, row: Json) -> tuple[float | None, dict[str, float]]:
        """Return the reward (that of the name `reward`, else the first) and the other rewards."""
        rewards = numbers(part(part(row, "verifier_result"), "rewards"))
        first = "reward" if "reward" in rewards else next(iter(rewards), "")
        chosen = self.reading.rewards.name or first
        others = {name: value for name, value in rewards.items() if name != chosen}
        return self.reading.rewards.choose(rewards, rewards.get(first)), others

    def _transcript(self, folder: Path, row: Json) -> tuple[list[Json], list[Json], Json]:
        """Return what happened in a trial, the tools, and what the trajectories say besides."""
        steps = [str(one.get("step_name")) for one in _steps(row)]
        resumes = part(part(row, "config"), "agent").get("resume_trajectory") is True
        folders = [folder / "steps" / name for name in steps if _is_plain(name)] or [folder]
        paths = [one / TRAJECTORY for one in folders if (one / TRAJECTORY).is_file()]
        output: list[Json] = []
        tools: list[Json] = []
        details: Json = {}
        for path in paths:
            try:
                chain = self._files.chain(path)
            except FileError as problem:  # the trial itself is complete
                self._files.lost.append(str(problem))
                continue
            own = [*chain[0].steps, *(step for one in chain[1:] for step in one.own_steps)]
            made = step_items(own)
            repeats = resumes and made[: len(output)] == output  # the session of the step before
            output = made if repeats else output + made
            tools = tools or chain[0].tools()
            details = {**atif.trajectory_details(chain, self._files), **details}
        return output, tools, details


def _job(one: TrialFile) -> Path:
    return one.path.parent.parent


def _request_params(one: TrialFile) -> Json:
    """Return the input row: results do not have the instruction, but the hash of the task."""
    named = {"task_name": one.task, **({"task_checksum": one.checksum} if one.checksum else {})}
    return {"responses_create_params": {"input": []}, **named}


def _steps(row: Json) -> list[Json]:
    return [one for one in items(row, "step_results") if isinstance(one, dict)]


def _is_plain(name: str) -> bool:
    return name not in ("", ".", "..") and "/" not in name


def _exceptions(row: Json) -> list[Json]:
    """Return the exceptions of a trial and of its steps; most of a step stand on the step alone."""
    return [found for one in (row, *_steps(row)) if (found := part(one, "exception_info"))]


def _failure(error: Json) -> Failure:
    kind = text(error.get("exception_type")) or "Error"
    return Failure(kind, str(error.get("exception_message") or ""))


def _mask(errors: list[Json]) -> Mask | None:
    """Return why Harbor calls the reward invalid: an exception that the agent did not cause."""
    failures = [_failure(error) for error in errors]
    invalid = next((one for one in failures if one.kind not in MEASURING_ERRORS), None)
    return Mask("harbor:reward_invalid", f"{invalid.kind}: {invalid.message}") if invalid else None


def _totals(row: Json) -> tuple[Json | None, float | None]:
    """Return the tokens and the cost of a trial: its own, else the sum of its steps."""
    steps = [part(one, "agent_result") for one in _steps(row)]
    results = [part(row, "agent_result")] if part(row, "agent_result") else steps
    names = ("n_input_tokens", "n_output_tokens", "n_cache_tokens", "cost_usd")
    given, made, cached, cost = (_sum(results, name) for name in names)
    return usage(given, made, cached=cached), cost


def _sum(results: list[Json], name: str) -> float | None:
    known = [count for one in results if (count := number(one.get(name))) is not None]
    return sum(known) if known else None
