"""Make a release: build the sdist and the wheel, and run the demo from the wheel.

`make release` runs this script. The files appear in dist/ only if the demo succeeds in a new
virtual environment and an empty folder, so without any file of the checkout.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
UNRELEASED = "Unreleased"
HEADING = re.compile(r"^## +(\S+).*$", re.MULTILINE)
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


class StepError(Exception):
    """A step of the release failed; its command has printed the reason."""


def main() -> None:
    """Check the changelog, build, try the wheel, and put both files into dist/."""
    version = _output([sys.executable, "-m", "hatchling", "metadata", "version"])
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if problem := changelog_problem(changelog, version):
        sys.exit(f"error: {problem}")
    folder = Path(tempfile.mkdtemp(prefix="spotter-release-"))
    try:
        built = build(folder)
    except StepError as error:
        # keep the folder: the demo's message may name a log in it
        sys.exit(f"error: {error}; dist/ is unchanged, and {folder} has the files built so far")
    dist = ROOT / "dist"
    dist.mkdir(exist_ok=True)
    for path in built:
        shutil.copy(path, dist)
        print(f"dist/{path.name}")
    shutil.rmtree(folder)


def build(folder: Path) -> list[Path]:
    """Build the sdist and the wheel in a folder, and run the demo from the wheel."""
    sdist = build_sdist(folder / "sdist")
    wheel = build_wheel(sdist, folder / "wheel")
    run_demo(wheel, folder)
    return [sdist, wheel]


def changelog_problem(text: str, version: str) -> str | None:
    """Return why a changelog does not describe a version, or None if it does."""
    # the text before the first heading, then headings and sections alternately
    _, *parts = HEADING.split(text)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    if version not in sections:
        found = ", ".join(f"'## {heading}'" for heading in sections) or "none"
        return (
            f"CHANGELOG.md has no heading '## {version}' for this version; its headings: {found}\n"
            f"  what to do: rename '## {UNRELEASED}' to '## {version}'"
        )
    if sections.get(UNRELEASED, "").strip():
        return (
            f"CHANGELOG.md still has entries under '## {UNRELEASED}', which this release would"
            f" contain\n  what to do: move them to '## {version}', or raise the version"
        )
    return None


def build_sdist(folder: Path) -> Path:
    """Build the sdist from the checkout."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    _run("building the sdist", command, env={**os.environ, "HATCH_QUIET": "1"})
    (sdist,) = folder.iterdir()
    return sdist


def build_wheel(sdist: Path, folder: Path) -> Path:
    """Build the wheel from the sdist, which shows that the sdist is complete, and from the plan."""
    with tempfile.TemporaryDirectory(prefix="spotter-wheel-") as unpacked:
        shutil.unpack_archive(sdist, unpacked, filter="data")
        (source,) = Path(unpacked).iterdir()
        add_plan(source)
        options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
        _run("building the wheel", [sys.executable, *PIP, "wheel", *options, str(source)])
    (wheel,) = folder.iterdir()
    return wheel


def add_plan(source: Path) -> None:
    """Put the compiled plan into a copy of the project: users need not wait for dbt."""
    from collector.profiling import plan

    print("compiling the plan …", flush=True)
    compiled = plan.load_plan()
    path = source / plan.packaged_plan(plan.project_digest()).relative_to(ROOT)
    path.parent.mkdir()
    plan.store_plan(compiled, path)


def run_demo(wheel: Path, folder: Path) -> None:
    """Install the wheel in a new virtual environment, and run the demo in an empty folder."""
    environment = folder / "venv"
    _run("making a virtual environment", [sys.executable, "-m", "venv", str(environment)])
    python = environment / "bin" / "python"
    _run("installing the wheel in it", [str(python), *PIP, "install", str(wheel)])
    empty = folder / "empty"
    empty.mkdir()
    _run(
        "running the demo from it",
        [str(environment / "bin" / "spotter"), "demo"],
        cwd=empty,
        env=_clean_environment(cache=folder / "cache"),
    )


def _clean_environment(*, cache: Path) -> dict[str, str]:
    """Return the environment without the variables that could lead back to the checkout."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONPATH" and not name.startswith("SPOTTER_")
    }
    return {**kept, "SPOTTER_CACHE": str(cache)}


def _run(
    step: str, command: Sequence[str], *, cwd: Path = ROOT, env: Mapping[str, str] | None = None
) -> None:
    print(f"{step} …", flush=True)
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise StepError(f"{step} failed with exit code {done.returncode}")


def _output(command: Sequence[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
