"""Servers and people that do what nobody expects: no traceback, nothing lost, nothing told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.gym import (
    GymFactory,
    arguments,
    assert_whole,
    collect,
    rows_of,
    start_collect,
    wait_for_lines,
    write_tasks,
)
from tests.programs import run_command, run_process
from tests.support import Profiled, Row

Answer = tuple[int, bytes, dict[str, str]]
Serve = Callable[[Callable[[str, bytes], Answer]], int]
DEEP = 990 * b'{"a":' + b"1" + 990 * b"}"

pytestmark = pytest.mark.usefixtures("quick_retries")


@pytest.fixture
def run(workspace: Path) -> Profiled:
    return Profiled(workspace / "out.jsonl")


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve whatever a test wants, in a thread."""
    servers: list[ThreadingHTTPServer] = []

    def start(reply: Callable[[str, bytes], Answer]) -> int:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, text, headers = reply(self.path, body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST  # noqa: N815 - the library's name

            def log_message(self, *_: object) -> None:
                return

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_port

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def run_against(port: int, tasks: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    base = (
        "-a",
        "a",
        "-i",
        tasks.name,
        "-o",
        "out.jsonl",
        f"--agent-url=a=http://127.0.0.1:{port}",
    )
    done = run_command("spotter", "collect", *base, *flags, cwd=tasks.parent)
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ('{"reward": 1}'.encode("utf-16"), False),
        ('{"reward": 1}'.encode("utf-32-le"), False),
        (b'\xef\xbb\xbf{"reward": 1}', False),
        (b'{"reward": 1, "a": "\xed\xa0\x80"}', False),
        (b'{"reward": 1' + b"0" * 400 + b"}", True),
        (b'{"reward": 1e999}', True),
        (b'{"_ng_task_index": 7, "a": ' + DEEP + b"}", False),
        (b'{"reward": 1,\n "big": 123456789012345678901234}', True),
        (b'{"reward": 1, "a": "\xe2\x80\xa8"}', True),
    ],
    ids=["utf-16", "utf-32", "bom", "surrogate", "huge", "infinite", "deep", "big", "u+2028"],
)
def test_an_odd_answer_is_kept_whole_or_refused(
    serve: Serve, workspace: Path, run: Profiled, text: bytes, is_kept: bool
) -> None:
    port = serve(lambda _, __: (200, text, {}))
    tasks = write_tasks(workspace, 1)
    done = run_against(port, tasks, "--max-attempts=1", "--disable-aggregation", "--json")
    assert done.returncode == (0 if is_kept else 3)
    assert json.loads(done.stdout)["completed_rollout_count"] == int(is_kept)
    kept = run.rollouts.read_text(encoding="utf-8")
    assert len([json.loads(line) for line in kept.split("\n") if line]) == int(is_kept)
    if b"big" in text:
        assert "123456789012345678901234" in kept
    again = run_against(port, tasks, "--resume", "--max-attempts=1", "--disable-aggregation")
    assert again.returncode == done.returncode


@pytest.mark.parametrize("value", ["²", "1 Jan 99999999999999999999 00:00:00 GMT", "-5", "soon"])
def test_an_odd_retry_after_ends_nothing(
    serve: Serve, workspace: Path, run: Profiled, value: str
) -> None:
    seen: list[str] = []

    def reply(path: str, _: bytes) -> Answer:
        seen.append(path)
        if seen.count("/run") == 1 and path == "/run":
            return 429, b"", {"Retry-After": value}
        return 200, b'{"reward": 1}', {}

    done = run_against(serve(reply), write_tasks(workspace, 1), "--disable-aggregation")
    assert done.returncode == 0, done.stderr
    assert_whole(run, 1)


def test_server_text_cannot_act_on_the_terminal(serve: Serve, workspace: Path) -> None:
    port = serve(lambda _, __: (404, b"\x00\x1b]0;pwned\x07 \\ud800", {}))
    done = run_against(port, write_tasks(workspace, 60), "--json")
    assert done.returncode == 3
    assert "\x1b" not in done.stdout + done.stderr
    assert "pwned" not in json.loads(done.stdout)["error"]
    assert "pwned" in (workspace / "out_failures.jsonl").read_text(encoding="utf-8")


HEADS = {
    "refers to itself": "r: &r {b: *r}\n",
    "bomb": "a: &a [x]\n"
    + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "deep": "a: " + "[" * 3000 + "]" * 3000 + "\n",
    "odd port": "b: {responses_api_agents: {x: {host: h, port: '²'}}}\n",
    "odd host": "b: {responses_api_agents: {x: {host: 'u:pw@h/', port: 1}}}\n",
    "odd names": "1: {responses_api_agents: {x: {}}}\nnull: 1\n",
}


