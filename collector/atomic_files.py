"""Write files whole or not at all: drafts first, then a rename."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from collector.errors import FileError

BUFFER_BYTES = 1 << 20


class Drafts:
    """Files that wait beside their places until everything else has succeeded."""

    def __init__(self) -> None:
        """Start without files."""
        self._places: dict[Path, Path] = {}

    @contextlib.contextmanager
    def open(self, place: Path) -> Iterator[BinaryIO]:
        """Give a draft of one file to write, and force it to the disk."""
        draft = place.with_name(f".{place.name}.{os.getpid()}.tmp")
        if place.exists() and not place.is_file():
            raise FileError(f"cannot write {place}: the path exists and is not a regular file")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("wb", buffering=BUFFER_BYTES) as file:
                self._places[draft] = place
                yield file
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(f"cannot write {place}: {error.strerror}") from error

    def current(self, place: Path) -> Path:
        """Return the draft of a file, or its place if there is none."""
        return next((draft for draft, taken in self._places.items() if taken == place), place)

    def publish(self) -> None:
        """Move every draft to its place."""
        for draft, place in list(self._places.items()):
            try:
                draft.replace(place)
                sync_folder(place.parent)
            except OSError as error:
                raise FileError(f"cannot write {place}: {error.strerror}") from error
            del self._places[draft]

    def discard(self) -> None:
        """Remove what was not published."""
        for draft in self._places:
            draft.unlink(missing_ok=True)


@contextlib.contextmanager
def drafting() -> Iterator[Drafts]:
    """Give drafts that leave nothing behind when something fails."""
    drafts = Drafts()
    try:
        yield drafts
    finally:
        drafts.discard()


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
