from __future__ import annotations

import struct
from pathlib import Path

import pytest

from collector.errors import FileError
from collector.importing import zip_archive
from collector.importing.zip_archive import ZipArchive
from tests.zip_files import DEFLATED, STORED, ZSTD, Member, write_zip

TEXT = b"to be or not to be, " * 400


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_a_member_of_any_known_method_is_read_in_pieces(tmp_path: Path, method: int) -> None:
    path = write_zip(tmp_path / "a.eval", [Member("x/y.json", TEXT, method=method)])
    with ZipArchive(path) as archive:
        assert archive.names == ["x/y.json"]
        assert archive.read("x/y.json", limit=1 << 20) == TEXT
        with archive.open("x/y.json") as reader:
            assert reader.read(7) == TEXT[:7]
            assert reader.read(7) == TEXT[7:14]


def test_a_name_that_the_directory_has_twice_means_the_last_member(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.eval", [Member("h", b"old"), Member("h", b"new")])
    with ZipArchive(path) as archive:
        assert archive.names == ["h"]
        assert archive.read("h", limit=10) == b"new"


HOSTILE = {
    "encrypted": (Member("m", TEXT, flags=1), "encrypted"),
    "an unknown method": (Member("m", TEXT, method=99), "unknown method 99"),
    "a wrong checksum": (Member("m", TEXT, checksum=1), "damaged"),
    "a wrong checksum, deflated": (Member("m", TEXT, method=DEFLATED, checksum=1), "damaged"),
    "more than it claims": (Member("m", TEXT, claimed_size=100), "damaged"),
    "less than it claims": (Member("m", TEXT, claimed_size=10_000), "damaged"),
    "a bomb": (Member("m", TEXT, claimed_size=3_000_000_000), "claims to grow"),
    "bytes that are not zstd": (Member("m", b"", claimed_size=5), "damaged"),
    "a member outside of the file": (Member("m", TEXT, offset=1 << 30), "damaged"),
}


@pytest.mark.parametrize(("member", "words"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_or_damaged_member_is_refused_by_name(
    tmp_path: Path, member: Member, words: str
) -> None:
    path = write_zip(tmp_path / "a.eval", [member])
    with pytest.raises(FileError, match=words) as caught, ZipArchive(path) as archive:
        archive.read("m", limit=1 << 40)
    assert str(path) in str(caught.value)


def test_a_member_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.eval", [Member("m", TEXT)])
    with ZipArchive(path) as archive, pytest.raises(FileError, match="at most 100 are expected"):
        archive.read("m", limit=100)


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    members = [Member("a", TEXT, method=STORED), Member("b", TEXT, offset=0)]
    path = write_zip(tmp_path / "a.eval", members)
    with pytest.raises(FileError, match="overlap"):
        ZipArchive(path)


def test_a_zip_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.eval", [Member("m", TEXT)])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(FileError, match=r"a\.eval: it is damaged or was cut off"):
        ZipArchive(path)


def test_a_list_of_members_that_would_fill_the_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip_archive, "DIRECTORY_BYTES", 1_000)
    path = write_zip(tmp_path / "a.eval", [Member(f"member-{n}", b"") for n in range(40)])
    with pytest.raises(FileError, match="list of its members"):
        ZipArchive(path)


def test_the_size_of_the_list_is_taken_from_the_record_for_large_zips(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.eval", [Member("m", TEXT)])
    data = path.read_bytes()
    at = data.rindex(b"PK\x05\x06")
    huge = struct.pack("<QHHLLQQQQ", 44, 45, 45, 0, 0, 1, 1, 1 << 40, 0)
    end = struct.pack("<HHHHLLH", 0, 0, 1, 1, 0xFFFFFFFF, 0, 0)
    locator = b"PK\x06\x07" + struct.pack("<LQL", 0, at, 1)
    path.write_bytes(data[:at] + b"PK\x06\x06" + huge + locator + b"PK\x05\x06" + end)
    with pytest.raises(FileError, match="list of its members"):
        ZipArchive(path)
