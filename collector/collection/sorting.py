"""Sort more lines than fit into memory: sorted chunks on disk, merged."""

from __future__ import annotations

import contextlib
import heapq
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from collector.errors import FileError
from collector.keys import Key
from collector.temporary_files import default_folder, unnamed_file

CHUNK_BYTES = 64 << 20
HEAD = struct.Struct(">QQQ")
Item = tuple[Key, bytes]


@contextlib.contextmanager
def sorted_lines(
    items: Iterable[Item], folder: Path | None, *, chunk_bytes: int = CHUNK_BYTES
) -> Iterator[Iterator[Item]]:
    """Yield the items in the order of their keys; chunks beyond `chunk_bytes` go to the folder."""
    with contextlib.ExitStack() as files:
        chunks: list[Iterator[Item]] = []
        held: list[Item] = []
        size = 0
        for item in items:
            held.append(item)
            size += len(item[1])
            if size >= chunk_bytes:
                chunks.append(_spill(held, files, folder))
                held, size = [], 0
        held.sort(key=_key)
        yield heapq.merge(*chunks, held, key=_key)


def _key(item: Item) -> Key:
    return item[0]


def _spill(items: list[Item], files: contextlib.ExitStack, folder: Path | None) -> Iterator[Item]:
    items.sort(key=_key)
    try:
        file = files.enter_context(unnamed_file(folder))
        for (task, rollout), line in items:
            file.write(HEAD.pack(task, rollout, len(line)))
            file.write(line)
        file.seek(0)
    except OSError as error:
        raise FileError(f"cannot sort in {folder or default_folder()}: {error.strerror}") from error
    return _read_back(file)


def _read_back(file: BinaryIO) -> Iterator[Item]:
    while head := file.read(HEAD.size):
        task, rollout, length = HEAD.unpack(head)
        yield (task, rollout), file.read(length)
