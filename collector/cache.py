"""The folder for files that speed up later calls: plans, empty warehouses, logs."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import stat
from pathlib import Path

from collector.errors import FileError
from collector.temporary_files import default_folder, is_temporary, temporary_folder


def cache_dir() -> Path:
    """Return the cache folder, or a private one for this process if it is not writable."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    chosen = Path(os.environ.get("SPOTTER_CACHE") or Path(base, "spotter"))
    with contextlib.suppress(OSError):
        chosen.mkdir(parents=True, exist_ok=True)
    return chosen if os.access(chosen, os.W_OK) else _private_folder()


def log_folder() -> Path:
    """Return the folder for logs: that of the cache, or the user's own if it is not writable."""
    cache = cache_dir()
    if is_temporary(cache.name):
        return _user_folder("spotter-logs")
    folder = cache / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _user_folder(name: str) -> Path:
    """Return a folder for temporary files that stays, and that only this user can write to."""
    folder = default_folder() / f"{name}-{os.geteuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022:
        return folder
    raise FileError(f"{folder} belongs to somebody else\n  what to do: set SPOTTER_CACHE")


@functools.cache
def _private_folder() -> Path:
    """Return a new folder for this process, because the home is not writable in many containers.

    Its name is random: in a folder with a known name, somebody else could place SQL. It is removed
    when the process ends.
    """
    resources = contextlib.ExitStack()
    atexit.register(resources.close)
    return resources.enter_context(temporary_folder())
