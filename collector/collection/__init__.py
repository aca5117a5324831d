"""Request rollouts from agent servers and write them down.

For scripts: `run_rollouts` yields each result as it arrives, and writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collector.collection.api import Result, run_rollouts

__all__ = ["Result", "run_rollouts"]


def __getattr__(name: str) -> Any:
    """Import the interface for scripts when it is used: settings alone need no HTTP client."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from collector.collection import api

    return getattr(api, name)
