"""The two files of an Inspect log: a zip with a member for each sample, and one JSON object."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from collector.errors import FileError
from collector.importing.attempts import Json
from collector.importing.formats.inspect.sample_rows import (
    EVENT,
    SAMPLE_BYTES,
    is_model_event,
    read_sample,
    referred_names,
    scan_sample,
    too_long,
)
from collector.importing.json_scanner import JsonScanner, check_value_count
from collector.importing.reading import Meter
from collector.importing.zip_archive import ZipArchive
from collector.jsonl import read_object
from collector.terminal import label

HEADER_BYTES = 32 << 20
SAMPLES = "samples/"
SHELL = "/sample.json"


class EvalFile:
    """A log with the ending `.eval`: a zip with a member, or a folder of members, per sample."""

    def __init__(self, path: Path, meter: Meter) -> None:
        """Take the path of the log, and the meter that counts what is read."""
        self._path = path
        self._meter = meter

    def header(self) -> Json:
        """Return the header; a run that was killed left only the one it wrote at its start."""
        with ZipArchive(self._path) as archive:
            names = archive.names
            for name in ("header.json", "_journal/start.json"):
                if name in names:
                    return _Members(self._path, archive, self._meter).object(name)
        raise FileError(f"{self._path} is not a log of Inspect: it has no header.json")

    def samples(self) -> Iterator[Json]:
        """Give the samples in the order of the zip."""
        with ZipArchive(self._path) as archive:
            yield from _Members(self._path, archive, self._meter).samples()


class _Members:
    """The members of an open log."""

    def __init__(self, path: Path, archive: ZipArchive, meter: Meter) -> None:
        self._path = path
        self._zip = archive
        self._meter = meter
        self._names = set(archive.names)

    def samples(self) -> Iterator[Json]:
        pieces = self._pieces()
        for name in self._zip.names:
            if name.endswith(SHELL) and name.removesuffix(SHELL) in pieces:
                yield self._join_parts(name.removesuffix(SHELL), pieces[name.removesuffix(SHELL)])
            elif name.startswith(SAMPLES) and name.endswith(".json") and not _owner(name, pieces):
                yield self._whole(name)
            self._meter.add(self._zip.compressed_size(name))

    def object(self, name: str) -> Json:
        with self._place(name):
            text = self._zip.read(name, HEADER_BYTES)
            check_value_count(text)
            return read_object(text)

    def _pieces(self) -> dict[str, list[str]]:
        """Return the members of each sample that is stored in pieces, by the sample's folder."""
        shells = (name.removesuffix(SHELL) for name in self._names if name.endswith(SHELL))
        pieces: dict[str, list[str]] = {
            folder: [] for folder in shells if f"{folder}/skeleton.json" in self._names
        }
        for name in self._zip.names if pieces else ():
            if owner := _owner(name, pieces):
                pieces[owner].append(name)
        return pieces

    def _whole(self, name: str) -> Json:
        with self._zip.open(name) as reader, self._place(name):
            return read_sample(reader.read, self._zip.size(name))

    def _join_parts(self, folder: str, names: list[str]) -> Json:
        row = self.object(f"{folder}{SHELL}")
        with self._place(folder):
            messages = [name for name in names if name.startswith(f"{folder}/messages/")]
            if sum(map(self._zip.size, messages)) > SAMPLE_BYTES:
                raise too_long()
            pool = list(self._sequence(f"{folder}/messages/", names))
            row["messages"] = [one for start, end in row["message_refs"] for one in pool[start:end]]
        if f"{folder}/metadata.json" in self._names:
            row["metadata"] = self.object(f"{folder}/metadata.json")
        row[EVENT] = next(filter(is_model_event, self._sequence(f"{folder}/events/", names)), None)
        with self._place(folder):
            row["attachments"] = self._attachments(f"{folder}/attachments/", names, row)
        return row

    def _attachments(self, start: str, names: list[str], row: Json) -> Json:
        """Return the attachments that a sample refers to, by their numbers."""
        wanted = referred_names(row)
        found: Json = {}
        left = SAMPLE_BYTES
        for number, text in enumerate(self._sequence(start, names) if wanted else ()):
            if str(number) in wanted:
                found[str(number)] = text
                left -= len(text)
                if left < 0:
                    raise too_long()
        return found

    def _sequence(self, start: str, names: list[str]) -> Iterator[Any]:
        """Give the values of a sequence, whose members are named by the number of their first."""
        stems = [name.removeprefix(start).removesuffix(".json") for name in names]
        for number in sorted(int(stem) for stem in stems if stem.isdecimal()):
            name = f"{start}{number}.json"
            with self._zip.open(name) as reader, self._place(name):
                scanner = JsonScanner(reader.read)
                for _ in scanner.elements():
                    yield scanner.parse(SAMPLE_BYTES)

    @contextlib.contextmanager
    def _place(self, name: str) -> Iterator[None]:
        try:
            yield
        except (ValueError, LookupError, TypeError) as error:
            reason = error if isinstance(error, ValueError) else "it is not a sample"
            raise FileError(f"cannot read {self._path} (member {label(name)}): {reason}") from error


def _owner(name: str, folders: Container[str]) -> str | None:
    """Return which of some folders a member lies in; a sample's id may itself have slashes."""
    parents = (str(parent) for parent in PurePosixPath(name).parents)
    return next((parent for parent in parents if parent in folders), None)


class JsonFile:
    """A log with the ending `.json`: one object with all samples in a list."""

    def __init__(self, path: Path, meter: Meter) -> None:
        """Take the path of the log, and the meter that counts what is read."""
        self._path = path
        self._meter = meter

    def header(self) -> Json:
        """Return the fields around the samples; those behind them are read only if needed."""
        values: Json = {}
        with self._scanner(Meter()) as scanner:
            for name in scanner.members():
                if name == "samples" and "eval" in values:
                    return values
                if name not in ("samples", "reductions"):
                    values[name] = scanner.parse(HEADER_BYTES)
            scanner.finish()
        return values

    def samples(self) -> Iterator[Json]:
        """Give the samples of the list."""
        with self._scanner(self._meter) as scanner:
            for name in scanner.members():
                if name == "samples" and scanner.kind() == "[":
                    for _ in scanner.elements():
                        yield scan_sample(scanner)
            scanner.finish()

    @contextlib.contextmanager
    def _scanner(self, meter: Meter) -> Iterator[JsonScanner]:
        try:
            with self._path.open("rb") as file:

                def read(size: int) -> bytes:
                    data = file.read(size)
                    meter.add(len(data))
                    return data

                yield JsonScanner(read)
        except OSError as error:
            raise FileError(f"cannot read {self._path}: {error.strerror}") from error
        except ValueError as error:
            raise FileError(f"{self._path} is not a complete log of Inspect: {error}") from error
