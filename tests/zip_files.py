"""Write zip files member by member, as other programs do and as they never should."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import zstandard

STORED, DEFLATED, ZSTD = 0, 8, 93
FRAME_BYTES = 500


@dataclass(frozen=True)
class Member:
    """A member of a zip, and what the zip claims about it."""

    name: str
    content: bytes
    method: int = ZSTD
    flags: int = 0
    claimed_size: int | None = None
    checksum: int | None = None
    offset: int | None = None
    """Where the directory says that the member begins."""

    def compressed(self) -> bytes:
        if self.method == ZSTD:  # several frames, as Inspect writes members of above 200 MiB
            starts = range(0, max(1, len(self.content)), FRAME_BYTES)
            parts = (self.content[start : start + FRAME_BYTES] for start in starts)
            return b"".join(zstandard.ZstdCompressor().compress(part) for part in parts)
        if self.method == DEFLATED:
            packer = zlib.compressobj(wbits=-15)
            return packer.compress(self.content) + packer.flush()
        return self.content


def write_zip(path: Path, members: Sequence[Member]) -> Path:
    """Write a zip; return its path."""
    body, directory = b"", b""
    for member in members:
        data = member.compressed()
        name = member.name.encode()
        size = len(member.content) if member.claimed_size is None else member.claimed_size
        checksum = zlib.crc32(member.content) if member.checksum is None else member.checksum
        sizes = struct.pack("<LLL", checksum, len(data), size)
        versions = struct.pack("<HHHHH", 45, member.flags, member.method, 0, 33)
        lengths = struct.pack("<HH", len(name), 0)
        offset = len(body) if member.offset is None else member.offset
        place = struct.pack("<HHHLL", 0, 0, 0, 0, offset)
        directory += (
            b"PK\x01\x02" + struct.pack("<H", 45) + versions + sizes + lengths + place + name
        )
        body += b"PK\x03\x04" + versions + sizes + lengths + name + data
    count = len(members)
    end = struct.pack("<HHHHLLH", 0, 0, count, count, len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path
