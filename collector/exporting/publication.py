"""Write files in a hidden working folder, and replace the previous export by them."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from collector.atomic_files import sync_folder
from collector.errors import FileError
from collector.temporary_files import is_at, temporary_folder, try_lock

ASIDE = ".aside"
LOCK = ".export.lock"
AT_FDCWD = -100
RENAME_EXCHANGE = 2


@contextlib.contextmanager
def working_folder(output: Path, *, on_wait: Callable[[str], None]) -> Iterator[Path]:
    """Yield a new folder inside of the output folder, which is locked against other exports."""
    created = [folder for folder in (output, *output.parents) if not folder.exists()]
    try:
        output.mkdir(parents=True, exist_ok=True)
        with _hold_lock(output, on_wait):
            _restore(output)
            with temporary_folder(output) as folder:
                yield folder
    except OSError as error:
        raise FileError(f"cannot write to {output}: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):  # a folder with an export stays
            for folder in created:
                folder.rmdir()


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


@contextlib.contextmanager
def _hold_lock(output: Path, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a folder; the file of the lock is there only as long as it is held."""
    path = output / LOCK
    descriptor = _lock(path, on_wait)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _lock(path: Path, on_wait: Callable[[str], None]) -> int:
    """Wait for the lock, and return the descriptor that holds it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if try_lock(descriptor) is False:
                on_wait(f"waiting for another export to {path.parent}")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if is_at(descriptor, path):  # else the export before has removed it
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _replace(source: Path, target: Path) -> None:
    # DuckDB would apply the write-ahead log of the previous snapshot to the new one
    target.with_name(f"{target.name}.wal").unlink(missing_ok=True)
    if target.is_dir():
        _exchange(source, target)
    else:
        source.replace(target)


def _restore(output: Path) -> None:
    """Put the folders back that a killed export had moved aside."""
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
