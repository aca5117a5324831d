"""The task file of the datasets of configs, and the record of where its tasks come from."""

from __future__ import annotations

import filecmp
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from collector.artifacts import stem
from collector.atomic_files import Drafts, anything
from collector.errors import FileError, UsageError

Origin = dict[str, Any]
ORIGIN_SUFFIX = "_origin.json"
TaskMode = Literal["write", "reuse", "replace"]


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
        self,
        write: Callable[[BinaryIO], object],
        drafts: Drafts,
        *,
        mode: TaskMode,
        say: Callable[[str], None],
    ) -> None:
        """Draft the tasks and their origin, or reuse the file as `mode` says.

        Raise UsageError if the file exists with other tasks and may be neither reused nor replaced.
        """
        if mode == "reuse" and self.path.exists():
            self._check_origin()
            say(f"using the tasks of {self.path} as they are")
            return
        if mode == "reuse":
            say(f"{self.path} does not exist yet, and is written now")
        with drafts.open(self.path, replaces=anything) as file:
            write(file)
        if self.path.exists() and filecmp.cmp(self.path, drafts.current(self.path), shallow=False):
            drafts.drop(self.path)
        elif self.path.exists() and mode != "replace":
            raise UsageError(
                f"{self.path} exists already, with other tasks than the datasets have now\n"
                "  what to do: collect them as they are with --reuse-existing-data-preparation or"
                " --input, replace them with --overwrite, or give another output_jsonl_fpath"
            )
        with drafts.open(self.origin_path, replaces=anything) as file:
            file.write(_text(self.origin))

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
