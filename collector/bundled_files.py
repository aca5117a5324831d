"""Where files are that a config or a command names: here, or among those that come with spotter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from collector.errors import FileError

# laid out as NeMo Gym is: resources_servers/<name>/data/train.jsonl
GYM_ROOT = Path(__file__).parent / "servers"
# the setting that tells where a config came from, so that paths in it can be found
ORIGIN = "_config_dir"


def find_file(text: str | Path, config_dir: Path | None = None) -> Path:
    """Return a file: below the current folder, near the config that names it, or the gym's own.

    Near a config is its own folder, and the one that its checkout begins in.
    """
    near = [config_dir, *config_dir.absolute().parents[2:3]] if config_dir else []
    folders = [Path.cwd(), *near]
    for folder in folders:
        if (folder / text).is_file():
            return folder / text
    if found := bundled_file(text, folders):
        return found
    near_config = ", near the config," if config_dir else ""
    raise FileError(f"cannot find {text} here{near_config} or among the files of spotter")


def bundled_file(text: str | Path, folders: Iterable[Path] = (Path(),)) -> Path | None:
    """Return a file that comes with spotter; raise FileError if it would be of another environment.

    A folder with an environment of the same name has tables of its own: our tasks on these tables
    would be judged wrongly, without a word.
    """
    path = GYM_ROOT / text
    if not path.is_file():
        return None
    environment = Path(*Path(text).parts[:2])
    for folder in folders:
        if Path(text).parts[2:3] == ("data",) and (folder / environment / "configs").is_dir():
            raise FileError(
                f"{folder / environment} has no {Path(*Path(text).parts[2:])}\n"
                "  what to do: download the file, or name another one; the file of that name that"
                " comes with spotter belongs to other tables"
            )
    return path
