"""Arithmetic: one question, one exact answer, no tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from collector.servers.resources_servers.arithmetic.answers import extract_answer, is_equal
from collector.servers.resources_servers.environment import Environment, Row, Solution, output_text

__all__ = ["ArithmeticEnvironment"]


class ArithmeticEnvironment(Environment[None]):
    """An environment that compares the final answer in the last message."""

    reverify_mode: ClassVar[str] = "stateless"

    def new_session(self, row: Row) -> None:
        """Return no state: an answer needs none."""

    def verify(self, row: Row, response: Row, state: None) -> Row:  # noqa: ARG002
        """Return reward 1 if the answer equals the expected number exactly."""
        if "expected_answer" not in row:
            raise ValueError("the row has no expected_answer")
        expected = str(row["expected_answer"])
        answer = extract_answer(output_text(response))
        return {
            "reward": 1.0 if is_equal(answer, expected) else 0.0,
            "extracted_answer": answer,
            "expected_answer": expected,
        }

    def solution(self, row: Row) -> Solution:
        """Return the expected answer in the form that the prompt asks for."""
        return Solution(answer=f"Answer: {row['expected_answer']}")

    def tasks(self, seed: int, count: int) -> Iterator[Row]:
        """Generate problems of every category and difficulty."""
        from collector.servers.resources_servers.arithmetic.tasks import make_tasks

        return make_tasks(seed, count)
