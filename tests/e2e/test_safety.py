"""A crash, a second process or a reader costs time, never data."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from collector.errors import BusyError, FileError
from collector.temporary_files import remove_leftovers
from collector.terminal import Progress
from collector.warehouse import access
from collector.warehouse.queries import open_read_only
from tests.held_programs import hold_before_commit, hold_in_comparison
from tests.programs import run_command
from tests.restored_folders import RestoredFolder
from tests.support import Profiled, key, run_profile, write_run
from tests.viewers import viewing
from tests.warm_processes import WarmProgram

SPOTTER = str(Path(sys.executable).with_name("spotter"))


def many(folder: Path, name: str, tasks: int = 60, reward: float = 1.0) -> Profiled:
    keys = [(task, repeat) for task in range(tasks) for repeat in range(4)]
    rows = [key(t, r, reward=reward, **{f"m{i}": i for i in range(5)}) for t, r in keys]
    return write_run(folder, rows, inputs=[key(t, r) for t, r in keys], name=name)


def start(run: Profiled, prepare: Callable[[], None] | None = None) -> subprocess.Popen[str]:
    return WarmProgram(
        [SPOTTER, "profile", str(run.rollouts)],
        cwd=run.rollouts.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        prepare=prepare,
    )


def drafts_in(folder: Path) -> list[Path]:
    return [path for path in folder.glob(".spotter-*.tmp") if path.is_file()]


@contextlib.contextmanager
def holding(run: Profiled, *, is_read_only: bool) -> Iterator[None]:
    """Let another process hold the warehouse open."""
    holder = (
        f"import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only={is_read_only});"
        " print(1, flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", holder, str(run.warehouse)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    process.stdout.readline()
    try:
        yield
    finally:
        process.communicate("\n", timeout=10)


def test_two_profiles_at_once_both_arrive(workspace: Path) -> None:
    runs = [many(workspace, f"run{i}") for i in range(4)]
    processes = [start(run) for run in runs]
    for process in processes:
        _, messages = process.communicate(timeout=120)
        assert process.returncode == 0, messages
    found = runs[0].query("select count(distinct run_id), count(*) from rollout_infos")
    assert found == [(4, 4 * 240)]


def test_a_profile_waits_for_an_open_reader(workspace: Path) -> None:
    run = many(workspace, "run")
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    with holding(run, is_read_only=True):
        writer = start(run)
        assert writer.stderr
        told = writer.stderr.readline()
        assert "another process is using it" in told
        assert writer.poll() is None
    _, messages = writer.communicate(timeout=60)
    assert writer.returncode == 0
    assert messages == ""


def test_a_warehouse_that_stays_in_use_is_told_from_other_problems(workspace: Path) -> None:
    run = many(workspace, "run", tasks=1)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    waits: list[str] = []
    with holding(run, is_read_only=False), pytest.raises(BusyError, match="is in use") as busy:
        open_read_only(run.warehouse, on_wait=waits.append, timeout_s=0.5)
    assert busy.value.exit_code == 4
    assert "another process is using it" in waits[0]
    run.warehouse.write_bytes(b"not a database")
    with pytest.raises(FileError, match="not a DuckDB file") as other:
        open_read_only(run.warehouse, on_wait=waits.append, timeout_s=0.5)
    assert not isinstance(other.value, BusyError)


def test_a_killed_profile_changes_nothing(workspace: Path) -> None:
    run = many(workspace, "run", tasks=4000, reward=0.25)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    before = run.profiling.read_bytes()
    many(workspace, "run", tasks=4000, reward=0.75)
    process = start(run, hold_before_commit)
    # the drafts are written inside of the transaction, just before it would end
    while not drafts_in(workspace) and process.poll() is None:
        time.sleep(0.0005)
    process.kill()
    process.communicate(timeout=10)
    assert process.returncode == -9
    assert run.profiling.read_bytes() == before
    assert run.query("select distinct reward_mean from task_profiles") == [(0.25,)]
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 0
    assert "of killed commands" in result.stderr
    assert run.query("select distinct reward_mean from task_profiles") == [(0.75,)]
    assert not list(workspace.glob(".*")), "the next profile removes what the killed one left"


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two runs of one warehouse, and a folder `tmp` for temporary files."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    for name in ("a", "b"):
        run = many(tmp_path, name, tasks=3)
        assert run_profile(run.rollouts, "--run-id", name, cwd=tmp_path).returncode == 0
    return tmp_path


def wait_for_file(folder: Path, name: str, process: subprocess.Popen[str]) -> None:
    while not list(folder.rglob(name)):
        assert process.poll() is None
        time.sleep(0.01)


def test_what_a_killed_report_leaves_is_removed(compared: Path) -> None:
    words = [SPOTTER, "report", "a", "b", "-o", "report.html"]
    process = WarmProgram(words, cwd=compared, prepare=hold_in_comparison)
    wait_for_file(compared / "tmp", "comparison.duckdb", process)
    process.kill()
    process.wait(timeout=10)
    assert list((compared / "tmp").iterdir())
    remove_leftovers(compared / "tmp")
    assert not list((compared / "tmp").iterdir())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_viewer_leaves_is_removed(number: int, compared: Path) -> None:
    with viewing(cwd=compared) as viewer:
        assert viewer.get("/compare?a=a&b=b").status_code == 200
        wait_for_file(compared / "tmp", "*.duckdb", viewer.process)
        viewer.process.send_signal(number)
        viewer.process.communicate(timeout=30)
    assert bool(list((compared / "tmp").iterdir())) is (number == signal.SIGKILL)
    remove_leftovers(compared / "tmp")
    assert not list((compared / "tmp").iterdir())


LOST = """
import gc, os, signal, time
from collector.cli import _Signals
_Signals().handle()
class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)
last = Last()
del last
time.sleep(60)
"""


def test_a_signal_in_a_callback_is_not_lost() -> None:
    ended = subprocess.run([sys.executable, "-c", LOST], check=False, capture_output=True)
    assert ended.returncode == 143
    assert ended.stderr == b""


CREATE = """
import resource, signal, sys
from pathlib import Path
import duckdb
from collector.warehouse.access import attach_for_writing
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # the system kills whoever writes beyond the limit
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
file = Path(sys.argv[1])
with duckdb.connect() as connection, attach_for_writing(connection, file, on_wait=print):
    pass
