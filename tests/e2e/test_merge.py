"""Shards of a run, profiled one by one and merged, are the run as if it had been profiled whole."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.programs import run_command
from tests.random_runs import SETTINGS, write_random_run
from tests.support import (
    ALL_MARTS,
    MARTS,
    ROOT,
    Profiled,
    Row,
    inputs_of,
    key,
    profiled,
    run_profile,
    write_lines,
    write_run,
)

SHARDS = 8
OPTIONS = (
    *("--run-id", "nightly", "--allow-partial", "--pass-threshold", "0.5", "--prices"),
    *("../prices.yml", "--count-missing-rollouts-as-zero", "--tag", "ablation=none"),
    *(word for name in SETTINGS["slices"].fields for word in ("--slice-by", name)),
)
# what says where the files are, and when they were profiled
OWN = {"rollouts_path", "inputs_path", "prices_path", "profiled_at"}


def split(run: Profiled, folder: Path, count: int = SHARDS) -> list[Profiled]:
    """Cut the files of a run into shards by task, as `collect --shard` does."""
    folder.mkdir()
    shards = [Profiled(folder / f"part{number}.jsonl") for number in range(1, count + 1)]
    for kind in ("rollouts", "inputs", "failures"):
        source: Path = getattr(run, kind)
        lines = source.read_bytes().splitlines() if source.exists() else []
        for number, shard in enumerate(shards):
            own = [line for line in lines if json.loads(line)["_ng_task_index"] % count == number]
            if lines:
                write_lines(getattr(shard, kind), own)
    return shards


def shard_warehouse(shard: Profiled) -> Path:
    return shard.rollouts.with_suffix(".duckdb")


def profile_shards(shards: Iterable[Profiled], *options: str) -> list[Path]:
    found = []
    for shard in shards:
        profiled(shard, "--shard", "--no-files", "-w", str(shard_warehouse(shard)), *options)
        found.append(shard_warehouse(shard))
    return found


def merge(*words: str | Path, cwd: Path) -> Any:
    done = run_command("spotter", "merge", *words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done


def refusal(*words: str | Path, cwd: Path) -> tuple[int, str]:
    done = run_command("spotter", "merge", *words, "-w", "whole.duckdb", cwd=cwd)
    assert not (cwd / "whole.duckdb").exists()
    return done.returncode, done.stderr


def rows_of(warehouse: Path, mart: str) -> list[Row]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        result = connection.execute(f"select * from {mart} order by all")
        names = [column[0] for column in result.description or []]
        rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    return sorted(({name: row[name] for name in names if name not in OWN} for row in rows), key=str)


def differences(whole: Path, merged: Path, marts: Iterable[str]) -> list[str]:
    """Return the values that are not equal to the last bit."""
    found = []
    for mart in marts:
        expected, rows = rows_of(whole, mart), rows_of(merged, mart)
        if len(expected) != len(rows):
            found.append(f"{mart}: {len(rows)} rows, expected {len(expected)}")
        for want, got in zip(expected, rows, strict=False):
            found += [
                f"{mart}.{name}: {got[name]!r}, expected {want[name]!r}, {want}"
                for name in want
                if not is_same(got[name], want[name])
            ]
    return found


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random run with failures and prices, profiled whole, and in shards that are merged."""
    folder = tmp_path_factory.mktemp("merged")
    (folder / "prices.yml").write_text("my-model: {input: 0.5, output: 1.5}\n", encoding="utf-8")
    run = write_random_run(folder / "whole", 7, SETTINGS["slices"]).run
    rollouts = [line for line in run.rollouts.read_bytes().splitlines() if line]
    rows = [json.loads(line) for line in rollouts]
    for number, row in enumerate(rows):
        if number % 3 and "response" in row:
            row["response"] |= {"model": "my-model", "created_at": 1.7e9 + number}
    write_lines(run.rollouts, rows)
    write_lines(
        run.failures,
        [
            {**inputs_of([row])[0], "_ng_failure_class": "agent_run_error", "_ng_attempt_index": 0}
            for row in rows[::7]
        ]
        + [key(10_000, 0, _ng_failure_class="timeout")],
    )
    profiled(run, *OPTIONS, "-w", "../whole.duckdb")
    profile_shards(split(run, folder / "shards"), *OPTIONS)
    shards = sorted((folder / "shards").glob("*.duckdb"))
    merge(*shards, "-w", "merged.duckdb", "-o", "out", cwd=folder)
    return folder


