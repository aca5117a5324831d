from __future__ import annotations

import random

import pytest

from collector.viewer.transcripts.comparison import compare_rollouts
from collector.viewer.transcripts.difference import Differ, Span, align
from tests.responses import calls, gives, response, says, thinks


def marked(first: str, second: str) -> tuple[str, str]:
    found = Differ().compare(first, second)

    def text(spans: list[Span]) -> str:
        return "".join(one.text if one.edit == "same" else f"[{one.text}]" for one in spans)

    return text(found.first), text(found.second)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a b c", "a x c", ("a[ b] c", "a[ x] c")),
        ("a c", "a b c", ("a c", "a[ b] c")),
        ("", "new", ("", "[new]")),
        ("same", "same", ("same", "same")),
        ("one two", "three", ("[one two]", "[three]")),
    ],
)
def test_words_that_differ_are_marked(first: str, second: str, expected: tuple[str, str]) -> None:
    assert marked(first, second) == expected


@pytest.mark.parametrize("seed", range(20))
def test_the_marks_keep_both_texts_as_they_are(seed: int) -> None:
    chance = random.Random(seed)
    words = ["a", "b ", "\n", "  ", "longer", "<b>", "\t"]
    first, second = ("".join(chance.choices(words, k=chance.randrange(3000))) for _ in range(2))
    found = Differ().compare(first, second)
    assert "".join(span.text for span in found.first) == first
    assert "".join(span.text for span in found.second) == second


def test_a_small_change_in_a_long_text_is_found_word_by_word() -> None:
    words = [f"word{i}" for i in range(50_000)]
    changed = [*words[:30_000], "other", *words[30_001:]]
    found = Differ().compare(" ".join(words), " ".join(changed))
    assert found.unit == "words"
    assert [span.text for span in found.second if span.edit == "added"] == [" other"]


def test_long_texts_are_compared_by_line_and_then_by_word() -> None:
    lines = [f"line {i} with some more words\n" for i in range(1000)]
    changed = [
        line.replace("some", "none") if i % 100 == 50 else line for i, line in enumerate(lines)
    ]
    found = Differ().compare("".join(lines), "".join(changed))
    assert found.unit == "lines"
    assert [span.text for span in found.first if span.edit == "removed"] == [" some"] * 10


def test_texts_that_are_too_long_are_marked_as_a_whole() -> None:
    chance = random.Random(1)
    first, second = (" ".join(str(chance.random()) for _ in range(9000)) for _ in range(2))
    found = Differ().compare(first, second.replace(" ", "\n"))
    assert found.unit == "whole"
    assert Differ(seconds=0).compare("a b", "a c").unit == "whole"


def test_things_that_say_the_same_stand_beside_each_other() -> None:
    first = [("m", "1"), ("c", "2"), ("m", "3")]
    second = [("m", "1"), ("x", "new"), ("c", "other"), ("m", "3")]
    assert align(first, second) == [(0, 0), (None, 1), (1, 2), (2, 3)]
    assert align([], [("a", "b")]) == [(None, 0)]


def test_two_rollouts_are_compared_thing_by_thing() -> None:
    first = {
        **response(thinks("hm"), calls("{}", call_id="c"), gives("1"), says("it is 1")),
        "reward": 0,
    }
    second = {
        **response(calls("{}", call_id="c"), gives("1"), says("it is 2")),
        "reward": 1,
        "ok": True,
    }
    found = compare_rollouts(first, second)
    assert [
        (pair.first.label if pair.first else None, pair.second.label if pair.second else None)
        for pair in found.pairs
    ] == [
        ("step 1: reasoning", None),
        ("step 1: call of add", "step 1: call of add"),
        ("step 1: result", "step 1: result"),
        ("step 2: assistant", "step 2: assistant"),
    ]
    assert [pair.difference.is_same for pair in found.pairs] == [False, True, True, False]
    assert {(one.name, one.first, one.second) for one in found.fields if not one.is_same} == {
        ("reward", "0", "1"),
        ("ok", "–", "true"),
    }


def test_what_recurs_in_long_conversations_takes_no_time() -> None:
    first = [("m", "start"), *[("m", "a"), ("m", "b")] * 500, ("m", "end")]
    second = [("m", "start"), *[("m", "a")] * 500, *[("m", "b")] * 400, ("m", "end")]
    pairs = align(first, second)
    assert pairs[0] == (0, 0)
    assert pairs[-1] == (len(first) - 1, len(second) - 1)
    assert sorted(i for i, _ in pairs if i is not None) == list(range(len(first)))
    assert sorted(j for _, j in pairs if j is not None) == list(range(len(second)))


def test_long_conversations_are_compared_in_the_end() -> None:
    chance = random.Random(3)

    def long() -> list[object]:
        return [
            item
            for i in range(400)
            for item in (
                calls("{}", name=chance.choice("fg"), call_id=str(i)),
                {**gives(" ".join(chance.choices("abcdefgh", k=1900))), "call_id": str(i)},
            )
        ]

    found = compare_rollouts(response(*long()), response(*long()))  # type: ignore[arg-type]
    assert found.pairs
