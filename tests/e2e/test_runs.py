"""The runs of a warehouse: how they are told apart, listed, tagged, renamed and removed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from collector.profiling import stored_runs
from collector.profiling.batch import Batch
from collector.profiling.stored_runs import StoredRuns
from collector.warehouse import access
from tests.programs import run_command
from tests.restored_folders import RestoredFolder
from tests.support import Profiled, Row, key, profiled, run_profile, write_lines, write_run

RESPONSE = {
    "model": "model-a",
    "created_at": 1_790_000_000,
    "temperature": 0.5,
    "top_p": 0.9,
    "reasoning": {"effort": "high"},
    "output": [],
}
Meanwhile = Callable[[Callable[[StoredRuns], object]], None]
PARAMS = {"input": "?", "temperature": 1.0, "max_output_tokens": 100}


def write(folder: Path, name: str = "run", reward: float = 1.0, **fields: Any) -> Profiled:
    rows = [key(task, 0, reward=reward, response=RESPONSE, **fields) for task in range(2)]
    inputs = [key(task, 0, responses_create_params=PARAMS, q=task) for task in range(2)]
    return write_run(folder, rows, inputs=inputs, name=name)


def runs(folder: Path, *words: str) -> tuple[int, str, str]:
    done = run_command("spotter", "runs", *words, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def only_run(run: Profiled) -> Row:
    (row,) = run.table("from runs")
    return row


@pytest.fixture(scope="module")
def profiled_once(tmp_path_factory: pytest.TempPathFactory) -> RestoredFolder:
    return RestoredFolder(profiled(write(tmp_path_factory.mktemp("one") / "results")).stem.parent)


@pytest.fixture
def run(profiled_once: RestoredFolder) -> Profiled:
    """A run and its warehouse, which a test may change."""
    return Profiled(profiled_once.restore() / "run.jsonl")


@pytest.fixture
def folder(run: Profiled) -> Path:
    return run.warehouse.parent


# --- identity ------------------------------------------------------------------------------------


def test_the_files_tell_the_model_the_settings_and_the_time(run: Profiled) -> None:
    row = only_run(run)
    assert row["run_id"] == "results-run"
    assert row["model_names"] == "model-a"
    assert row["agent_names"] == "agent_a"
    assert json.loads(row["sampling"]) == {
        "temperature": 1.0,
        "max_output_tokens": 100,
        "top_p": 0.9,
        "reasoning_effort": "high",
    }
    assert str(row["collection_ended_at"]) == "2026-09-21 14:13:20"
    for name in ("made_with", "endpoint_host", "environment_names", "task_file"):
        assert row[name] is None
    scores = run.query("select distinct collected_at from agent_scores")
    assert scores == [(row["collection_ended_at"],)]


def test_the_record_tells_what_the_files_do_not(tmp_path: Path) -> None:
    run = write(tmp_path / "results")
    record = {
        "versions": {"spotter": "1.2"},
        "input": {"path": "/data/tasks.jsonl", "sha256": "ab"},
        "identity": {
            "models": ["other"],
            "environments": ["gym"],
            "endpoint_host": "host:1",
            "tags": {"step": "7", "no name!": "x", "list": [1]},
        },
        "sessions": [
            {"started_at": "2026-01-02T03:04:05+00:00", "ended_at": "2026-01-02T04:00:00+01:00"},
            {"started_at": "2026-01-03T00:00:00+00:00", "ended_at": None},
            {"started_at": "nonsense", "ended_at": 3},
        ],
    }
    write_lines(run.rollouts.with_name("run_run.json"), [record])
    row = only_run(profiled(run))
    assert row["model_names"] == "model-a", "the responses know better"
    assert (row["environment_names"], row["endpoint_host"]) == ("gym", "host:1")
    assert (row["made_with"], row["task_file"]) == ("Spotter 1.2", "/data/tasks.jsonl")
    assert str(row["collection_started_at"]) == "2026-01-02 03:04:05"
    assert str(row["collection_ended_at"]) == "2026-01-02 03:00:00"
    assert json.loads(row["tags"]) == {"step": "7"}


def test_a_tag_of_the_record_can_be_removed_for_good(tmp_path: Path) -> None:
    run = write(tmp_path / "results")
    record = {"identity": {"tags": {"step": "7", "kind": "x"}}}
    write_lines(run.rollouts.with_name("run_run.json"), [record])
    folder = profiled(run).warehouse.parent
    assert runs(folder, "tag", "results-run", "step=")[0] == 0
    assert json.loads(only_run(profiled(run))["tags"]) == {"kind": "x"}


@pytest.mark.parametrize("record", [b"[]", b"{", b'{"identity": 3, "sessions": {}, "input": []}'])
def test_a_record_that_makes_no_sense_tells_nothing(record: bytes, tmp_path: Path) -> None:
    run = write(tmp_path / "results")
    run.rollouts.with_name("run_run.json").write_bytes(record)
    assert only_run(profiled(run))["made_with"] is None


def test_tags_stay_when_a_run_is_profiled_again(run: Profiled, folder: Path) -> None:
    assert run_profile(run.rollouts, "--tag", "a=1", "--tag", "b=2", cwd=folder).returncode == 0
    assert run_profile(run.rollouts, "--tag", "a=3", cwd=folder).returncode == 0
    assert json.loads(only_run(run)["tags"]) == {"a": "3", "b": "2"}


@pytest.mark.parametrize("tag", ["a", "=1", "a b=1", "a=\x1b[31m", f"a={'x' * 201}"])
def test_a_tag_that_makes_no_sense_is_refused(tag: str, run: Profiled, folder: Path) -> None:
    done = run_profile(run.rollouts, "--tag", tag, cwd=folder)
    assert (done.returncode, done.stderr[:12]) == (2, "error: --tag")


def test_a_second_file_of_the_same_name_gets_another(run: Profiled, folder: Path) -> None:
    other = write(folder / "more" / "results")
    assert run_profile(other.rollouts, "-w", run.warehouse, cwd=folder).returncode == 0
    names = run.query("select run_id from runs order by run_id")
    assert names == [("more-results-run",), ("results-run",)]


# --- spotter runs --------------------------------------------------------------------------------


def test_lists_a_line_per_run(folder: Path) -> None:
    code, out, _ = runs(folder)
    assert code == 0
    head, line = out.splitlines()
    assert head.split("  ")[0] == "run"
    for text in ("results-run", "model-a", "2 × 1", "100.0%", "2026-09-21 14:13"):
        assert text in line
    (row,) = json.loads(runs(folder, "--json")[1])
    assert (row["run_id"], row["tags"], row["reward_mean"]) == ("results-run", {}, 1.0)


def test_lists_only_those_with_a_tag(folder: Path) -> None:
    assert runs(folder, "tag", "results-run", "a=1", "b=2")[0] == 0
    assert "results-run" in runs(folder, "list", "a=1")[1]
    assert runs(folder, "list", "a=2") == (0, "", "no run has these tags\n")


def test_shows_everything_about_a_run(folder: Path) -> None:
    runs(folder, "tag", "results-run", "a=1")
    code, out, _ = runs(folder, "show", "results-run")
    assert code == 0
    for text in ("temperature 1", "max_output_tokens 100", "a=1", "mean reward", "clean"):
        assert text in out
    found = json.loads(runs(folder, "show", "results-run", "--json")[1])
    assert found["agents"][0]["scores"][0]["score"] == "mean_reward"


def test_explains_its_words(run: Profiled, folder: Path) -> None:
    for words in (("runs", "show", "results-run"), ("profile", str(run.rollouts))):
        plain = run_command("spotter", *words, cwd=folder).stdout
        assert "What the words mean" not in plain
        told = run_command("spotter", *words, "--explain", cwd=folder).stdout
        assert "after a single attempt" in told
        assert told.count("rerun noise") == 2


def test_removes_a_tag(folder: Path) -> None:
    runs(folder, "tag", "results-run", "a=1", "b=2")
    assert runs(folder, "tag", "results-run", "a=")[2] == "the tags of results-run: b=2\n"
    code, _, errors = runs(folder, "tag", "results-run", "a=")
    assert (code, "its tags are: b" in errors) == (2, True)


def test_a_renamed_run_keeps_its_name(run: Profiled, folder: Path) -> None:
    assert runs(folder, "rename", "results-run", "baseline")[0] == 0
    assert run_profile(run.rollouts, cwd=folder).returncode == 0
    assert run.query("select distinct run_id from rollout_infos") == [("baseline",)]
    assert run.query("select run_id from runs") == [("baseline",)]


@pytest.fixture
def meanwhile(run: Profiled, monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Let another command change the warehouse between what a profile reads and what it writes."""

    def change(action: Callable[[StoredRuns], object]) -> None:
        match = Batch.match

        def act_and_match(self: Batch) -> None:
            monkeypatch.setattr(Batch, "match", match)
            action(StoredRuns(run.warehouse, print))
            match(self)

        monkeypatch.setattr(Batch, "match", act_and_match)

    return change


