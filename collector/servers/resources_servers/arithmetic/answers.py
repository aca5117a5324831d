"""Find the final answer in a text, and compare numbers exactly."""

from __future__ import annotations

import re
from fractions import Fraction

DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d{1,3})?|\.\d+"
NUMBER = rf"[-−–+]?\s?\$?(?:\d+ \d+/\d+|(?:{DIGITS})(?:\s?/\s?(?:{DIGITS}))?)"
# the number must not be the beginning of something else: 9**9, 2^10, 0x2A, 12,34, 6*7
END = r"(?![\w^×(]|[.,/]\d|\s*(?:\*{1,2}|[×^])\s*[\d(])"
MARKED = re.compile(rf"answer\b(?:\s+is)?[\s:=*$\\(\[]*({NUMBER}){END}", re.IGNORECASE)
MARK = re.compile(r"answer\b(?:\s+is)?\s*[:=]", re.IGNORECASE)
BOXED = re.compile(r"\\boxed\s*+\{((?:[^{}]++|\{[^{}]*+\})*+)\}")
ANY = re.compile(rf"(?<![\w.,^*×/])({NUMBER}){END}", re.IGNORECASE)
# blanks are read from their beginning only, or a long run of them would be read from each of them
FRACTION = re.compile(r"(?:(\d)\s*+|(?<!\s)\s*+)\\[dt]?frac\s*+\{([^{}]*+)\}\s*+\{([^{}]*+)\}")
MAX_CHARACTERS = 1000
# a pattern that is searched blocks all servers: Python does nothing else meanwhile
READ_CHARACTERS = 200_000


def extract_answer(text: str) -> str | None:
    """Return the number after the last "Answer:", in the last box, or the last number at all.

    Only the end of a very long text is read. The time is proportional to its length.
    """
    end = text[-READ_CHARACTERS:]
    plain = FRACTION.sub(_plain_fraction, end) if "frac" in end else end
    marks = list(MARK.finditer(plain))
    if marks:
        # after the last mark, take a number directly behind it, in a box, or the last one
        rest = plain[marks[-1].start() :]
        numbers = MARKED.findall(rest) or _boxed_numbers(rest) or ANY.findall(rest)
    else:
        numbers = _boxed_numbers(plain) or MARKED.findall(plain) or ANY.findall(plain)
    return _normalize_number(numbers[-1]) if numbers else None


def _boxed_numbers(text: str) -> list[str]:
    return [number for box in BOXED.findall(text) for number in ANY.findall(box)[-1:]]


def _plain_fraction(match: re.Match[str]) -> str:
    whole, above, below = match.groups()
    return f"{whole} {above}/{below}" if whole else f"{above}/{below}"


def as_number(text: str | None) -> Fraction | None:
    """Return the exact value of a number as people write it, or None for any other text."""
    if text is None or len(text) > MAX_CHARACTERS:
        return None
    plain = text.replace(",", "").replace("$", "").replace("−", "-").replace("–", "-").strip()
    sign = -1 if plain.startswith("-") else 1
    *whole, rest = plain.lstrip("+- ").split(" ") if plain else ("",)
    try:
        return sign * (Fraction(whole[0] if whole else 0) + _ratio(rest))
    except (ValueError, ZeroDivisionError):
        return None


def is_equal(found: str | None, expected: str) -> bool:
    """Tell whether two texts are the same number."""
    value = as_number(found)
    return value is not None and value == as_number(expected)


def _ratio(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(above) / Fraction(below or "1")


def _normalize_number(text: str) -> str | None:
    number = re.sub(r"\s*/\s*", "/", text.strip())
    return number if len(number) <= MAX_CHARACTERS else None