"""


def test_a_kill_while_a_warehouse_is_created_leaves_no_half_of_it(workspace: Path) -> None:
    path = workspace / "warehouse.duckdb"
    ended = subprocess.run([sys.executable, "-c", CREATE, path], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGXFSZ
    assert not path.exists()
    run = many(workspace, "run")
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0


READING = (
    ("runs",),
    ("export", "-o", "out"),
    ("compare", "other-run", "other-run"),
    ("curate", "other-run", "-o", "train.jsonl"),
    ("merge", "warehouse.duckdb", "-w", "merged.duckdb"),
    ("report", "other-run"),
)
WRITING = (("profile", "run.jsonl"), ("runs", "tag", "other-run", "checkpoint=1"))


@pytest.fixture(scope="module")
def profiled_run(tmp_path_factory: pytest.TempPathFactory) -> RestoredFolder:
    folder = tmp_path_factory.mktemp("other")
    run = many(folder, "run", tasks=1)
    assert run_profile(run.rollouts, "--run-id", "other-run", cwd=folder).returncode == 0
    return RestoredFolder(folder)


def run_changed(folder: Path, change: str, command: tuple[str, ...]) -> str:
    """Change a warehouse, and return how a command refuses it."""
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        connection.execute(change)
    before = (folder / "warehouse.duckdb").read_bytes()
    result = run_command("spotter", *command, cwd=folder)
    assert result.returncode == 4, result.stderr
    assert "profile the runs again into a new warehouse" in result.stderr
    assert (folder / "warehouse.duckdb").read_bytes() == before
    return result.stderr


@pytest.mark.parametrize("command", [*READING, *WRITING], ids=" ".join)
def test_a_warehouse_of_another_version_is_refused(
    profiled_run: RestoredFolder, command: tuple[str, ...]
) -> None:
    change = "alter table task_profiles drop column total_tokens_mean"
    refusal = run_changed(profiled_run.restore(), change, command)
    assert "was made by another version of Spotter: the columns of task_profiles" in refusal


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_a_warehouse_that_lacks_marts_is_refused(
    profiled_run: RestoredFolder, command: tuple[str, ...]
) -> None:
    assert "lacks mask_kinds" in run_changed(
        profiled_run.restore(), "drop table mask_kinds", command
    )


@pytest.mark.parametrize("content", [b"not a database", b"12345678DUCK and nothing else"])
def test_a_file_that_is_no_warehouse_is_refused(content: bytes, workspace: Path) -> None:
    folder = workspace / "lock"  # a word that DuckDB's message about locks has, too
    run = many(folder, "run", tasks=1)
    run.warehouse.write_bytes(content)
    for result in (
        run_profile(run.rollouts, cwd=folder),
        run_command("spotter", "sql", cwd=folder),
    ):
        assert result.returncode == 4
        assert "cannot open the warehouse" in result.stderr
    assert run.warehouse.read_bytes() == content


def test_a_terminated_profile_cleans_up(workspace: Path) -> None:
    run = many(workspace, "run", tasks=4000)
    process = start(run)
    while not list(workspace.glob(".spotter-*.tmp")) and process.poll() is None:
        time.sleep(0.0005)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert not list(workspace.glob(".*"))


@pytest.fixture(scope="module")
def small_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with a run; tests change copies of it."""
    folder = tmp_path_factory.mktemp("small")
    run = many(folder, "run", tasks=1)
    assert run_profile(run.rollouts, cwd=folder).returncode == 0
    return run.warehouse


