"""The task file of the datasets of configs, and the record of where its tasks come from."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.artifacts import stem
from collector.atomic_files import Drafts
from collector.errors import FileError, UsageError

Origin = dict[str, Any]
ORIGIN_SUFFIX = "_origin.json"


@dataclass(frozen=True)
class PreparedTasks:
    """A task file and its origin: the split and the datasets of each agent."""

    path: Path
    origin: Origin

    @property
    def origin_path(self) -> Path:
        """Return the path of the file that records the origin."""
        return self.path.with_name(stem(self.path) + ORIGIN_SUFFIX)

    def prepare(
        self, write: Callable[[], object], *, reuse: bool, say: Callable[[str], None]
    ) -> None:
        """Write the tasks, or reuse the file; raise UsageError if its origin differs."""
        if reuse and self.path.exists():
            self._check_origin()
            say(f"using the tasks of {self.path} as they are")
            return
        if reuse:
            say(f"{self.path} does not exist yet, and is written now")
        write()
        with Drafts() as drafts:
            with drafts.open(self.origin_path) as file:
                file.write(_text(self.origin))
            drafts.publish()

    def _check_origin(self) -> None:
        try:
            known = self.origin_path.read_bytes()
        except FileNotFoundError:
            known = None
        except OSError as error:
            raise FileError(f"cannot read {self.origin_path}: {error.strerror}") from error
        if known == _text(self.origin):
            return
        reason = (
            "come from other configs or another split"
            if known
            else "have no record of their origin"
        )
        raise UsageError(
            f"the tasks of {self.path} {reason}, and cannot be used as they are\n"
            "  what to do: leave out --reuse-existing-data-preparation, so that they are written"
            " again, or collect from that file with --input"
        )


def _text(origin: Origin) -> bytes:
    return json.dumps(origin, indent=2, sort_keys=True, default=str).encode() + b"\n"
