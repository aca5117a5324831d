"""`spotter view`: what it opens, where it listens, whom it answers and how it ends."""

from __future__ import annotations

import contextlib
import gc
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import duckdb
import httpx
import pytest

from tests.programs import run_command
from tests.support import Profiled, Row, inputs_of, key, profiled, write_lines, write_run
from tests.viewers import Watched, viewing

SETTINGS = ("--run-id", "mine", "--pass-threshold", "0.5", "--slice-by", "kind")


def rollouts(count: int = 3) -> list[Row]:
    params = {"input": [{"role": "user", "content": "What is 6 * 7?"}]}
    return [
        key(task, 0, reward=task / 4, kind="a", responses_create_params=params)
        for task in range(count)
    ]


@pytest.fixture
def run(workspace: Path) -> Profiled:
    rows = rollouts()
    return write_run(workspace, rows, inputs=inputs_of(rows))


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """A run with its warehouse, which no test changes."""
    rows = rollouts()
    return profiled(write_run(tmp_path_factory.mktemp("known"), rows, inputs=inputs_of(rows)))


@pytest.fixture(scope="module")
def viewer(known: Profiled) -> Iterator[Watched]:
    with viewing(cwd=known.rollouts.parent) as watched:
        yield watched


def look(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Call the command where it should fail."""
    with warnings.catch_warnings():
        # the port that it has taken by then is for the end of the process to give back
        warnings.simplefilter("ignore", ResourceWarning)
        result = run_command("spotter", "view", "--no-browser", *arguments, cwd=cwd)
        gc.collect()
    return result


def runs_of(warehouse: Path) -> list[tuple[object, ...]]:
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return connection.execute(
            "select run_id, completed_rollout_count, missing_rollout_count, pass_threshold,"
            " slice_by from runs order by run_id"
        ).fetchall()


def test_opens_a_warehouse(known: Profiled, viewer: Watched) -> None:
    assert viewer.url == f"{viewer.base}/"
    assert viewer.warehouse == known.warehouse
    answer = viewer.get("/")
    assert answer.status_code == 200
    assert "server" not in answer.headers
    assert viewer.get("/nowhere").status_code == 404
    assert viewer.get("/static/app.css").headers["cache-control"] == "no-cache"
    with viewing(known.warehouse, cwd=Path("/")) as elsewhere:
        assert elsewhere.get("/").status_code == 200


def test_profiles_a_rollouts_file_first(run: Profiled) -> None:
    with viewing("run.jsonl", cwd=run.rollouts.parent) as viewer:
        assert urlsplit(viewer.url).path == "/run"
        (run_id,) = parse_qs(urlsplit(viewer.url).query)["run"]
        assert viewer.get(viewer.url.removeprefix(viewer.base)).status_code == 200
    assert runs_of(run.warehouse) == [(run_id, 3, 0, 1.0, "[]")]
    assert not run.profiling.exists()
    assert not run.agents.exists()


def test_a_run_that_is_known_is_left_alone(run: Profiled) -> None:
    profiled(run, *SETTINGS)
    before = run.warehouse.read_bytes()
    with viewing(run.rollouts, cwd=Path("/")) as viewer:
        assert viewer.warehouse == run.warehouse  # the one beside the rollouts
        assert viewer.url.endswith("/run?run=mine")
    assert run.warehouse.read_bytes() == before


def test_a_run_that_has_grown_is_profiled_as_before(run: Profiled) -> None:
    profiled(run, *SETTINGS)
    write_lines(run.inputs, inputs_of(rollouts(6)))
    write_lines(run.rollouts, rollouts(5))
    with viewing(run.rollouts, cwd=run.rollouts.parent) as viewer:
        assert viewer.url.endswith("/run?run=mine")
    assert runs_of(run.warehouse) == [("mine", 5, 1, 0.5, '["kind"]')]


def test_lines_that_came_while_it_was_profiled_are_noticed(run: Profiled) -> None:
    write_lines(run.inputs, inputs_of(rollouts(4)))
    profiled(run, "--allow-partial", *SETTINGS)
    write_lines(run.rollouts, rollouts(4))
    just_before = time.time() - 60
    with duckdb.connect(str(run.warehouse)) as connection:
        connection.execute("update runs set profiled_at = now()::timestamp + interval 1 minute")
    os.utime(run.rollouts, (just_before, just_before))
    with viewing(run.rollouts, cwd=run.rollouts.parent):
        pass
    assert runs_of(run.warehouse) == [("mine", 4, 0, 0.5, '["kind"]')]


def test_opens_a_folder(workspace: Path) -> None:
    for name in ("one", "two"):
        write_run(workspace / "results", rollouts(), inputs=inputs_of(rollouts()), name=name)
    with viewing("results", "-w", "all.duckdb", cwd=workspace) as viewer:
        assert viewer.url == f"{viewer.base}/"
        assert viewer.warehouse == workspace / "all.duckdb"
        assert viewer.get("/").status_code == 200
    assert len(runs_of(workspace / "all.duckdb")) == 2


def test_an_empty_folder_is_not_another_warehouse(known: Profiled) -> None:
    (known.rollouts.parent / "empty").mkdir()
    result = look("empty", cwd=known.rollouts.parent)
    assert (result.returncode, "no rollouts found in empty" in result.stderr) == (4, True)


def test_opens_a_folder_with_nothing_but_a_warehouse(run: Profiled) -> None:
    profiled(run)
    folder = run.rollouts.parent / "copy"
    folder.mkdir()
    run.warehouse.rename(folder / "warehouse.duckdb")
    with viewing("copy", cwd=run.rollouts.parent) as viewer:
        assert viewer.warehouse == folder / "warehouse.duckdb"


def test_opens_a_rollouts_file_that_came_alone(workspace: Path) -> None:
    rows: list[Row | bytes] = [
        *rollouts(),
        b'{"reward": NaN, "_ng_task_index": 3, "agent_ref": '
        b'{"name": "agent_a"}, "_ng_rollout_index": 0}',
    ]
    write_lines(workspace / "mail.jsonl", rows)
    with viewing("mail.jsonl", cwd=workspace) as viewer:
        assert viewer.get(viewer.url.removeprefix(viewer.base)).status_code == 200
        code, said = viewer.stop()
    assert code == 0
    assert "the rollouts present are treated as the complete run" in said
    assert [row[1:3] for row in runs_of(workspace / "warehouse.duckdb")] == [(4, 0)]
    (derived,) = (workspace / ".spotter-index").glob("*_materialized_inputs.jsonl")
    first = json.loads(derived.read_text(encoding="utf-8").splitlines()[0])
    assert first == {
        name: value for name, value in rollouts()[0].items() if name not in ("reward", "kind")
    }
    write_lines(workspace / "mail.jsonl", rollouts(5))
    with viewing("mail.jsonl", cwd=workspace):
        pass
    assert [row[1:3] for row in runs_of(workspace / "warehouse.duckdb")] == [(5, 0)]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 4, "there is no warehouse at"),
        (("nowhere.jsonl",), 4, "nowhere.jsonl does not exist"),
        (("nowhere.duckdb",), 4, "nowhere.duckdb does not exist"),
        (("-w", "nowhere.duckdb"), 4, "nowhere.duckdb"),
        (("empty",), 4, "no rollouts found in empty"),
        (("empty", "-w", "old.duckdb"), 4, "no rollouts found in empty"),
        (("nothing.jsonl",), 4, "it has no rollouts"),
        (("bare.jsonl",), 4, "_ng_task_index"),
        (("text.jsonl",), 4, "not JSON"),
        (("/dev/zero",), 4, "neither a file nor a folder"),
        (("pipe.duckdb",), 4, "neither a file nor a folder"),
        (("old.duckdb",), 4, "has no marts yet"),
        (("bare.jsonl", "--rollouts", "bare.jsonl"), 2, "name one file or folder"),
        (("--host", "0.0.0.0"), 2, "add --remote"),  # noqa: S104
        (("--host", "::"), 2, "add --remote"),
        (("--host", "0"), 2, "add --remote"),
        (("--host", ""), 2, "is not an address"),
        (("--host", "no such host"), 2, "is not an address"),
        (("--port", "70000"), 2, "70000"),
    ],
)
def test_says_what_is_wrong(
    arguments: tuple[str, ...], code: int, said: str, workspace: Path
) -> None:
    (workspace / "empty").mkdir()
    (workspace / "nothing.jsonl").touch()
    write_lines(workspace / "bare.jsonl", [{"reward": 1}])
    write_lines(workspace / "text.jsonl", [b"not json"])
    os.mkfifo(workspace / "pipe.duckdb")
    duckdb.connect(str(workspace / "old.duckdb")).close()
    result = look(*arguments, cwd=workspace)
    assert (result.returncode, "Traceback" in result.stderr) == (code, False), result.stderr
    assert said in result.stderr
    assert not result.stdout


def test_an_error_is_json_too(workspace: Path) -> None:
    result = look("--json", cwd=workspace)
    assert json.loads(result.stdout)["exit_code"] == 4


def test_takes_the_next_free_port(known: Profiled) -> None:
    with (
        viewing(cwd=known.rollouts.parent, port=None) as first,
        viewing(cwd=known.rollouts.parent, port=None) as second,
    ):
        assert first.port != second.port
        assert {first.get("/").status_code, second.get("/").status_code} == {200}


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(known: Profiled) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = look("--port", str(port), cwd=known.rollouts.parent)
    assert result.returncode == 3
    assert f"127.0.0.1:{port}" in result.stderr
    assert "--port" in result.stderr


@pytest.mark.skipif(not socket.has_ipv6, reason="there is no IPv6")
def test_listens_on_ipv6(known: Profiled) -> None:
    with viewing("--host", "::1", cwd=known.rollouts.parent) as viewer:
        assert viewer.url == f"http://[::1]:{viewer.port}/"
        assert httpx.get(viewer.url, timeout=60).status_code == 200


def test_is_known_as_ng_viewer(run: Profiled) -> None:
    with viewing(
        *("+jsonl_fpath=run.jsonl", "+server_host=localhost", "++server_port=0"),
        cwd=run.rollouts.parent,
        command="ng_viewer",
        port=None,
    ) as viewer:
        assert viewer.get("/").status_code == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_at_once_and_in_order(number: int, known: Profiled) -> None:
    # a browser keeps its connection open
    with httpx.Client(timeout=60) as kept, viewing(cwd=known.rollouts.parent) as viewer:
        kept.get(viewer.url)
        asking = threading.Thread(target=_ask_for_long, args=(viewer.base,))
        asking.start()
        while not (children := viewer.children()):
            assert asking.is_alive()
            time.sleep(0.05)
        (child,) = children
        code, said = viewer.stop(number)  # long before the query is done
        assert (code, said) == (0, "the viewer has stopped\n")
        asking.join()
    assert not Path(f"/proc/{child}").exists()


# DuckDB notices no interruption inside of a function
ENDLESS = "select levenshtein(repeat('a', 300000), repeat('b', 300000))"


def _ask_for_long(base: str) -> None:
    with contextlib.suppress(httpx.HTTPError):
        httpx.get(f"{base}/sql", params={"q": ENDLESS}, timeout=60)


def test_the_address_is_printed_and_opened(run: Profiled) -> None:
    folder = run.rollouts.parent
    profiled(run)
    browser = folder / "browser"
    browser.write_text(f'#!/bin/sh\necho noise\necho "$1" > {folder}/opened\n', encoding="utf-8")
    browser.chmod(0o755)
    program = Path(sys.executable).with_name("spotter")
    process = subprocess.Popen(
        [program, "view", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BROWSER": str(browser)},
    )
    assert process.stdout
    line = process.stdout.readline()
    url = line.rpartition(" ")[2].strip()
    assert line == f"Showing {run.warehouse}: {url}\n"
    opened = folder / "opened"
    for _ in range(100):
        if opened.exists() and opened.read_text(encoding="utf-8"):
            break
        time.sleep(0.1)
    assert opened.read_text(encoding="utf-8").strip() == url
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=10)
    assert (out, errors) == ("", "Press Ctrl-C to stop.\nthe viewer has stopped\n")


def test_foreign_requests_are_refused(viewer: Watched) -> None:
    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Host": f"evil.example:{viewer.port}"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ):
        answer = viewer.get("/", headers=headers)
        assert answer.status_code == status
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert httpx.post(viewer.url, timeout=60).status_code == 405
    assert _raw(viewer.port, b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")
    assert b" 40" in _raw(viewer.port, b"nonsense\r\n\r\n")
    assert viewer.get("/").status_code == 200


@pytest.mark.parametrize(("length", "status"), [(150_000, 200), (250_000, 414), (900_000, 400)])
def test_long_addresses(length: int, status: int, viewer: Watched) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port)
    try:
        connection.request("GET", f"/?x={'x' * length}")
        assert connection.getresponse().status == status
    except (BrokenPipeError, ConnectionResetError):
        assert status == 400
    connection.close()
    assert viewer.get("/").status_code == 200


def test_other_machines_need_a_token(known: Profiled) -> None:
    with viewing("--remote", cwd=known.rollouts.parent) as viewer:
        assert viewer.token
        assert len(viewer.token) >= 32
        assert viewer.token not in viewer.url
        assert viewer.get("/").status_code == 401
        assert viewer.get("/sql?q=select+1").status_code == 401
        with httpx.Client(base_url=viewer.base, follow_redirects=True, timeout=60) as client:
            answer = client.get(f"/sql?q=select+1&token={viewer.token}")
            assert answer.status_code == 200
            assert viewer.token not in str(answer.url)
            assert client.get("/").status_code == 200
        with httpx.Client(base_url=viewer.base, follow_redirects=True, timeout=60) as client:
            headers = {"Origin": viewer.base}
            assert client.post("/login", data={"token": "no"}, headers=headers).status_code == 401
            answer = client.post(
                "/login", data={"token": viewer.token, "next": "/sql"}, headers=headers
            )
            assert (answer.status_code, answer.url.path) == (200, "/sql")
        _, said = viewer.stop()
        assert viewer.token not in said


def test_the_warehouse_can_be_written_while_nobody_looks(run: Profiled) -> None:
    profiled(run)
    with viewing(cwd=run.rollouts.parent) as viewer:
        assert viewer.get("/sql?q=select+1").status_code == 200
        code = (
            "import sys\n"
            "from pathlib import Path\n"
            "import duckdb\n"
            "from collector.warehouse.access import open_with_lock\n"
            "path = Path(sys.argv[1])\n"
            "with open_with_lock(lambda: duckdb.connect(path), path, on_wait=len, timeout_s=10):\n"
            "    print('open', flush=True)\n"
            "    sys.stdin.readline()\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", code, str(run.warehouse)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            assert writer.stdout
            assert writer.stdout.readline() == "open\n"
            with ThreadPoolExecutor() as pool:
                for answer in pool.map(viewer.get, ("/", "/sql?q=select+1")):
                    assert answer.status_code == 503
                    assert "reloads by itself" in answer.text
            writer.communicate("go on\n", timeout=10)
        assert viewer.get("/sql?q=select+1").status_code == 200


def _raw(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        return connection.recv(1 << 16)