@pytest.mark.parametrize("is_replaced", [False, True], ids=["removed", "replaced"])
@pytest.mark.parametrize("moment", ["task_profiles", "runs"])
def test_a_warehouse_that_vanishes_while_it_is_written_is_an_error(
    workspace: Path,
    small_warehouse: Path,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    *,
    is_replaced: bool,
) -> None:
    other = many(workspace, "other", tasks=1)
    shutil.copy(small_warehouse, other.warehouse)
    show = Progress.__call__

    def vanish(self: Progress, done: int, total: int, name: str) -> None:
        show(self, done, total, name)
        if name == moment:
            other.warehouse.unlink()
            if is_replaced:
                shutil.copy(small_warehouse, other.warehouse)

    monkeypatch.setattr(Progress, "__call__", vanish)
    result = run_profile(other.rollouts, cwd=workspace)
    assert result.returncode == 4
    assert f"{other.warehouse} was removed or replaced while it was being written" in result.stderr
    assert not other.profiling.exists()
    assert other.warehouse.exists() is is_replaced
    assert not list(workspace.glob("*.wal"))
    monkeypatch.undo()
    assert run_profile(other.rollouts, cwd=workspace).returncode == 0


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "existing"])
def test_a_profile_on_a_full_disk_leaves_all_as_it_was(workspace: Path, *, is_new: bool) -> None:
    run = many(workspace, "run", tasks=400)
    if not is_new:
        assert run_profile(many(workspace, "small", tasks=1).rollouts, cwd=workspace).stderr == ""
    before = {path: path.read_bytes() for path in workspace.iterdir()}
    command = f"ulimit -f 150; exec '{SPOTTER}' profile '{run.rollouts}'"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.returncode == 4, result.stderr
    assert "File too large" in result.stderr
    assert {path: path.read_bytes() for path in workspace.iterdir()} == before


