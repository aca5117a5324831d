"""Delays before a retry."""

from __future__ import annotations

import email.utils
import random
import time

import httpx

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


def retry_delay(count: int) -> float:
    """Return the seconds to wait before retry number `count`: longer each time, and random."""
    longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(count - 1, 16))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


def retry_after(headers: httpx.Headers) -> float | None:
    """Return the seconds that a server asks to wait, from its Retry-After header; None without."""
    text: str = headers.get("retry-after", "").strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, moment - time.time())
