"""Inspect: the logs `.eval` (a zip) and `.json` of inspect_ai."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from collector.errors import FileError
from collector.importing.attempts import Attempt, Expected, Identity, Log
from collector.importing.candidates import Candidate, Claim
from collector.importing.formats.inspect.companions import group_by_owner
from collector.importing.formats.inspect.eval_files import EvalFile, JsonFile
from collector.importing.formats.inspect.header import Header
from collector.importing.formats.inspect.samples import SampleReader
from collector.importing.formats.inspect.scores import Scores
from collector.importing.json_values import part
from collector.importing.reading import Reading
from collector.suggestions import first_names
from collector.terminal import counted_noun, label

NAME = "inspect"
ZIP = b"PK\x03\x04"
MEMBERS = (b"_journal/", b"header.json", b"samples/", b"summaries.json", b"reductions.json")
JSON = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:')


def claim(file: Candidate) -> Claim | None:
    """Tell a zip by its first member, and an object by its first two fields."""
    if file.head.startswith(ZIP):
        return Claim.LOG if _first_member(file.head).startswith(MEMBERS) else None
    return Claim.LOG if JSON.match(file.head) else None


def open_logs(files: list[Path], reading: Reading) -> list[Log]:
    """Return one run per file; raise FileError if a file cannot be read."""
    groups = group_by_owner(files)
    logs = [InspectLog(path, reading, beside) for path, beside in groups.items()]
    latest: dict[str, InspectLog] = {}
    for log in sorted(logs, key=lambda log: log.created):
        if earlier := latest.get(log.evaluation):
            earlier.later = log
        latest[log.evaluation] = log
    return [*logs]


class InspectLog:
    """The samples of one evaluation."""

    def __init__(self, path: Path, reading: Reading, beside: list[Path]) -> None:
        """Read the header of a log; raise FileError if it is not one.

        `beside` are logs whose samples this one has already.
        """
        self.later: InspectLog | None = None
        """Another log of the same evaluation, if one follows."""
        self._path = path
        self._beside = beside
        is_zip = Candidate(path).head.startswith(ZIP)
        self._file = (EvalFile if is_zip else JsonFile)(path, reading.meter)
        self._header = Header(path, self._file.header())
        self._header.check()
        scorers = self._header.scorers
        self._scores = Scores(reading.rewards, scorers, self._header.headline)
        self._reader = SampleReader(self._header.model, self._scores, scorers)
        self._seen: dict[str, None] = {}

    @property
    def identity(self) -> Identity:
        """Return the model, the task and the settings of the evaluation."""
        return self._header.identity()

    @property
    def label(self) -> str:
        """Return the name of the evaluated task."""
        return str(self._header.eval.get("task") or self._path.stem)

    @property
    def evaluation(self) -> str:
        """Return what a log and its retries have in common."""
        return str(self._header.eval.get("task_id") or self._path)

    @property
    def created(self) -> tuple[str, Path]:
        """Return when the evaluation began; logs of the same time are ordered by their paths."""
        return str(self._header.eval.get("created") or ""), self._path

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the log."""
        return (self._path,)

    def attempts(self) -> Iterator[Attempt]:
        """Yield the attempts of each sample and epoch, in the order of the log."""
        for sample in self._file.samples():
            try:
                attempts = list(self._reader.attempts(sample))
            except ValueError as error:
                raise FileError(f"cannot read {self._path}: {error}") from error
            except (TypeError, AttributeError, RecursionError) as error:
                raise FileError(
                    f"cannot read {self._path}: its sample {label(sample.get('id'))} does not have"
                    " the form of a sample"
                ) from error
            self._seen.setdefault(attempts[-1].task)
            yield from attempts

    def expected(self) -> Iterator[Expected]:
        """Yield the sample ids of the header, each as often as there are epochs.

        Old logs have no ids: there, each sample that was seen is expected in every epoch.
        """
        for epoch in range(self._header.epochs):
            for task in self._header.sample_ids or self._seen:
                yield Expected(task, epoch)

    def losses(self) -> list[str]:
        """Say what of the log is not in the run."""
        said = ["the events and the store of the samples stay in the log", *self._scores.losses()]
        if part(self._header.eval, "config").get("log_samples") is False:
            said.append("the log was written without its samples (log_samples is off)")
        if self._beside:
            logs, names = counted_noun(len(self._beside), "log"), [one.name for one in self._beside]
            said.append(
                f"passed over {logs} beside it of the same samples: {first_names(names, 5)}"
            )
        if self.later:
            said.append(
                f"{label(self.later.files[0].name)} is a later log of the same evaluation, a retry"
                " or another scoring: samples of the one may be in the other too"
            )
        if self._header.status != "success":
            reason = f": {self._header.error}" if self._header.error else ""
            said.append(f"the run has the status {self._header.status}{reason}")
        if self._reader.invalidated_count:
            samples = counted_noun(self._reader.invalidated_count, "sample")
            said.append(f"{samples} were invalidated by hand, and count as they do in Inspect")
        if self._reader.lost_attachment_count:
            lost = counted_noun(self._reader.lost_attachment_count, "attachment")
            said.append(f"{lost} that messages refer to are not in the log")
        return said


def _first_member(head: bytes) -> bytes:
    """Return the name of the first member of a zip, which its beginning has."""
    if len(head) < 30:
        return b""
    (length,) = struct.unpack_from("<H", head, 26)
    return head[30 : 30 + length]
