"""Remove the keys and passwords of trackers from messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from collector.secrets import Redactor, is_hidden_name, url_secrets

SHORTEST = 5
FOLDERS = ("PWD", "OLDPWD")  # folders of the shell, not passwords
LOGIN = re.compile(r"(?<=://)[^/\s@]+@")


def redact(text: str) -> str:
    """Remove the secrets of the environment, and the logins in URLs."""
    return without_login(Redactor(_secrets(), shortest=SHORTEST).redact_text(text))


def without_login(text: str) -> str:
    """Remove user names and passwords from URLs."""
    return LOGIN.sub("", text)


def _secrets() -> Iterator[str]:
    for name, value in os.environ.items():
        if name in FOLDERS:
            continue
        if is_hidden_name(name):
            yield value
        else:
            yield from url_secrets(value)
