"""An endpoint repeats the key that it was sent; the key must not appear anywhere afterwards."""

from __future__ import annotations

import base64
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import duckdb
import pytest
from aiohttp import web

from tests.gym import free_port, rows_of
from tests.hosts import Host
from tests.programs import run_command
from tests.servers import AGENT, OPENAI, WORKPLACE, post, running_gym
from tests.support import Row
from tests.viewers import viewing

KEY = "planted-0123456789abcdef"
LOGIN = "me:planted-in-a-login"
TASKS = "resources_servers/workplace_assistant/data/example.jsonl"
CONFIGS = ("-c", OPENAI, "-c", WORKPLACE)
PAGES_OF_A_KIND = 2
PLANTED = (b"planted", base64.b64encode(LOGIN.encode()), LOGIN.encode())


def escape_all(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


class EchoingEndpoint:
    """Answers every request with the header that authorizes it, in every way JSON allows."""

    def __init__(self) -> None:
        self.headers: set[str] = set()
        self.count = 0

    async def respond(self, request: web.Request) -> web.Response:
        body = await request.json()
        header = request.headers["Authorization"]
        self.headers.add(header)
        self.count += 1
        if self.count % 5 == 0:
            return web.json_response({"error": {"message": f"wrong key {header}"}}, status=400)
        is_first = not any(item.get("type") == "function_call" for item in body["input"])
        return web.Response(text=self.answer(header, is_first), content_type="application/json")

    def answer(self, header: str, is_first: bool) -> str:
        nested = json.dumps({"headers": json.dumps({"Authorization": header})})
        secret = header.rpartition(" ")[2]
        call = {
            **{"id": "fc", "type": "function_call", "name": "email_search_emails"},
            **{"call_id": f"call {header}", "arguments": f'{{"query": "{escape_all(secret)}"}}'},
        }
        message = {
            **{"id": f"msg {header}", "type": "message", "role": "assistant"},
            "content": [{"type": "output_text", "text": f"I was sent {header}. ESCAPED"}],
        }
        thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": nested}]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, secret: 3}
        response = {
            **{"id": f"resp {header}", "object": "response", "status": "completed"},
            **{"model": f"model {header}", "metadata": {secret: nested}, "usage": usage},
            "output": [thought, call if is_first else message],
        }
        return json.dumps(response).replace("ESCAPED", escape_all(secret))


@pytest.fixture
def endpoint(host: Host) -> Iterator[tuple[EchoingEndpoint, int]]:
    echoing = EchoingEndpoint()
    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/v1/responses", echoing.respond)
    port = free_port()
    server = host.serve(app, port)
    yield echoing, port
    host.stop(server)


def settings(port: int, *more: str) -> list[str]:
    values = ["policy_model_name=m", *more]
    if not any(value.startswith("policy_base_url") for value in values):
        values.append(f"policy_base_url=http://127.0.0.1:{port}/v1")
    return [word for value in values for word in ("--set", value)]


def contents(path: Path) -> bytes:
    """Return what a reader of a file can see; tables and archives are compressed."""
    if path.suffix == ".duckdb":
        return b"\n".join(tables_of(path))
    if path.suffix == ".parquet":
        with duckdb.connect() as connection:
            rows = connection.execute("select * from read_parquet(?)", [str(path)]).fetchall()
        return repr(rows).encode()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as archive:
            return b"\n".join(archive.read(name) for name in archive.namelist())
    return path.read_bytes()


def tables_of(path: Path) -> Iterator[bytes]:
    with duckdb.connect(str(path), read_only=True) as connection:
        names = connection.execute(
            "select table_schema, table_name from information_schema.tables"
        ).fetchall()
        for schema, name in names:
            rows = connection.execute(f'select * from "{schema}"."{name}"').fetchall()
            yield repr((name, rows)).encode()


def assert_clean(name: str, content: bytes) -> None:
    for planted in PLANTED:
        assert planted not in content, (name, planted)
        escaped = escape_all(planted.decode()[:7]).encode()
        assert escaped not in content, (name, "escaped")


def assert_no_file_has_it(folder: Path) -> None:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in paths} >= {".jsonl", ".json", ".duckdb", ".html", ".parquet"}
    assert {path.suffix for path in paths} >= {".csv", ".xlsx"}
    for path in paths:
        assert_clean(path.name, contents(path))


