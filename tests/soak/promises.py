"""What must hold after every command, and at the end of every round."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import duckdb
import orjson

from tests.soak.world import Ended, World

Key = tuple[int, int]
ALLOWED = (0, 4)
CODES: dict[int | None, tuple[int, ...]] = {
    None: ALLOWED,
    # 0: done in the moment before the signal
    signal.SIGKILL: (-signal.SIGKILL, 0),
    # Python itself takes a moment to start, in which a signal ends it the system's way
    signal.SIGTERM: (143, -signal.SIGTERM, 0),
    # a collector gets SIGTERM right after it
    signal.SIGINT: (130, -signal.SIGINT, 143, -signal.SIGTERM, 0),
}
# marts with rows of rollouts or tasks, and what their counts must add up to
SUMS = {
    "rollout_infos": "count(*)",
    "task_profiles": "sum(measured_rollout_count + masked_rollout_count)",
    "agent_reliability": "sum(measured_rollout_count + masked_rollout_count)",
}
LEFT_ENDS = (".wal", ".waiting", ".aside", ".tmp", ".lock")


def check_end(world: World, ended: Ended, words: tuple[object, ...]) -> None:
    """Check how a command ended: with its signal's code or a message, and without a traceback."""
    # a collector that does not find the servers when it starts says so and ends
    allowed = (*CODES[ended.number], *((3,) if ended.is_gym_away else ()))
    if ended.code not in allowed:
        world.totals.broken.append(
            f"{words}: exit code {ended.code} after {ended.number}: {ended.stderr[-800:]}"
        )
    # a signal in the first moments finds only Python itself, which shows where it was
    is_ours = "/collector/" in ended.stderr
    if "Traceback" in ended.stderr and (is_ours or ended.number != signal.SIGINT):
        world.totals.broken.append(f"{words}: a traceback: {ended.stderr[-2000:]}")
    world.totals.counts["removals said"] += ended.stderr.count("of killed commands")


def check_lines(world: World, path: Path, *, may_be_torn: bool) -> list[Key]:
    """Check that every line of a file is a row, and return the keys."""
    if not path.exists():
        return []
    world.totals.counts["files of lines checked"] += 1
    lines = path.read_bytes().split(b"\n")
    last = lines.pop()
    if last and not may_be_torn:
        world.totals.broken.append(f"{path}: the last line is torn")
    keys = []
    for number, line in enumerate(lines, start=1):
        try:
            row = orjson.loads(line)
            keys.append((row["_ng_task_index"], row["_ng_rollout_index"]))
        except (ValueError, KeyError) as error:
            world.totals.broken.append(f"{path}:{number}: {error}")
    if len(set(keys)) < len(keys):
        world.totals.broken.append(f"{path}: rollouts appear twice")
    return keys


def check_json(world: World, path: Path) -> None:
    """Check that a file, if it exists, is JSON."""
    if path.exists():
        world.totals.counts["JSON files checked"] += 1
        try:
            json.loads(path.read_bytes())
        except ValueError as error:
            world.totals.broken.append(f"{path}: {error}")


def check_warehouse(world: World, path: Path) -> None:
    """Check that a warehouse opens, and that its marts agree on every run."""
    if not path.exists():
        return
    world.totals.counts["warehouses checked"] += 1
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            tables = {name for (name,) in connection.execute("show tables").fetchall()}
            if not tables:
                return  # created, and killed before the first commit
            runs = dict(
                connection.execute("select run_id, completed_rollout_count from runs").fetchall()
            )
            for mart, count in SUMS.items():
                query = f"select run_id, {count} from {mart} group by run_id"
                found = dict(connection.execute(query).fetchall())
                if found != runs:
                    world.totals.broken.append(f"{path}: {mart} has {found}, runs has {runs}")
    except duckdb.Error as error:
        world.totals.broken.append(f"{path}: {error}")


def check_same_run(world: World, path: Path, whole: str, merged: str) -> None:
    """Check that a run that was merged from its parts has the figures of the whole."""
    world.totals.counts["merged runs checked"] += 1
    with duckdb.connect(str(path), read_only=True) as connection:
        for mart in ("agent_metrics", "pass_at_k", "task_profiles", "agent_reliability"):
            one, other = (
                connection.execute(
                    f"select * exclude (run_id) from {mart} where run_id = ? order by all", [run_id]
                ).fetchall()
                for run_id in (whole, merged)
            )
            if not one or one != other:
                world.totals.broken.append(f"{path}: {mart} of {merged} differs from {whole}")


def check_export(world: World, folder: Path) -> None:
    """Check that an export, if there is one, has every file of its schema, and all can be read."""
    for kind in ("csv", "parquet"):
        schema = folder / kind / "schema.json"
        if not (folder / kind).exists():
            continue
        world.totals.counts["exports checked"] += 1
        try:
            package = json.loads(schema.read_bytes())
            for table in package["resources"]:
                path = folder / kind / table["path"]
                reader = "read_csv" if kind == "csv" else "read_parquet"
                duckdb.execute(f"select count(*) from {reader}('{path}')").fetchall()
        except (OSError, ValueError, KeyError, duckdb.Error) as error:
            world.totals.broken.append(f"{folder / kind}: {error!r}")


def leftovers(folder: Path) -> Iterator[Path]:
    """Give what no command may leave behind."""
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            if name.endswith(LEFT_ENDS):
                yield Path(parent, name)