@pytest.mark.parametrize("text", HEADS.values(), ids=HEADS.keys())
def test_a_head_server_that_lies(serve: Serve, workspace: Path, text: str) -> None:
    port = serve(lambda _, __: (200, json.dumps(text).encode(), {}))
    tasks = write_tasks(workspace, 1)
    base = ("-a", "wanted", "-i", tasks.name, "-o", "out.jsonl", f"--head-port={port}")
    done = run_command("spotter", "collect", *base, cwd=workspace)
    assert done.returncode in (2, 3)
    assert "Traceback" not in done.stderr
    assert "pw" not in done.stderr


@pytest.mark.parametrize(
    "name", ["openai_api_keys", "hf_token", "token", "aws_secret_access_key", "credentials"]
)
def test_no_known_secret_is_written_in_any_form(
    serve: Serve, workspace: Path, run: Profiled, name: str
) -> None:
    secret = 'pass"word-ä-0123456789'  # noqa: S105 - of nobody
    value: object = [secret] if name.endswith("s") else secret
    config = {name: {"deep": value}, "num_password": 123456789012}
    ports: list[int] = []

    def reply(path: str, _: bytes) -> Answer:
        if path.startswith("/global"):
            agent = {"x": {"host": "127.0.0.1", "port": ports[0]}}
            whole = {**config, "a": {"responses_api_agents": agent}}
            return 200, json.dumps(yaml.safe_dump(whole)).encode(), {}
        if path == "/run":
            echoed = {"reward": 1, "echo": f"it is {secret}", "number": 1234567890123}
            return 200, json.dumps(echoed).encode(), {}
        return 500, f"the key {secret} is wrong".encode(), {}

    ports.append(serve(reply))
    tasks = write_tasks(workspace, 1)
    base = ("-a", "a", "-i", tasks.name, "-o", "out.jsonl", f"--head-port={ports[0]}")
    done = run_command("spotter", "collect", *base, cwd=workspace)
    assert done.returncode == 0, done.stderr
    (row,) = rows_of(run.rollouts)
    assert row["echo"] == "it is [redacted]"
    assert row["number"] == 1234567890123
    assert "0123456789" not in done.stderr.replace("1234567890123", "")


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--agent-url=a=http://me:hunter2hunter2@127.0.0.1:99999"], "write it like"),
        (["--agent-url=a=http://127.0.0.1:1/?api_key=hunter2hunter2"], "write it like"),
        (["+policy_api_key=hunter2hunter2"], "unknown override +policy_api_key"),
        (["--head-host=me:hunter2hunter2@host/"], "not a host"),
        (["--responses-create-params", "{a: !!binary aGk=}"], "cannot be sent as JSON"),
        (["--responses-create-params", "{a: .inf}"], "cannot be sent as JSON"),
        (["--responses-create-params", "&a {b: *a}"], "responses_create_params"),
        (["+responses_create_params.a=.inf"], "cannot be sent as JSON"),
        (["-n", "99999999999999999999999999"], "num_repeats"),
        (["-n", "2000000"], "num_repeats"),
    ],
    ids=lambda value: str(value)[:45],
)
def test_a_wrong_flag_is_named_and_no_secret_told(
    workspace: Path, flags: list[str], named: str
) -> None:
    write_tasks(workspace, 1)
    base = ("-a", "a", "-i", "tasks.jsonl", "-o", "out.jsonl", "--head-port=1")
    done = run_command("spotter", "collect", *base, *flags, cwd=workspace)
    assert done.returncode == 2, done.stderr
    assert named in done.stderr
    assert "hunter2" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "row",
    [b'{"responses_create_params":{},"a":' + b"[" * 300 + b"]" * 300 + b"}", b"\xff"],
    ids=["deep", "no utf-8"],
)
def test_a_row_that_cannot_be_written_is_named(
    start_gym: GymFactory, workspace: Path, row: bytes
) -> None:
    (workspace / "tasks.jsonl").write_bytes(b'{"responses_create_params":{}}\n' + row + b"\n")
    done = collect(start_gym(), workspace / "tasks.jsonl")
    assert done.returncode == (0 if b"[" in row else 4)
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert "line 2" in done.stderr