@pytest.mark.slow
def test_eight_merged_shards_equal_the_whole_run(folder: Path) -> None:
    for mart in MARTS:
        assert rows_of(folder / "whole.duckdb", mart), mart
    assert not differences(folder / "whole.duckdb", folder / "merged.duckdb", MARTS)[:10]
    for suffix in ("reward_profiling.jsonl", "agent_metrics.json", "repeat_level_metrics.json"):
        written = folder / "out" / f"nightly_{suffix}"
        assert written.read_bytes() == (folder / "whole" / f"run_{suffix}").read_bytes()
    (run,) = rows_of_runs(folder / "merged.duckdb")
    names = [f"part{number}.jsonl" for number in range(1, SHARDS + 1)]
    assert [Path(path).name for path in json.loads(run["rollouts_path"])] == names
    assert len(json.loads(run["inputs_path"])) == SHARDS
    assert json.loads(run["tags"]) == {"ablation": "none"}


def rows_of_runs(warehouse: Path) -> list[Row]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        result = connection.execute("select * from runs order by run_id")
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


@pytest.mark.slow
def test_the_example_in_three_shards_is_the_example(tmp_path: Path) -> None:
    example = Profiled(ROOT / "examples" / "workplace.jsonl")
    whole = run_profile(
        *(example.rollouts, "--run-id", "r", "--no-files", "-w", "whole.duckdb"), cwd=tmp_path
    )
    assert whole.returncode == 0, whole.stderr
    shards = profile_shards(split(example, tmp_path / "shards", 3), "--run-id", "r")
    done = merge(*shards, "-w", "merged.duckdb", "--json", cwd=tmp_path)
    assert not differences(tmp_path / "whole.duckdb", tmp_path / "merged.duckdb", MARTS)[:10]
    report = json.loads(done.stdout)
    assert report["shards"] == {"r": 3}
    assert report["runs"][0]["missing_rollout_count"] == 0


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[Profiled]:
    """The files of a run in two shards."""
    return written_pair(tmp_path_factory.mktemp("pair"))


def written_pair(folder: Path) -> list[Profiled]:
    rows = [
        key(task, index, reward=float(index), extracted_answer="A", only_in_first=task == 0)
        for task in range(6)
        for index in range(2)
    ]
    for row in rows:
        if row["_ng_task_index"]:
            del row["only_in_first"]
    return split(write_run(folder, rows, inputs=inputs_of(rows)), folder / "shards", 2)


def shard_of(shard: Profiled, warehouse: str, *options: str, run_id: str = "r") -> Path:
    """Return a warehouse of a shard, which other tests may have filled already."""
    path = shard.rollouts.parent / warehouse
    if path.exists() and options == ("--shard",):
        return path
    profiled(shard, "--no-files", "-w", str(path), "--run-id", run_id, *options)
    return path


