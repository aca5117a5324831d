"""The demo: servers, rollouts, a profile, and what there is to see in it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from collector import artifacts, demo_faults
from collector.bundled_files import find_file
from collector.collection.collect import Collected, collect
from collector.collection.progress import CollectProgress
from collector.collection.record import load_record
from collector.collection.settings import CollectSettings
from collector.errors import ServerError, UsageError
from collector.profiling import report
from collector.profiling.profile import Outcome, ProfileSettings, profile
from collector.profiling.statistics import Statistics
from collector.servers.serve import child_gym
from collector.terminal import Progress, printable
from collector.validation import validate_settings
from collector.warehouse.queries import QueryResult, run_query

CONFIGS = (
    "resources_servers/workplace_assistant/configs/workplace_assistant.yaml",
    "responses_api_models/simulated_model/configs/simulated_model.yaml",
)
TASKS = "resources_servers/workplace_assistant/data/train.jsonl"
AGENT = "workplace_assistant_simple_agent"
BAR = 40
# the input's own fields are in the sample that each task keeps; a task may be masked as a whole
DESCRIBED = """
    task_index,
    replace(json_extract_string(sample, '$.category'), 'workplace_assistant_', '') as category,
    reward_mean,
    round(total_tokens_mean) as tokens,
    json_extract_string(sample, '$.responses_create_params.input[#-1].content') as request