def assert_no_page_has_it(folder: Path) -> None:
    with viewing(folder / "rollouts.jsonl", cwd=folder) as viewer:
        left, seen = ["/"], Counter(["/"])
        while left:
            answer = viewer.get(left.pop(0), follow_redirects=True)
            assert_clean(str(answer.url), answer.content)
            found = re.findall(r'(?:href|src|action)="([^"#]+)', answer.text)
            for link in sorted({urljoin(str(answer.url), unescape(link)) for link in found}):
                parts = urlsplit(link)
                is_own = parts.netloc == f"127.0.0.1:{viewer.port}"
                if is_own and seen[parts.path] < PAGES_OF_A_KIND:
                    seen[parts.path] += 1
                    left.append(link.removeprefix(viewer.base))
        assert set(seen) >= {"/run", "/task", "/tasks", "/rollout", "/rollouts", "/sql"}
        assert set(seen) >= {"/rollout/raw", "/compare"}


def assert_nothing_has_it(folder: Path) -> None:
    """Profile, report and export the run; then search every file, page and message."""
    commands: list[tuple[Any, ...]] = [
        ("profile", "rollouts.jsonl", "--allow-partial", "--run-id", "run"),
        ("report", "run", "-o", "report.html"),
        ("export", "-f", "parquet", "-f", "csv", "-f", "jsonl", "-f", "xlsx"),
        ("sql", "select * from failure_classes"),
    ]
    for command in commands:
        done = run_command("spotter", *command, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert_clean(command[0], (done.stdout + done.stderr).encode())
    assert_no_file_has_it(folder)
    assert_no_page_has_it(folder)


def assert_rows_were_redacted(folder: Path) -> None:
    (first, *_) = rows = rows_of(folder / "rollouts.jsonl")
    assert len(rows) >= 2
    assert first["response"]["model"] in ("model Bearer [redacted]", "model Basic [redacted]")
    assert "[redacted]" in first["response"]["usage"]
    failures: list[Row] = rows_of(folder / "rollouts_failures.jsonl")
    assert any("wrong key" in json.dumps(row) for row in failures)


def test_a_repeated_key_is_nowhere_after_run_and_collect(
    endpoint: tuple[EchoingEndpoint, int], workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    echoing, port = endpoint
    elsewhere = tmp_path_factory.mktemp("config")
    (elsewhere / "env.yaml").write_text(f"policy_api_key: {KEY}\n", encoding="utf-8")
    with running_gym(*CONFIGS, *settings(port), cwd=elsewhere) as gym:
        flags = ("-a", AGENT, "-i", TASKS, "-o", "rollouts.jsonl", "-n", "2", "--max-attempts=1")
        done = run_command(
            "spotter", "collect", *flags, f"--head-port={gym.head_port}", cwd=workspace
        )
        direct = post(f"{gym.urls['policy_model']}/v1/responses", {"input": []}).body
        listed = run_command("spotter", "config", f"--head-port={gym.head_port}", cwd=workspace)
    assert echoing.headers == {f"Bearer {KEY}"}
    for name, text in (("log", gym.errors), ("collect", done.stderr + done.stdout)):
        assert_clean(name, text.encode())
    assert_clean("model", json.dumps(direct).encode())
    assert_clean("config", (listed.stdout + listed.stderr).encode())
    assert_rows_were_redacted(workspace)
    assert_nothing_has_it(workspace)


def test_a_repeated_login_is_nowhere_after_collect_with_servers(
    endpoint: tuple[EchoingEndpoint, int], workspace: Path
) -> None:
    echoing, port = endpoint
    url = f"policy_base_url=http://{LOGIN}@127.0.0.1:{port}/v1"
    flags = ("--serve", "-i", TASKS, "-a", AGENT, "-o", "rollouts.jsonl", "-n", "2")
    values = settings(port, url, "policy_api_key=")
    done = run_command(
        "spotter", "collect", *flags, "--max-attempts=1", *CONFIGS, *values, cwd=workspace
    )
    assert echoing.headers == {f"Basic {base64.b64encode(LOGIN.encode()).decode()}"}
    assert_clean("collect", (done.stderr + done.stdout).encode())
    assert_rows_were_redacted(workspace)
    assert_nothing_has_it(workspace)
