from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from collector.errors import FileError
from collector.rollout_lines import INDEX_FOLDER
from collector.rollout_offsets import Offsets
from collector.viewer.transcripts import files as transcripts
from collector.viewer.transcripts.files import NotReadyError, Transcripts
from tests.support import key, write_lines


def quiet(_done: int, _total: int) -> None:
    pass


def offsets_of(path: Path) -> Offsets:
    folder = path.parent / INDEX_FOLDER
    folder.mkdir(exist_ok=True)
    return Offsets(path, folder)


def updated(path: Path) -> Offsets:
    offsets = offsets_of(path)
    offsets.update(quiet)
    assert offsets.pending_bytes() == 0
    return offsets


def line_at(offsets: Offsets, task: int, rollout: int) -> bytes | None:
    place = offsets.find(task, rollout)
    if place is None:
        return None
    return offsets.rollouts.read_bytes()[place.offset : place.offset + place.length]


def text_of(offsets: Offsets, task: int, rollout: int) -> object:
    line = line_at(offsets, task, rollout)
    return json.loads(line)["text"] if line else None


def write_texts(path: Path, count: int, text: str = "hello") -> None:
    write_lines(path, (key(i // 4, i % 4, text=f"{text} {i}") for i in range(count)))


@pytest.fixture
def rollouts(tmp_path: Path) -> Path:
    return tmp_path / "rollouts.jsonl"


def test_every_rollout_is_found(rollouts: Path) -> None:
    write_texts(rollouts, 40)
    offsets = updated(rollouts)
    for i in range(40):
        assert text_of(offsets, i // 4, i % 4) == f"hello {i}"
    assert offsets.find(10, 0) is None
    assert offsets.find(1 << 70, 0) is None
    assert offsets.skipped_line_count == 0


def test_a_byte_order_mark_blank_lines_and_windows_line_ends_do_no_harm(rollouts: Path) -> None:
    first, second = (json.dumps(key(0, i, text=f"é{i}")).encode() for i in (0, 1))
    rollouts.write_bytes(b"\xef\xbb\xbf" + first + b"\r\n\r\n" + second)
    offsets = updated(rollouts)
    assert [text_of(offsets, 0, i) for i in (0, 1)] == ["é0", "é1"]
    assert offsets.skipped_line_count == 0


@pytest.mark.parametrize(
    "line",
    [
        b"not JSON",
        b"[1, 2]",
        b'{"_ng_task_index": 1',
        b'{"_ng_task_index": 1}',
        b'{"_ng_task_index": true, "_ng_rollout_index": 0}',
        b'{"_ng_task_index": 1.5, "_ng_rollout_index": 0}',
        b'{"_ng_task_index": "1", "_ng_rollout_index": 0}',
        b'{"_ng_task_index": -1, "_ng_rollout_index": 0}',
        b'{"_ng_task_index": 9223372036854775808, "_ng_rollout_index": 0}',
        b'{"_ng_task_index": 1, "_ng_rollout_index": 0, "text": "\xff"}',
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_rollout_is_skipped_and_counted(rollouts: Path, line: bytes) -> None:
    write_lines(rollouts, [key(0, 0, text="a"), line, key(0, 1, text="b")])
    offsets = updated(rollouts)
    assert [text_of(offsets, 0, i) for i in (0, 1)] == ["a", "b"]
    assert offsets.find(1, 0) is None
    assert offsets.skipped_line_count == 1


def test_an_index_that_is_written_as_a_fraction_is_found(rollouts: Path) -> None:
    write_lines(rollouts, [b'{"_ng_task_index": 1.0, "_ng_rollout_index": 0.0, "text": "a"}'])
    assert text_of(updated(rollouts), 1, 0) == "a"


def test_a_file_that_grew_is_read_from_where_the_index_stopped(rollouts: Path) -> None:
    write_texts(rollouts, 8)
    updated(rollouts)
    before = rollouts.stat().st_size
    with rollouts.open("ab") as file:
        file.write(json.dumps(key(9, 0, text="new")).encode() + b"\n")
    offsets = offsets_of(rollouts)
    assert offsets.pending_bytes() == rollouts.stat().st_size - before
    offsets.update(quiet)
    assert text_of(offsets, 9, 0) == "new"
    assert text_of(offsets, 1, 3) == "hello 7"


def test_an_unfinished_last_line_is_found_once_it_is_whole(rollouts: Path) -> None:
    write_texts(rollouts, 4)
    line = json.dumps(key(7, 0, text="torn")).encode()
    with rollouts.open("ab") as file:
        file.write(line[:20])
    offsets = updated(rollouts)
    assert (offsets.find(7, 0), offsets.skipped_line_count) == (None, 0)
    with rollouts.open("ab") as file:
        file.write(line[20:] + b"\n")
    assert text_of(updated(rollouts), 7, 0) == "torn"
    assert text_of(updated(rollouts), 0, 0) == "hello 0"


def test_a_line_that_is_finished_while_it_is_read_is_not_the_end_of_the_index(
    rollouts: Path,
) -> None:
    write_texts(rollouts, 40_000)  # so many that the last line is read after others are noted
    line = json.dumps(key(70_000, 0, text="late")).encode()
    with rollouts.open("ab") as file:
        file.write(line[:20])
    offsets = offsets_of(rollouts)

    def finish(done: int, total: int) -> None:
        if done < total and rollouts.stat().st_size == total:
            with rollouts.open("ab") as file:
                file.write(line[20:] + b"\n")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("collector.rollout_lines.STEP_BYTES", 1 << 16)
        offsets.update(finish)
    assert 0 < offsets.pending_bytes() <= len(line) + 1
    assert text_of(updated(rollouts), 70_000, 0) == "late"


@pytest.mark.parametrize("count", [4, 8, 20], ids=["shorter", "as long", "longer"])
def test_a_rewritten_file_is_indexed_anew(rollouts: Path, count: int) -> None:
    write_texts(rollouts, 8)
    updated(rollouts)
    write_texts(rollouts, count, "HELLO")
    os.utime(rollouts, ns=(1, 1))
    offsets = updated(rollouts)
    assert text_of(offsets, 0, 1) == "HELLO 1"
    assert (offsets.find(1, 3) is None) == (count == 4)


def test_an_emptied_file_has_no_rollouts(rollouts: Path) -> None:
    write_texts(rollouts, 4)
    updated(rollouts)
    rollouts.write_bytes(b"")
    assert updated(rollouts).find(0, 0) is None


def _damage(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + os.urandom(5000))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _replace_by_another(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("create table mark (x)")
        connection.execute("insert into mark values (1)")
    connection.close()


def _make_older(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("update mark set format = 0")
        connection.execute("delete from offsets")
    connection.close()


def _overwrite_all_but_the_mark(path: Path) -> None:
    page = 4096
    raw = path.read_bytes()
    path.write_bytes(raw[: 2 * page] + b"\xff" * (len(raw) - 2 * page))


def _confuse(statement: str) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()

    return harm


HARM = {
    "damaged": _damage,
    "cut": _cut,
    "empty": _empty,
    "another": _replace_by_another,
    "older": _make_older,
    "overwritten": _overwrite_all_but_the_mark,
    "without its table": _confuse("drop table offsets"),
    "sizes as texts": _confuse("update mark set size = 'x', read_to = 'y'"),
    "places as texts": _confuse("update offsets set place = 'abc'"),
    "places before the beginning": _confuse("update offsets set place = -5"),
    "places beyond the end": _confuse("update offsets set place = 1 << 40"),
    "endless lines": _confuse("update offsets set length = 1 << 62"),
}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_an_index_that_cannot_be_used_is_made_again(rollouts: Path, harm: object) -> None:
    write_texts(rollouts, 400)
    path = updated(rollouts).path
    assert callable(harm)
    harm(path)
    read = Transcripts(rollouts.parent, lambda _: None)
    assert read.read(rollouts, 50, 2).row["text"] == "hello 202"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read the rollouts file .*gone\.jsonl"):
        offsets_of(tmp_path / "gone.jsonl").pending_bytes()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / "odd.jsonl")
    with pytest.raises(FileError, match="it is not a file"):
        offsets_of(tmp_path / "odd.jsonl").pending_bytes()


def test_indexes_built_at_once_are_all_right(rollouts: Path) -> None:
    write_texts(rollouts, 2000)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: offsets_of(rollouts).update(quiet), range(8)))
    assert text_of(offsets_of(rollouts), 499, 3) == "hello 1999"
    assert [path.name for path in (rollouts.parent / INDEX_FOLDER).iterdir()] == [
        offsets_of(rollouts).path.name
    ]


def test_a_process_killed_while_it_indexes_leaves_the_old_index(rollouts: Path) -> None:
    write_texts(rollouts, 8)
    updated(rollouts)
    with rollouts.open("ab") as file:
        file.writelines(
            json.dumps(key(2 + i, 0, text="x" * 9000)).encode() + b"\n" for i in range(2000)
        )
    script = (
        "import pathlib, sys, time\n"
        "from collector.rollout_offsets import Offsets\n"
        "def stall(done, total):\n"
        "    print('going', flush=True); time.sleep(60)\n"
        "Offsets(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])).update(stall)\n"
    )
    folder = rollouts.parent / INDEX_FOLDER
    arguments = [sys.executable, "-c", script, str(rollouts), str(folder)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"going\n"
        process.send_signal(signal.SIGKILL)
    offsets = offsets_of(rollouts)
    assert text_of(offsets, 1, 3) == "hello 7"
    (left,) = folder.glob(".spotter-*.tmp")
    offsets.update(quiet)
    assert text_of(offsets, 2001, 0) == "x" * 9000
    assert not left.exists()


def test_indexes_are_kept_elsewhere_if_the_folder_cannot_be_written(rollouts: Path) -> None:
    write_texts(rollouts, 4)
    (rollouts.parent / INDEX_FOLDER).write_text("in the way")
    read = Transcripts(rollouts.parent, lambda _: None)
    assert read.read(rollouts, 0, 3).row["text"] == "hello 3"
    temporary = read.folder
    assert temporary.exists()
    read.close()
    assert not temporary.exists()


def test_a_file_rewritten_without_a_sign_is_noticed(rollouts: Path) -> None:
    lines = [json.dumps(key(0, i, text="x" * (5 + 10 * i))).encode() for i in range(2)]
    write_lines(rollouts, lines)
    read = Transcripts(rollouts.parent, lambda _: None)
    assert read.read(rollouts, 0, 0).row["text"] == "x" * 5
    found = rollouts.stat()
    write_lines(rollouts, reversed(lines))
    os.utime(rollouts, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert read.read(rollouts, 0, 1).row["text"] == "x" * 15
    assert read.read(rollouts, 0, 0).row["text"] == "x" * 5


def test_a_rollout_that_is_not_there_is_named(rollouts: Path) -> None:
    write_texts(rollouts, 4)
    read = Transcripts(rollouts.parent, lambda _: None)
    with pytest.raises(FileError, match="has no rollout 9 of task 0"):
        read.read(rollouts, 0, 9)
    assert read.state(rollouts).kind == "ready"
    rollouts.unlink()
    with pytest.raises(FileError, match="what to do"):
        read.read(rollouts, 0, 0)
    assert read.state(rollouts).kind == "failed"


def test_a_large_file_is_indexed_in_the_background(
    rollouts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(rollouts, 400)
    monkeypatch.setattr(transcripts, "SMALL_BYTES", 1)
    said: list[str] = []
    read = Transcripts(rollouts.parent, said.append)
    assert read.state(rollouts).kind == "building"
    with pytest.raises(NotReadyError):
        read.read(rollouts, 99, 3)
    deadline = time.monotonic() + 20
    while read.state(rollouts).kind == "building" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert read.read(rollouts, 99, 3).row["text"] == "hello 399"
    assert [text.split()[0] for text in said] == ["indexing", "indexed"]
    read.close()


def test_a_file_can_be_indexed_before_it_is_read(
    rollouts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(rollouts, 400)
    monkeypatch.setattr(transcripts, "SMALL_BYTES", 1)
    read = Transcripts(rollouts.parent, lambda _: None)
    read.build(rollouts)
    assert read.read(rollouts, 99, 3).row["text"] == "hello 399"
    read.close()


def test_the_file_that_is_asked_for_is_indexed_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "SMALL_BYTES", 1)
    paths = [tmp_path / f"{name}.jsonl" for name in "abc"]
    for path in paths:
        write_texts(path, 4)
    go, done, order = threading.Event(), threading.Event(), []

    def say(text: str) -> None:
        order.append(text.partition(":")[0])
        if len(order) == 1:
            go.wait(20)
        if order[-1].startswith("indexed") and len(order) == 6:
            done.set()

    read = Transcripts(tmp_path, say)
    read.start(paths[0])
    while not order:
        time.sleep(0.01)
    read.start(paths[2])
    read.start(paths[1])
    with pytest.raises(NotReadyError):
        read.read(paths[2], 0, 0)
    go.set()
    assert done.wait(20)
    begun = [text.removeprefix("indexing ") for text in order if text.startswith("indexing")]
    assert begun == ["a.jsonl", "c.jsonl", "b.jsonl"]
    read.close()


def test_closing_stops_an_index_that_is_being_built(
    rollouts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(rollouts, 400)
    monkeypatch.setattr(transcripts, "SMALL_BYTES", 1)
    monkeypatch.setattr("collector.rollout_lines.STEP_BYTES", 1)
    begun, go = threading.Event(), threading.Event()

    def say(_: str) -> None:
        begun.set()
        go.wait(20)

    read = Transcripts(rollouts.parent, say)
    read.start(rollouts)
    assert begun.wait(20)
    closing = threading.Thread(target=read.close)
    closing.start()
    while not read._is_closed:
        time.sleep(0.01)
    go.set()
    closing.join(20)
    assert list((rollouts.parent / INDEX_FOLDER).iterdir()) == []


def test_a_rollout_with_numbers_that_json_does_not_have_can_be_read(rollouts: Path) -> None:
    rollouts.write_bytes(
        b'{"_ng_task_index": 1, "_ng_rollout_index": 2, "score": [NaN, -Infinity]}\n'
    )
    transcripts = Transcripts(rollouts.parent, lambda _: None)
    found = transcripts.read(rollouts, 1, 2)
    transcripts.close()
    assert str(found.row["score"]) == "[nan, -inf]"
