"""`spotter demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    *,
    output_dir: Annotated[
        Path,
        typer.Option(
            "--output-dir", "-o", help="The output folder. An earlier demo in it is replaced."
        ),
    ] = Path("spotter-demo"),
    num_repeats: Annotated[int, typer.Option("--num-repeats", "-n", help="Rollouts per task.")] = 4,
    limit: Annotated[int, typer.Option(help="How many tasks to run; 0 means all.")] = 0,
    parallel: Annotated[
        int, typer.Option("--parallel", "-p", help="Rollouts to run at a time.")
    ] = 32,
    faults: Annotated[
        bool,
        typer.Option(
            "--faults",
            help="Make some rollouts fail, hang or get masked; the demo then says what was"
            " retried, masked and lost.",
        ),
    ] = False,
) -> None:
    """Run the whole workflow on the embedded gym.

    The demo needs no real model, network or account. It starts the workplace assistant with a
    simulated model, collects repeated rollouts, profiles them, and prints some results. The figures
    are the same every time, except durations.

    \b
    spotter demo
    spotter demo --output-dir /tmp/demo -n 8
    spotter demo --faults
    """
    from collector.demo import Demo, run_demo
    from collector.terminal import show

    show(run_demo(Demo(output_dir, num_repeats, limit, parallel, has_faults=faults)))
