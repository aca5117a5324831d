"""The options of `spotter collect`, each with what NeMo Gym calls it if that differs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from collector.commands.common import UNUSED, Configs, Set
from collector.commands.uploads import UPLOAD_ALIASES
from collector.overrides import FLAG_ONLY, MAP, WITH_SERVE, Named, Override

# settings of NeMo Gym's collector that mean nothing here, or cannot be followed
FOREIGN = {
    "max_resident_rollout_tasks": Override(
        "", unused="rows are drawn as there is room; num_samples_in_parallel is the limit"
    ),
    "retain_results_in_memory": Override("", unused="results are never kept in memory"),
    "route_failures_to_sidecar": Override("", unused="failures always go to the failures file"),
    "allow_unsupported_pairing": Override("", unused="pairings are not checked"),
    "rollout_collection_driver": Override(
        "", refused="it names code of NeMo Gym that collects in its own way"
    ),
    "retry_invalid_judge_responses": Override(
        "", refused="it would move rollouts out of the rollouts file"
    ),
    "skills": Override("", is_map=True, refused="only NeMo Gym's collector sends skills"),
    **UNUSED,
    **UPLOAD_ALIASES,
}
AgentName = Annotated[
    str | None,
    typer.Option(
        "--agent-name", "-a", help="The agent for every row, also for those that name another one."
    ),
]
AgentMap = Annotated[
    list[str] | None,
    typer.Option(
        help="Agents by the agent or task source that rows name: {old: new, _default: agent}."
    ),
    MAP,
]
FanOut = Annotated[
    list[str] | None,
    typer.Option(help="Several agents for the same rows: {agent: [agent_a, agent_b]}."),
    MAP,
]
EnvironmentServerRoutes = Annotated[
    list[str] | None,
    typer.Option(help="Environment servers for rows of tasksets: {taskset: server}."),
    MAP,
]
EnvironmentRoutingMode = Annotated[
    str,
    typer.Option(
        help="Where other rows go: agent, legacy (all to one environment server) or taskset"
        " (nowhere: they are refused)."
    ),
]
EnvironmentServerName = Annotated[
    str | None, typer.Option(help="The environment server of the routing mode legacy.")
]
Input = Annotated[
    Path | None,
    typer.Option(
        "--input-jsonl-fpath",
        "--input",
        "-i",
        readable=False,
        help="The task file; not needed with --serve.",
    ),
]
Output = Annotated[
    Path, typer.Option("--output-jsonl-fpath", "--output", "-o", help="The rollouts file.")
]
Serve = Annotated[
    bool,
    typer.Option("--serve", help="Start the servers of --config, and stop them after."),
    FLAG_ONLY,
]
ServedConfigs = Annotated[Configs, WITH_SERVE]
ServedSet = Annotated[Set, WITH_SERVE]
Split = Annotated[
    str | None,
    typer.Option(help="Which datasets of the configs to collect, with --serve.  [default: train]"),
    WITH_SERVE,
]
Reuse = Annotated[
    bool,
    typer.Option(
        "--reuse-existing-data-preparation",
        help="Take the task file that an earlier --serve of these configs wrote, as it is.",
    ),
    WITH_SERVE,
]
Shard = Annotated[
    str | None,
    typer.Option(metavar="K/N", help="Collect only part K of N; spotter aggregate joins them."),
]
Limit = Annotated[
    int | None, typer.Option(help="Take only the first lines of the input; 0 takes all.")
]
NumRepeats = Annotated[
    list[str] | None,
    typer.Option(
        "--num-repeats",
        "-n",
        help="Rollouts a task: a number, or {agent: number, _default: number}.  [default: 1]",
    ),
    MAP,
]
AddSeed = Annotated[
    bool, typer.Option("--num-repeats-add-seed", help="Send the rollout index as vLLM's seed.")
]
Interleave = Annotated[
    bool,
    typer.Option("--interleave-repeats", help="Run all tasks once, then all of them again."),
]
Parallel = Annotated[
    int, typer.Option("--num-samples-in-parallel", "--parallel", "-p", help="Rollouts at once.")
]
Params = Annotated[
    list[str] | None,
    typer.Option(help="Settings for the model, like '{temperature: 0.7}'; may be repeated."),
    MAP,
]
PromptConfig = Annotated[
    Path | None,
    typer.Option(readable=False, help="A YAML file with a user and perhaps a system template."),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", "--resume-from-cache", help="Go on with an unfinished run."),
    Named("resume_from_cache"),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Remove an earlier run and start anew.")
]
NoAggregation = Annotated[
    bool,
    typer.Option("--disable-aggregation", help="Do not ask the agents for their own metrics."),
]
MaxAttempts = Annotated[
    int,
    typer.Option(
        envvar="NEMO_GYM_MAX_ROLLOUT_ATTEMPTS",
        help="Attempts a rollout gets in all, also over several sessions.",
    ),
]
RetryTimeouts = Annotated[
    bool,
    typer.Option(
        "--retry-terminal-timeouts",
        help="On resume, run timeouts again that an agent marked as terminal.",
    ),
]
LongestFirst = Annotated[
    bool,
    typer.Option(
        "--dispatch-longest-first",
        help="On resume, start with the rollouts whose earlier attempts took longest.",
    ),
]
DispatchBudget = Annotated[
    float | None,
    typer.Option(help="Seconds in which rollouts may run; what does not fit is for --resume."),
]
DrainMargin = Annotated[
    float | None,
    typer.Option(
        help="Start no rollout in the last seconds of the budget.  [default: what three of four"
        " rollouts of this run took]"
    ),
]
GracePeriod = Annotated[
    float, typer.Option(help="Seconds that rollouts in flight get when you stop.")
]
RequireComplete = Annotated[
    bool,
    typer.Option(
        "--require-complete", help="Exit with 3 also if only the budget left rollouts out."
    ),
]
