"""Logs with values of any kind in any place: an import ends with a run or with an error of ours."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.errors import InvariantError, SpotterError
from collector.importing import writing
from collector.importing.importer import ImportRequest, import_logs
from tests.imports import OWN, case_folders, case_id

ODD: list[Any] = [
    *(
        None,
        True,
        0,
        -1,
        2**70,
        1.5,
        float("nan"),
        float("inf"),
        "",
        "x",
        "\ud800",
        [],
        [1],
        [None],
    ),
    *({}, {"a": 1}, [[{}]], '[{"', {"role": 3}, [{"role": None, "content": 7}]),
]
FORMATS = sorted(path.name for path in OWN.iterdir())
CASES = [folder for folder in case_folders(*FORMATS) if folder.is_relative_to(OWN)]


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    if isinstance(value, (dict, list)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(one, (*place, key))


def spoil(value: Any, chance: random.Random) -> None:
    """Put an odd value somewhere, or take one away."""
    *way, last = chance.choice(list(places(value)))
    for key in way:
        value = value[key]
    if isinstance(value, dict) and chance.random() < 0.2:
        del value[last]
    else:
        value[last] = chance.choice(ODD)


def spoil_file(path: Path, chance: random.Random) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    number = chance.randrange(len(lines)) if path.suffix == ".jsonl" else 0
    text = lines[number] if path.suffix == ".jsonl" else "\n".join(lines)
    try:
        value = json.loads(text)
    except ValueError:
        return  # the torn last line
    spoil(value, chance)
    changed = json.dumps(value)
    whole = (
        [*lines[:number], changed, *lines[number + 1 :]] if path.suffix == ".jsonl" else [changed]
    )
    path.write_text("\n".join(whole) + "\n", encoding="utf-8")


@pytest.mark.parametrize("folder", CASES, ids=case_id)
def test_odd_values_never_end_in_a_traceback(folder: Path, tmp_path: Path) -> None:
    for seed in range(12):
        chance = random.Random(seed)
        logs = tmp_path / str(seed)
        shutil.copytree(folder, logs)
        files = sorted(path for path in logs.rglob("*") if path.suffix in (".json", ".jsonl"))
        for _ in range(3):
            spoil_file(chance.choice(files), chance)
        output = tmp_path / f"{seed}.jsonl"
        try:
            result = import_logs(ImportRequest([logs], output))
        except SpotterError:
            assert not list(tmp_path.glob(f"{seed}*.jsonl"))
            continue
        for run in result.runs:
            for line in run.files.rollouts.read_bytes().splitlines():
                json.loads(line, parse_constant=pytest.fail)


def test_counts_that_cannot_be_true_do_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = tmp_path / "logs"
    shutil.copytree(OWN / "verifiers" / "legacy", logs)
    metadata = logs / "metadata.json"
    metadata.chmod(0o644)
    metadata.write_text(json.dumps({"num_examples": 3, "rollouts_per_example": 40}))
    monkeypatch.setattr(writing, "MAX_MISSING", 100)
    with pytest.raises(InvariantError, match="more than 100 attempts are missing"):
        import_logs(ImportRequest([logs], tmp_path / "run.jsonl"))
    metadata.write_text(json.dumps({"num_examples": 3, "rollouts_per_example": 10**30}))
    [run] = import_logs(ImportRequest([logs], tmp_path / "run.jsonl")).runs
    assert run.counts.missing_count == 0