def test_a_tag_that_is_set_during_a_profile_stays(
    run: Profiled, folder: Path, meanwhile: Meanwhile
) -> None:
    runs(folder, "tag", "results-run", "a=1", "b=2", "c=3")
    meanwhile(lambda stored: stored.tag("results-run", {"a": "4", "d": "5"}, removed=["b"]))
    assert run_profile(run.rollouts, "--tag", "c=6", cwd=folder).returncode == 0
    assert json.loads(only_run(run)["tags"]) == {"a": "4", "c": "6", "d": "5"}


def test_a_run_that_is_renamed_during_its_profile_keeps_its_name(
    run: Profiled, folder: Path, meanwhile: Meanwhile
) -> None:
    meanwhile(lambda stored: stored.rename("results-run", "baseline"))
    done = run_profile(run.rollouts, cwd=folder)
    assert (done.returncode, "has just been renamed baseline" in done.stderr) == (4, True)
    assert run.query("select run_id from runs") == [("baseline",)]
    assert run_profile(run.rollouts, cwd=folder).returncode == 0
    assert run.query("select run_id from runs") == [("baseline",)]


def test_a_run_that_is_removed_during_its_profile_is_new(
    run: Profiled, folder: Path, meanwhile: Meanwhile
) -> None:
    runs(folder, "tag", "results-run", "a=1")
    meanwhile(lambda stored: stored.remove(["results-run"]))
    assert run_profile(run.rollouts, cwd=folder).returncode == 0
    assert only_run(run)["tags"] == "{}"


