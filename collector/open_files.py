"""The limit of files and connections that this process may have open at once."""

from __future__ import annotations

import resource
from collections.abc import Callable

SPARE_DESCRIPTORS = 128


def allow_open_files(wanted: int) -> int:
    """Raise the limit to `wanted` if the system lets this process; return what is allowed now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return limit


def allow_connections(parallel: int, say: Callable[[str], None]) -> int:
    """Return how many connections this process may open, up to `parallel`; say so if fewer."""
    limit = allow_open_files(parallel + SPARE_DESCRIPTORS)
    if limit < parallel + SPARE_DESCRIPTORS:
        parallel = max(1, limit - SPARE_DESCRIPTORS)
        say(f"warning: this system allows {limit} open files, so {parallel} rollouts at once")
    return parallel