@pytest.mark.slow
def test_other_runs_are_copied_and_a_run_of_the_same_name_is_replaced(
    pair: list[Profiled], tmp_path: Path
) -> None:
    first, second = pair
    shard_of(first, "first.duckdb", "--shard")
    one = shard_of(second, "first.duckdb", "--tag", "step=2", run_id="alone")
    two = shard_of(second, "two.duckdb", "--shard")
    whole = tmp_path / "whole.duckdb"
    for run_id in ("r", "alone", "untouched"):
        profiled(first, "--no-files", "-w", str(whole), "--run-id", run_id, "--tag", "kept=yes")
    compared = run_command("spotter", "compare", "r", "untouched", "-w", whole, cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr
    done = merge(one, two, "-w", whole, cwd=tmp_path)
    assert "r: 6 tasks from 2 shards" in done.stdout
    assert "1 run copied" in done.stdout
    runs = {row["run_id"]: row for row in rows_of_runs(whole)}
    assert {name: runs[name]["task_count"] for name in runs} == {
        "r": 6,
        "alone": 3,
        "untouched": 3,
    }
    assert json.loads(runs["alone"]["tags"]) == {"kept": "yes", "step": "2"}
    assert json.loads(runs["r"]["tags"]) == {"kept": "yes"}
    # the comparison of the run that was replaced no longer holds
    assert not rows_of(whole, "run_comparisons")
    for mart in ALL_MARTS:
        own = [row for row in rows_of(whole, mart) if row["run_id"] == "alone"]
        assert own == [row for row in rows_of(one, mart) if row["run_id"] == "alone"] or (
            mart in ("runs", "run_overviews")  # their tags differ
        )


def test_shards_with_different_settings_are_refused_with_what_differs(
    pair: list[Profiled], tmp_path: Path
) -> None:
    one = shard_of(pair[0], "half.duckdb", "--shard", "--pass-threshold", "0.5")
    two = shard_of(pair[1], "other.duckdb", "--shard", "--answer-field", "only_in_first")
    code, message = refusal(one, two, cwd=tmp_path)
    assert code == 2
    assert "pass_threshold: 0.5 in half.duckdb; 1.0 in other.duckdb" in message
    assert "answer_field: extracted_answer in half.duckdb; only_in_first in other.duckdb" in message
    assert "slice_by" not in message


def test_a_shard_that_meets_no_other_is_a_warning(pair: list[Profiled], tmp_path: Path) -> None:
    one, two = (
        shard_of(shard, f"alone{number}.duckdb", "--shard", run_id=f"part{number}")
        for number, shard in enumerate(pair)
    )
    done = merge(one, two, "-w", "alone.duckdb", cwd=tmp_path)
    assert "2 runs copied" in done.stdout
    assert "part0, part1 are shards without other shards of the same name" in done.stderr
    again = merge(two, "-w", "one.duckdb", cwd=tmp_path)
    assert "part1 is a shard without other shards of the same name" in again.stderr


def test_shards_with_different_prices_are_refused(pair: list[Profiled], tmp_path: Path) -> None:
    prices = tmp_path / "prices.yml"
    prices.write_text("m: {input: 1, output: 2}\n", encoding="utf-8")
    one = shard_of(pair[0], "priced.duckdb", "--shard", "--prices", str(prices))
    two = shard_of(pair[1], "two.duckdb", "--shard")
    code, message = refusal(one, two, cwd=tmp_path)
    assert code == 2
    assert "prices: model=m, input=1.0" in message
    assert "none in two.duckdb" in message


def test_a_field_may_be_in_one_shard_only(pair: list[Profiled], tmp_path: Path) -> None:
    slices = ("--shard", "--slice-by", "only_in_first")
    one, two = (
        shard_of(shard, f"sliced{number}.duckdb", *slices) for number, shard in enumerate(pair)
    )
    merge(one, two, "-w", "whole.duckdb", cwd=tmp_path)
    values = {row["slice_value"] for row in rows_of(tmp_path / "whole.duckdb", "task_slices")}
    assert values == {"true", "(none)"}


def test_a_field_that_no_shard_has_is_refused(pair: list[Profiled], tmp_path: Path) -> None:
    fields = ("--shard", "--answer-field", "nothing")
    paths = [shard_of(shard, f"other{n}.duckdb", *fields) for n, shard in enumerate(pair)]
    code, message = refusal(*paths, cwd=tmp_path)
    assert (code, "--answer-field nothing: no rollout has" in message) == (2, True)
    slices = ("--shard", "--slice-by", "nowhere")
    one, two = (
        shard_of(shard, f"none{number}.duckdb", *slices) for number, shard in enumerate(pair)
    )
    code, message = refusal(one, two, cwd=tmp_path)
    assert code == 2
    assert "--slice-by nowhere: no input or rollout has" in message


def test_a_task_in_two_shards_is_refused(pair: list[Profiled], tmp_path: Path) -> None:
    one = shard_of(pair[0], "one.duckdb", "--shard")
    two = shard_of(pair[0], "again.duckdb", "--shard")
    code, message = refusal(one, two, cwd=tmp_path)
    assert code == 1
    assert "3 tasks are in more than one shard; nothing was written" in message
    assert "task 0 of r in one.duckdb, again.duckdb" in message


def test_a_run_that_was_not_profiled_as_a_shard_is_refused(
    pair: list[Profiled], tmp_path: Path
) -> None:
    one = shard_of(pair[0], "one.duckdb", "--shard")
    two = shard_of(pair[1], "forgotten.duckdb", "--shard")
    shard_of(
        pair[1], "forgotten.duckdb"
    )  # profiling again without the option forgets the kept rows
    code, message = refusal(one, two, cwd=tmp_path)
    assert code == 2
    assert "forgotten.duckdb does not have the rows to join it" in message
    assert "profile it again with --shard" in message


def test_shards_of_another_version_are_refused(pair: list[Profiled], tmp_path: Path) -> None:
    one = shard_of(pair[0], "old.duckdb", "--shard")
    two = shard_of(pair[1], "two.duckdb", "--shard")
    with duckdb.connect(str(one)) as connection:
        connection.execute("update shards.stg_runs set staging_digest = 'x', spotter_version = '0'")
    code, message = refusal(one, two, cwd=tmp_path)
    assert code == 2
    assert "was profiled by another version of Spotter (0; this is" in message
    # profiling again replaces the rows of the earlier version
    profiled(pair[0], "--no-files", "-w", str(one), "--run-id", "r", "--shard")
    merge(one, two, "-w", "whole.duckdb", cwd=tmp_path)


@pytest.mark.parametrize("is_partial", [False, True], ids=["strict", "partial"])
def test_a_missing_part_is_known_from_the_record(tmp_path: Path, is_partial: bool) -> None:
    shards = written_pair(tmp_path)
    for number, shard in enumerate(shards):
        record = {"settings": {"shard": [number + 1, 4]}}
        shard.rollouts.with_name(f"{shard.rollouts.stem}_run.json").write_text(json.dumps(record))
    # the record says that they are shards: no option is needed
    paths = [shard_of(shard, f"{number}.duckdb") for number, shard in enumerate(shards)]
    if is_partial:
        merge(*paths, "--allow-partial", "-w", "whole.duckdb", cwd=tmp_path)
        return
    code, message = refusal(*paths, cwd=tmp_path)
    assert code == 1
    assert "r: 2 of 4 parts are missing: 3/4, 4/4" in message


def test_renaming_and_removing_a_run_covers_its_kept_rows(
    pair: list[Profiled], tmp_path: Path
) -> None:
    one = shard_of(pair[0], "named.duckdb", "--shard", run_id="wrong")
    two = shard_of(pair[1], "two.duckdb", "--shard")
    renamed = run_command("spotter", "runs", "rename", "wrong", "r", "-w", one, cwd=tmp_path)
    assert renamed.returncode == 0, renamed.stderr
    merge(one, two, "-w", "whole.duckdb", cwd=tmp_path)
    removed = run_command("spotter", "runs", "remove", "r", "--yes", "-w", one, cwd=tmp_path)
    assert removed.returncode == 0, removed.stderr
    with duckdb.connect(str(one), read_only=True) as connection:
        assert connection.execute("select count(*) from shards.stg_rollouts").fetchone() == (0,)


def test_a_refused_merge_leaves_the_warehouse_as_it_was(
    pair: list[Profiled], tmp_path: Path
) -> None:
    one = shard_of(pair[0], "one.duckdb", "--shard")
    again = shard_of(pair[0], "again.duckdb", "--shard")
    whole = tmp_path / "kept.duckdb"
    profiled(pair[1], "--no-files", "-w", str(whole), "--run-id", "r")
    before = whole.read_bytes()
    done = run_command("spotter", "merge", one, again, "-w", whole, cwd=tmp_path)
    assert done.returncode == 1
    assert whole.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.duckdb"]


def test_files_that_cannot_be_merged_are_refused(pair: list[Profiled], tmp_path: Path) -> None:
    one = shard_of(pair[0], "one.duckdb", "--shard")
    text = tmp_path / "notes.duckdb"
    text.write_text("not a database, but longer than a header", encoding="utf-8")
    with duckdb.connect(str(tmp_path / "empty.duckdb")):
        pass
    cases = {
        (one, one): (2, "is named twice"),
        (one, tmp_path / "nowhere.duckdb"): (4, "there is no warehouse at"),
        (one, text): (4, "it is not a DuckDB file"),
        (one, tmp_path / "empty.duckdb"): (4, "no marts in"),
        (one, tmp_path / "whole.duckdb"): (4, "there is no warehouse at"),
        (): (2, "name the warehouses to merge"),
        (one, "s3://bucket/two.duckdb"): (2, "it must be a local path"),
        (one, "-o", "s3://bucket/out"): (2, "the output files cannot be at"),
    }
    for words, (code, text_part) in cases.items():
        found, message = refusal(*words, cwd=tmp_path)
        assert (found, text_part in message) == (code, True), message
    done = run_command("spotter", "merge", one, "-w", one, cwd=tmp_path)
    assert done.returncode == 2
    assert "is both a warehouse to merge and the one to write" in done.stderr
