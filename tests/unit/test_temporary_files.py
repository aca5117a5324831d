"""What a dead process left is removed, what a living one uses stays, and no two share a name."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector import cache, temporary_files
from collector.atomic_files import Drafts, anything, nothing, write_file
from collector.collection.journal import Journal
from collector.errors import FileError, UsageError
from collector.temporary_files import new_name, remove_leftovers, temporary_folder, unnamed_file
from collector.warehouse import files
from collector.warehouse.files import WaitingMark, WrittenFile, has_waiting_writer, waiting_path

WORKER = """
import pathlib, sys
from collector.atomic_files import Drafts, anything
from collector.temporary_files import temporary_folder
folder = pathlib.Path(sys.argv[1])
with temporary_folder(folder) as scratch, Drafts() as drafts:
    (scratch / "spill").write_bytes(b"x" * 1000)
    with drafts.open(folder / "out.jsonl", replaces=anything) as file:
        file.write(b"half")
        file.flush()
        print("working", flush=True)
        input()
"""


@contextlib.contextmanager
def working(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Let another process hold a scratch folder and a draft."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"working\n"
        try:
            yield process
        finally:
            process.kill()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_leftovers_of_a_killed_process_are_removed_and_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with working(tmp_path):
        pass
    assert len(names(tmp_path)) == 2
    write_file(tmp_path / "mine.json", b"{}", replaces=anything)
    assert names(tmp_path) == {"mine.json"}
    message = f"removed 2 leftovers of killed commands (0.0 MB) from {tmp_path}\n"
    assert capsys.readouterr().err == message
    write_file(tmp_path / "mine.json", b"{}", replaces=anything)
    assert capsys.readouterr().err == ""


def test_what_a_living_process_uses_stays(tmp_path: Path) -> None:
    with working(tmp_path) as process:
        before = names(tmp_path)
        with temporary_folder(tmp_path) as folder:
            assert names(tmp_path) == {*before, folder.name}
        assert names(tmp_path) == before
        process.communicate(b"\n")
    assert process.returncode == 0
    assert names(tmp_path) == set()


def test_a_file_without_a_name_leaves_nothing(tmp_path: Path) -> None:
    with unnamed_file(tmp_path) as file:
        file.write(b"text")
        file.seek(0)
        assert (file.read(), names(tmp_path)) == (b"text", set())


def test_without_a_writable_cache_logs_are_in_one_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "cache_dir", lambda: tmp_path / new_name())
    monkeypatch.setattr(cache, "default_folder", lambda: tmp_path)
    folder = cache.log_folder()
    assert folder == cache.log_folder()
    assert names(tmp_path) == {folder.name}
    folder.chmod(0o777)  # somebody else could put links into it
    with pytest.raises(FileError, match="SPOTTER_CACHE"):
        cache.log_folder()


def test_files_of_others_stay(tmp_path: Path) -> None:
    for name in (".spotter-demo", "rollouts.tmp", ".run_reward_profiling.jsonl.17.tmp"):
        (tmp_path / name).touch()
    (tmp_path / new_name()).symlink_to(tmp_path)
    before = names(tmp_path)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == before


@pytest.mark.parametrize("kind", ["ext4", "nfs4"])
def test_on_a_shared_disk_leftovers_of_other_machines_stay(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / new_name().replace("-", "-elsewhere-", 1)).touch()
    (
        tmp_path / "found" / (new_name()[:-20] + new_name()[-21:])
    ).touch()  # this host's name, and more
    device = tmp_path.stat().st_dev
    line = f"1 0 {os.major(device)}:{os.minor(device)} / / rw - {kind} somewhere rw\n"
    (tmp_path / "mountinfo").write_text(line)
    monkeypatch.setattr(temporary_files, "MOUNTS", tmp_path / "mountinfo")
    remove_leftovers(tmp_path / "found")
    assert len(names(tmp_path / "found")) == (2 if kind == "nfs4" else 0)


def test_processes_with_equal_ids_never_collide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 7)  # as in two containers on one volume
    with Drafts() as one, Drafts() as other:
        for drafts, text in ((one, b"one"), (other, b"other")):
            with drafts.open(tmp_path / "out", replaces=anything) as file:
                file.write(text)
        other.publish()
        one.publish()
    assert (tmp_path / "out").read_bytes() == b"one"
    assert names(tmp_path) == {"out"}


def test_cleaning_and_creating_at_once_lose_nothing(tmp_path: Path) -> None:
    is_over = threading.Event()

    def clean() -> None:
        while not is_over.is_set():
            remove_leftovers(tmp_path)

    cleaner = threading.Thread(target=clean)
    cleaner.start()
    try:
        for number in range(200):
            with temporary_folder(tmp_path) as folder, Drafts() as drafts:
                with drafts.open(tmp_path / "out", replaces=anything) as file:
                    file.write(b"%d" % number)
                assert folder.is_dir()
                drafts.publish()
            assert (tmp_path / "out").read_bytes() == b"%d" % number
    finally:
        is_over.set()
        cleaner.join()
    remove_leftovers(tmp_path)
    assert names(tmp_path) == {"out"}


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_without_locks_everything_works_and_nothing_is_removed(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / new_name()
    left.touch()

    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with temporary_folder(tmp_path) as folder:
        write_file(tmp_path / "out", b"whole", replaces=nothing)
        assert folder.is_dir()
    journal = Journal(tmp_path / "out.jsonl", is_locked=True)
    assert not journal.has_lock
    journal.close()
    assert names(tmp_path) == {"out", "out.jsonl", left.name}


def test_a_file_is_replaced_only_if_the_caller_says_so(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_bytes(b"precious")
    with pytest.raises(UsageError, match="exists already"):
        write_file(target, b"new", replaces=nothing)
    assert target.read_bytes() == b"precious"
    assert names(tmp_path) == {"out.json"}


def test_more_drafts_than_open_files_are_all_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (132, 132))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    with Drafts() as drafts:
        for number in range(9):
            with drafts.open(tmp_path / str(number), replaces=nothing) as file:
                file.write(b"x")
        drafts.publish()
    assert names(tmp_path) == set(map(str, range(9)))


def test_a_name_of_the_greatest_length_can_be_written(tmp_path: Path) -> None:
    write_file(tmp_path / ("x" * 255), b"", replaces=nothing)
    with pytest.raises(FileError, match="File name too long"):
        write_file(tmp_path / ("x" * 256), b"", replaces=nothing)


def test_a_waiting_writer_is_known_by_its_lock_and_not_by_the_clock(tmp_path: Path) -> None:
    warehouse = tmp_path / "w.duckdb"
    assert not has_waiting_writer(warehouse)
    with WaitingMark(warehouse) as mark:
        assert not waiting_path(warehouse).exists()
        mark.set()
        for moment in (1, 4e9):  # the clock jumps
            os.utime(waiting_path(warehouse), (moment, moment))
            assert has_waiting_writer(warehouse)
        with WaitingMark(warehouse) as other:
            other.set()
        assert not has_waiting_writer(warehouse)
        mark.set()
        assert has_waiting_writer(warehouse)
    assert names(tmp_path) == set()
    waiting_path(warehouse).touch()  # a writer that was killed while it waited
    assert not has_waiting_writer(warehouse)
    assert names(tmp_path) == set()


def test_a_file_that_another_process_removed_is_not_open_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.duckdb"
    with path.open("wb"):
        written = WrittenFile(path, is_new=True, had_log=False)
        assert written.is_open()
        path.unlink()
        path.touch()
        assert not WrittenFile(path, is_new=True, had_log=False).is_open()
        with pytest.raises(FileError, match="removed or replaced"):
            written.check()
        written.undo()
        assert path.exists(), "the file of somebody else stays"
        monkeypatch.setattr(files, "DESCRIPTORS", tmp_path / "none")
        assert WrittenFile(path, is_new=True, had_log=False).is_open()
