"""The error that ends a command whose collection was not a success."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from collector.errors import ServerError
from collector.terminal import counted_noun

if TYPE_CHECKING:
    from collector.collection.collected import Collected


def collection_problem(result: Collected, *, require_complete: bool) -> Exception | None:
    """Return the error that ends the command, if the collection was not a success."""
    from collector.collection.report import given_up_lines

    if result.error:
        return result.error
    if result.signal:
        return typer.Exit(128 + result.signal)
    is_as_planned = result.is_out_of_time and result.due_count == result.open_count
    if is_as_planned and result.new_count and not require_complete:
        return None  # the next session continues
    if result.due_count:
        reason = f"; the last failure was {result.last_failure}" if result.last_failure else ""
        given_up = "".join(f"\n  {line}" for line in given_up_lines(result))
        return ServerError(
            f"{counted_noun(result.due_count, 'rollout')} of {result.expected_count:,} missing"
            f"{reason}{given_up}"
        )
    return None
