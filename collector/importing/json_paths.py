"""Find values in parsed JSON by paths such as `usage.input`, `$.samples[0].score` or `["a.b"]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

STEP = re.compile(r"""\.?(?P<name>[^.\[\]]+)|\[(?P<index>-?\d+)\]|\[(["'])(?P<quoted>.*?)\3\]""")


@dataclass(frozen=True)
class JsonPath:
    """A path of names and indices."""

    text: str
    steps: tuple[str | int, ...]

    def find(self, value: Any) -> Any:
        """Return the value at the path; None if there is none."""
        for step in self.steps:
            if isinstance(step, int) and isinstance(value, list):
                value = value[step] if -len(value) <= step < len(value) else None
            elif isinstance(value, dict):
                value = value.get(str(step))
            else:
                return None
        return value


def parse_path(text: str) -> JsonPath:
    """Return the path of a text; raise ValueError if it is not one."""
    rest = text.removeprefix("$")
    steps: list[str | int] = []
    position = 0
    while position < len(rest):
        found = STEP.match(rest, position)
        if not found:
            raise ValueError(f"{text!r} is not a path like usage.input or samples[0].score")
        index, name = found["index"], found["name"] or found["quoted"]
        steps.append(int(index) if index else str(name))
        position = found.end()
    if not steps:
        raise ValueError("a path is empty")
    return JsonPath(text, tuple(steps))