"""
HISTOGRAM = """
select round(reward_mean, 2) as pass_rate, count(*) as tasks
from task_profiles where reward_mean is not null group by pass_rate order by pass_rate
"""
HARDEST = f"""
select {DESCRIBED} from task_profiles where reward_mean is not null
order by reward_mean, task_index limit 5
"""
UNCERTAIN = f"""
select {DESCRIBED} from task_profiles where reward_mean is not null
order by abs(reward_mean - 0.5), task_index limit 5
"""
ATTEMPTS = """
select k, pass_at_k, pass_at_k_low, pass_at_k_high, pass_hat_k
from pass_at_k where slice_by = 'all' order by k
"""


@dataclass(frozen=True)
class Demo:
    """What to run, and where to put it."""

    folder: Path
    num_repeats: int
    limit: int
    parallel: int
    has_faults: bool = False
    """Whether servers fail, hang and mask rollouts, which the demo then explains."""

    @property
    def rollouts(self) -> Path:
        """Return where the rollouts go."""
        return self.folder / "rollouts.jsonl"

    @property
    def warehouse(self) -> Path:
        """Return where the marts go."""
        return self.folder / "warehouse.duckdb"


def run_demo(demo: Demo) -> str:
    """Run the workflow in a folder of its own, and return what to show."""
    _refuse_foreign(demo.rollouts)
    collected = _collected(demo)
    if collected.signal:
        sys.exit(128 + collected.signal)
    if collected.missing_count and not demo.has_faults:
        raise ServerError(
            f"{collected.missing_count} rollouts of the demo are missing; see"
            f" {collected.files.failures}"
        )
    _say("profiling")
    outcome = _profiled(demo)
    return "\n".join([report.as_text(outcome), "", *_findings(demo), *_next_steps(demo.folder)])


def _refuse_foreign(rollouts: Path) -> None:
    """Replace an earlier demo, but nothing else."""
    if not rollouts.exists() or not rollouts.stat().st_size:
        return
    record = load_record(artifacts.beside(rollouts, artifacts.RECORD_SUFFIX))
    if record is None or not record.input.path.endswith(TASKS) or not record.settings.agent_name:
        raise UsageError(
            f"{rollouts} is not of a demo, and would be replaced\n"
            "  what to do: give another --output-dir"
        )


def _collected(demo: Demo) -> Collected:
    given = {
        "agent_name": AGENT,
        "input_jsonl_fpath": find_file(TASKS),
        "output_jsonl_fpath": demo.rollouts,
        "limit": demo.limit,
        "num_repeats": demo.num_repeats,
        "num_repeats_add_seed": True,
        "num_samples_in_parallel": demo.parallel,
        "overwrite": True,
        **(demo_faults.COLLECT_SETTINGS if demo.has_faults else {}),
    }
    manner = ", which fails, hangs and is masked at times" if demo.has_faults else ""
    _say(f"starting the servers of the workplace assistant, with a simulated model{manner}")
    with child_gym(CONFIGS, demo_faults.SERVER_SETTINGS if demo.has_faults else ()) as gym:
        address = {"head_host": gym.head_host, "head_port": gym.head_port}
        return collect(validate_settings(CollectSettings, {**given, **address}), CollectProgress())


def _profiled(demo: Demo) -> Outcome:
    runs = artifacts.plan_runs(artifacts.find_rollouts([demo.rollouts]), run_id="demo")
    settings = ProfileSettings(
        demo.warehouse.absolute(),
        is_partial_allowed=demo.has_faults,
        statistics=Statistics(slice_by=("category",)),
    )
    progress = Progress()
    try:
        return profile(runs, settings, listener=progress)
    finally:
        progress.clear()


def _findings(demo: Demo) -> Iterator[str]:
    warehouse = demo.warehouse
    if demo.has_faults:
        yield from demo_faults.findings(warehouse)
        yield ""
    yield "How many tasks have which pass rate?"
    yield from _bars(_query(warehouse, HISTOGRAM))
    yield "\nWhat do several attempts reach?"
    for k, any_passes, low, high, all_pass in _query(warehouse, ATTEMPTS).rows:
        between = f"({low:.2f} … {high:.2f})" if low is not None else ""
        yield f"  {k:2}  one passes {any_passes:.2f} {between:13}  all pass {all_pass:.2f}"
    yield "\nThe hardest tasks"
    yield from _tasks(_query(warehouse, HARDEST))
    yield "\nThe most uncertain tasks: these teach an agent most"
    yield from _tasks(_query(warehouse, UNCERTAIN))


def _bars(table: QueryResult) -> Iterator[str]:
    most = max((count for _, count in table.rows), default=0)
    for rate, count in table.rows:
        yield f"  {100 * rate:3.0f}%  {'█' * max(1, round(BAR * count / most))} {count}"


def _tasks(table: QueryResult) -> Iterator[str]:
    for index, category, reward, tokens, request in table.rows:
        text = printable(str(request))
        shown = text if len(text) <= 70 else text[:69] + "…"
        yield f"  {index:4}  {category:29}  {reward:.2f}  {tokens:6.0f} tokens  {shown}"


def _next_steps(folder: Path) -> Iterator[str]:
    warehouse = shlex.quote(str(folder / "warehouse.duckdb"))
    rollouts = shlex.quote(str(folder / "rollouts.jsonl"))
    configs = " ".join(f"-c {path}" for path in CONFIGS)
    yield "\nThese figures are of a simulated model, which replays solutions and slips by chance."
    yield "\nTry next"
    yield f"  spotter view {warehouse}                      # look at it in a browser"
    yield f"  spotter sql -w {warehouse}                    # what can be queried"
    yield f"  spotter export -w {warehouse} -f xlsx         # for Excel, dashboards, notebooks"
    columns = "task_index, reward_mean, reward_std, total_tokens_mean"
    yield f'  spotter sql -w {warehouse} "select {columns} from task_profiles order by 2 limit 5"'
    yield f"  spotter run {configs}"
    yield "  spotter status                                # in another terminal"
    yield f"  spotter collect -a {AGENT} -i {TASKS} -o my.jsonl -n 4 --limit 5"
    yield f"  spotter profile {rollouts} my.jsonl"


def _query(warehouse: Path, query: str) -> QueryResult:
    return run_query(warehouse, query, on_wait=lambda _: None)


def _say(text: str) -> None:
    if sys.stderr:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
