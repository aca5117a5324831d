"""Make files in a folder that nobody looks at, and let them take their places at once."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from collector.atomic_files import sync_folder
from collector.errors import FileError

PREFIX = ".export-"
ASIDE = ".aside"
LOCK = ".export.lock"
AT_FDCWD = -100
RENAME_EXCHANGE = 2


@contextlib.contextmanager
def working_folder(output: Path, *, on_wait: Callable[[str], None]) -> Iterator[Path]:
    """Give a folder on the disk of the output, while no other export works there."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        with (output / LOCK).open("wb") as lock:
            _take(lock, output, on_wait)
            _tidy(output)
            folder = Path(tempfile.mkdtemp(".tmp", PREFIX, output))
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise FileError(f"cannot write to {output}: {error.strerror}") from error


def publish(folder: Path, output: Path, names: Sequence[str]) -> None:
    """Let what was made take its place; what was there is whole until that moment."""
    for name in names:
        _sync(folder / name)
    for name in names:
        try:
            _take_place(folder / name, output / name)
        except OSError as error:
            raise FileError(f"cannot write {output / name}: {error.strerror}") from error
    sync_folder(output)


def _take(lock: BinaryIO, output: Path, on_wait: Callable[[str], None]) -> None:
    """Hold a lock for as long as this process lives, or the file is open."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        on_wait(f"waiting for another export to {output}")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _take_place(made: Path, place: Path) -> None:
    # what was not written to the file before would be taken for a part of this one
    place.with_name(f"{place.name}.wal").unlink(missing_ok=True)
    if place.is_dir():
        _exchange(made, place)
    else:
        made.replace(place)


def _tidy(output: Path) -> None:
    """Remove what killed exports have left; what they had put aside gets its place back."""
    for left in output.glob(f"{PREFIX}*.tmp"):
        shutil.rmtree(left, ignore_errors=True)
    for aside in output.glob(f".*{ASIDE}"):
        place = output / aside.name.removeprefix(".").removesuffix(ASIDE)
        if place.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(place)


def _exchange(made: Path, place: Path) -> None:
    """Let two folders change their names in one step, where the system can."""
    if _is_exchanged(made, place):
        return
    aside = place.with_name(f".{place.name}{ASIDE}")
    place.rename(aside)
    try:
        made.rename(place)
    except OSError:
        aside.rename(place)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _is_exchanged(made: Path, place: Path) -> bool:
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:  # only Linux has it, and not for every file system
        return False
    paths = os.fsencode(made), os.fsencode(place)
    return bool(rename(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) == 0)


def _sync(made: Path) -> None:
    """Force what was made to the disk."""
    files = [made] if made.is_file() else [path for path in made.rglob("*") if path.is_file()]
    for path in files:
        with path.open("rb") as file:
            os.fsync(file.fileno())
