"""Start the programs; a signal that comes before or after their work ends them with one line."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType

LINES = {signal.SIGINT: b"interrupted\n", signal.SIGTERM: b"terminated\n"}


def end_at_once(number: int, _: FrameType | None = None) -> None:
    """End the process with a line on stderr and the exit code of the signal."""
    os.write(2, LINES[signal.Signals(number)])
    os._exit(128 + number)


def _program(name: str) -> Callable[[], None]:
    """Return a program of `collector.cli`, whose import takes most of the start."""

    def run() -> None:
        # a shell lets commands in the background ignore Ctrl-C: they must not end with it
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, end_at_once)
        signal.signal(signal.SIGTERM, end_at_once)
        from collector import cli

        try:
            getattr(cli, name)()
        finally:
            for number in LINES:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, end_at_once)

    return run


spotter = _program("main")
ng_run = _program("ng_run")
ng_status = _program("ng_status")
ng_dump_config = _program("ng_dump_config")
ng_collect_rollouts = _program("ng_collect_rollouts")
ng_e2e_collect_rollouts = _program("ng_e2e_collect_rollouts")
ng_aggregate_rollouts = _program("ng_aggregate_rollouts")
ng_reward_profile = _program("ng_reward_profile")
ng_viewer = _program("ng_viewer")
ng_test = _program("ng_test")
ng_version = _program("ng_version")
ng_help = _program("ng_help")