@pytest.mark.parametrize("action", ["rename", "remove", "profile"])
def test_a_comparison_that_profiles_a_file_undoes_no_other_command(
    action: str, run: Profiled, folder: Path, meanwhile: Meanwhile
) -> None:
    other = write(folder / "more", reward=0.0)
    run.rollouts.write_bytes(run.rollouts.read_bytes())
    actions: dict[str, Callable[[StoredRuns], object]] = {
        "rename": lambda stored: stored.rename("results-run", "baseline"),
        "remove": lambda stored: stored.remove(["results-run"]),
        "profile": lambda _: run_profile(run.rollouts, "--slice-by", "q", cwd=folder),
    }
    meanwhile(actions[action])
    paths = [str(run.rollouts), str(other.rollouts)]
    done = run_command("spotter", "compare", *paths, cwd=folder)
    assert (done.returncode, "has just been" in done.stderr) == (4, True)
    names = {"rename": ["baseline"], "remove": [], "profile": ["results-run"]}
    assert [name for (name,) in run.query("select run_id from runs")] == names[action]
    if action == "profile":
        assert run.query("select distinct slice_by from task_slices") == [("q",)]


def test_a_name_that_is_taken_is_refused(folder: Path) -> None:
    write(folder, "other")
    assert run_profile(folder / "other.jsonl", "--run-id", "b", cwd=folder).returncode == 0
    code, _, errors = runs(folder, "rename", "b", "results-run")
    assert (code, "already a run named" in errors) == (2, True)


def test_removes_a_run_with_its_comparisons(run: Profiled, folder: Path) -> None:
    other = write(folder / "more", reward=0.0)
    assert run_profile(other.rollouts, "-w", run.warehouse, cwd=folder).returncode == 0
    names = [name for (name,) in run.query("select run_id from runs order by run_id")]
    assert run_command("spotter", "compare", *names, cwd=folder).returncode == 0
    code, _, errors = runs(folder, "remove", names[0])
    assert (code, "would remove 1 run, " in errors) == (2, True)
    assert len(run.query("from runs")) == 2
    assert runs(folder, "remove", names[0], "--yes")[0] == 0
    with duckdb.connect(run.warehouse, read_only=True) as connection:
        tables = connection.execute(
            "select table_name from duckdb_columns() where column_name = 'run_id'"
            " and schema_name = 'main'"
        ).fetchall()
        left = {
            name
            for (table,) in tables
            for (name,) in connection.execute(f"select distinct run_id from {table}").fetchall()
        }
    assert left == {names[1]}
    assert run.query("from task_comparisons") == []
    assert run_profile(other.rollouts, "-w", run.warehouse, cwd=folder).returncode == 0
    assert len(run.query("from runs")) == 2


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("show",), "used like: spotter runs show RUN"),
        (("show", "reslts-run"), "did you mean results-run?"),
        (("rename", "results-run"), "used like: spotter runs rename"),
        (("rename", "results-run", ""), "the name is empty"),
        (("rename", "results-run", "x" * 201), "the name is too long"),
        (("tag", "results-run"), "used like: spotter runs tag"),
        (("remove",), "used like: spotter runs remove"),
        (("list", "nonsense"), "NAME=VALUE"),
    ],
)
def test_says_what_is_wrong(words: tuple[str, ...], text: str, folder: Path) -> None:
    code, out, errors = runs(folder, *words)
    assert (code, out) == (2, "")
    assert text in errors


