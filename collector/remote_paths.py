"""Paths of files in object stores, such as `s3://bucket/run.jsonl`, for code that reads a `Path`.

Nothing here imports a store's package before a file is read.
"""

from __future__ import annotations

import glob
import io
import os
import re
import stat
from collections.abc import Generator
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Any

from collector.errors import FileError, UsageError

if TYPE_CHECKING:
    from collector.remote_files import Store

PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
    "hdfs": "pyarrow",
}
"""The package that reads the files of a protocol."""
ADDRESS = re.compile(rf"({'|'.join(PACKAGES)}):/+(.*)", re.DOTALL)
OTHERS = ("s3n", "https?", "ftp")
ADDRESS_PART = re.compile(rf"(?:^|/)(?:{'|'.join((*PACKAGES, *OTHERS))}):/", re.IGNORECASE)
"""An address that was taken for a local path, and may have a folder before it."""
ANY_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+(.*)", re.DOTALL | re.IGNORECASE)
# a password may have slashes; what is only digits is a port
USER = r"[^/@:]*:(?!\d+(?:/|$))[^@]*@"
CREDENTIALS = re.compile(USER)
PASSWORD = re.compile(rf"(:/+){USER}")
MAGIC = re.compile(r"[*?\[]")
BUFFER_BYTES = 1 << 20


class RemotePath(PosixPath):
    """The path of a file in an object store. It can be read, but not written."""

    __slots__ = ()

    @property
    def protocol(self) -> str:
        """Return the protocol, like `s3`."""
        return self.parts[0].removesuffix(":")

    @property
    def key(self) -> str:
        """Return the address without its protocol: the bucket and the name of the object."""
        return "/".join(self.parts[1:])

    @property
    def store(self) -> Store:
        """Return the store that has the file; raise UsageError if its package is missing."""
        from collector.remote_files import open_store  # imports the package of the store

        return open_store(self.protocol)

    def __str__(self) -> str:
        """Return the address."""
        return f"{self.protocol}://{self.key}"

    def __fspath__(self) -> str:
        """Return the address."""
        return str(self)

    def absolute(self) -> RemotePath:
        """Return the same path: an address is always absolute."""
        return self

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:  # noqa: ARG002
        """Return the size and the time of the object; raise FileNotFoundError without one."""
        found = self.store.info(self)
        if found.is_folder:
            raise FileNotFoundError(f"no object at {self}")
        time = found.changed_at
        return os.stat_result((stat.S_IFREG | 0o444, 0, 0, 1, 0, 0, found.size, time, time, time))

    def exists(self, **_: Any) -> bool:
        """Tell whether there is an object or a folder."""
        try:
            self.store.info(self)
        except FileNotFoundError:
            return False
        return True

    def is_file(self, **_: Any) -> bool:
        """Tell whether there is an object."""
        try:
            return not self.store.info(self).is_folder
        except FileNotFoundError:
            return False

    def is_dir(self, **_: Any) -> bool:
        """Tell whether there are objects whose names begin with this path."""
        try:
            return self.store.info(self).is_folder
        except FileNotFoundError:
            return False

    def open(self, mode: str = "r", *_: Any, **__: Any) -> Any:
        """Open the object for reading bytes; other modes are not supported."""
        if mode != "rb":
            raise FileError(f"cannot write {self}: Spotter only reads files in object stores")
        return io.BufferedReader(self.store.open(self), BUFFER_BYTES)

    def read_bytes(self) -> bytes:
        """Return the content of a small object."""
        with self.open("rb") as file:
            return bytes(file.read())

    def glob(self, pattern: str, **_: Any) -> Generator[RemotePath, None, None]:
        """Give the objects in this folder that match a pattern."""
        yield from self.store.glob(self.escaped() / pattern)

    def rglob(self, pattern: str, **_: Any) -> Generator[RemotePath, None, None]:
        """Give the objects below this folder that match a pattern."""
        yield from self.store.glob(self.escaped() / "**" / pattern)

    def escaped(self) -> RemotePath:
        """Return a pattern that matches only this path."""
        return RemotePath(f"{self.protocol}://{glob.escape(self.key)}")


def located_path(path: Path | str) -> Path:
    """Return a remote path if the address has the protocol of an object store, else a local one.

    `Path` has made one slash of the two behind the protocol. Raise UsageError if the address has a
    password: addresses are stored and shown.
    """
    if isinstance(path, RemotePath):
        return path
    given = ANY_ADDRESS.fullmatch(str(path))
    if given and CREDENTIALS.match(given[2]):
        raise UsageError(
            f"an address of {given[1]}:// has a user and a password, which would be stored\n"
            "  what to do: leave them out; Spotter finds credentials where the store's own tools"
            " do, for S3 in the AWS_ variables and in ~/.aws"
        )
    found = ADDRESS.fullmatch(str(path))
    return RemotePath(f"{found[1]}://{found[2]}") if found else Path(path)


def is_remote(path: Path | str) -> bool:
    """Tell whether a path or an address is that of an object store."""
    return isinstance(path, RemotePath) or bool(ADDRESS.fullmatch(str(path)))


def matching_paths(path: Path) -> list[Path]:
    """Return the files and folders that a pattern matches, and other paths as they are.

    A path that exists is not a pattern, whatever signs it has.
    """
    text = path.key if isinstance(path, RemotePath) else str(path)
    if not MAGIC.search(text):
        return [path]
    if not isinstance(path, RemotePath):
        found = sorted(glob.glob(text, recursive=True))  # noqa: PTH207 - it takes absolute patterns
        return [path] if path.exists() else [Path(one) for one in found]
    # the other signs match themselves, too
    literal = path.store.glob(path.escaped()) if "[" in text else []
    matches = literal or path.store.glob(path)
    if not matches:
        path.store.check_bucket(path)
    return [*matches]


def mask_password(address: Path | str) -> str:
    """Return an address for a message, without the user and the password in it."""
    return PASSWORD.sub(r"\1…@", str(address))


def refuse_remote(path: Path, what: str) -> None:
    """Raise UsageError if what must be a local file is in an object store."""
    if ADDRESS_PART.search(str(path)):
        raise UsageError(f"{what} cannot be at {mask_password(path)}: it must be a local path")
