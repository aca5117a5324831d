"""Name the files of a run, and find the runs in files and folders."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import orjson

from collector.errors import FileError, UsageError
from collector.open_files import require_regular_file
from collector.remote_paths import (
    RemotePath,
    is_remote,
    located_path,
    matching_paths,
    refuse_remote,
)

INPUTS_SUFFIX = "_materialized_inputs.jsonl"
FAILURES_SUFFIX = "_failures.jsonl"
PROFILING_SUFFIX = "_reward_profiling.jsonl"
AGENTS_SUFFIX = "_agent_metrics.json"
REPEATS_SUFFIX = "_repeat_level_metrics.json"
AGGREGATE_SUFFIX = "_aggregate_metrics.json"
RECORD_SUFFIX = "_run.json"
TASKS_SUFFIX = "_tasks.jsonl"
# the folders in which MLflow keeps copies of uploaded files, at any depth
COPY = re.compile(r"(?:^|/)[0-9a-f]{32}/artifacts/")
VERDICTS = "rollout_verdicts.jsonl"
TAG_NAME = re.compile(r"[\w.-]{1,60}")
TAG_CHARACTERS = 200
NAME_BYTES = 200
# the endings of files that NeMo Gym and Spotter write beside rollouts, which are never runs
NO_ROLLOUTS = (
    INPUTS_SUFFIX,
    FAILURES_SUFFIX,
    PROFILING_SUFFIX,
    "_attempts.jsonl",
    VERDICTS,
)


@dataclass(frozen=True)
class RunArtifacts:
    """The files of a run that belong together, by the names that NeMo Gym gives them."""

    rollouts: Path

    @property
    def inputs(self) -> Path:
        """Return the materialized inputs."""
        return beside(self.rollouts, INPUTS_SUFFIX)

    @property
    def failures(self) -> Path:
        """Return the failed attempts."""
        return beside(self.rollouts, FAILURES_SUFFIX)

    @property
    def record(self) -> Path:
        """Return the record of who made the run, and how."""
        return beside(self.rollouts, RECORD_SUFFIX)

    @property
    def aggregate(self) -> Path:
        """Return the agents' own metrics."""
        return beside(self.rollouts, AGGREGATE_SUFFIX)


@dataclass(frozen=True)
class Run:
    """One rollouts file with its materialized inputs, and the folder for its output files."""

    run_id: str
    rollouts: Path
    inputs: Path
    output_dir: Path
    tags: tuple[tuple[str, str], ...] = ()
    """What tells it apart from others, in the user's own words: names and values. They are added to
    the tags that the run has."""
    has_given_name: bool = False
    """Whether the user chose the name: then the run replaces another one of that name."""

    @property
    def failures(self) -> Path:
        """Return the path of the failed attempts; the file need not exist."""
        return beside(self.rollouts, FAILURES_SUFFIX)

    @property
    def profiling(self) -> Path:
        """Return the path of the output file with one line per task."""
        return self.output_dir / (self._stem + PROFILING_SUFFIX)

    @property
    def agents(self) -> Path:
        """Return the path of the output file with one object per agent."""
        return self.output_dir / (self._stem + AGENTS_SUFFIX)

    @property
    def repeats(self) -> Path:
        """Return the path of the output file with one object per agent and repeat."""
        return self.output_dir / (self._stem + REPEATS_SUFFIX)

    @property
    def has_local_outputs(self) -> bool:
        """Tell whether the output files can be written: object stores are only read."""
        return not isinstance(self.output_dir, RemotePath)

    @property
    def outputs(self) -> tuple[Path, Path, Path]:
        """Return the paths of the three files that a profile writes."""
        return self.profiling, self.agents, self.repeats

    @property
    def verdicts(self) -> Path | None:
        """Return the file of NeMo Gym's health check, if the folder has no other run."""
        path = self.rollouts.with_name(VERDICTS)
        siblings = list(path.parent.glob(f"*{INPUTS_SUFFIX}"))
        return path if len(siblings) == 1 and path.is_file() else None

    @property
    def _stem(self) -> str:
        return stem(self.rollouts)


def stem(rollouts: Path) -> str:
    """Return the file's name without `.jsonl`; the names of the run's other files begin with it."""
    return rollouts.name.removesuffix(".jsonl")


def beside(rollouts: Path, suffix: str) -> Path:
    """Return the path of another file of the run, which has this suffix."""
    return rollouts.with_name(stem(rollouts) + suffix)


def file_paths(path: str) -> list[str]:
    """Return the files of a run from `rollouts_path` or `inputs_path` of the mart `runs`.

    A run that was merged from shards has a list of files as JSON.
    """
    return [str(one) for one in orjson.loads(path)] if path.startswith("[") else [path]


