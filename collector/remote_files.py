"""Read files in object stores, with the packages that fsspec knows for them."""

from __future__ import annotations

import functools
import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import fsspec

from collector.errors import FileError, UsageError, install_extra
from collector.remote_paths import PACKAGES, RemotePath
from collector.terminal import say

T = TypeVar("T")
BLOCK_BYTES = 8 << 20
KEPT_BLOCKS = 6
# what stores say of an object without permission, or of a reader without credentials
DENIED = ("Forbidden", "AccessDenied", "NoCredentials", "Unable to locate credentials", "403")
# the options of a store: what is listed and read is what is there now
OPTIONS: dict[str, Any] = {"use_listings_cache": False}
# s3fs asks five times, so a store that does not answer costs 50 seconds
S3_LIMITS = {"connect_timeout": 10, "read_timeout": 10, "retries": {"total_max_attempts": 1}}
SILENT_SECONDS = 10.0
"""After this long without an answer, the user is told what the command waits for."""


@dataclass(frozen=True)
class RemoteInfo:
    """What a store says of an object."""

    size: int
    changed_at: int
    """Seconds since the epoch; now if the store does not say."""
    is_folder: bool


@functools.cache
def open_store(protocol: str) -> Store:
    """Return the store of a protocol; raise UsageError if its package is not installed."""
    try:
        return Store(protocol, fsspec.filesystem(protocol, **OPTIONS, **_limits(protocol)))
    except ImportError as error:
        package = PACKAGES[protocol]
        install = install_extra("s3") if package == "s3fs" else f"pip install {package}"
        raise UsageError(
            f"reading {protocol}:// needs the package {package}, which is not installed\n"
            f"  what to do: {install}"
        ) from error


def _limits(protocol: str) -> dict[str, Any]:
    """Return the options that end a request without an answer; those of the user's config win."""
    if PACKAGES[protocol] != "s3fs":
        return {}
    given = fsspec.config.conf.get(protocol, {}).get("config_kwargs", {})
    return {"config_kwargs": {**S3_LIMITS, **given}}


class Store:
    """An object store. Its errors say what happened, where, and what to do."""

    def __init__(self, protocol: str, files: Any) -> None:
        """Wrap the fsspec file system of a protocol."""
        self.protocol = protocol
        self.files = files
        self.failure: FileError | None = None
        """The last error while an object was read."""

    def info(self, path: RemotePath) -> RemoteInfo:
        """Return what the store says of an object; raise FileNotFoundError if there is none."""
        found = self._ask(path, lambda: self.files.info(path.key))
        times = [found.get(name) for name in ("LastModified", "updated", "last_modified", "mtime")]
        changed_at = next((time for time in times if isinstance(time, datetime)), datetime.now(UTC))
        return RemoteInfo(
            int(found.get("size") or 0), int(changed_at.timestamp()), found["type"] == "directory"
        )

    def open(self, path: RemotePath) -> RemoteFile:
        """Open an object; raise FileNotFoundError if there is none."""
        return RemoteFile(FileBlocks(self, path, self.info(path).size))

    def glob(self, pattern: RemotePath) -> list[RemotePath]:
        """Return the objects that match a pattern, in order."""
        try:
            found = self._ask(pattern, lambda: self.files.glob(pattern.key))
        except FileNotFoundError:
            return []
        return [RemotePath(f"{self.protocol}://{key}") for key in sorted(found)]

    def check_bucket(self, path: RemotePath) -> None:
        """Raise FileError if there is not even a bucket."""
        try:
            self._ask(path, lambda: self.files.info(path.parts[1]))
        except FileNotFoundError as error:
            raise FileError(f"nothing at {path}: {error}") from error

    def read(self, path: RemotePath, start: int, end: int) -> bytes:
        """Return a range of an object's bytes."""
        return bytes(self._ask(path, lambda: self.files.cat_file(path.key, start=start, end=end)))

    def _ask(self, path: RemotePath, question: Callable[[], T]) -> T:
        slow = threading.Timer(SILENT_SECONDS, lambda: say(f"waiting for an answer about {path}"))
        slow.daemon = True
        slow.start()
        try:
            return question()
        except FileNotFoundError:
            raise
        except Exception as error:  # each package has exceptions of its own
            self.failure = FileError(_failure(path, error))
            raise self.failure from error
        finally:
            slow.cancel()


