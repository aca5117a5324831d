"""Write files completely or not at all: write drafts first, then rename them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from collector.errors import FileError, UsageError
from collector.open_files import SPARE_DESCRIPTORS, allow_open_files
from collector.temporary_files import create_file, new_name, remove_leftovers

BUFFER_BYTES = 1 << 20
Check = Callable[[Path], bool]


def anything(_: Path) -> bool:
    """Let a draft replace any file: only Spotter writes files with such a name."""
    return True


def nothing(_: Path) -> bool:
    """Let a draft replace no file."""
    return False


@dataclass
class _Draft:
    target: Path
    descriptor: int | None = None
    """Holds the lock that tells other commands that the draft is in use."""

    def unlock(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


class Drafts:
    """Files that lie beside their targets until `publish` renames them.

    At the end of a `with` block, drafts that were not published are removed.
    """

    def __init__(self) -> None:
        """Start without files."""
        self._drafts: dict[Path, _Draft] = {}
        self._folders: set[Path] = set()

    def __enter__(self) -> Self:
        """Return the drafts."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the drafts that were not published."""
        self.discard()

    @contextlib.contextmanager
    def open(self, target: Path, *, replaces: Check) -> Iterator[BinaryIO]:
        """Open a draft of a file for writing, and force it to the disk when the block ends.

        Raise UsageError if the file exists and `replaces` does not say that it may be replaced.
        """
        if os.path.lexists(target):
            _refuse_foreign(target, replaces)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._clean_up(target.parent)
            descriptor = self._create(target)
            with open(descriptor, "wb", buffering=BUFFER_BYTES, closefd=False) as file:
                yield file
                file.flush()
                os.fsync(descriptor)
            self._limit_locks()
        except OSError as error:
            raise FileError(f"cannot write {target}: {error.strerror}") from error

    def current(self, target: Path) -> Path:
        """Return the draft of a file, or the file's own path if it has no draft."""
        return next(
            (path for path, draft in self._drafts.items() if draft.target == target), target
        )

    def publish(self, last: Collection[Path] = ()) -> None:
        """Rename every draft to its target, those of `last` after all others."""
        ordered = sorted(self._drafts.items(), key=lambda item: item[1].target in last)
        for path, draft in ordered:
            try:
                path.replace(draft.target)
                sync_folder(draft.target.parent)
            except OSError as error:
                raise FileError(f"cannot write {draft.target}: {error.strerror}") from error
            self._forget(path)

    def drop(self, target: Path) -> None:
        """Remove the draft of a file that is to stay as it is."""
        path = self.current(target)
        path.unlink(missing_ok=True)
        self._forget(path)

    def discard(self) -> None:
        """Remove the drafts that were not published."""
        for path in list(self._drafts):
            path.unlink(missing_ok=True)
            self._forget(path)

    def _clean_up(self, folder: Path) -> None:
        if folder not in self._folders:
            remove_leftovers(folder)
            self._folders.add(folder)

    def _create(self, target: Path) -> int:
        """Create the draft of a file; its lock keeps it open until it is published."""
        while True:
            path = target.with_name(new_name())
            # before the file exists: a signal right after its creation must not leave it behind
            draft = self._drafts[path] = _Draft(target)
            draft.descriptor = create_file(path)
            if draft.descriptor is not None:
                return draft.descriptor
            del self._drafts[path]

    def _limit_locks(self) -> None:
        """Give up the locks of all drafts if the system does not allow so many open files."""
        wanted = len(self._drafts) + SPARE_DESCRIPTORS
        if allow_open_files(wanted) < wanted:
            for draft in self._drafts.values():
                draft.unlock()

    def _forget(self, path: Path) -> None:
        self._drafts.pop(path).unlock()


def write_file(target: Path, content: bytes, *, replaces: Check) -> None:
    """Write a whole file or nothing."""
    with Drafts() as drafts:
        with drafts.open(target, replaces=replaces) as file:
            file.write(content)
        drafts.publish()


def sync_folder(folder: Path) -> None:
    """Force the directory entries of a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_foreign(target: Path, replaces: Check) -> None:
    if not target.is_file():
        if not target.is_symlink() or target.exists():
            raise FileError(f"cannot write {target}: the path exists and is not a regular file")
        return  # a link to nothing
    if not replaces(target):
        raise UsageError(
            f"{target} exists already, and would be replaced\n"
            "  what to do: give another path, or move the file away"
        )
