"""Addresses of pages: each holds the whole state of what it shows."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode


def address(path: str, **values: Any) -> str:
    """Return a link with its values; those that are absent are left out."""
    given = {name: value for name, value in values.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='replace')}" if given else path


class Links:
    """Where the pages of the viewer are; a report has its own."""

    is_report = False

    def to(self, path: str, **values: Any) -> str:
        """Return the address of a page with its values."""
        return address(path, **values)

    def runs(self, **state: Any) -> str:
        """Return the page of all runs, filtered and sorted."""
        return self.to("/", **state)

    def compare(self, first: str, second: str, **state: Any) -> str:
        """Return the page of two runs side by side."""
        return self.to("/compare", a=first, b=second, **state)

    def run(self, run: str, agent: str | None = None) -> str:
        """Return the page of a run."""
        return self.to("/run", run=run, agent=agent)

    def tasks(self, run: str, **state: Any) -> str:
        """Return the table of a run's tasks, filtered and sorted."""
        return self.to("/tasks", run=run, **state)

    def rollouts(self, run: str, **state: Any) -> str:
        """Return the table of a run's rollouts, filtered and sorted."""
        return self.to("/rollouts", run=run, **state)

    def task(self, run: str, task: int, **state: Any) -> str:
        """Return the page of a task."""
        return self.to("/task", run=run, task=task, **state)

    def rollout(self, run: str, task: int, rollout: int, **state: Any) -> str:
        """Return the page of a rollout."""
        return self.to("/rollout", run=run, task=task, rollout=rollout, **state)

    def sql(self, query: str) -> str:
        """Return the SQL page with a query."""
        return self.to("/sql", q=query)
