"""What may be opened: the limit of files and connections, and files that are worth reading."""

from __future__ import annotations

import resource
from pathlib import Path

from collector.errors import FileError

SPARE_DESCRIPTORS = 128


def allow_open_files(wanted: int) -> int:
    """Raise the limit to `wanted` if the system lets this process; return what is allowed now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return limit


def allow_connections(wanted: int) -> int:
    """Return how many connections this process may have open at once, at most `wanted`."""
    return max(1, allow_open_files(wanted + SPARE_DESCRIPTORS) - SPARE_DESCRIPTORS)


def require_regular_file(path: Path, content: str = "") -> None:
    """Raise FileError if something else is at the path: reading a pipe would wait forever."""
    if path.exists() and not path.is_file():
        what = f"the {content} at {path}" if content else str(path)
        raise FileError(f"cannot read {what}: it is not a regular file")
