"""Files and folders that exist only while a command works, and what killed commands left of them.

Each has a name that no other process chooses, and a lock that ends with its process. So the next
command that works in a folder can tell what is in use from what a dead process left there.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import socket
import stat
import tempfile  # noqa: TID251 - the only place
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from collector.terminal import counted_noun, say

PREFIX = ".spotter-"
SUFFIX = ".tmp"
LOCK = "lock"
HOST_CHARACTERS = 32
TOKEN_BYTES = 8
NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF}
MOUNTS = Path("/proc/self/mountinfo")
# file systems that several machines may share, and on which locks may hold on one machine only
SHARED = re.compile(
    r"nfs|cifs|smb|fuse|9p|ceph|lustre|gpfs|afs|beegfs|gluster|pvfs|orangefs|ocfs|gfs"
)


def try_lock(descriptor: int, *, is_shared: bool = False) -> bool | None:
    """Lock a file until it is closed or its process ends; None if the file system has no locks."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in NO_LOCKS:
            return None
        raise
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Tell whether a path leads to an open file, rather than to another one or to none."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def new_name() -> str:
    """Return a name that no other process chooses, on no other machine or container either."""
    host = re.sub(r"[^A-Za-z0-9]+", "-", socket.gethostname())[:HOST_CHARACTERS]
    return f"{PREFIX}{host}-{secrets.token_hex(TOKEN_BYTES)}{SUFFIX}"


def create_file(path: Path) -> int | None:
    """Create a locked file and return its descriptor, or None if it was taken for a leftover."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        if try_lock(descriptor) is not False and is_at(descriptor, path):
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)  # another process is removing it: it was there before its lock was
    return None


def default_folder() -> Path:
    """Return the folder for temporary files, as `$TMPDIR` says."""
    return Path(tempfile.gettempdir())


def unnamed_file(folder: Path | None = None) -> BinaryIO:
    """Open a new file without a name: it is gone when it is closed, or when its process ends."""
    while True:
        path = (folder or default_folder()) / new_name()
        try:
            descriptor = create_file(path)
        finally:
            path.unlink(missing_ok=True)
        if descriptor is not None:
            return os.fdopen(descriptor, "w+b")


@contextlib.contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder, and remove it at the end; first remove what killed commands left."""
    parent = parent or default_folder()
    remove_leftovers(parent)
    descriptor, folder = None, parent / new_name()
    # a signal may come at any point: what is to be removed has its name before it is created
    try:
        while descriptor is None:
            folder = parent / new_name()
            folder.mkdir(mode=0o700)
            # another process takes the new folder for a leftover, and removes it: try again
            with contextlib.suppress(FileNotFoundError, FileExistsError):
                descriptor = create_file(folder / LOCK)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files and folders of dead processes from a folder, and say so."""
    try:
        names = [name for name in os.listdir(folder) if is_temporary(name)]  # noqa: PTH208 - no Path per file
    except OSError:
        return
    sizes = [size for name in names if (size := _remove(folder / name)) is not None]
    if sizes:
        what = counted_noun(len(sizes), "leftover")
        say(f"removed {what} of killed commands ({_megabytes(sum(sizes))}) from {folder}")


def is_temporary(name: str) -> bool:
    """Tell whether a file or folder has a name of this module."""
    return name.startswith(PREFIX) and name.endswith(SUFFIX)


def _remove(path: Path) -> int | None:
    """Remove a file or folder unless it may be in use; return its bytes if it was removed."""
    try:
        found = path.lstat()
        is_folder = stat.S_ISDIR(found.st_mode)
        if found.st_uid != os.geteuid() or not (is_folder or stat.S_ISREG(found.st_mode)):
            return None
        if not (_is_of_this_host(path) or _is_local(found.st_dev)):
            return None
        descriptor = os.open(
            path / LOCK if is_folder else path,
            os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if is_folder else 0),
            0o600,
        )
    except OSError:
        return None
    try:
        if try_lock(descriptor) is not True:
            return None
        size = _size(path)
        if is_folder:
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        return None if path.exists() else size
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _is_of_this_host(path: Path) -> bool:
    random_part = slice(-len(SUFFIX) - 2 * TOKEN_BYTES)
    return path.name[random_part] == new_name()[random_part]


def _is_local(device: int) -> bool:
    """Tell whether all users of a file system are on this machine, and see each other's locks."""
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    kinds = [line.partition(" - ")[2].split()[0] for line in mounts if line.split()[2] == number]
    return bool(kinds) and not any(SHARED.search(kind) for kind in kinds)


def _size(path: Path) -> int:
    if not path.is_dir():
        return path.stat().st_size
    with contextlib.suppress(OSError):
        return sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())
    return 0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