def _failure(path: RemotePath, error: Exception) -> str:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    text = f"{type(error).__name__} {reason}"
    if isinstance(error, PermissionError) or any(sign in text for sign in DENIED):
        return (
            f"no permission to read {path}: {reason}\n"
            "  what to do: check the credentials, which Spotter finds where the store's own tools"
            " do (for S3: the AWS_ variables and ~/.aws). They must allow reading and listing"
        )
    return f"cannot read {path}: {reason}\n  what to do: check the address and the network"


class RemoteFile(io.RawIOBase):
    """An object that is open for reading.

    DuckDB reads one file with several threads, and first seeks, then reads. So each thread has its
    own position.
    """

    def __init__(self, blocks: FileBlocks) -> None:
        """Prepare to read an object."""
        super().__init__()
        self._blocks = blocks
        self._size = blocks.size
        self._place = threading.local()

    def readable(self) -> bool:
        """Tell that the file can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that any part of the file can be read."""
        return True

    def tell(self) -> int:
        """Return the position of this thread."""
        return getattr(self._place, "offset", 0)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position of this thread."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self.tell(), io.SEEK_END: self._size}[whence]
        self._place.offset = max(0, start + offset)
        return self.tell()

    def read(self, size: int | None = -1) -> bytes:
        """Return all of the bytes that are asked for, unless the file ends before."""
        start = self.tell()
        end = self._size if size is None or size < 0 else min(self._size, start + size)
        data = b"".join(self._blocks.pieces(start, end))
        self._place.offset = start + len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, and return how many bytes there were."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class FileBlocks:
    """The blocks of an object, of which the last few are kept. Threads may share it."""

    def __init__(self, store: Store, path: RemotePath, size: int) -> None:
        """Prepare to fetch the blocks of an object of a known size."""
        self.size = size
        self._store, self._path = store, path
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, _Block] = OrderedDict()

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """Give the bytes of a range, piece by piece."""
        at = start
        while at < end:
            number = at // BLOCK_BYTES
            first = number * BLOCK_BYTES
            yield self._block(number)[at - first : end - first]
            at = first + BLOCK_BYTES

    def _block(self, number: int) -> bytes:
        with self._lock:
            block = self._kept.setdefault(number, _Block())
            self._kept.move_to_end(number)
            while len(self._kept) > KEPT_BLOCKS:
                self._kept.popitem(last=False)
        start = number * BLOCK_BYTES
        end = min(self.size, start + BLOCK_BYTES)
        return block.content(lambda: self._fetch(start, end))

    def _fetch(self, start: int, end: int) -> bytes:
        try:
            content = self._store.read(self._path, start, end)
            if len(content) != end - start:
                raise FileError(f"{self._path} has changed while it was read; nothing was written")
        except FileError as error:
            self._store.failure = error
            raise
        return content


class _Block:
    """A part of a file, which the first thread that needs it fetches."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._content: bytes | None = None

    def content(self, fetch: Callable[[], bytes]) -> bytes:
        with self._lock:
            if self._content is None:
                self._content = fetch()
            return self._content


class DuckdbFiles(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """A store for DuckDB, which takes only file systems of fsspec."""

    cachable = False

    def __init__(self, store: Store) -> None:
        """Give DuckDB the files of a store."""
        super().__init__()
        self._store = store
        self.protocol = store.protocol
        # DuckDB opens a file several times, once for each thread
        self._open: WeakValueDictionary[RemotePath, FileBlocks] = WeakValueDictionary()
        self._lock = threading.Lock()

    def open(self, path: str, *_: Any, **__: Any) -> RemoteFile:
        """Open an object for reading; files that are open at the same time share their blocks."""
        located = self._path(path)
        size = self._found(located).size
        with self._lock:
            blocks = self._open.get(located)
            if blocks is None or blocks.size != size:
                blocks = self._open[located] = FileBlocks(self._store, located, size)
        return RemoteFile(blocks)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return the size and the kind of an object."""
        found = self._found(self._path(path))
        kind = "directory" if found.is_folder else "file"
        return {"name": self._path(path).key, "size": found.size, "type": kind}

    def modified(self, path: str) -> datetime:
        """Return when an object was written."""
        return datetime.fromtimestamp(self._found(self._path(path)).changed_at, UTC)

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return the path itself: Spotter resolves patterns before."""
        return [self._path(path).key]

    def _found(self, path: RemotePath) -> RemoteInfo:
        """Return what the store says of an object that was there before."""
        try:
            return self._store.info(path)
        except FileNotFoundError:
            self._store.failure = FileError(
                f"{path} is gone since it was found; nothing was written"
            )
            raise

    def _path(self, path: str) -> RemotePath:
        key = path.removeprefix(f"{self.protocol}://")
        return RemotePath(f"{self.protocol}://{key}")
