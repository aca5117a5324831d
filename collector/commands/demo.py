"""`spotter demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    *,
    output_dir: Annotated[
        Path, typer.Option("--output-dir", "-o", help="Where everything is written.")
    ] = Path("spotter-demo"),
    num_repeats: Annotated[int, typer.Option("--num-repeats", "-n", help="Rollouts a task.")] = 4,
    limit: Annotated[int, typer.Option(help="Tasks to take; 0 takes all.")] = 0,
    parallel: Annotated[int, typer.Option("--parallel", "-p", help="Rollouts at once.")] = 32,
    faults: Annotated[
        bool,
        typer.Option("--faults", help="Let the model fail, hang, and be masked at times."),
    ] = False,
) -> None:
    """Run the whole workflow on the embedded gym: no model, no network, no account.

    Starts the workplace assistant with a simulated model, collects repeated rollouts, profiles
    them, and shows what a profile tells. Running it again gives the same figures.

    \b
    spotter demo
    spotter demo --output-dir /tmp/demo -n 8
    spotter demo --faults
    """
    from collector.demo import Demo, run_demo
    from collector.terminal import show

    show(run_demo(Demo(output_dir, num_repeats, limit, parallel, has_faults=faults)))
