"""The data of a chart: JSON for the script that draws it, and rows for a table of its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from collector.viewer.marts.store import Query
from collector.viewer.text import visible_text
from collector.warehouse.sql import Row

Kind = Literal["bars", "lines", "points"]


@dataclass(frozen=True)
class Series:
    """The values of one line or set of bars, with their intervals; each list has one item per x."""

    name: str
    y: list[float | None]
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)


@dataclass(frozen=True)
class Chart:
    """A chart: `data` is JSON for `charts.js`, `rows` are the same values as a table."""

    name: str
    title: str
    kind: Kind
    x_label: str
    y_label: str
    x: list[float | str]
    series: list[Series]
    query: Query | None
    rows: list[Row]
    hrefs: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    """What to call each place on the x axis, in addition to its values."""
    sizes: list[int] = field(default_factory=list)
    """What each point stands for, as a count; its area shows that."""
    has_diagonal: bool = False
    """Whether a line shows where x and y are the same; both axes then have the same range."""
    is_jittered: bool = False
    """Whether points with the same y are drawn somewhat apart."""
    note: str = ""
    y_max: float | None = None

    @property
    def data(self) -> dict[str, Any]:
        """Return the JSON that the script draws."""
        return {
            "kind": self.kind,
            "title": visible_text(self.title),
            "xLabel": visible_text(self.x_label),
            "yLabel": visible_text(self.y_label),
            "x": [visible_text(value) if isinstance(value, str) else value for value in self.x],
            "series": [
                {"name": visible_text(one.name), "y": one.y, "low": one.low, "high": one.high}
                for one in self.series
            ],
            "hrefs": self.hrefs,
            "labels": [visible_text(label) for label in self.labels],
            "sizes": self.sizes,
            "hasDiagonal": self.has_diagonal,
            "isJittered": self.is_jittered,
            "yMax": self.y_max,
        }
