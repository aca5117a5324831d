"""Find the files that a config or a command names: on disk, or among those bundled with Spotter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from collector.errors import FileError

# has the layout of NeMo Gym: resources_servers/<name>/data/train.jsonl
GYM_ROOT = Path(__file__).parent / "servers"
# the setting that holds the folder of a config, to find the paths in that config
ORIGIN = "_config_dir"


def find_file(text: str | Path, config_dir: Path | None = None) -> Path:
    """Return the path of a file; raise FileError if it does not exist.

    Look in the current folder, then in the config's folder and the root of its checkout, then
    among the bundled files.
    """
    near = [config_dir, *config_dir.absolute().parents[2:3]] if config_dir else []
    folders = [Path.cwd(), *near]
    for folder in folders:
        if (folder / text).is_file():
            return folder / text
    if found := bundled_file(text, folders):
        return found
    near_config = ", near the config," if config_dir else ""
    raise FileError(
        f"cannot find {text} in the current folder{near_config} or among the files of Spotter"
    )


def bundled_file(text: str | Path, folders: Iterable[Path] = (Path(),)) -> Path | None:
    """Return the path of a bundled file, or None.

    Raise FileError if one of the folders holds an environment of the same name: the bundled tasks
    do not belong to its tables, so their verdicts would be silently wrong.
    """
    path = GYM_ROOT / text
    if not path.is_file():
        return None
    environment = Path(*Path(text).parts[:2])
    for folder in folders:
        if Path(text).parts[2:3] == ("data",) and (folder / environment / "configs").is_dir():
            raise FileError(
                f"{folder / environment} has no {Path(*Path(text).parts[2:])}\n"
                "  what to do: download the file, or name another one. The file of that name that"
                " comes with Spotter belongs to other tables"
            )
    return path
