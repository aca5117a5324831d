"""Make task rows from problems."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from collector.servers.resources_servers.arithmetic.problems import MAKERS

Row = dict[str, Any]
DIFFICULTIES = ("easy", "medium", "hard")
SYSTEM = (
    "Solve the problem exactly; do not round. Think as long as you need, then end with a line of "
    'the form "Answer: 42". A fraction such as 3/4 is a fine answer.'
)


def make_tasks(seed: int, count: int) -> Iterator[Row]:
    """Make task rows, going round through categories and difficulties."""
    rng = Random(f"arithmetic {seed}")  # noqa: S311
    seen: set[str] = set()
    for number in range(count):
        category = list(MAKERS)[number % 6]
        # 6 and 3 share a factor: after each round of categories the difficulty moves on
        level = (number + number // 6) % 3
        problem = MAKERS[category](rng, level)
        while problem.text in seen:
            problem = MAKERS[category](rng, level)
        seen.add(problem.text)
        yield {
            "id": f"arithmetic-{seed}-{number:04d}",
            "category": category,
            "difficulty": DIFFICULTIES[level],
            "responses_create_params": {
                "input": [
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": problem.text},
                ],
                "temperature": 1.0,
            },
            "expected_answer": str(problem.answer),
            "environment_name": "arithmetic",
        }
