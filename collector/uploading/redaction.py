"""Keep keys and passwords of trackers out of what is told."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from collector.secrets import Redactor, is_hidden_name

SHORTEST = 5
FOLDERS = ("PWD", "OLDPWD")  # of the shell, and no passwords
LOGIN = re.compile(r"(?<=://)[^/\s@]+@")


def redacted(text: str) -> str:
    """Remove what the environment keeps secret, and who logs in where."""
    return without_login(Redactor(_secrets(), shortest=SHORTEST).redact_text(text))


def without_login(text: str) -> str:
    """Remove the name and the password from URLs."""
    return LOGIN.sub("", text)


def _secrets() -> Iterator[str]:
    for name, value in os.environ.items():
        if name in FOLDERS:
            continue
        if is_hidden_name(name):
            yield value
        elif "://" in value:
            yield from _passwords(value)


def _passwords(url: str) -> Iterator[str]:
    try:
        password = urlsplit(url).password
    except ValueError:  # no URL after all
        return
    if password:
        yield password
        yield unquote(password)
