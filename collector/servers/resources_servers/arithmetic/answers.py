"""Find the final answer in a text, and compare numbers exactly."""

from __future__ import annotations

import re
from fractions import Fraction

DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d{1,3})?|\.\d+"
NUMBER = rf"[-−–+]?\s?\$?(?:\d+ \d+/\d+|(?:{DIGITS})(?:\s?/\s?(?:{DIGITS}))?)"
# not the beginning of something else: 9**9, 2^10, 0x2A, 12,34, 6*7
END = r"(?![\w^×(]|[.,/]\d|\s*(?:\*{1,2}|[×^])\s*[\d(])"
MARKED = re.compile(rf"answer\b(?:\s+is)?[\s:=*$\\(\[]*({NUMBER}){END}", re.IGNORECASE)
MARK = re.compile(r"answer\b(?:\s+is)?\s*[:=]", re.IGNORECASE)
BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
ANY = re.compile(rf"(?<![\w.,^*×/])({NUMBER}){END}", re.IGNORECASE)
FRACTION = re.compile(r"(\d?)\s*\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
MAX_CHARACTERS = 1000


def extract_answer(text: str) -> str | None:
    """Return the number of the last "Answer:", in the last box, or the last one at all."""
    plain = FRACTION.sub(_fraction, text)
    marks = list(MARK.finditer(plain))
    if marks:
        # what follows the last mark counts: a number at once, in a box, or the last one there
        rest = plain[marks[-1].start() :]
        found = MARKED.findall(rest) or _boxed(rest) or ANY.findall(rest)
    else:
        found = _boxed(plain) or MARKED.findall(plain) or ANY.findall(plain)
    return _cleaned(found[-1]) if found else None


def _boxed(text: str) -> list[str]:
    return [found for box in BOXED.findall(text) for found in ANY.findall(box)[-1:]]


def _fraction(match: re.Match[str]) -> str:
    whole, above, below = match.groups()
    return f"{whole} {above}/{below}" if whole else f"{above}/{below}"


def as_number(text: str | None) -> Fraction | None:
    """Return the exact value of a number as people write it."""
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
    """Tell whether two numbers are the same."""
    value = as_number(found)
    return value is not None and value == as_number(expected)


def _ratio(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(above) / Fraction(below or "1")


def _cleaned(text: str) -> str | None:
    found = re.sub(r"\s*/\s*", "/", text.strip())
    return found if len(found) <= MAX_CHARACTERS else None
