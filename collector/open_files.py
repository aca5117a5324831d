"""The limit of files and connections that this process may have open at once."""

from __future__ import annotations

import resource

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