def test_a_warehouse_whose_log_could_not_be_merged_is_complete_and_said(workspace: Path) -> None:
    small = many(workspace, "small", tasks=1)
    assert run_profile(small.rollouts, cwd=workspace).returncode == 0
    run = many(workspace, "run", tasks=400)
    limit = run.warehouse.stat().st_size // 1024
    command = f"ulimit -f {limit}; exec '{SPOTTER}' profile '{run.rollouts}'"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "a part of it is still in warehouse.duckdb.wal" in result.stderr
    assert run.query("select count(*) from runs") == [(2,)]
    assert run_profile(small.rollouts, cwd=workspace).returncode == 0
    assert run.query("select count(*) from runs") == [(2,)]
    assert not list(workspace.glob("*.wal"))


def test_a_warehouse_on_a_file_system_without_locks_is_not_waited_for(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = many(workspace, "run", tasks=1)

    def refuse(_: object, path: Path, **__: object) -> None:
        path.touch()
        raise duckdb.IOException(f'Could not set lock on file "{path}": No locks available')

    monkeypatch.setattr(access, "attach", refuse)
    monkeypatch.setattr(access, "create_empty", refuse)
    result = run_profile(run.rollouts, cwd=workspace)
    assert result.returncode == 4
    assert "No locks available" in result.stderr
    assert "a local disk" in result.stderr
    assert not run.warehouse.exists()


@pytest.mark.parametrize("command", ["profile", "sql", "export", "report", "view"])
def test_a_pipe_is_not_a_warehouse(workspace: Path, command: str) -> None:
    run = many(workspace, "run", tasks=1)
    os.mkfifo(run.warehouse)
    words: list[str | Path] = [run.rollouts] if command in ("profile", "view") else []
    words += ["--no-browser"] if command == "view" else []
    result = run_command("spotter", command, *words, cwd=workspace)
    assert result.returncode == 4
    assert "warehouse.duckdb" in result.stderr


@pytest.mark.parametrize(
    ("number", "code", "line"),
    [(signal.SIGTERM, 143, "terminated\n"), (signal.SIGINT, 130, "interrupted\n")],
    ids=["term", "int"],
)
def test_a_signal_in_a_query_has_its_own_exit_code(number: int, code: int, line: str) -> None:
    script = (
        "import os, threading, duckdb\n"
        "from collector import cli\n"
        "def run(_):\n"
        "    query = 'select count(*) from range(100000000) as a, range(100000) as b'\n"
        f"    threading.Timer(0.1, os.kill, (os.getpid(), {int(number)})).start()\n"
        "    duckdb.execute('set threads = 1')\n"
        "    duckdb.execute(query + ' where a.range % 7 > b.range')\n"
        "cli._run = run\n"
        "cli.main([])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300
    )
    assert (result.returncode, result.stderr) == (code, line)


@pytest.mark.parametrize("text", ["repeat('a', 300000)", "repeat('a', 300000 + range::int)"])
@pytest.mark.parametrize(
    ("number", "code", "line"), [(15, 143, "terminated\n"), (2, 130, "interrupted\n")]
)
def test_a_second_signal_ends_a_query_that_notices_none(
    number: int, code: int, line: str, text: str, workspace: Path
) -> None:
    run = many(workspace, "run", tasks=1)
    assert run_profile(run.rollouts, cwd=workspace).returncode == 0
    query = f"select levenshtein({text}, repeat('b', 300000)) from range(3)"
    process = WarmProgram([SPOTTER, "sql", query], cwd=workspace, stderr=subprocess.PIPE, text=True)
    # DuckDB computes as soon as the process uses the processor for longer than it takes to start
    while processor_seconds(process.pid) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    time.sleep(0.1)  # two at once would be one
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (code, line)


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(("number", "line"), [(2, "interrupted\n"), (15, "terminated\n")])
def test_a_signal_while_the_program_loads_ends_it_with_one_line(number: int, line: str) -> None:
    script = (
        "import os, sys\n"
        "from collector import entry\n"
        "class Loader:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == 'typer': os.kill(os.getpid(), {number})\n"
        "sys.meta_path.insert(0, Loader())\n"
        "entry.spotter()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (result.returncode, result.stderr) == (128 + number, line)
