"""Read members of a zip file in a stream: nothing is extracted, and no member can fill the memory.

Python's zipfile reads the directory and the members that are stored or deflated. Members compressed
with zstd (method 93) are decompressed here, frame after frame, since Python can do so only from
3.14 on.
"""

from __future__ import annotations

import contextlib
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, Protocol, Self

import zstandard

from collector.errors import FileError
from collector.terminal import label

ZSTD = 93
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTD)
ENCRYPTED = 0x1
DIRECTORY_BYTES = 24 << 20
"""The most bytes that the list of members may have: about 250,000 members."""
WINDOW_BYTES = 128 << 20
RATIO = 1000
RATIO_FREE_BYTES = 16 << 20
"""A member up to this size may be compressed as well as it likes."""
TOTAL_FREE_BYTES = 1 << 30
LOCAL_HEADER = struct.Struct("<4s22xHH")
END = struct.Struct("<4s8xLL")
END_64 = struct.Struct("<4s36xQQ")
LOCATOR_BYTES = 20
TAIL_BYTES = 22 + LOCATOR_BYTES + END_64.size + (1 << 16)


class MemberReader(Protocol):
    """An open member."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, up to `size`, and none at the end."""
        ...


class ZipArchive:
    """An open zip file; every error of the file is a FileError that names it."""

    def __init__(self, path: Path) -> None:
        """Open a zip file and read its directory; raise FileError if it is damaged or hostile."""
        self._path = path
        self._resources = contextlib.ExitStack()
        with _errors_of(path):
            file = self._resources.enter_context(path.open("rb"))
            try:
                _check_directory_size(path, file)
                self._zip = self._resources.enter_context(zipfile.ZipFile(file))
                self._file = file
                self._check_sizes()
            except BaseException:
                self._resources.close()
                raise

    def __enter__(self) -> Self:
        """Return the open file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._resources.close()

    @property
    def names(self) -> list[str]:
        """Return the names of the members in the order of the directory, each once."""
        return list(self._zip.NameToInfo)

    def size(self, name: str) -> int:
        """Return the size of a member once it is decompressed."""
        return self._zip.getinfo(name).file_size

    def compressed_size(self, name: str) -> int:
        """Return the size of a member in the file."""
        return self._zip.getinfo(name).compress_size

    @contextlib.contextmanager
    def open(self, name: str) -> Iterator[MemberReader]:
        """Yield a reader of a member; reading raises FileError if the member is damaged."""
        member = self._zip.getinfo(name)
        self._check(member)
        where = f"{self._path} (member {label(name)})"
        with contextlib.ExitStack() as stack:
            reader: MemberReader
            with _errors_of(where):
                if member.compress_type == ZSTD:
                    reader = _ZstdMember(_Section(self._path, self._file, member), member, where)
                else:
                    reader = _StoredMember(stack.enter_context(self._zip.open(member)), where)
            yield reader

    def read(self, name: str, limit: int) -> bytes:
        """Return a whole member; raise FileError if it has more than `limit` bytes."""
        if self.size(name) > limit:
            raise FileError(
                f"cannot read {self._path}: its member {label(name)} has {self.size(name):,} bytes,"
                f" where at most {limit:,} are expected"
            )
        with self.open(name) as reader:
            parts = []
            while part := reader.read(1 << 20):
                parts.append(part)
            return b"".join(parts)

    def _check(self, member: zipfile.ZipInfo) -> None:
        where = f"cannot read {self._path}: its member {label(member.filename)}"
        if member.flag_bits & ENCRYPTED:
            raise FileError(f"{where} is encrypted\n  what to do: decrypt the file first")
        if member.compress_type not in METHODS:
            raise FileError(f"{where} is compressed by the unknown method {member.compress_type}")
        is_large = member.file_size > RATIO_FREE_BYTES
        if is_large and member.file_size > RATIO * max(1, member.compress_size):
            raise FileError(
                f"{where} claims to grow from {member.compress_size:,} to {member.file_size:,}"
                " bytes: no log does that, so it is not read"
            )

    def _check_sizes(self) -> None:
        """Raise FileError if members share their bytes, or would grow beyond all measure."""
        end = total = 0
        for member in sorted(self._zip.infolist(), key=lambda one: one.header_offset):
            if member.header_offset < end:
                raise FileError(
                    f"cannot read {self._path}: its members {label(member.filename)} and others"
                    " overlap, so it is damaged or made to do harm"
                )
            end = member.header_offset + member.compress_size
            total += member.file_size
        size = self._path.stat().st_size
        if total > max(RATIO * size, TOTAL_FREE_BYTES):
            raise FileError(
                f"cannot read {self._path}: it claims to grow from {size:,} to {total:,} bytes: no"
                " log does that, so it is not read"
            )


class _StoredMember:
    """A member that Python's zipfile can read, checksum included."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        self._file = file
        self._where = where

    def read(self, size: int, /) -> bytes:
        with _errors_of(self._where):
            return self._file.read(size)


