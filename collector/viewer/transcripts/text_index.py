"""An index of what rollouts say: their texts in one file, which a search reads from end to end.

Each line is a rollout: both indices and its text, ready to be compared. The end of the file says
which rollouts file it belongs to, and how far it goes. Reading a gigabyte of rollouts anew takes
seconds; the texts are a fraction of it, and need no parsing.
"""

from __future__ import annotations

import io
import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from collector.atomic_files import Drafts, anything
from collector.errors import FileError
from collector.keys import Key
from collector.rollout_lines import (
    IndexMark,
    LineScan,
    Progress,
    checked_mark,
    index_path,
    open_rollouts,
    pending_bytes,
)
from collector.viewer.transcripts.spoken_text import searchable, spoken_text

FORMAT = 1
CHUNK_BYTES = 4 << 20
MOST_FOUND = 100_000
END = struct.Struct("<Q8s")
MAGIC = b"SPOTTEXT"


@dataclass(frozen=True)
class TextMark:
    """How far an index goes: the state of the rollouts file, and the bytes of complete lines."""

    mark: IndexMark
    text_bytes: int
    complete_bytes: int
    """Where the text of an unfinished last line begins; the next update replaces it."""


@dataclass(frozen=True)
class FoundRollouts:
    """The rollouts that say something, in the order of the file."""

    keys: list[Key]
    is_cut: bool
    """Whether there are more."""


class TextIndex:
    """The texts of one rollouts file, which a new index replaces and nothing changes."""

    def __init__(self, rollouts: Path, folder: Path) -> None:
        """Create the index of a rollouts file; its own file is in `folder`."""
        self.rollouts = rollouts.absolute()
        self.path = index_path(self.rollouts, folder, ".texts")

    def pending_bytes(self) -> int:
        """Return how many bytes must be read to bring the index up to date."""
        found = self._mark()
        return pending_bytes(found.mark if found else None, self.rollouts)

    def update(self, progress: Progress) -> None:
        """Bring the index up to date: extend it if the file only grew, else build it again."""
        if not self.pending_bytes():
            return
        with open_rollouts(self.rollouts) as file, Drafts() as drafts:
            with drafts.open(self.path, replaces=anything) as draft:
                self._write(draft, LineScan(file, progress))
            drafts.publish()

    def find(self, query: str, most: int = MOST_FOUND) -> FoundRollouts:
        """Return the rollouts whose texts contain a query; raise FileError without an index."""
        wanted = searchable(query).encode("utf-8", "replace")
        found = self._mark()
        if found is None:
            raise FileError(f"there is no index of {self.rollouts}")
        try:
            with self.path.open("rb") as file:
                matches = (
                    key
                    for block in _blocks(file, found.text_bytes)
                    for key in _matches(block, wanted)
                )
                keys = list(itertools.islice(matches, most + 1))
        except (OSError, ValueError) as error:
            self.path.unlink(missing_ok=True)  # it is damaged: the next search builds it again
            raise FileError(f"cannot search in {self.rollouts}: {error}") from error
        return FoundRollouts(keys[:most], is_cut=len(keys) > most)

    def _mark(self) -> TextMark | None:
        """Return the mark of the index, or None if it is missing, damaged or of another file."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, io.SEEK_END)
                file.seek(max(0, size - END.size))
                length, magic = END.unpack(file.read(END.size))
                start = size - END.size - length
                if magic != MAGIC or start < 0:
                    return None
                file.seek(start)
                complete, *values = orjson.loads(file.read(length))
        except (OSError, ValueError, TypeError, struct.error):
            return None
        mark = checked_mark(values, FORMAT, self.rollouts)
        is_known = mark and type(complete) is int and 0 <= complete <= start
        return TextMark(mark, start, complete) if mark and is_known else None

    def _write(self, draft: BinaryIO, scan: LineScan) -> None:
        found = self._mark()
        if found and scan.continue_from(found.mark):
            with self.path.open("rb") as file:
                for block in _blocks(file, found.complete_bytes):
                    draft.write(block)
        complete = draft.tell()
        for line in scan.lines():
            text = searchable(spoken_text(line.row)).encode("utf-8", "replace")
            draft.write(b"%d\t%d\t%b\n" % (*line.key, text))
            if line.is_complete:
                complete = draft.tell()
        mark = orjson.dumps([complete, *vars(scan.mark(FORMAT, self.rollouts)).values()])
        draft.write(mark + END.pack(len(mark), MAGIC))


def _blocks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Give the first bytes of a file in blocks of complete lines."""
    rest, left = b"", size
    while left and (chunk := file.read(min(CHUNK_BYTES, left))):
        left -= len(chunk)
        end = chunk.rfind(b"\n") + 1
        if end:
            yield rest + chunk[:end]
            rest = chunk[end:]
        else:
            rest += chunk


def _matches(block: bytes, wanted: bytes) -> Iterator[Key]:
    """Give the keys of the lines whose texts contain something."""
    at = block.find(wanted)
    while at >= 0:
        start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
        task, rollout, _ = block[start : min(start + 64, end)].split(b"\t", 2)
        if at < start + len(task) + len(rollout) + 2:  # it is part of the indices
            at = block.find(wanted, at + 1)
            continue
        yield int(task), int(rollout)
        at = block.find(wanted, end)
