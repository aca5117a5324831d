"""A folder that costs much to fill: filled once, and as it was at the start of each test."""

from __future__ import annotations

import shutil
from pathlib import Path


class RestoredFolder:
    """A folder that tests may change. Its path stays: a warehouse names the files of its runs."""

    def __init__(self, folder: Path) -> None:
        """Keep a copy of the folder as it is now."""
        self.folder = folder
        self._kept = folder.with_name(f"{folder.name}-kept")
        shutil.copytree(folder, self._kept)

    def restore(self) -> Path:
        """Return the folder with what it had in the beginning, and nothing else."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._kept, self.folder)  # with the times of the files
        return self.folder
