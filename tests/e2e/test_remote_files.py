"""Runs in an object store are profiled as those on a disk are."""

from __future__ import annotations

import contextlib
import inspect
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import duckdb
import pytest

from collector import remote_files
from collector.errors import FileError
from collector.remote_paths import RemotePath
from collector.viewer.pages import rollout as rollout_page
from collector.viewer.pages import run as run_page
from tests.mart_folders import write_mart_folder
from tests.object_store import KEY, SECRET, ObjectStore, run_object_store
from tests.pages import app_of, get
from tests.programs import run_command
from tests.support import (
    MARTS,
    Profiled,
    inputs_of,
    key,
    profiled,
    run_profile,
    write_lines,
    write_run,
)

pytest.importorskip("s3fs")


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with run_object_store("bucket") as running:
        yield running


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory, store: ObjectStore) -> Profiled:
    """A run with failures, a record and missing rollouts, on a disk and in the store."""
    folder = tmp_path_factory.mktemp("local") / "runs"
    rows = [
        key(task, index, reward=index / 2, extracted_answer="Ü" * (task + 1))
        for task in range(5)
        for index in range(3)
    ]
    run = write_run(folder, rows[:-1], inputs=inputs_of(rows))
    write_lines(run.failures, [{**inputs_of(rows[-1:])[0], "_ng_failure_class": "timeout"}])
    record = {"identity": {"models": ["a-model"], "tags": {"step": "7"}}}
    run.rollouts.with_name("run_run.json").write_text(json.dumps(record), encoding="utf-8")
    store.put("s3://bucket/runs", folder)
    return profiled(run, "--allow-partial", "--run-id", "r")