def test_overwriting_needs_a_server_that_is_there(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 3)
    assert collect(gym, tasks).returncode == 0
    before = {path.name: path.read_bytes() for path in workspace.iterdir()}
    gym.kill()
    assert collect(gym, tasks, "--overwrite").returncode == 3
    assert {path.name: path.read_bytes() for path in workspace.iterdir()} == before


@pytest.mark.parametrize(
    "flags",
    [
        ["-i", "tasks.jsonl", "-o", "sub/../tasks.jsonl"],
        ["-i", "x_run.json", "-o", "x.jsonl"],
        ["-i", "x_aggregate_metrics.json", "-o", "x.jsonl"],
        ["-i", "link.jsonl", "-o", "x.jsonl"],
    ],
    ids=lambda flags: flags[1],
)
def test_the_input_is_never_overwritten(
    start_gym: GymFactory, workspace: Path, flags: list[str]
) -> None:
    gym = start_gym()
    text = write_tasks(workspace, 1).read_bytes()
    (workspace / "sub").mkdir()
    for name in ("x_run.json", "x_aggregate_metrics.json", "x_materialized_inputs.jsonl"):
        (workspace / name).write_bytes(text)
    (workspace / "link.jsonl").symlink_to("x_materialized_inputs.jsonl")
    base = ("spotter", "collect", "-a", "my_agent", gym.agent_url, "--overwrite")
    done = run_command(*base, *flags, cwd=workspace)
    assert done.returncode == 2
    assert "would be overwritten" in done.stderr
    assert (workspace / flags[1]).read_bytes() == text


def test_a_file_that_vanishes_while_it_is_written_is_told(
    start_gym: GymFactory, workspace: Path, run: Profiled
) -> None:
    tasks = write_tasks(workspace, [{}, {"seconds": 1.5}])
    process = start_collect(start_gym(), tasks)
    wait_for_lines(run.rollouts, 1)
    run.rollouts.unlink()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "removed or replaced" in errors


@pytest.mark.parametrize("is_failing", [False, True])
def test_a_reader_that_went_away_does_not_change_the_exit_code(
    start_gym: GymFactory, workspace: Path, is_failing: bool
) -> None:
    rows: list[Row] = [{"script": ["422"]}, {}] if is_failing else [{}, {}]
    tasks = write_tasks(workspace, rows)
    program = Path(sys.executable).with_name("spotter")
    reading, writing = os.pipe()
    os.close(reading)
    command = [str(program), *arguments(start_gym(), tasks)]
    done = subprocess.run(
        command, cwd=workspace, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert done.returncode == (3 if is_failing else 0)


def test_stopping_the_aggregation_keeps_the_rollouts(
    serve: Serve, workspace: Path, run: Profiled
) -> None:
    is_asked = threading.Event()
    may_end = threading.Event()

    def reply(path: str, _: bytes) -> Answer:
        if path == "/aggregate_metrics":
            is_asked.set()
            may_end.wait(30)
        return 200, b'{"reward": 1}', {}

    port = serve(reply)
    tasks = write_tasks(workspace, 2)
    program = Path(sys.executable).with_name("spotter")
    base = ("collect", "-a", "a", "-i", "tasks.jsonl", "-o", "out.jsonl")
    with subprocess.Popen(
        [str(program), *base, f"--agent-url=a=http://127.0.0.1:{port}"],
        cwd=tasks.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert is_asked.wait(30)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        may_end.set()
    assert process.returncode == 143
    assert "2/2 (100.00%)" in output
    assert "not aggregated: you stopped it" in errors
    assert_whole(run, 2)


def test_a_place_that_is_no_file_is_left_alone(start_gym: GymFactory, workspace: Path) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, 1)
    os.mkfifo(workspace / "out.jsonl")
    done = collect(gym, tasks)
    assert done.returncode == 4
    assert "is not a regular file" in done.stderr
    assert (workspace / "out.jsonl").is_fifo()
    long_name = "x" * 246 + ".jsonl"
    assert collect(gym, tasks, output=long_name).returncode == 4
    assert sorted(path.name for path in workspace.iterdir()) == ["out.jsonl", "tasks.jsonl"]


def test_a_resume_with_nothing_left_to_try_says_what_helps(
    start_gym: GymFactory, workspace: Path
) -> None:
    gym = start_gym()
    tasks = write_tasks(workspace, [{"script": ["500"]}, {"script": ["422"]}, {}])
    collect(gym, tasks, "--max-attempts=1")
    done = collect(gym, tasks, "--resume", "--max-attempts=1")
    for output in (done.stdout, done.stderr):
        assert "Out of attempts: 1 rollout; --resume with a higher --max-attempts" in output
        assert "Refused for good: 1 rollout;" in output
    assert "give the same command again" not in done.stdout
    for flags, finished in (((), ""), (("--allow-partial",), "Rollouts rarely fail by chance")):
        profiled = run_command("spotter", "profile", "out.jsonl", *flags, cwd=workspace)
        for part in (
            "1 rollout failed for good: resuming does not try again, and the failures file says",
            "1 rollout failed: resuming tries again, if --max-attempts allows more attempts",
            finished,
        ):
            assert part in profiled.stderr
        for part in ("usually the short ones", "left no failure"):
            assert part not in profiled.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["-i", "pipe", "-o", "new.jsonl"],
        ["--plan", "pipe", "-o", "out.jsonl", "--resume"],
        ["-i", "tasks.jsonl", "-o", "new.jsonl", "+prompt_config=pipe"],
        ["-i", "tasks.jsonl", "-o", "out.jsonl", "--resume"],
    ],
    ids=["input", "plan", "prompt", "record"],
)
def test_a_pipe_is_not_waited_for(workspace: Path, arguments: list[str]) -> None:
    write_tasks(workspace, 1)
    for name in ("pipe", "out_run.json"):
        os.mkfifo(workspace / name)
    for name in ("out.jsonl", "out_materialized_inputs.jsonl"):
        text = '{"_ng_task_index":0,"_ng_rollout_index":0}\n'
        (workspace / name).write_text(text, encoding="utf-8")
    base = ("spotter", "collect", "--agent-url=a=http://127.0.0.1:1")
    agent = () if "--plan" in arguments else ("-a", "a")
    done = run_process(*base, *agent, *arguments, cwd=workspace)
    assert done.returncode == 4, done.stderr
    assert "is not a regular file" in done.stderr
    assert not (workspace / "new.jsonl").exists()


