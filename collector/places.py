"""Where files are that a config or a command names: here, or among those that come with spotter."""

from __future__ import annotations

from pathlib import Path

from collector.errors import FileError

# laid out as NeMo Gym is: resources_servers/<name>/data/train.jsonl
GYM_ROOT = Path(__file__).parent / "servers"


def find_file(text: str | Path, *folders: Path) -> Path:
    """Return a file: below the current folder, one of the given ones, or the gym's own."""
    for folder in (Path.cwd(), *folders, GYM_ROOT):
        path = folder / text
        if path.is_file():
            return path
    raise FileError(f"cannot find {text}, neither here nor among the files that come with spotter")
