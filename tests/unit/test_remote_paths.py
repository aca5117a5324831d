from __future__ import annotations

import io
import random
import threading
from pathlib import Path

import pytest

from collector import artifacts, remote_files
from collector.errors import FileError, UsageError
from collector.remote_files import DuckdbFiles, RemoteFile, RemoteInfo, Store
from collector.remote_paths import (
    RemotePath,
    is_remote,
    located_path,
    mask_password,
    matching_paths,
    refuse_remote,
)

CONTENT = random.Random(3).randbytes(100_003)


class MemoryStore(Store):
    """A store with one object, which counts what is fetched."""

    def __init__(self, content: bytes = CONTENT) -> None:
        super().__init__("s3", None)
        self.content = content
        self.fetched: list[tuple[int, int]] = []

    def info(self, path: RemotePath) -> RemoteInfo:
        assert path.name == "run.jsonl"
        return RemoteInfo(len(CONTENT), 0, is_folder=False)

    def read(self, path: RemotePath, start: int, end: int) -> bytes:
        assert path.name == "run.jsonl"
        self.fetched.append((start, end))
        return self.content[start:end]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_files, "BLOCK_BYTES", 1000)


def opened(store: Store) -> RemoteFile:
    return store.open(RemotePath("s3://bucket/run.jsonl"))


def test_a_pattern_finds_what_a_shell_would(tmp_path: Path) -> None:
    names = ["a/rollouts.jsonl", "b/rollouts.jsonl", "b/notes.txt", "c[1]/rollouts.jsonl", "c1/x"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def matches(pattern: str) -> list[str]:
        found = matching_paths(tmp_path / pattern)
        return [path.relative_to(tmp_path).as_posix() for path in found]

    assert matches("*/rollouts.jsonl") == [names[0], names[1], names[3]]
    assert matches("**/*.txt") == ["b/notes.txt"]
    assert matches("[ab]") == ["a", "b"]
    assert matches("c[1]") == ["c[1]"]  # which exists
    assert matches("d*") == []
    assert matches("d") == ["d"]


def test_an_address_keeps_its_two_slashes_through_every_step() -> None:
    path = located_path(Path("s3://bucket/runs/run.jsonl"))
    assert str(path) == "s3://bucket/runs/run.jsonl"
    assert str(path.with_name("other.jsonl")) == "s3://bucket/runs/other.jsonl"
    assert str(path.parent / "x") == "s3://bucket/runs/x"
    assert str(artifacts.default_inputs(path)) == ("s3://bucket/runs/run_materialized_inputs.jsonl")
    assert path == located_path("s3://bucket/runs/run.jsonl")
    assert path.absolute() is path


@pytest.mark.parametrize(
    "text", ["run.jsonl", "/data/s3/run.jsonl", "c:/run.jsonl", "s3/run.jsonl"]
)
def test_other_paths_are_local(text: str) -> None:
    assert not is_remote(Path(text))
    assert not isinstance(located_path(text), RemotePath)


def test_a_container_of_an_account_is_not_a_password() -> None:
    address = "abfss://container@account.dfs.core.windows.net/run.jsonl"
    assert str(located_path(address)) == address
    assert str(located_path("hdfs://name:8020/a@b")) == "hdfs://name:8020/a@b"


@pytest.mark.parametrize("scheme", ["s3", "S3", "s3n", "https"])
@pytest.mark.parametrize("password", ["planted", "pla/nted", "planted/", "8020planted"])
def test_an_address_with_a_password_is_refused_and_not_repeated(scheme: str, password: str) -> None:
    address = f"{scheme}://key:{password}@bucket/run.jsonl"
    for refuse in (located_path, lambda text: refuse_remote(Path(text), "a warehouse")):
        with pytest.raises(UsageError) as error:
            refuse(address)
        assert "pla" not in str(error.value)
    assert "pla" not in mask_password(address)


def test_threads_that_share_a_file_read_their_own_parts() -> None:
    file = opened(MemoryStore())
    wrong: list[tuple[int, int]] = []

    def read(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(300):
            start, size = rng.randrange(len(CONTENT)), rng.randrange(5000)
            file.seek(start)
            if file.read(size) != CONTENT[start : start + size]:
                wrong.append((start, size))

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_file_read_from_end_to_end_is_fetched_once_and_not_kept() -> None:
    store = MemoryStore()
    file = opened(store)
    assert b"".join(iter(lambda: file.read(333), b"")) == CONTENT
    assert sum(end - start for start, end in store.fetched) == len(CONTENT)
    assert len(file._blocks._kept) <= remote_files.KEPT_BLOCKS


def test_lines_of_a_remote_file_are_those_of_its_bytes() -> None:
    file = io.BufferedReader(opened(MemoryStore()), 100)
    assert list(file) == list(io.BytesIO(CONTENT))
    assert file.seek(-10, io.SEEK_END) == len(CONTENT) - 10
    assert file.read() == CONTENT[-10:]


def test_an_object_that_becomes_shorter_while_it_is_read_is_an_error() -> None:
    file = opened(MemoryStore(CONTENT[:-1]))
    with pytest.raises(FileError, match="has changed while it was read"):
        file.read()


def test_remote_files_are_not_written() -> None:
    with pytest.raises(FileError, match="only reads files in object stores"):
        RemotePath("s3://bucket/run.jsonl").open("wb")


def test_files_that_are_open_at_the_same_time_share_their_blocks() -> None:
    store = MemoryStore()
    files = DuckdbFiles(store)
    one, other = (files.open("s3://bucket/run.jsonl") for _ in range(2))
    while piece := one.read(3000):
        assert other.read(3000) == piece
    assert sum(end - start for start, end in store.fetched) == len(CONTENT)