def rows_of(warehouse: Path, mart: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        away = " exclude (rollouts_path, inputs_path, profiled_at)" if mart == "runs" else ""
        return connection.execute(f"select *{away} from {mart} order by all").fetchall()


def profile(address: str, cwd: Path, *options: str) -> tuple[int, str, str]:
    done = run_profile(address, *options, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def test_marts_in_the_store_are_copied_into_a_warehouse(
    local: Profiled, store: ObjectStore, tmp_path: Path
) -> None:
    write_mart_folder(local.warehouse, tmp_path / "marts")
    store.put("s3://bucket/marts", tmp_path / "marts")
    done = run_command("spotter", "merge", "s3://bucket/marts", "-w", "w.duckdb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for mart in MARTS:
        assert rows_of(tmp_path / "w.duckdb", mart) == rows_of(local.warehouse, mart), mart


def test_what_has_no_marts_in_the_store_is_refused(store: ObjectStore, tmp_path: Path) -> None:
    store.write("s3://bucket/other/notes.txt", b"nothing")
    for address, message in (
        ("s3://bucket/other", "is a folder without marts"),
        ("s3://bucket/none", "there is no warehouse at s3://bucket/none"),
        ("s3://bucket/other/notes.txt", "a warehouse to merge cannot be at s3://bucket/other"),
    ):
        done = run_command("spotter", "merge", address, "-w", "w.duckdb", cwd=tmp_path)
        assert done.returncode in (2, 4)
        assert message in done.stderr
        assert not (tmp_path / "w.duckdb").exists()


def test_a_run_in_the_store_has_the_same_marts_and_files(local: Profiled, tmp_path: Path) -> None:
    options = ("--allow-partial", "--run-id", "r", "--output-dir", "out")
    code, _, message = profile("s3://bucket/runs/run.jsonl", tmp_path, *options)
    assert code == 0, message
    for mart in MARTS:
        assert rows_of(tmp_path / "warehouse.duckdb", mart) == rows_of(local.warehouse, mart), mart
    for path in (local.profiling, local.agents, local.repeats):
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as connection:
        row = connection.execute("select rollouts_path, inputs_path, tags from runs").fetchone()
    base = "s3://bucket/runs/run"
    assert row == (f"{base}.jsonl", f"{base}_materialized_inputs.jsonl", '{"step":"7"}')


@pytest.mark.parametrize("address", ["s3://bucket/runs/*.jsonl", "s3://bucket/runs/"])
def test_a_pattern_or_a_folder_finds_the_runs(
    local: Profiled, address: str, tmp_path: Path
) -> None:
    assert local.rollouts.exists()
    code, printed, message = profile(address, tmp_path, "--allow-partial", "--json")
    assert code == 0, message
    (run,) = json.loads(printed)["runs"]
    assert run["run_id"] == "runs-run"
    assert run["rollouts"] == "s3://bucket/runs/run.jsonl"
    # the store is only read: without a local folder there are no output files
    assert run["reward_profiling"] is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["warehouse.duckdb"]


ODD_NAMES = ["a[1].jsonl", "a1.jsonl", "back\\slash.jsonl", "what?.jsonl", "x*y.jsonl"]


@pytest.fixture(scope="module")
def odd_names(store: ObjectStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Runs whose keys have the signs of patterns, also as a folder."""
    rows = [key(0, 0, reward=1.0)]
    run = write_run(tmp_path_factory.mktemp("odd"), rows, inputs=inputs_of(rows))
    for name in ODD_NAMES:
        for folder in ("odd", "odd[2]"):
            address = f"s3://bucket/{folder}/{name}"
            store.write(address, run.rollouts.read_bytes())
            inputs = address.replace(".jsonl", "_materialized_inputs.jsonl")
            store.write(inputs, run.inputs.read_bytes())


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("odd/*.jsonl", ODD_NAMES),
        ("odd/", ODD_NAMES),
        ("odd[2]/", ODD_NAMES),
        ("odd/a[1].jsonl", ["a[1].jsonl"]),
        ("odd/a[0-9].jsonl", ["a1.jsonl"]),
        ("odd/what?.jsonl", ["what?.jsonl"]),
    ],
)
@pytest.mark.usefixtures("odd_names")
def test_a_key_that_looks_like_a_pattern_is_read(
    address: str, names: list[str], tmp_path: Path
) -> None:
    code, printed, message = profile(f"s3://bucket/{address}", tmp_path, "--json")
    assert code == 0, message
    found = {run["rollouts"].rpartition("/")[2] for run in json.loads(printed)["runs"]}
    assert found == set(names)


def test_a_store_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setattr(remote_files, "SILENT_SECONDS", 0.05)
    monkeypatch.setitem(remote_files.S3_LIMITS, "read_timeout", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent, fresh_stores():
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        code, _, message = profile("s3://bucket/*.jsonl", tmp_path)
    assert code == 4
    assert "waiting for an answer about s3://bucket/*.jsonl" in message
    assert "cannot read s3://bucket/*.jsonl: Read timeout on endpoint URL" in message


def test_unreadable_lines_are_named_by_address_and_number(
    store: ObjectStore, tmp_path: Path
) -> None:
    rows = [key(0, index, reward=1.0) for index in range(2)]
    run = write_run(tmp_path / "files", rows, inputs=inputs_of(rows))
    lines = run.rollouts.read_bytes().splitlines()
    store.put("s3://bucket/broken", tmp_path / "files")
    store.write("s3://bucket/broken/run.jsonl", lines[0] + b"\n{nothing\n" + lines[1] + b"\n")
    code, _, message = profile("s3://bucket/broken/run.jsonl", tmp_path)
    assert code == 4
    assert "s3://bucket/broken/run.jsonl:2: not JSON" in message
    # half of the second rollout: the collector was stopped while it wrote
    store.write("s3://bucket/broken/run.jsonl", lines[0] + b"\n" + lines[1][:-9])
    code, printed, message = profile(
        "s3://bucket/broken/run.jsonl", tmp_path, "--allow-partial", "--json"
    )
    assert code == 0, message
    assert json.loads(printed)["runs"][0]["missing_rollout_count"] == 1


REFUSED = {
    "no_bucket": (("s3://nowhere/run.jsonl",), 4, "no rollouts at s3://nowhere/run.jsonl"),
    "no_object": (("s3://bucket/none.jsonl",), 4, "no rollouts at s3://bucket/none.jsonl"),
    "no_bucket_of_a_pattern": (("s3://nowhere/*.jsonl",), 4, "nothing at s3://nowhere/*.jsonl"),
    "an_empty_pattern": (("s3://bucket/x*.jsonl",), 4, "no rollouts found in s3://bucket/x*"),
    "no_inputs": (
        ("s3://bucket/runs/run.jsonl", "--inputs", "s3://bucket/none.jsonl"),
        4,
        "no materialized inputs at s3://bucket/none.jsonl",
    ),
    "a_password": (("s3://user:hunter2@bucket/run.jsonl",), 2, "has a user and a password"),
    "a_missing_package": (("gs://bucket/run.jsonl",), 2, "what to do: pip install gcsfs"),
    "a_remote_warehouse": (
        ("s3://bucket/runs/run.jsonl", "-w", "s3://user:hunter2@bucket/w.duckdb"),
        2,
        "a warehouse cannot be at",
    ),
    "a_remote_output_folder": (
        ("s3://bucket/runs/run.jsonl", "--output-dir", "s3://bucket/out"),
        2,
        "the output files cannot be at",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.usefixtures("local")
def test_what_cannot_be_read_is_refused(name: str, tmp_path: Path) -> None:
    words, expected, part = REFUSED[name]
    done = run_profile(*words, cwd=tmp_path)
    assert (done.returncode, part in done.stderr) == (expected, True), done.stderr
    assert "hunter2" not in done.stderr + done.stdout
    assert not list(tmp_path.iterdir())


def test_without_credentials_the_message_says_where_they_are_looked_for(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.variables
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    with fresh_stores():
        code, _, message = profile("s3://bucket/runs/run.jsonl", tmp_path)
    assert code == 4
    assert (
        "no permission to read s3://bucket/runs/run.jsonl: Unable to locate credentials" in message
    )
    assert "the AWS_ variables and ~/.aws" in message


def test_a_store_that_refuses_or_is_gone_is_an_error_that_names_the_address(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.variables
    with serve(Forbidding) as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        with fresh_stores():
            code, _, message = profile("s3://bucket/runs/run.jsonl", tmp_path)
    assert code == 4
    assert "no permission to read s3://bucket/runs/run.jsonl" in message
    # nobody listens on this port any more
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with fresh_stores():
        code, _, message = profile("s3://bucket/runs/run.jsonl", tmp_path)
    assert code == 4
    assert "cannot read s3://bucket/runs/run.jsonl: Could not connect" in message
    assert "check the address and the network" in message


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError("Forbidden"), "no permission to read s3://bucket/"),
        (FileNotFoundError("404"), " is gone since it was found; nothing was written"),
    ],
    ids=["forbidden", "gone"],
)
def test_a_store_that_fails_midway_is_told(
    error: OSError,
    said: str,
    local: Profiled,
    store: ObjectStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The question fails that DuckDB asks when it opens a file, whichever it is."""
    write_mart_folder(local.warehouse, tmp_path / "marts")
    store.put("s3://bucket/midway", tmp_path / "marts")
    ask = remote_files.DuckdbFiles.info
    for command in (("profile", "s3://bucket/runs/run.jsonl"), ("merge", "s3://bucket/midway")):
        for good in (0, 3):
            asked = iter(range(good))

            def info(
                self: remote_files.DuckdbFiles, path: str, asked: Iterator[int] = asked
            ) -> dict[str, object]:
                if next(asked, None) is None:
                    with monkeypatch.context() as patch:
                        patch.setattr(remote_files.open_store("s3").files, "info", fail)
                        return ask(self, path)
                return ask(self, path)

            def fail(*_: object) -> None:
                raise error

            monkeypatch.setattr(remote_files.DuckdbFiles, "info", info)
            done = run_command("spotter", *command, "-w", "w.duckdb", cwd=tmp_path)
            assert done.returncode == 4, done.stderr
            assert said in done.stderr
            assert "Traceback" not in done.stderr
            assert not (tmp_path / "w.duckdb").exists()


class Forbidding(BaseHTTPRequestHandler):
    """A store that allows nothing."""

    def do_GET(self) -> None:
        self.send_error(403)

    def do_HEAD(self) -> None:
        self.send_error(403)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextlib.contextmanager
def serve(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()


@contextlib.contextmanager
def fresh_stores() -> Iterator[None]:
    """Open stores with the environment of now, and forget them afterwards."""
    import s3fs

    remote_files.open_store.cache_clear()
    s3fs.S3FileSystem.clear_instance_cache()
    try:
        yield
    finally:
        remote_files.open_store.cache_clear()
        s3fs.S3FileSystem.clear_instance_cache()


def test_credentials_reach_no_file(local: Profiled, tmp_path: Path) -> None:
    assert local.rollouts.exists()
    options = ("--allow-partial", "--output-dir", "out", "--verbose")
    code, printed, message = profile("s3://bucket/runs/run.jsonl", tmp_path, *options)
    assert code == 0, message
    report = run_command("spotter", "report", "runs-run", "-o", "report.html", cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) >= 5
    texts = [*written, printed.encode(), message.encode(), report.stderr.encode()]
    for secret in (KEY, SECRET):
        assert not [text for text in texts if secret.encode() in text]


def test_the_viewer_says_why_it_shows_no_transcript(local: Profiled, tmp_path: Path) -> None:
    assert local.rollouts.exists()
    code, _, message = profile("s3://bucket/runs/run.jsonl", tmp_path, "--allow-partial")
    assert code == 0, message
    app = app_of(tmp_path / "warehouse.duckdb", [*run_page.ROUTES, *rollout_page.ROUTES])
    page = unescape(get(app, "/rollout?run=runs-run&task=0&rollout=0").text)
    assert "s3://bucket/runs/run.jsonl is in an object store" in page
    assert "transcripts are read from local files only" in page
    assert get(app, "/run?run=runs-run").status_code == 200


def test_a_run_in_the_store_can_be_compared(local: Profiled, tmp_path: Path) -> None:
    done = run_command(
        *("spotter", "compare", local.rollouts, "s3://bucket/runs/run.jsonl"),
        *("--allow-partial", "-w", "compared.duckdb"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "runs-run" in done.stdout


def test_without_remote_files_nothing_of_them_is_imported() -> None:
    code = (
        "import sys; import collector.commands.profile, collector.profiling.profile;"
        "sys.exit(any(name in sys.modules for name in ('fsspec', 's3fs', 'botocore')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_store_that_fails_while_duckdb_reads_leaves_nothing(
    local: Profiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert local.rollouts.exists()
    read = remote_files.Store.read

    def fail(self: remote_files.Store, path: RemotePath, start: int, end: int) -> bytes:
        is_duckdb = not any(frame.function == "open_run" for frame in inspect.stack())
        if is_duckdb and path.name == "run.jsonl":
            raise FileError(f"cannot read {path}: the connection was reset")
        return read(self, path, start, end)

    monkeypatch.setattr(remote_files.Store, "read", fail)
    code, _, message = profile("s3://bucket/runs/run.jsonl", tmp_path, "--allow-partial")
    assert code == 4, message
    assert "s3://bucket/runs/run.jsonl: the connection was reset" in message
    assert not list(tmp_path.iterdir())
