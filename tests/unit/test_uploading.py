"""Names that every tracker takes, trackers that there are, and secrets that nobody is told."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from itertools import combinations
from typing import NoReturn

import pytest

from collector.errors import UsageError
from collector.uploading import process, sending
from collector.uploading.content import Bundle, CurvePoint, Upload
from collector.uploading.metric_names import safe_name, safe_text
from collector.uploading.process import UploadError, Worker
from collector.uploading.redaction import redact, without_login
from collector.uploading.trackers import choose_trackers

CONTENT = Upload(
    run_id="r",
    command="profile",
    settings={"a": 1},
    figures={"x": 0.5},
    curve=[CurvePoint(1, {"y": 1.0})],
    bundles=[Bundle("rollouts", {"r.jsonl": "/r.jsonl"})],
)
TAKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@pytest.mark.parametrize("name", ["my_agent", "workplace-1f0c9a2e", "pass.at-1", "7", "A" * 80])
def test_a_plain_name_stays(name: str) -> None:
    assert safe_name(name) == name


def test_no_two_names_become_one() -> None:
    changed = safe_name("a b")
    names = [
        *("a b", "a/b", "a_b", "a%b", "a\nb", "ä b", "", ".", "..", "../x", "/", "_wandb", " "),
        *("-x", "日本語", "日本", "\ud800", "A" * 81, "A" * 82, "x" * 10_000, changed),
    ]
    safe = [safe_name(name) for name in names]
    assert all(first != second for first, second in combinations(safe, 2))
    assert all(TAKEN.fullmatch(name) and len(name) <= 100 for name in safe)
    assert safe_name("my agent") == "my_agent-3e0b55790353"  # as in the documents


def test_texts_are_for_people() -> None:
    assert safe_text("a\x1b[31m\nb") == "a [31m b"
    assert safe_text("ü" * 600) == "ü" * 499 + "…"


def test_trackers_are_chosen_once_and_by_name() -> None:
    assert choose_trackers(["mlflow", "wandb", "mlflow"]) == ["mlflow", "wandb"]
    with pytest.raises(UsageError, match="'tensorboard': unknown tracker; choose wandb"):
        choose_trackers(["wandb", "tensorboard"])


def test_an_upload_survives_the_way_to_another_process() -> None:
    data = {
        **CONTENT.__dict__,
        "curve": [{"k": 1, "figures": {"y": 1.0}}],
        "bundles": [{"name": "rollouts", "files": {"r.jsonl": "/r.jsonl"}}],
    }
    assert Upload.from_data(data) == CONTENT


def test_what_the_environment_keeps_secret_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "0123456789abcdef")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "hunter2")
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "t0ps3cret")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://me:p%40ss-word@example.org/x")
    told = redact(
        "POST https://me:p%40ss-word@example.org/x: 0123456789abcdef, hunter2, t0ps3cret, p@ss-word"
    )
    for secret in ("0123456789abcdef", "hunter2", "t0ps3cret", "ss-word", "me:"):
        assert secret not in told
    assert "example.org/x" in told


def test_the_current_folder_is_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PWD", "OLDPWD"):
        monkeypatch.setenv(name, "/home/me/results")
    assert redact("no folder /home/me/results/x") == "no folder /home/me/results/x"


class StoppedWorker(Worker):
    """A worker whose upload the user stops."""

    def upload(self, contents: list[Upload]) -> NoReturn:
        del contents
        raise KeyboardInterrupt


def test_who_stops_an_upload_stops_all() -> None:
    """Nothing starts a process for the second tracker."""
    sent = sending.send(
        [StoppedWorker("wandb"), Worker("mlflow")], lambda: [CONTENT], say=lambda _: None
    )
    assert {name: str(error) for name, error in sent.errors.items()} == {
        "wandb": "you stopped it",
        "mlflow": "you stopped it",
    }


ANSWERS = """
import json, os, sys
for line in sys.stdin:
    for _ in json.loads(line).get("contents", ["check"])[:{most}]:
        print(json.dumps({{"tracker": "t", "run_id": "r", "run": str(os.getpid())}}), flush=True)
"""
ENDS = "import sys; sys.exit('first line\\nout of memory, password hunter2')"


def run_as_worker(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "WORKER", [sys.executable, "-S", "-c", script])


def started_process(worker: Worker) -> subprocess.Popen[bytes]:
    assert worker._process
    return worker._process


def test_the_process_of_the_check_also_uploads(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its end, another process takes its place; neither is left behind."""
    run_as_worker(ANSWERS.format(most=2), monkeypatch)
    with sending.ready_workers(["mlflow"]) as (worker,):
        first = started_process(worker)
        answers = [*worker.upload([CONTENT, CONTENT]), *worker.upload([CONTENT])]
    assert [answer["run"] for answer in answers] == [str(first.pid)] * 3
    worker.start()
    second = started_process(worker)
    sent = sending.send([worker], lambda: [CONTENT], say=lambda _: None)
    assert [uploaded.run for uploaded in sent.uploads] == [str(second.pid)] != [str(first.pid)]
    assert (first.returncode, second.returncode) == (0, 0)


def test_a_process_that_still_uploads_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    run_as_worker(ANSWERS.format(most=1), monkeypatch)
    said: list[str] = []

    def stop_at_the_second(text: str) -> None:
        said.append(text)
        if len(said) == 2:
            raise KeyboardInterrupt

    with sending.ready_workers(["mlflow"]) as workers:
        running = started_process(workers[0])
        sent = sending.send(workers, lambda: [CONTENT, CONTENT], say=stop_at_the_second)
    assert len(sent.uploads) == 1
    assert str(sent.errors["mlflow"]) == "you stopped it"
    assert running.returncode == -signal.SIGKILL


def test_a_process_that_ends_is_told_with_its_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "hunter2")
    run_as_worker(ENDS, monkeypatch)
    with (
        pytest.raises(UploadError, match=r"exit code 1: out of memory, password [^h]*$"),
        sending.ready_workers(["mlflow"]),
    ):
        pass


def test_an_address_is_told_without_its_login() -> None:
    assert without_login("https://me:pw@example.org/#/x@y") == "https://example.org/#/x@y"
    assert without_login("https://token@example.org") == "https://example.org"
    assert without_login("http://example.org/a@b") == "http://example.org/a@b"
