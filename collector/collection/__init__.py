"""Ask agent servers for rollouts and write what they answer.

For scripts: `run_rollouts` yields each result as it arrives, and writes nothing.
"""

from collector.collection.api import Result, run_rollouts

__all__ = ["Result", "run_rollouts"]
