"""The folder for files that speed up later calls: plans, empty warehouses, logs."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import tempfile
from pathlib import Path

from collector.temporary_files import is_temporary, temporary_folder


def cache_dir() -> Path:
    """Return the cache folder, or a private one for this process if it is not writable."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    chosen = Path(os.environ.get("SPOTTER_CACHE") or Path(base, "spotter"))
    with contextlib.suppress(OSError):
        chosen.mkdir(parents=True, exist_ok=True)
    return chosen if os.access(chosen, os.W_OK) else _private_folder()


def log_folder() -> Path:
    """Return the folder for logs; without a writable cache, a new one that stays."""
    cache = cache_dir()
    folder = cache / "logs"
    if is_temporary(cache.name):
        folder = Path(tempfile.mkdtemp(prefix="spotter-logs-"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@functools.cache
def _private_folder() -> Path:
    """Return a new folder for this process, because the home is not writable in many containers.

    Its name is random: in a folder with a known name, somebody else could place SQL. It is removed
    when the process ends.
    """
    resources = contextlib.ExitStack()
    atexit.register(resources.close)
    return resources.enter_context(temporary_folder())
