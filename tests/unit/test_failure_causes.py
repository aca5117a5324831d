"""Answers of failed requests give a few safe lines, and each cause is told once."""

from __future__ import annotations

import json

import pytest

from collector.failure_causes import MOST_CAUSES, Causes, cause_in_answer
from collector.secrets import Redactor

WRONG = {"type": "x", "loc": ["body", "responses_create_params", "input", "list[Item]", 3, "role"]}


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("Name or service not known", "Name or service not known"),
        (json.dumps("no\n\nroom\nleft\nhere"), "no\nroom\nleft"),
        (json.dumps({"error": {"message": "no such model", "param": "secret"}}), "no such model"),
        (json.dumps({"detail": [{**WRONG, "msg": "bad", "input": "mine"}]}), "bad: input.3.role"),
        (json.dumps({"detail": [WRONG, None]}), "input.3.role"),
        (json.dumps([{"loc": "odd", "msg": "bad"}, {"msg": 7}, {}]), "bad\n7"),
        (json.dumps({"input": "mine"}), ""),
        ('[{"loc": ["body", "inp', ""),
        ("<html><title>502 Bad Gateway</title></html>", "502 Bad Gateway"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'y'", "KeyError: 'y'"),
        ("x" * 299 + " the-planted-key", "x" * 299 + "…"),
        ("a the-planted-key\nb", "a [redacted]\nb"),
        ("", ""),
    ],
)
def test_the_reason_of_an_answer(answer: str, cause: str) -> None:
    redactor = Redactor(["the-planted-key"])
    assert cause_in_answer(answer, redactor.redact_text) == cause


def test_a_cause_is_new_once_and_only_the_first_few_are_told() -> None:
    causes = Causes()
    assert causes.is_new("/responses (2 attempts): HTTP 502")
    assert not causes.is_new('/v1 at http://a:1 answered 502: "/responses (3 attempts): HTTP 502"')
    assert causes.is_new("/responses (2 attempts): HTTP 503")
    words = [f"{chr(97 + number)}-failed" for number in range(MOST_CAUSES)]
    assert sum(map(causes.is_new, words)) == MOST_CAUSES - 2
