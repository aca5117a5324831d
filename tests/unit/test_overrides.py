from __future__ import annotations

import pytest

from collector.errors import UsageError
from collector.overrides import Override, parse_map, rename_flags, to_flags

KNOWN = {
    "path": Override("--path"),
    "quick": Override("--quick", is_switch=True),
    "merge": Override("--merge", is_switch=True, off="--no-merge"),
    "params": Override("--params", is_map=True),
    "head.port": Override("--head-port"),
    "their_workers": Override("", unused="there are none"),
    "their_memory": Override("", unused="nothing is kept"),
    "their_driver": Override("", refused="it is code of theirs"),
}


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
        ("+merge=false", ["--no-merge"]),
        ("+path=null", []),
        ("+params={a: 1}", ["--params", "{a: 1}"]),
        ("++params.temperature=1e-1", ["--params", "temperature\x001e-1"]),
        ("+params.metadata.note=x y", ["--params", "metadata\x00note\x00x y"]),
        ("+head.port=1", ["--head-port", "1"]),
        ("--other", ["--other"]),
    ],
)
def test_overrides_become_flags(argument: str, flags: list[str]) -> None:
    assert to_flags([argument], KNOWN) == flags


def test_flags_of_nemo_gym_become_overrides() -> None:
    keys = {"--top-p": "params.top_p", "--agent": "path"}
    given = ["--other", "--top-p", "0.5", "--agent=a=b", "x"]
    assert [*rename_flags(given, keys)] == ["--other", "+params.top_p=0.5", "+path=a=b", "x"]
    with pytest.raises(UsageError, match="--agent needs a value"):
        list(rename_flags(["--agent"], keys))


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["+params={a: 1, b: {c: 2}}", "+params.b.d=1e-1"], {"a": 1, "b": {"c": 2, "d": 0.1}}),
        (["+params.a=1", "--params", "{a: 2}"], {"a": 2}),
        (["+params.note=yes: or: no"], {"note": "yes: or: no"}),
        (["+params.user=@me"], {"user": "@me"}),
        (["+params.stop=[a, b]"], {"stop": ["a", "b"]}),
        (["+params.note="], {"note": None}),
        (["+params=3"], 3),
    ],
)
def test_maps_are_merged_and_a_dotted_key_may_be_any_text(
    arguments: list[str], value: object
) -> None:
    assert parse_map(to_flags(arguments, KNOWN)[1::2]) == value


def test_a_map_that_is_not_yaml_is_refused() -> None:
    with pytest.raises(ValueError, match="not valid YAML"):
        parse_map(["{a: ["])


@pytest.mark.parametrize(
    "argument", ["+nope=1", "+path", "+quick=7", "+=x", "+path.a=1", "+params.=1", "+head=1"]
)
def test_what_cannot_be_meant_is_refused(argument: str) -> None:
    with pytest.raises(UsageError):
        to_flags([argument], KNOWN)


def test_what_means_nothing_here_is_accepted_with_one_line() -> None:
    told: list[str] = []
    given = ["+their_workers=8", "++path=a", "+their_memory={a: 1}", "--quick"]
    assert to_flags(given, KNOWN, told.append) == ["--path", "a", "--quick"]
    assert told == [
        "note: without effect here: their_workers (there are none); their_memory (nothing is kept)"
    ]


def test_what_cannot_be_followed_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match="it is code of theirs"):
        to_flags(["+their_driver=a:b"], KNOWN)


def test_what_is_not_followed_is_not_offered() -> None:
    with pytest.raises(UsageError) as error:
        to_flags(["+nope=1"], KNOWN)
    assert "their_" not in str(error.value)
