"""What an Inspect log says about itself: its version, its model, its scorers and its samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.errors import FileError
from collector.importing.attempts import Identity, Json

NEWEST_VERSION = 3
SCALARS = (str, int, float, bool)


@dataclass(frozen=True)
class Header:
    """The header of a log, as it is in the file."""

    path: Path
    values: Json

    def check(self) -> None:
        """Raise FileError if this is not the header of a log that can be read."""
        version = self.values.get("version")
        if not isinstance(version, int) or not isinstance(self.values.get("eval"), dict):
            raise FileError(f"{self.path} is not a log of Inspect: its header is not complete")
        if version > NEWEST_VERSION:
            raise FileError(
                f"cannot read {self.path}: it has version {version} of Inspect's log format, and"
                f" versions up to {NEWEST_VERSION} are known\n"
                "  what to do: update Spotter, or convert the log with `inspect log convert`"
            )

    @property
    def eval(self) -> Json:
        """Return the description of the evaluation."""
        return self._object("eval")

    @property
    def status(self) -> str:
        """Return how the run ended; a log that nobody finished says `started`."""
        return str(self.values.get("status") or "started")

    @property
    def model(self) -> str:
        """Return the name of the model that was evaluated."""
        return str(self.eval.get("model") or "")

    @property
    def epochs(self) -> int:
        """Return how often each sample was to be run."""
        config = self.eval.get("config")
        epochs = config.get("epochs") if isinstance(config, dict) else None
        return epochs if isinstance(epochs, int) and epochs > 0 else 1

    @property
    def sample_ids(self) -> list[str]:
        """Return the ids of the samples; old logs do not have them."""
        dataset = self.eval.get("dataset")
        ids = dataset.get("sample_ids") if isinstance(dataset, dict) else None
        return [str(one) for one in ids] if isinstance(ids, list) else []

    @property
    def scorers(self) -> list[str]:
        """Return the names of the scorers, in their order."""
        return list(dict.fromkeys(self._scorers()))

    @property
    def error(self) -> str:
        """Return the error that ended the run, or an empty text."""
        error = self.values.get("error")
        return str(error.get("message") or "") if isinstance(error, dict) else ""

    def identity(self) -> Identity:
        """Return what tells this run apart from others."""
        packages = self.eval.get("packages")
        version = packages.get("inspect_ai") if isinstance(packages, dict) else None
        stats = self._object("stats")
        return Identity(
            framework="inspect",
            framework_version=str(version) if version else None,
            models=(self.model,) if self.model else (),
            agent=_text(self.eval.get("solver")),
            environment=_text(self.eval.get("task")),
            sampling=self._sampling(),
            started_at=_text(stats.get("started_at")) or _text(self.eval.get("created")),
            ended_at=_text(stats.get("completed_at")),
            tags=self._tags(),
        )

    def _scorers(self) -> Iterator[str]:
        for scorer in _objects(self.eval.get("scorers")):
            yield str(scorer.get("name"))
        results = self._object("results")
        for score in _objects(results.get("scores")):
            yield str(score.get("name"))
        if isinstance(results.get("scorer"), dict):  # version 1
            yield str(results["scorer"].get("name"))

    def _sampling(self) -> Json:
        plan = self._object("plan").get("config")
        own = self.eval.get("model_generate_config")
        settings = {
            **(plan if isinstance(plan, dict) else {}),
            **(own if isinstance(own, dict) else {}),
        }
        return {name: value for name, value in settings.items() if name != "max_connections"}

    def _tags(self) -> dict[str, str]:
        metadata = self.eval.get("metadata")
        tags = {
            name: str(value)
            for name, value in (metadata if isinstance(metadata, dict) else {}).items()
            if isinstance(value, SCALARS)
        }
        named = self.values.get("tags") or self.eval.get("tags") or []
        if isinstance(named, list) and named:
            tags["tags"] = ", ".join(map(str, named))
        if self.eval.get("run_id"):
            tags["inspect_run_id"] = str(self.eval["run_id"])
        return {**tags, "inspect_status": self.status}

    def _object(self, name: str) -> Json:
        value = self.values.get(name)
        return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
