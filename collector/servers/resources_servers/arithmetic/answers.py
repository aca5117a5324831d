"""Find the final answer in a text, and compare numbers exactly."""

from __future__ import annotations

import re
from fractions import Fraction

DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
NUMBER = rf"[-−+]?\s?\$?(?:\d+ \d+/\d+|(?:{DIGITS})(?:\s?/\s?(?:{DIGITS}))?)"
MARKED = re.compile(rf"answer\b(?:\s+is)?[\s:=*$\\(\[]*({NUMBER})", re.IGNORECASE)
BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
ANY = re.compile(rf"(?<![\w.])({NUMBER})")
FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
MAX_CHARACTERS = 200


def extract_answer(text: str) -> str | None:
    """Return the number behind the last "Answer:", in the last box, or the last one at all."""
    plain = FRACTION.sub(r"\1/\2", text)
    marked = MARKED.findall(plain)
    if marked:
        return _cleaned(marked[-1])
    boxed = [found for box in BOXED.findall(plain) for found in ANY.findall(box)[-1:]]
    found = boxed or ANY.findall(plain)
    return _cleaned(found[-1]) if found else None


def as_number(text: str | None) -> Fraction | None:
    """Return the exact value of a number as people write it."""
    if text is None or len(text) > MAX_CHARACTERS:
        return None
    plain = text.replace(",", "").replace("$", "").replace("−", "-").strip()
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


def _cleaned(text: str) -> str:
    return re.sub(r"\s*/\s*", "/", text.strip())[:MAX_CHARACTERS]
