from __future__ import annotations

import pytest

from collector.errors import UsageError
from collector.overrides import Override, to_flags

KNOWN = {"path": Override("--path"), "quick": Override("--quick", is_switch=True)}


@pytest.mark.parametrize(
    ("argument", "flags"),
    [
        ("+path=a.jsonl", ["--path", "a.jsonl"]),
        ("++path=a b.jsonl", ["--path", "a b.jsonl"]),
        ("+path='a b.jsonl'", ["--path", "a b.jsonl"]),
        ("+path=2024", ["--path", "2024"]),
        ("+path={a: b}", ["--path", "{a: b}"]),
        ("+path=a=b", ["--path", "a=b"]),
        ("+path=[", ["--path", "["]),
        ("+path=my run #2.jsonl", ["--path", "my run #2.jsonl"]),
        ("++quick=True", ["--quick"]),
        ("+quick=false", []),
        ("--other", ["--other"]),
    ],
)
def test_overrides_become_flags(argument: str, flags: list[str]) -> None:
    assert to_flags([argument], KNOWN) == flags


@pytest.mark.parametrize("argument", ["+nope=1", "+path", "+quick=7", "+=x"])
def test_what_cannot_be_meant_is_refused(argument: str) -> None:
    with pytest.raises(UsageError):
        to_flags([argument], KNOWN)
