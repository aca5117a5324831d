"""Solve arithmetic problems from their text, exactly."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
MAX_CHARACTERS = 500
MAX_TERMS = 1000


@dataclass(frozen=True)
class Solved:
    """An answer, and how much work it took."""

    answer: Fraction
    effort: int


def solve(text: str) -> Solved | None:
    """Return the answer to the problem; None if no rule fits its text."""
    if len(text) > MAX_CHARACTERS:
        return None
    for pattern, work in PROBLEMS:
        found = re.fullmatch(pattern, text.strip(), re.DOTALL)
        if found:
            try:
                return work(found)
            except (ValueError, SyntaxError, ZeroDivisionError, RecursionError):
                return None
    return None


def _expression(found: re.Match[str]) -> Solved | None:
    text = found[1].replace(",", "").replace("×", "*")
    if not re.fullmatch(r"[\d\s().+*/-]+", text):
        return None
    value = _value(ast.parse(text.strip(), mode="eval").body)
    operations, digits = len(re.findall(r"[+*/-]", text)), len(re.findall(r"\d", text))
    # long products are the hardest, long sums no harder than a story
    return Solved(value, min(7, operations + digits // (2 if "*" in text else 8)))


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("not a sum")


def _numbers(found: re.Match[str]) -> list[Fraction]:
    return [Fraction(group) for group in found.groups()]


def _share(found: re.Match[str]) -> Solved:
    rate, base = _numbers(found)
    return Solved(base * rate / 100, 2)


def _rate(found: re.Match[str]) -> Solved:
    base, part = _numbers(found)
    return Solved(100 * part / base, 4)


def _rise(found: re.Match[str]) -> Solved:
    base, rate = _numbers(found)
    return Solved(base * (1 + rate / 100), 4)


def _changes(found: re.Match[str]) -> Solved:
    value = Fraction(found[1])
    steps = re.findall(r"(grows|shrinks) by (\d+)%", found[2])
    for verb, rate in steps:
        value *= 1 + Fraction(rate) / (100 if verb == "grows" else -100)
    return Solved(value, 2 * len(steps))


def _left(found: re.Match[str]) -> Solved:
    have, gone = _numbers(found)
    return Solved(have - gone, 2)


def _bought(found: re.Match[str]) -> Solved:
    have, bags, each = _numbers(found)
    return Solved(have + bags * each, 4)


def _shared(found: re.Match[str]) -> Solved:
    have, bags, each, gone, people = _numbers(found)
    return Solved((have + bags * each - gone) / people, 6)


def _terms(text: str) -> tuple[Fraction, Fraction]:
    """Return the first term and the step."""
    first, second, *_ = (Fraction(term) for term in re.findall(r"\d+", text))
    return first, second - first


def _next_term(found: re.Match[str]) -> Solved:
    first, step = _terms(found[1])
    return Solved(first + step * len(re.findall(r"\d+", found[1])), 2)


def _late_term(found: re.Match[str]) -> Solved:
    first, step = _terms(found[1])
    return Solved(first + step * (int(found[2]) - 1), 4)


def _sum_of_terms(found: re.Match[str]) -> Solved:
    first, step = _terms(found[2])
    count = int(found[1])
    return Solved(count * (2 * first + step * (count - 1)) / 2, 6)


def _sums_of_two(found: re.Match[str]) -> Solved | None:
    before, term, number = (int(group) for group in found.groups())
    if number > MAX_TERMS:
        return None
    for _ in range(number - 2):
        before, term = term, before + term
    return Solved(Fraction(term), 6)


BUYS = r"\w+ has (\d+) \w+ and buys (\d+) bags with (\d+) \w+ in each\."
PROBLEMS: tuple[tuple[str, Callable[[re.Match[str]], Solved | None]], ...] = (
    (r"What percentage of (\d+) is (\d+)\?", _rate),
    (r"(?:What is|Compute|Work out|Evaluate) (\d+)% of (\d+)[.?]", _share),
    (r"A price of (\d+) rises by (\d+)%\. What is the new price\?", _rise),
    (r"A stock of (\d+) (.+)\. How large is it then\?", _changes),
    (r"\w+ has (\d+) \w+ and gives (\d+) away\. How many are left\?", _left),
    (BUYS + r" How many \w+ are there now\?", _bought),
    (
        BUYS + r" Then (\d+) of them get lost, and the rest is shared equally among (\d+) people, "
        r"parts included\. How many \w+ does each person get\?",
        _shared,
    ),
    (r"What is the next term of the arithmetic sequence ([\d, ]+), \.\.\.\?", _next_term),
    (
        r"The arithmetic sequence ([\d, ]+), \.\.\. goes on\. What is its term number (\d+)\?",
        _late_term,
    ),
    (
        r"What is the sum of the first (\d+) terms of the arithmetic sequence ([\d, ]+), \.\.\.\?",
        _sum_of_terms,
    ),
    (
        r"A sequence begins with (\d+), (\d+), and every further term is the sum of the two before "
        r"it\. What is its term number (\d+)\?",
        _sums_of_two,
    ),
    (r"(?:What is|Compute|Work out|Evaluate) ([^A-Za-z]+?)[.?]?", _expression),
)
