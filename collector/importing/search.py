"""Find the logs among files and folders, and tell their format from their content."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from collector.artifacts import default_inputs
from collector.errors import FileError, UsageError
from collector.importing.candidates import Candidate, Claim
from collector.importing.formats import MODULES, Format, load_format
from collector.importing.formats.mapped import MappedFormat
from collector.keys import ROLLOUT, TASK
from collector.suggestions import first_names, unknown_name
from collector.terminal import counted_noun

MAPPING_SUFFIXES = (".yml", ".yaml")


@dataclass(frozen=True)
class FoundLogs:
    """Log files of one format."""

    format: Format
    files: list[Path]
    passed_over: list[Path] = field(default_factory=list)
    """Files of the folders that are not logs."""


def find_logs(paths: list[Path], given: str | None, leave_out: Iterable[Path] = ()) -> FoundLogs:
    """Return the logs among files and folders.

    `given` is the format's name, or the path of a mapping; None tells the format from the content.
    `leave_out` are files that the folders may have although they are not meant. Raise FileError if
    there are no logs, and UsageError if there are logs of several formats.
    """
    formats = [chosen_format(given)] if given else [load_format(name) for name in MODULES]
    named = {_absolute(path) for path in paths if not path.is_dir()}
    skipped = {_absolute(path) for path in leave_out} - named
    claims: dict[str, list[Path]] = {}
    passed_over: list[Path] = []
    for path in _all_files(paths):
        if path in skipped:
            continue
        candidate = Candidate(path)
        name, claim = _claim(candidate, formats)
        if given and path in named:
            claims.setdefault(formats[0].NAME, []).append(path)
        elif claim is Claim.LOG:
            claims.setdefault(name, []).append(path)
        elif claim is None:
            if path in named:
                raise _unknown_format_error(candidate)
            passed_over.append(path)
    if not claims:
        raise _no_logs(paths, given)
    if len(claims) > 1:
        raise _several(claims)
    name, files = claims.popitem()
    chosen = next(one for one in formats if name == one.NAME)
    return FoundLogs(chosen, files, passed_over)


def chosen_format(given: str) -> Format:
    """Return the format of a name, or that of a mapping file."""
    if given in MODULES:
        return load_format(given)
    if given.endswith(MAPPING_SUFFIXES):
        if not Path(given).is_file():
            raise FileError(f"the mapping {given} does not exist")
        return MappedFormat(Path(given))
    raise UsageError(f"--from {unknown_name(given, list(MODULES))}")


def _claim(candidate: Candidate, formats: list[Format]) -> tuple[str, Claim | None]:
    for one in formats:
        if claim := one.claim(candidate):
            return one.NAME, claim
    return "", None


def _all_files(paths: list[Path]) -> Iterator[Path]:
    """Yield the files in order, each once; hidden files and folders are left out of folders."""
    seen: set[Path] = set()
    for path in paths:
        for found in _files_in(path) if path.is_dir() else [path]:
            absolute = _absolute(found)
            if absolute not in seen:
                seen.add(absolute)
                yield absolute


def _files_in(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise FileError(f"cannot read the folder {error.filename}: {error.strerror}")

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and path.is_file():
                yield path


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links


def _unknown_format_error(candidate: Candidate) -> FileError:
    path, row = candidate.path, candidate.first_object
    if row and TASK in row and ROLLOUT in row:
        hint = f"it is a file of a run already: spotter profile {path}"
        if default_inputs(path).is_file():
            return FileError(f"{path} need not be imported\n  {hint}")
    known = f"the formats are {first_names(list(MODULES))}"
    return FileError(
        f"{path} is not a log of a known format\n  {known}\n"
        "  what to do: name the format with --from, or describe the fields in a mapping.yml"
    )


def _no_logs(paths: list[Path], given: str | None) -> FileError:
    names = ", ".join(map(str, paths))
    kind = f"{given} logs" if given else f"logs ({first_names(list(MODULES))})"
    return FileError(f"found no {kind} in {names}")


def _several(claims: dict[str, list[Path]]) -> UsageError:
    counts = ", ".join(
        f"{counted_noun(len(files), 'log')} of {name} (like {files[0].name})"
        for name, files in claims.items()
    )
    return UsageError(
        f"logs of several formats: {counts}\n  what to do: choose one with --from, such as"
        f" --from {next(iter(claims))}"
    )
