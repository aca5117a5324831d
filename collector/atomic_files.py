"""Write files completely or not at all: write drafts first, then rename them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from collector.errors import FileError

BUFFER_BYTES = 1 << 20


class Drafts:
    """Files that lie beside their targets until `publish` renames them.

    At the end of a `with` block, drafts that were not published are removed.
    """

    def __init__(self) -> None:
        """Start without files."""
        self._targets: dict[Path, Path] = {}

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
    def open(self, target: Path) -> Iterator[BinaryIO]:
        """Open a draft of a file for writing, and force it to the disk when the block ends."""
        draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        if target.exists() and not target.is_file():
            raise FileError(f"cannot write {target}: the path exists and is not a regular file")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("wb", buffering=BUFFER_BYTES) as file:
                self._targets[draft] = target
                yield file
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(f"cannot write {target}: {error.strerror}") from error

    def current(self, target: Path) -> Path:
        """Return the draft of a file, or the file's own path if it has no draft."""
        return next((draft for draft, other in self._targets.items() if other == target), target)

    def publish(self) -> None:
        """Rename every draft to its target."""
        for draft, target in list(self._targets.items()):
            try:
                draft.replace(target)
                sync_folder(target.parent)
            except OSError as error:
                raise FileError(f"cannot write {target}: {error.strerror}") from error
            del self._targets[draft]

    def discard(self) -> None:
        """Remove the drafts that were not published."""
        for draft in self._targets:
            draft.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Force the directory entries of a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
