"""Arithmetic problems with exact answers, in six categories and three difficulties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random

OPENINGS = ("What is {}?", "Compute {}.", "Work out {}.", "Evaluate {}.")


@dataclass(frozen=True)
class ArithmeticProblem:
    """A question and its exact answer."""

    text: str
    answer: Fraction


def _question(rng: Random, expression: str) -> str:
    return rng.choice(OPENINGS).format(expression)


def _with_commas(number: int) -> str:
    return f"{number:,}"


def addition(rng: Random, level: int) -> ArithmeticProblem:
    """Add and subtract 2, 4 or 7 numbers."""
    count, top = ((2, 100), (4, 1000), (7, 100_000))[level]
    values = [rng.randrange(top // 10, top) for _ in range(count)]
    signs = [1, *(rng.choice((1, -1)) for _ in values[1:])]
    text = _with_commas(values[0])
    for sign, value in zip(signs[1:], values[1:], strict=True):
        text += f" {'+' if sign > 0 else '-'} {_with_commas(value)}"
    total = sum(sign * value for sign, value in zip(signs, values, strict=True))
    return ArithmeticProblem(_question(rng, text), Fraction(total))


def products(rng: Random, level: int) -> ArithmeticProblem:
    """Multiply small numbers, larger ones, or sums of products."""
    mark = rng.choice(("*", "×"))
    if level < 2:
        low, high = ((2, 13), (21, 400))[level]
        a, b = rng.randrange(low, high), rng.randrange(low, high // (1 + level))
        return ArithmeticProblem(_question(rng, f"{a} {mark} {b}"), Fraction(a * b))
    a, b, c, d = (rng.randrange(12, 99) for _ in range(4))
    e = rng.randrange(3, 12)
    text = f"({a} {mark} {b} - {c} {mark} {d}) {mark} {e}"
    return ArithmeticProblem(_question(rng, text), Fraction((a * b - c * d) * e))


def fractions(rng: Random, level: int) -> ArithmeticProblem:
    """Combine 2, 3 or 4 fractions."""
    parts = [(rng.randrange(1, 10), rng.randrange(2, 13)) for _ in range(level + 2)]
    values = [Fraction(*part) for part in parts]
    texts = [f"{above}/{below}" for above, below in parts]
    if level == 0:
        return ArithmeticProblem(_question(rng, f"{texts[0]} + {texts[1]}"), values[0] + values[1])
    if level == 1:
        text = f"{texts[0]} + {texts[1]} - {texts[2]}"
        return ArithmeticProblem(_question(rng, text), values[0] + values[1] - values[2])
    text = f"({texts[0]} + {texts[1]}) * ({texts[2]} - {texts[3]})"
    return ArithmeticProblem(
        _question(rng, text), (values[0] + values[1]) * (values[2] - values[3])
    )


def percentages(rng: Random, level: int) -> ArithmeticProblem:
    """Take a percentage, change by a percentage, or change several times."""
    base, rate = rng.randrange(2, 60) * 20, rng.randrange(1, 19) * 5
    share = Fraction(rate, 100)
    if level == 0:
        return ArithmeticProblem(_question(rng, f"{rate}% of {base}"), base * share)
    if level == 1:
        if rng.random() < 0.5:
            part = int(base * share)
            return ArithmeticProblem(
                f"What percentage of {base} is {part}?", Fraction(100 * part, base)
            )
        text = f"A price of {base} rises by {rate}%. What is the new price?"
        return ArithmeticProblem(text, base * (1 + share))
    value, steps = Fraction(base), []
    for verb in rng.sample(("grows", "shrinks", "grows", "shrinks"), 3):
        step = rng.choice((5, 10, 20, 25, 40, 50))
        value *= 1 + Fraction(step if verb == "grows" else -step, 100)
        steps.append(f"{verb} by {step}%")
    return ArithmeticProblem(
        f"A stock of {base} {', then '.join(steps)}. How large is it then?", value
    )


def word_problems(rng: Random, level: int) -> ArithmeticProblem:
    """Tell a short story with one, two or four steps."""
    name, thing = (
        rng.choice(("Mira", "Otto", "Lin", "Sam")),
        rng.choice(("apples", "pens", "cards")),
    )
    have, bags, each, gone = (rng.randrange(low, 40) for low in (20, 2, 3, 2))
    if level == 0:
        text = f"{name} has {have} {thing} and gives {gone // 2} away. How many are left?"
        return ArithmeticProblem(text, Fraction(have - gone // 2))
    start = f"{name} has {have} {thing} and buys {bags} bags with {each} {thing} in each."
    total = have + bags * each
    if level == 1:
        return ArithmeticProblem(f"{start} How many {thing} are there now?", Fraction(total))
    people = rng.randrange(2, 9)
    text = (
        f"{start} Then {gone} of them get lost, and the rest is shared equally among {people} "
        f"people, parts included. How many {thing} does each person get?"
    )
    return ArithmeticProblem(text, Fraction(total - gone, people))


def sequences(rng: Random, level: int) -> ArithmeticProblem:
    """Continue a sequence, find a late term, or sum up many terms."""
    first, step = rng.randrange(1, 30), rng.randrange(2, 15)
    shown = ", ".join(str(first + step * n) for n in range(4))
    if level == 0:
        text = f"What is the next term of the arithmetic sequence {shown}, ...?"
        return ArithmeticProblem(text, Fraction(first + 4 * step))
    number = rng.randrange(15, 60)
    last = first + (number - 1) * step
    if level == 1:
        text = f"The arithmetic sequence {shown}, ... goes on. What is its term number {number}?"
        return ArithmeticProblem(text, Fraction(last))
    if rng.random() < 0.5:
        text = (
            f"What is the sum of the first {number} terms of the arithmetic sequence {shown}, ...?"
        )
        return ArithmeticProblem(text, Fraction(number * (first + last), 2))
    return _sums_of_two(first, step, 9 + number % 5)


def _sums_of_two(first: int, second: int, number: int) -> ArithmeticProblem:
    text = (
        f"A sequence begins with {first}, {second}, and every further term is the sum of the two "
        f"before it. What is its term number {number}?"
    )
    before, term = first, second
    for _ in range(number - 2):
        before, term = term, before + term
    return ArithmeticProblem(text, Fraction(term))


MAKERS: dict[str, Callable[[Random, int], ArithmeticProblem]] = {
    "addition": addition,
    "products": products,
    "fractions": fractions,
    "percentages": percentages,
    "word problems": word_problems,
    "sequences": sequences,
}
