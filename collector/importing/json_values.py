"""Take values out of parsed JSON whose form is not certain."""

from __future__ import annotations

from typing import Any

from collector.importing.attempts import Json

MAX_COUNT = 1_000_000
MAX_TOKENS = 1 << 53
SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_tokens": "max_output_tokens",
    "max_gen_toks": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning_effort",
    "seed": "seed",
    "stop": "stop",
    "until": "stop",
    "do_sample": "do_sample",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
}
"""The names of sampling settings in the frameworks, and in `responses_create_params`."""


def part(row: Any, name: str) -> Json:
    """Return an object inside an object; an empty one if there is none."""
    value = row.get(name) if isinstance(row, dict) else None
    return value if isinstance(value, dict) else {}


def items(row: Any, name: str) -> list[Any]:
    """Return a list inside an object; an empty one if there is none."""
    value = row.get(name) if isinstance(row, dict) else None
    return value if isinstance(value, list) else []


def number(value: Any) -> float | None:
    """Return a number or a boolean, None for anything else."""
    return value if isinstance(value, (int, float)) else None


def count(value: Any) -> int:
    """Return a count that a log gives; 0 if it is not one, or too large to be true."""
    is_count = isinstance(value, (int, float)) and 0 <= value <= MAX_COUNT
    return int(value) if is_count else 0


def numbers(values: Json) -> dict[str, float]:
    """Return the members of an object that are numbers or booleans."""
    return {name: value for name, value in values.items() if isinstance(value, (int, float))}


def text(value: Any) -> str | None:
    """Return a text that is not empty, None for anything else."""
    return value if isinstance(value, str) and value else None


def sampling(values: Json) -> Json:
    """Return the settings of the sampling that are given, by the names of the Responses API."""
    return {
        SAMPLING[name]: value
        for name, value in values.items()
        if name in SAMPLING and value is not None and value not in ([], {})
    }


def usage(
    input_tokens: Any, output_tokens: Any, *, cached: Any = None, reasoning: Any = None
) -> Json | None:
    """Return the usage of an attempt, None if the log has no tokens."""
    given, made = token_count(input_tokens), token_count(output_tokens)
    if given is None and made is None:
        return None
    found: Json = {
        "input_tokens": given or 0,
        "output_tokens": made or 0,
        "total_tokens": (given or 0) + (made or 0),
    }
    if (tokens := token_count(cached)) is not None:
        found["input_tokens_details"] = {"cached_tokens": tokens}
    if (tokens := token_count(reasoning)) is not None:
        found["output_tokens_details"] = {"reasoning_tokens": tokens}
    return found


def token_count(value: Any) -> int | None:
    """Return a number of tokens, which some logs store as a float."""
    is_number = isinstance(value, (int, float)) and abs(value) <= MAX_TOKENS
    return int(value) if is_number else None
