"""Write files in a hidden working folder, and replace the previous export by them."""

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
    """Yield a new folder inside of the output folder, which is locked against other exports."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        with (output / LOCK).open("wb") as lock:
            _lock(lock, output, on_wait)
            _clean_up(output)
            folder = Path(tempfile.mkdtemp(".tmp", PREFIX, output))
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise FileError(f"cannot write to {output}: {error.strerror}") from error


def publish(folder: Path, output: Path, names: Sequence[str]) -> None:
    """Move files and folders to the output; each previous one stays complete until its moment."""
    for name in names:
        _sync_files(folder / name)
    for name in names:
        try:
            _replace(folder / name, output / name)
        except OSError as error:
            raise FileError(f"cannot write {output / name}: {error.strerror}") from error
    sync_folder(output)


def _lock(lock: BinaryIO, output: Path, on_wait: Callable[[str], None]) -> None:
    """Wait for the lock, and hold it until the file is closed or the process ends."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        on_wait(f"waiting for another export to {output}")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _replace(source: Path, target: Path) -> None:
    # DuckDB would apply the write-ahead log of the previous snapshot to the new one
    target.with_name(f"{target.name}.wal").unlink(missing_ok=True)
    if target.is_dir():
        _exchange(source, target)
    else:
        source.replace(target)


def _clean_up(output: Path) -> None:
    """Remove the working folders of killed exports, and restore folders they had moved aside."""
    for leftover in output.glob(f"{PREFIX}*.tmp"):
        shutil.rmtree(leftover, ignore_errors=True)
    for aside in output.glob(f".*{ASIDE}"):
        target = output / aside.name.removeprefix(".").removesuffix(ASIDE)
        if target.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(target)


def _exchange(source: Path, target: Path) -> None:
    """Replace a folder by another: in one step if the system can, else in two."""
    if _exchange_atomically(source, target):
        return
    aside = target.with_name(f".{target.name}{ASIDE}")
    target.rename(aside)
    try:
        source.rename(target)
    except OSError:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchange_atomically(source: Path, target: Path) -> bool:
    """Swap the names of two folders; return False if the system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:  # only Linux has renameat2, and not for every file system
        return False
    paths = os.fsencode(source), os.fsencode(target)
    return bool(rename(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) == 0)


def _sync_files(path: Path) -> None:
    """Force a file, or all files in a folder, to the disk."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    for file in files:
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
