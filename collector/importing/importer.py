"""Import logs: read them, write the files of each run, and publish all of them at once."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from collector.artifacts import NO_ROLLOUTS
from collector.atomic_files import Drafts
from collector.errors import FileError, UsageError
from collector.importing.attempts import Identity, Log
from collector.importing.reading import Meter, Reading, RewardChoice
from collector.importing.record import common_folder, record_bytes
from collector.importing.search import find_logs
from collector.importing.writing import (
    EmptyLogError,
    ImportCounts,
    ImportFiles,
    RunWriter,
    writable,
)
from collector.temporary_files import try_lock

Listener = Callable[[str, float | None], None]
SHOWN = 5
NO_ATTEMPTS = "it has no attempts"
LABEL_CHARACTERS = 100
LABEL = re.compile(r"[^A-Za-z0-9._@+-]+")


@dataclass(frozen=True)
class ImportRequest:
    """What to import, and where to."""

    paths: list[Path]
    output: Path
    format: str | None = None
    """A format's name, or the path of a mapping; None tells the format from the content."""
    reward: str | None = None
    is_overwriting: bool = False

    def check(self) -> None:
        """Raise UsageError or FileError if it cannot be done."""
        if not self.paths:
            raise UsageError("name the logs to import, like: spotter import logs/ -o run.jsonl")
        if self.output.name.endswith(NO_ROLLOUTS) or self.output.suffix != ".jsonl":
            raise UsageError(
                f"--output {self.output} is not a name for rollouts: it must end with .jsonl, and"
                f" not with {', '.join(NO_ROLLOUTS)}"
            )
        for path in self.paths:
            if not path.exists():
                raise FileError(f"{path} does not exist")
            if not (path.is_dir() or path.is_file()):  # reading a pipe would wait forever
                raise FileError(f"{path} is neither a file nor a folder")


@dataclass(frozen=True)
class ImportedRun:
    """A run that was imported."""

    log: str
    """The name of its log: the path of its one file, or the run's label."""
    files: ImportFiles
    identity: Identity
    counts: ImportCounts
    losses: list[str]


@dataclass(frozen=True)
class Imported:
    """The runs that were imported."""

    format: str
    runs: list[ImportedRun]
    passed_over: list[Path] = field(default_factory=list)
    empty: dict[Path, str] = field(default_factory=dict)
    """Logs without attempts, and why they have none."""


def import_logs(request: ImportRequest, listener: Listener = lambda *_: None) -> Imported:
    """Import the logs; the files of all runs appear at the end, or none does."""
    request.check()
    output = Path(os.path.abspath(request.output))  # noqa: PTH100 - resolve() would follow links
    found = find_logs(request.paths, request.format, leave_out=ImportFiles(output).all())
    total = sum(path.stat().st_size for path in found.files) or 1
    meter = Meter(lambda count: listener("reading", min(count / total, 1.0)))
    reading = Reading(rewards=RewardChoice(request.reward), meter=meter)
    logs = found.format.open_logs(found.files, reading)
    if not logs:
        raise FileError(f"found no run in {', '.join(map(str, request.paths))}")
    targets = [ImportFiles(path) for path in _outputs(logs, output)]
    _check_targets(targets, logs, overwrite=request.is_overwriting)
    with Drafts() as drafts, contextlib.ExitStack() as locks:
        for target in targets:
            _lock(target.rollouts, locks)
        folder = common_folder([path for log in logs for path in log.files])
        importer = _Importer(request, found.format.NAME, folder, drafts, listener)
        pairs = zip(logs, targets, strict=True)
        runs = [run for log, target in pairs if (run := importer.run(log, target))]
        reading.rewards.check()
        if not runs:
            reasons = sorted(
                {reason for reason in importer.empty.values() if reason != NO_ATTEMPTS}
            )
            raise FileError("\n  ".join([f"{_names(logs)}: no log has an attempt", *reasons]))
        _publish([run.files for run in runs], drafts)
    return Imported(found.format.NAME, runs, found.passed_over, importer.empty)


