"""The demo: start servers, collect rollouts, profile them, and explain the result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from collector import artifacts, demo_faults
from collector.atomic_files import anything, write_file
from collector.bundled_files import find_file
from collector.collection.collect import collect
from collector.collection.collected import Collected
from collector.collection.progress import CollectProgress
from collector.collection.record import load_record
from collector.collection.run_files import RunFiles
from collector.collection.settings import CollectSettings
from collector.errors import ServerError, UsageError
from collector.profiling import report
from collector.profiling.profile import Outcome, ProfileSettings, profile
from collector.profiling.statistics import Statistics
from collector.servers.serve import child_gym
from collector.terminal import Progress, counted_noun, label, say
from collector.terminal.blocks import Block, Line, Styled, TextColumn, TextTable
from collector.validation import validate_settings
from collector.warehouse.queries import QueryResult, run_query

CONFIGS = (
    "resources_servers/workplace_assistant/configs/workplace_assistant.yaml",
    "responses_api_models/simulated_model/configs/simulated_model.yaml",
)
TASKS = "resources_servers/workplace_assistant/data/train.jsonl"
AGENT = "workplace_assistant_simple_agent"
MADE_BY = "demo"
MARK = ".spotter-demo"
BAR_WIDTH = 40
RATE_COLUMNS = (TextColumn(width=4, align="right"), TextColumn())
ATTEMPT_COLUMNS = (
    TextColumn(width=2, align="right"),
    TextColumn(width=29, overflow="wrap"),
    TextColumn(overflow="wrap"),
)
TASK_COLUMNS = (
    TextColumn(width=4, align="right"),
    TextColumn(width=29, overflow="cut"),
    TextColumn(style="value"),
    TextColumn(width=13, align="right", style="quiet"),
    TextColumn(overflow="cut"),
)
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
    """The settings of a demo."""

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

    @property
    def mark(self) -> Path:
        """Return the file that marks the folder as the output of a demo."""
        return self.folder / MARK


def run_demo(demo: Demo) -> list[Block]:
    """Run the workflow in a folder of its own, and return the report to show."""
    _refuse_foreign(demo)
    write_file(demo.mark, b"This folder is the output of `spotter demo`.\n", replaces=anything)
    collected = _collect(demo)
    if collected.signal:
        sys.exit(128 + collected.signal)
    if collected.missing_count and not demo.has_faults:
        raise ServerError(
            f"the demo lacks {counted_noun(collected.missing_count, 'rollout')}; see"
            f" {collected.files.failures}"
        )
    say("profiling")
    outcome = _profile(demo)
    return [
        *report.as_blocks(outcome),
        Line(),
        *_finding_blocks(demo),
        *_next_steps(demo.folder),
    ]


def _refuse_foreign(demo: Demo) -> None:
    """Raise UsageError if the folder has files that the demo would replace and did not make."""
    files = RunFiles(demo.rollouts)
    (run,) = artifacts.plan_runs([demo.rollouts])
    present = [path for path in (*files.all(), *run.outputs, demo.warehouse) if path.exists()]
    if not present:
        return
    record = load_record(files.record)
    is_demo = not record or all(session.made_by == MADE_BY for session in record.sessions)
    if not (is_demo and demo.mark.is_file()):
        raise UsageError(
            f"{present[0]} is not of a demo, and would be replaced\n"
            "  what to do: give another --output-dir"
        )


def _collect(demo: Demo) -> Collected:
    settings = {
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
    faults = ", which fails, hangs and is masked at times" if demo.has_faults else ""
    say(f"starting the servers of the workplace assistant, with a simulated model{faults}")
    with child_gym(CONFIGS, demo_faults.SERVER_SETTINGS if demo.has_faults else ()) as gym:
        address = {"head_host": gym.head_host, "head_port": gym.head_port}
        return collect(
            validate_settings(CollectSettings, {**settings, **address}),
            CollectProgress(),
            made_by=MADE_BY,
        )


def _profile(demo: Demo) -> Outcome:
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


def _finding_blocks(demo: Demo) -> Iterator[Block]:
    warehouse = demo.warehouse
    if demo.has_faults:
        yield from demo_faults.fault_blocks(warehouse)
        yield Line()
    yield _heading("Tasks by pass rate")
    yield _rate_table(_query(warehouse, HISTOGRAM))
    yield Line()
    yield _heading("Chance that one or all of several attempts pass")
    yield _attempt_table(_query(warehouse, ATTEMPTS))
    yield Line()
    yield _heading("The hardest tasks")
    yield _task_table(_query(warehouse, HARDEST))
    yield Line()
    yield _heading("The most uncertain tasks: these teach an agent most")
    yield _task_table(_query(warehouse, UNCERTAIN))


def _rate_table(result: QueryResult) -> TextTable:
    most = max((count for _, count in result.rows), default=0)
    rows = [
        (
            f"{100 * rate:.0f}%",
            (Styled("█" * max(1, round(BAR_WIDTH * count / most)), "label"), f" {count}"),
        )
        for rate, count in result.rows
    ]
    return TextTable(RATE_COLUMNS, rows, indent=2)


def _attempt_table(result: QueryResult) -> TextTable:
    rows = [
        (
            str(k),
            (
                "one passes ",
                Styled(f"{any_passes:.2f}", "value"),
                f" ({low:.2f} … {high:.2f})" if low is not None else "",
            ),
            ("all pass ", Styled(f"{all_pass:.2f}", "value")),
        )
        for k, any_passes, low, high, all_pass in result.rows
    ]
    return TextTable(ATTEMPT_COLUMNS, rows, indent=2)


def _task_table(result: QueryResult) -> TextTable:
    rows = [
        (str(index), category, f"{reward:.2f}", f"{tokens:.0f} tokens", label(request, 70))
        for index, category, reward, tokens, request in result.rows
    ]
    return TextTable(TASK_COLUMNS, rows, indent=2)


def _next_steps(folder: Path) -> Iterator[Block]:
    warehouse = shlex.quote(str(folder / "warehouse.duckdb"))
    rollouts = shlex.quote(str(folder / "rollouts.jsonl"))
    configs = " ".join(f"-c {path}" for path in CONFIGS)
    columns = "task_index, reward_mean, reward_std, total_tokens_mean"
    query = f"select {columns} from task_profiles order by 2 limit 5"
    yield Line()
    yield Line(
        "A simulated model produced these figures: it replays solutions and makes random slips."
    )
    yield Line()
    yield _heading("Try next")
    for command, purpose in (
        (f"spotter view {warehouse}                      ", "# look at it in a browser"),
        (f"spotter sql -w {warehouse}                    ", "# what can be queried"),
        (f"spotter export -w {warehouse} -f xlsx         ", "# for Excel, dashboards, notebooks"),
        (f'spotter sql -w {warehouse} "{query}"', ""),
        (f"spotter run {configs}", ""),
        ("spotter status                                ", "# in another terminal"),
        (f"spotter collect -a {AGENT} -i {TASKS} -o my.jsonl -n 4 --limit 5", ""),
        (f"spotter profile {rollouts} my.jsonl", ""),
    ):
        yield Line((Styled(command, "command"), Styled(purpose, "quiet")), indent=2)


def _heading(text: str) -> Line:
    return Line(Styled(text, "heading"))


def _query(warehouse: Path, query: str) -> QueryResult:
    return run_query(warehouse, query, on_wait=lambda _: None)