def rollouts_files(path: str) -> list[Path]:
    """Return the files of a run, as `file_paths` does."""
    return [located_path(one) for one in file_paths(path)]


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    require_regular_file(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error


def default_inputs(rollouts: Path) -> Path:
    """Return the usual path of the materialized inputs of a rollouts file."""
    return beside(rollouts, INPUTS_SUFFIX)


def check_run_name(name: str, option: str) -> None:
    """Raise UsageError if a run cannot be called so: its name is shown, and names a folder."""
    if not name or name != name.strip() or not name.isprintable():
        raise UsageError(
            f"{option} {name[:NAME_BYTES]!a}: the name is empty, begins or ends with a blank, or"
            " has characters that cannot be shown"
        )
    if len(quote(name, safe="")) > NAME_BYTES:
        raise UsageError(
            f"{option}: the name is too long: it has at most {NAME_BYTES} letters and digits"
            " (other characters take more)"
        )


def default_run_id(rollouts: Path) -> str:
    """Return the name of a run that no other has: its folder and the file's stem."""
    return run_names([rollouts])[rollouts]


def run_names(rollouts: Iterable[Path], taken: Iterable[str] = ()) -> dict[Path, str]:
    """Return a name for each rollouts file: its folder and its stem.

    If another file has the same name, more folders are part of it, and at last a hash.
    """
    candidates = {path: list(_candidates(path)) for path in rollouts}
    counts = Counter(name for names in candidates.values() for name in names)
    refused = {*taken, *(name for name, count in counts.items() if count > 1)}
    return {
        path: next((name for name in names if name not in refused), _hashed_name(path))
        for path, names in candidates.items()
    }


def _candidates(rollouts: Path) -> Iterator[str]:
    parts = [*rollouts.parent.parts[1:], stem(rollouts)]
    for depth in range(min(2, len(parts)), len(parts) + 1):
        yield "-".join(parts[-depth:])


def _hashed_name(rollouts: Path) -> str:
    return f"{stem(rollouts)}-{hashlib.md5(os.fsencode(rollouts)).hexdigest()[:8]}"


def is_imported(record: bytes) -> bool:
    """Tell whether the content of a `<stem>_run.json` is that of an imported run."""
    try:
        return isinstance(orjson.loads(record).get("imported"), dict)
    except (orjson.JSONDecodeError, AttributeError):
        return False


def find_rollouts(paths: Iterable[Path]) -> list[Path]:
    """Return the rollouts files among files and folders; raise FileError if there are none."""
    searched = [located_path(path) for path in paths]
    try:
        found = dict.fromkeys(rollouts for path in searched for rollouts in _rollouts_at(path))
    except OSError as error:
        raise FileError(f"cannot read the folder {error.filename}: {error.strerror}") from error
    if not found:
        names = ", ".join(str(path) for path in searched)
        raise FileError(
            f"no rollouts found in {names}\n"
            f"  a rollouts file is <stem>.jsonl with <stem>{INPUTS_SUFFIX} beside it"
        )
    return list(found)


def _rollouts_at(path: Path) -> Iterator[Path]:
    matches = matching_paths(path)
    for one in matches:
        is_named = matches == [path]
        if is_named or one.name.endswith(".jsonl") or (not is_remote(one) and one.is_dir()):
            yield from _rollouts_in(one)


def _rollouts_in(path: Path) -> Iterator[Path]:
    if path.is_dir():
        for candidate in sorted(path.rglob("*.jsonl")):
            is_copy = COPY.search(candidate.relative_to(path).as_posix())
            is_run = candidate.is_file() and default_inputs(candidate).is_file()
            if is_run and not is_copy and not candidate.name.endswith(NO_ROLLOUTS):
                yield _absolute(candidate)
    elif not path.name.endswith((*NO_ROLLOUTS, ".json")) and path.stem != "compare_report":
        yield _absolute(path)


def plan_runs(
    rollouts: list[Path],
    *,
    inputs: Path | None = None,
    output_dir: Path | None = None,
    run_id: str | None = None,
    names: Mapping[Path, str] | None = None,
) -> list[Run]:
    """Turn rollouts files into runs; raise UsageError if two would write the same output file."""
    if len(rollouts) > 1 and (inputs or run_id):
        option = "--inputs" if inputs else "--run-id"
        raise UsageError(
            f"{option} applies to one run, but {len(rollouts)} rollouts files were given"
        )
    if output_dir:
        refuse_remote(output_dir, "the output files")
    named = names or run_names(rollouts)
    runs = [
        Run(
            run_id=run_id or named[path],
            rollouts=path,
            inputs=_absolute(located_path(inputs)) if inputs else default_inputs(path),
            output_dir=_absolute(output_dir) if output_dir else path.parent,
            has_given_name=run_id is not None,
        )
        for path in rollouts
    ]
    refuse_shared_outputs(runs)
    return runs


def refuse_shared_outputs(runs: list[Run]) -> None:
    """Raise UsageError if two runs would write the same output file, or one its own inputs."""
    by_output: dict[Path, Run] = {}
    for run in runs:
        if run.inputs in run.outputs:
            raise UsageError(f"{run.inputs} cannot be the inputs: the profile would overwrite it")
        other = by_output.setdefault(run.profiling, run)
        if other is not run:
            raise UsageError(
                f"{other.rollouts} and {run.rollouts} would both write {run.profiling}\n"
                "  what to do: profile them one by one, or without --output-dir"
            )


def _absolute(path: Path) -> Path:
    if isinstance(path, RemotePath):
        return path
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise FileError(f"cannot use {path!a}: the path is not valid UTF-8") from error
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