class _Section:
    """The compressed bytes of a member."""

    def __init__(self, path: Path, file: BinaryIO, member: zipfile.ZipInfo) -> None:
        file.seek(member.header_offset)
        header = file.read(LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            raise FileError(f"cannot read {path}: the header of a member is damaged")
        _, name, extra = LOCAL_HEADER.unpack(header)
        self._file = file
        self._at = member.header_offset + LOCAL_HEADER.size + name + extra
        self._left = member.compress_size

    def read(self, size: int = -1, /) -> bytes:
        self._file.seek(self._at)
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._file.read(wanted)
        self._at += len(data)
        self._left -= len(data)
        return data


class _ZstdMember:
    """A member of one or more zstd frames, checked against its size and its checksum."""

    def __init__(self, raw: _Section, member: zipfile.ZipInfo, where: str) -> None:
        decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES)
        self._stream = decompressor.stream_reader(raw, read_across_frames=True)  # type: ignore[arg-type]
        self._member = member
        self._where = where
        self._size = 0
        self._checksum = 0

    def read(self, size: int, /) -> bytes:
        with _errors_of(self._where):
            data = bytes(self._stream.read(size))
            self._size += len(data)
            self._checksum = zlib.crc32(data, self._checksum)
            is_whole = self._size == self._member.file_size and self._checksum == self._member.CRC
            if self._size > self._member.file_size or not (data or is_whole):
                raise zipfile.BadZipFile("its size or its checksum is wrong")
            return data


@contextlib.contextmanager
def _errors_of(where: Path | str) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, zstandard.ZstdError, EOFError, struct.error) as error:
        raise FileError(
            f"cannot read {where}: it is damaged or was cut off ({error})\n"
            "  what to do: copy it again from where it was written"
        ) from error
    except OSError as error:
        raise FileError(f"cannot read {where}: {error.strerror or error}") from error
    except (NotImplementedError, RuntimeError, ValueError) as error:
        raise FileError(f"cannot read {where}: {error}") from error


def _check_directory_size(path: Path, file: BinaryIO) -> None:
    """Raise FileError if the list of members would not fit into memory."""
    size = file.seek(0, 2)
    file.seek(max(0, size - TAIL_BYTES))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < END.size:
        raise zipfile.BadZipFile("the list of its members is missing at its end")
    _, listed, _ = END.unpack_from(tail, at)
    large = at - LOCATOR_BYTES - END_64.size
    if large >= 0 and tail.startswith(b"PK\x06\x07", at - LOCATOR_BYTES):  # a zip of above 4 GiB
        _, listed, _ = END_64.unpack_from(tail, large)
    if listed > DIRECTORY_BYTES:
        raise FileError(
            f"cannot read {path}: the list of its members has {listed:,} bytes,"
            f" where at most {DIRECTORY_BYTES:,} are read"
        )