@dataclass(frozen=True)
class _Importer:
    """Writes runs as drafts."""

    request: ImportRequest
    format_name: str
    folder: Path
    """The folder of all logs."""
    drafts: Drafts
    listener: Listener
    empty: dict[Path, str] = field(default_factory=dict)
    """Logs without attempts, and why they have none: nothing is written for them."""

    def run(self, log: Log, target: ImportFiles) -> ImportedRun | None:
        """Write the files of a run; None if the log has no attempts."""
        try:
            return self._write(log, target)
        except EmptyLogError:
            path = log.files[0]
            reasons = [loss for loss in log.losses() if loss.startswith(path.name)]
            self.empty[path] = "; ".join(reasons) or NO_ATTEMPTS
            for path in target.all():
                if self.drafts.current(path) != path:
                    self.drafts.drop(path)
            return None

    def _write(self, log: Log, target: ImportFiles) -> ImportedRun:
        may = writable([target], overwrite=self.request.is_overwriting)
        with RunWriter(target, log.identity, self.drafts, may) as writer:
            for attempt in log.attempts():
                writer.add(attempt)
            for expected in log.expected():
                writer.expect(expected)
            counts = writer.finish()
        self.listener("hashing the logs", None)
        writer.write_record(
            record_bytes(
                log,
                format_name=self.format_name,
                reward=self.request.reward,
                folder=self.folder,
            )
        )
        return ImportedRun(self._name(log), target, log.identity, counts, log.losses())

    def _name(self, log: Log) -> str:
        only = len(log.files) == 1
        return str(log.files[0].relative_to(self.folder)) if only else log.label


def _publish(targets: list[ImportFiles], drafts: Drafts) -> None:
    """Publish the runs, each with its rollouts last: a killed import leaves nothing to profile."""
    rollouts = [target.rollouts for target in targets]
    for path in rollouts:
        path.unlink(missing_ok=True)
    for target in targets:
        for path in target.all():  # those of an earlier run that this one does not have
            if drafts.current(path) == path:
                path.unlink(missing_ok=True)
    drafts.publish(last=rollouts)


def _names(logs: list[Log]) -> str:
    names = [str(log.files[0]) for log in logs]
    return ", ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "")


def _outputs(logs: list[Log], output: Path) -> list[Path]:
    """Return the rollouts file of each run: several get the output's name with their label."""
    if len(logs) == 1:
        return [output]
    labels = [_label(log.label) for log in logs]
    repeated = Counter(labels)
    if any(count > 1 for count in repeated.values()):
        folder = common_folder([path for log in logs for path in log.files])
        labels = [_label(str(log.files[0].relative_to(folder).with_suffix(""))) for log in logs]
    numbers: Counter[str] = Counter()
    paths = []
    for label in labels:
        numbers[label] += 1
        name = label if numbers[label] == 1 else f"{label}_{numbers[label]}"
        paths.append(output.with_name(f"{output.stem}-{name}.jsonl"))
    return paths


def _label(text: str) -> str:
    """Return a label as a part of a file's name."""
    return LABEL.sub("_", text).strip("_.")[:LABEL_CHARACTERS] or "run"


def _check_targets(targets: list[ImportFiles], logs: list[Log], *, overwrite: bool) -> None:
    """Raise UsageError if a file is in the way, or is a log itself."""
    sources = {path.resolve() for log in logs for path in log.files}
    for target in targets:
        for path in target.all():
            if path.resolve() in sources:
                raise UsageError(
                    f"{path} is a log, and would be replaced\n  what to do: give another --output"
                )
            if path.exists() and not overwrite:
                raise UsageError(
                    f"{path} exists already\n"
                    "  what to do: replace the run with --overwrite, or give another --output"
                )


def _lock(rollouts: Path, locks: contextlib.ExitStack) -> None:
    """Raise FileError if a collector is writing the rollouts that are to be replaced."""
    if not rollouts.is_file():
        return
    file = locks.enter_context(rollouts.open("rb"))
    if try_lock(file.fileno()) is False:
        raise FileError(
            f"another command is writing {rollouts}\n  what to do: wait for it, or give another"
            " --output"
        )
