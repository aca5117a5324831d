"""Raise the limit of open files for the connections of a command."""

from __future__ import annotations

import resource

SPARE_DESCRIPTORS = 128


def allow_connections(wanted: int) -> int:
    """Return how many connections this process may have open at once, at most `wanted`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + SPARE_DESCRIPTORS
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    limit = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return max(1, limit - SPARE_DESCRIPTORS)
