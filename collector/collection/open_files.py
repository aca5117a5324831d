"""As many open connections as this process may have."""

from __future__ import annotations

import resource
from collections.abc import Callable

SPARE_DESCRIPTORS = 128


def affordable(parallel: int, say: Callable[[str], None]) -> int:
    """Allow this process as many connections as are wanted, or say how many it gets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = parallel + SPARE_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        if limit < wanted:
            parallel = max(1, limit - SPARE_DESCRIPTORS)
            say(f"warning: this system allows {limit} open files, so {parallel} rollouts at once")
    return parallel