def test_a_full_disk_is_an_error_without_a_traceback(
    run: Profiled, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def full(*arguments: Any, **options: Any) -> Iterator[None]:
        with access.transaction(*arguments, **options):
            yield
            raise duckdb.TransactionException("Failed to commit: No space left on device")

    monkeypatch.setattr(stored_runs, "transaction", full)
    code, out, errors = runs(folder, "tag", "results-run", "a=1")
    assert (code, out) == (4, "")
    assert errors.endswith("No space left on device\n  nothing was written\n")
    assert json.loads(only_run(run)["tags"]) == {}


def test_without_a_warehouse_says_what_to_do(tmp_path: Path) -> None:
    code, _, errors = runs(tmp_path)
    assert (code, "fill it with `spotter profile`" in errors) == (4, True)


# --- many runs -----------------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path: Path) -> Path:
    for name in "abcde":
        write(tmp_path / name, reward=0.5)
    broken = tmp_path / "c" / "run.jsonl"
    broken.write_bytes(broken.read_bytes() * 2)
    return tmp_path


def test_a_broken_run_stops_all(many: Path) -> None:
    done = run_profile(".", cwd=many)
    assert done.returncode == 1
    assert "1 of 5 runs is broken; nothing was written" in done.stderr
    assert "--skip-broken" in done.stderr
    assert not (many / "warehouse.duckdb").exists()


def test_broken_runs_are_skipped_and_named(many: Path) -> None:
    done = run_profile(".", "--skip-broken", cwd=many)
    assert done.returncode == 1
    assert "duplicate_rollout in" in done.stderr
    assert "1 of 5 runs is broken and was skipped; the other 4 are profiled" in done.stderr
    lines = [line.split()[0] for line in done.stdout.splitlines() if "0.5" in line]
    assert lines == ["a-run", "b-run", "d-run", "e-run"]
    with duckdb.connect(many / "warehouse.duckdb", read_only=True) as connection:
        assert connection.execute("select count(*) from runs").fetchone() == (4,)


def test_json_has_the_broken_runs_too(many: Path) -> None:
    found = json.loads(run_profile(".", "--skip-broken", "--json", cwd=many).stdout)
    assert [error["run_id"] for error in found["errors"]] == ["c-run"]
    assert len(found["runs"]) == 4


def test_nothing_is_left_if_all_are_broken(many: Path) -> None:
    done = run_profile("c", "--skip-broken", cwd=many)
    assert done.returncode == 1
    assert not (many / "warehouse.duckdb").exists()


def test_many_runs_are_one_table_unless_verbose(many: Path) -> None:
    (many / "c" / "run.jsonl").unlink()
    short = run_profile(".", cwd=many)
    assert "pass@1" not in short.stdout
    assert "spotter runs show RUN" in short.stdout
    whole = run_profile(".", "--verbose", cwd=many)
    assert whole.stdout.count("pass@1") == 4


def test_warnings_of_many_runs_are_summed_up(many: Path) -> None:
    for name in "abde":
        path = many / name / "run.jsonl"
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    (many / "c" / "run.jsonl").unlink()
    done = run_profile(".", "--allow-partial", cwd=many)
    assert done.stderr.splitlines() == [
        "warning: 4 of 4 runs are partial, so their figures are biased: a-run, b-run, d-run, e-run"
    ]


# --- a path for a name ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("report NAME", {"run_id": "results-run"}),
        ("report NAME NAME", {"run_id": "results-run", "baseline_run_id": "results-run"}),
        ("export --select runs --run NAME", {"tables": {"runs": 1}}),
        ("runs show NAME", {"run_id": "results-run"}),
        ("runs tag NAME step=7", {"run_id": "results-run", "tags": {"step": "7"}}),
        ("runs rename NAME new", {"run_id": "new", "old_run_id": "results-run"}),
        ("runs remove NAME --yes", {"run_ids": ["results-run"]}),
    ],
)
@pytest.mark.parametrize("name", ["run.jsonl", ".", "ABSOLUTE"])
def test_the_path_of_a_profiled_run_is_its_name(
    run: Profiled, folder: Path, words: str, expected: Row, name: str
) -> None:
    path = str(run.rollouts) if name == "ABSOLUTE" else name
    done = run_command("spotter", *words.replace("NAME", path).split(), "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert {**printed, **expected} == printed


def test_a_path_names_a_run_also_after_its_file_is_gone(run: Profiled, folder: Path) -> None:
    run.rollouts.unlink()
    assert json.loads(runs(folder, "show", "run.jsonl", "--json")[1])["run_id"] == "results-run"


def test_a_path_that_names_no_run_or_several_is_refused(folder: Path) -> None:
    write(folder, "other")
    code, _, message = runs(folder, "show", "other.jsonl")
    assert code == 2
    assert "other.jsonl is not in the warehouse" in message
    assert "spotter profile other.jsonl" in message
    assert run_profile("other.jsonl", cwd=folder).returncode == 0
    code, _, message = runs(folder, "show", ".")
    assert code == 2
    assert ". holds 2 runs: name one of them" in message
    assert "there is no run nowhere.jsonl" in runs(folder, "show", "nowhere.jsonl")[2]