def test_a_run_that_failed_for_good_is_not_to_be_resumed(
    start_gym: GymFactory, workspace: Path
) -> None:
    collect(start_gym(), write_tasks(workspace, [{"script": ["422"]}, {}]))
    profiled = run_command("spotter", "profile", "out.jsonl", cwd=workspace)
    assert "finish the collection" not in profiled.stderr
    assert "what to do: profile the rollouts present with --allow-partial" in profiled.stderr


def test_the_aggregation_follows_an_agent_that_moved(serve: Serve, workspace: Path) -> None:
    """The head server is asked again in the end: the address of the start is no longer right."""
    ports: dict[str, int] = {}
    where = ["old"]

    def head(_: str, __: bytes) -> Answer:
        agent = {"x": {"host": "127.0.0.1", "port": ports[where[0]]}}
        text = yaml.safe_dump({"a": {"responses_api_agents": agent}})
        return 200, json.dumps(text).encode(), {}

    def old(path: str, _: bytes) -> Answer:
        if path == "/run":
            where[0] = "new"
            return 200, b'{"reward": 1}', {}
        return (200 if path == "/" else 500), b"{}", {}

    def new(path: str, _: bytes) -> Answer:
        return 200, json.dumps({"key_metrics": {"asked": path}}).encode(), {}

    ports |= {"old": serve(old), "new": serve(new)}
    write_tasks(workspace, 1)
    base = ("-a", "a", "-i", "tasks.jsonl", "-o", "out.jsonl", f"--head-port={serve(head)}")
    done = run_command("spotter", "collect", *base, "--json", cwd=workspace)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["key_metrics"] == {"a": {"asked": "/aggregate_metrics"}}


@pytest.mark.parametrize("status", [404, 200], ids=["refused", "not an object"])
def test_a_message_tells_which_request_failed_and_no_content(
    serve: Serve, workspace: Path, run: Profiled, status: int
) -> None:
    port = serve(lambda path, _: (status if path == "/run" else 200, b'["confidential"]', {}))
    done = run_against(port, write_tasks(workspace, [{"mine": "confidential"}]), "--max-attempts=1")
    (row,) = rows_of(run.failures)
    size = len(run.inputs.read_bytes()) - 1
    reason = "HTTP 404" if status == 404 else "not a JSON object"
    message = f"agent a, task 0, rollout 0, attempt 1: {reason} (request {size} bytes, answer 16"
    assert message in row["_ng_failure_message"]
    assert message in done.stderr
    assert "confidential" not in done.stderr + row["_ng_failure_message"]
    assert "confidential" in row["_ng_failure_response_body"]
