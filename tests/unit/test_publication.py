"""Publishing a folder, also where two names cannot be exchanged in one step."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import FileError
from collector.exporting import publication
from collector.exporting.publication import publish, working_folder
from collector.temporary_files import LOCK, is_temporary, new_name


def made(folder: Path, text: str) -> None:
    (folder / "csv").mkdir()
    (folder / "csv" / "runs.csv").write_text(text)


def export(output: Path, text: str) -> None:
    with working_folder(output, on_wait=lambda _: None) as folder:
        made(folder, text)
        publish(folder, output, ["csv"])


def shown(output: Path) -> dict[str, str]:
    return {
        str(path.relative_to(output)): path.read_text()
        for path in output.rglob("*")
        if path.is_file() and path.name not in (publication.LOCK, LOCK)
    }


@pytest.fixture(params=["in one step", "in two steps"])
def output(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "in two steps":
        monkeypatch.setattr(publication, "_exchange_atomically", lambda _source, _target: False)
    return tmp_path / "out"


def test_the_next_takes_the_place_of_the_last(output: Path) -> None:
    for text in ("first", "second", "third"):
        export(output, text)
        assert shown(output) == {"csv/runs.csv": text}


def test_a_failure_in_the_middle_leaves_the_last(
    output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(output, "first")
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if is_temporary(self.parent.name):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    monkeypatch.setattr(publication, "_exchange_atomically", lambda _source, _target: False)
    with pytest.raises(FileError, match="No space left on device"):
        export(output, "second")
    assert shown(output) == {"csv/runs.csv": "first"}


def test_what_a_killed_export_had_put_aside_gets_its_place_back(output: Path) -> None:
    export(output, "first")
    (output / "csv").rename(output / ".csv.aside")  # and there it was killed
    (output / new_name()).mkdir()
    with working_folder(output, on_wait=lambda _: None) as folder:
        assert shown(output) == {"csv/runs.csv": "first"}
        assert [path.name for path in output.glob(".spotter-*")] == [folder.name]
    export(output, "second")
    assert shown(output) == {"csv/runs.csv": "second"}
