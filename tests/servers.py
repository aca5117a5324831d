"""Start `spotter run` as a user would, and talk to its servers."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import Row
from tests.warm_processes import WarmProgram

WORKPLACE = "resources_servers/workplace_assistant/configs/workplace_assistant.yaml"
ARITHMETIC = "resources_servers/arithmetic/configs/arithmetic.yaml"
SIMULATED = "responses_api_models/simulated_model/configs/simulated_model.yaml"
BUNDLED = ("-c", WORKPLACE, "-c", SIMULATED)
TASKS = "resources_servers/workplace_assistant/data/train.jsonl"
AGENT = "workplace_assistant_simple_agent"
OPENAI = "responses_api_models/openai_model/configs/openai_model.yaml"


@dataclass
class RunningGym:
    """A running gym: its process, the port of the head server, and the URLs by server."""

    process: subprocess.Popen[str]
    head_port: int
    urls: dict[str, str]
    errors: str = ""
    """What the servers logged, once they have ended."""

    @property
    def head(self) -> str:
        return f"http://127.0.0.1:{self.head_port}"


@contextlib.contextmanager
def running_gym(*arguments: str, cwd: Path, command: str = "spotter") -> Iterator[RunningGym]:
    program = str(Path(sys.executable).with_name(command))
    words = ["run"] if command == "spotter" else []
    process = WarmProgram(
        [program, *words, "--json", "--head-port", "0", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        _, errors = process.communicate(timeout=60)
        raise AssertionError(f"the servers did not start: {errors}")
    ready = json.loads(line)
    urls = {server["name"]: server["url"] for server in ready["servers"]}
    gym = RunningGym(process, ready["head"]["port"], urls)
    try:
        yield gym
    finally:
        process.terminate()
        _, gym.errors = process.communicate(timeout=60)
        assert "never retrieved" not in gym.errors, gym.errors


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    cookie: str | None


def post(
    url: str,
    body: Any,
    *,
    cookie: str | None = None,
    kind: str = "application/json",
    host: str | None = None,
) -> Answer:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"Content-Type": kind, "Cookie": cookie, "Host": host}
    headers = {name: value for name, value in given.items() if value}
    return _send(urllib.request.Request(url, data=data, headers=headers, method="POST"))  # noqa: S310


def get(url: str, *, host: str | None = None) -> Answer:
    headers = {"Host": host} if host else {}
    return _send(urllib.request.Request(url, headers=headers))  # noqa: S310


def _send(request: urllib.request.Request) -> Answer:
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310
            cookie = reply.headers.get("Set-Cookie")
            text = reply.read()
            return Answer(reply.status, json.loads(text), cookie and cookie.partition(";")[0])
    except urllib.error.HTTPError as error:
        with error:
            cookie = error.headers.get("Set-Cookie")
            return Answer(error.code, json.loads(error.read()), cookie and cookie.partition(";")[0])


def example_row(name: str = "workplace_assistant") -> Row:
    from collector.bundled_files import find_file

    path = find_file(f"resources_servers/{name}/data/example.jsonl")
    row: Row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    return row
