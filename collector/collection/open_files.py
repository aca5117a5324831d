"""Raise the limit of open files for the connections of a collection."""

from __future__ import annotations

import resource
from collections.abc import Callable

SPARE_DESCRIPTORS = 128


def allow_connections(parallel: int, say: Callable[[str], None]) -> int:
    """Return how many connections this process may open, up to `parallel`; say so if fewer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = parallel + SPARE_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        if limit < wanted:
            parallel = max(1, limit - SPARE_DESCRIPTORS)
            say(f"warning: this system allows {limit} open files, so {parallel} rollouts at once")
    return parallel
