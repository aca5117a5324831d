"""Task rows of the arithmetic environment."""

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
MAX_TRIES = 1000


def make_tasks(seed: int, count: int) -> Iterator[Row]:
    """Generate task rows that cycle through categories and difficulties."""
    rng = Random(f"arithmetic {seed}")  # noqa: S311
    seen: set[str] = set()
    for number in range(count):
        category = list(MAKERS)[number % 6]
        # 6 and 3 share a factor, so shift the difficulty after each round of categories
        level = (number + number // 6) % 3
        problem = MAKERS[category](rng, level)
        for _ in range(MAX_TRIES):
            if problem.text not in seen:
                break
            problem = MAKERS[category](rng, level)
        else:
            raise ValueError(f"there are fewer than {count:,} different tasks: ask for fewer")
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
