"""What a chart shows, for the script that draws it and for those who read it as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from collector.viewer.marts.store import Query
from collector.viewer.text import plain
from collector.warehouse.sql import Row

Kind = Literal["bars", "lines", "points"]


@dataclass(frozen=True)
class Series:
    """Values with what they could be: each list has one value for every place on the x axis."""

    name: str
    y: list[float | None]
    low: list[float | None] = field(default_factory=list)
    high: list[float | None] = field(default_factory=list)


@dataclass(frozen=True)
class Chart:
    """A chart: its data is JSON for `app.js`, its rows are the same for reading."""

    name: str
    title: str
    kind: Kind
    x_label: str
    y_label: str
    x: list[float | str]
    series: list[Series]
    query: Query
    rows: list[Row]
    hrefs: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    """What to say of each place, beyond its values."""
    note: str = ""
    y_max: float | None = None

    @property
    def data(self) -> dict[str, Any]:
        """Return what the script draws."""
        return {
            "kind": self.kind,
            "title": self.title,
            "xLabel": self.x_label,
            "yLabel": self.y_label,
            "x": [plain(value) if isinstance(value, str) else value for value in self.x],
            "series": [
                {"name": plain(one.name), "y": one.y, "low": one.low, "high": one.high}
                for one in self.series
            ],
            "hrefs": self.hrefs,
            "labels": [plain(label) for label in self.labels],
            "yMax": self.y_max,
        }
