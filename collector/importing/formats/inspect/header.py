"""What an Inspect log says about itself: its version, its model, its scorers and its samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from collector.errors import FileError
from collector.importing.attempts import Identity, Json
from collector.importing.json_values import count, items, part, sampling, text

NEWEST_VERSION = 3
SCALARS = (str, int, float, bool)


@dataclass(frozen=True)
class Headline:
    """Which score stands for an evaluation, as far as its log says."""

    scorer: str | None = None
    score: str | None = None
    """The name of the score: that of the scorer, or one of its several values."""

    def names(self, scorer: str, name: str) -> bool:
        """Tell whether a score is meant: `name` is the scorer's, or `<scorer>/<value>`."""
        is_score = self.score in (name, name.removeprefix(f"{scorer}/"))
        return is_score and self.scorer in (None, scorer)


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
        return part(self.values, "eval")

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
        return count(part(self.eval, "config").get("epochs")) or 1

    @property
    def sample_ids(self) -> list[str]:
        """Return the ids of the samples; old logs do not have them."""
        return [str(one) for one in items(part(self.eval, "dataset"), "sample_ids")]

    @property
    def scorers(self) -> list[str]:
        """Return the names of the scorers, in their order."""
        return list(dict.fromkeys(self._scorers()))

    @property
    def headline(self) -> Headline:
        """Return the score that stands for the evaluation: what the log names, else its first."""
        results = part(self.values, "results")
        first = next(iter(items(results, "scores")), None)
        named = part(results, "headline") or part(self.eval, "headline_metric")
        if named.get("scorer") or named.get("score"):
            return Headline(text(named.get("scorer")), text(named.get("score")))
        if isinstance(first, dict) and text(first.get("scorer")):
            return Headline(text(first.get("scorer")), text(first.get("name")))
        return Headline()

    @property
    def error(self) -> str:
        """Return the error that ended the run, or an empty text."""
        return str(part(self.values, "error").get("message") or "")

    def identity(self) -> Identity:
        """Return what tells this run apart from others."""
        version = part(self.eval, "packages").get("inspect_ai")
        stats = part(self.values, "stats")
        return Identity(
            framework="inspect",
            framework_version=str(version) if version else None,
            models=(self.model,) if self.model else (),
            agent=text(self.eval.get("solver")),
            environment=text(self.eval.get("task")),
            sampling=self._sampling(),
            started_at=text(stats.get("started_at")) or text(self.eval.get("created")),
            ended_at=text(stats.get("completed_at")),
            tags=self._tags(),
        )

    def _scorers(self) -> Iterator[str]:
        results = part(self.values, "results")
        version_1 = [results.get("scorer")]
        for one in [*items(self.eval, "scorers"), *items(results, "scores"), *version_1]:
            if isinstance(one, dict) and isinstance(one.get("name"), str):
                yield one["name"]

    def _sampling(self) -> Json:
        plan = part(self.values.get("plan"), "config")
        return sampling({**plan, **part(self.eval, "model_generate_config")})

    def _tags(self) -> dict[str, str]:
        metadata = part(self.eval, "metadata")
        tags = {name: str(one) for name, one in metadata.items() if isinstance(one, SCALARS)}
        named = items(self.values, "tags") or items(self.eval, "tags")
        if named:
            tags["tags"] = ", ".join(map(str, named))
        if self.eval.get("run_id"):
            tags["inspect_run_id"] = str(self.eval["run_id"])
        return {**tags, "inspect_status": self.status}
