"""Arithmetic: one question, one exact answer, no tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from collector.servers.resources_servers.arithmetic.answers import extract_answer, is_equal
from collector.servers.resources_servers.environment import Environment, Row, Solution, output_text

__all__ = ["ArithmeticEnvironment"]


class ArithmeticEnvironment(Environment[None]):
    """Judge by the final answer of the last message."""

    reverify_mode: ClassVar[str] = "stateless"

    def new_session(self, row: Row) -> None:
        """Keep nothing: an answer needs no state."""

    def verify(self, row: Row, response: Row, state: None) -> Row:  # noqa: ARG002
        """Compare the answer as an exact number."""
        if "expected_answer" not in row:
            raise ValueError("the row has no expected_answer")
        expected = str(row["expected_answer"])
        found = extract_answer(output_text(response))
        return {
            "reward": 1.0 if is_equal(found, expected) else 0.0,
            "extracted_answer": found,
            "expected_answer": expected,
        }

    def solution(self, row: Row) -> Solution:
        """Return the expected answer as the prompt asks for it."""
        return Solution(answer=f"Answer: {row['expected_answer']}")

    def tasks(self, seed: int, count: int) -> Iterator[Row]:
        """Make problems of every category and difficulty."""
        from collector.servers.resources_servers.arithmetic.tasks import make_tasks

        return make_tasks(seed, count)
