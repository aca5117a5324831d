"""The scores of a samples file: one filter's rows are the attempts, those of others are metrics."""

from __future__ import annotations

from collector.importing.attempts import Json
from collector.importing.json_values import items, number

OWN = (
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
)
Document = int | str
Values = tuple[float | None, ...]


class FilterScores:
    """Chooses filter and metric of the reward, and keeps the scores of the other filters."""

    def __init__(self, wanted: str | None) -> None:
        """Take `METRIC` or `METRIC,FILTER`; None means the first of both."""
        self.chosen: str | None = None
        """The filter whose rows are the attempts; None if no row has the wanted metric."""
        self.metric = ""
        self.documents: set[Document] = set()
        self.of_all_documents: dict[str, None] = {}
        """Metrics without a value per document: the harness computes them over all documents."""
        self._wanted = wanted
        self._names: dict[str, tuple[str, ...]] = {}
        self._others: dict[str, dict[Document, Values]] = {}

    def note(self, row: Json) -> None:
        """Read the scores of a row."""
        name, scores = filter_of(row), scores_of(row)
        self.of_all_documents |= dict.fromkeys(
            metric for metric in metric_names(row) if isinstance(row.get(metric), list)
        )
        if self.chosen is None:
            self._choose(name, scores)
        if name == self.chosen:
            self.documents.add(document_of(row))
            self._names.setdefault(name, tuple(scores))
            return
        names = self._names.setdefault(name, tuple(scores))
        values = tuple(scores.get(one) for one in names)
        self._others.setdefault(name, {})[document_of(row)] = values

    def all_names(self) -> list[str]:
        """Return every score as `METRIC,FILTER`."""
        return [f"{metric},{name}" for name, metrics in self._names.items() for metric in metrics]

    def other_filters(self) -> list[str]:
        """Return the filters whose rows are not attempts."""
        return list(self._others)

    def others(self, document: Document) -> dict[str, float]:
        """Return the scores of a document by the other filters, as `METRIC_FILTER`."""
        return {
            f"{metric}_{name}": value
            for name, documents in self._others.items()
            for metric, value in zip(self._names[name], documents.get(document, ()), strict=False)
            if value is not None
        }

    def _choose(self, name: str, scores: dict[str, float]) -> None:
        """Choose the filter of a row if it has what is wanted."""
        for metric in scores:
            if self._wanted in (None, metric, f"{metric},{name}"):
                self.chosen, self.metric = name, metric
                self.documents = {*self._others.pop(name, {})}
                return


def filter_of(row: Json) -> str:
    """Return the filter of a row."""
    return str(row.get("filter", "none"))


def document_of(row: Json) -> Document:
    """Return the document of a row."""
    found = row.get("doc_id")
    return found if isinstance(found, int) else str(found)


def scores_of(row: Json) -> dict[str, float]:
    """Return the metrics of a row that are numbers; older versions do not name them."""
    return {
        name: value for name in metric_names(row) if (value := number(row.get(name))) is not None
    }


def metric_names(row: Json) -> list[str]:
    """Return the names of the metrics of a row, whatever their values are."""
    named = [name for name in items(row, "metrics") if isinstance(name, str)]
    return named or [name for name in row if name not in OWN]
