"""Addresses of pages. The address holds all settings of a page, so that a link shows the same."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode


def address(path: str, **values: Any) -> str:
    """Return a path with its query string; values that are None or empty are left out.

    A list gives its name several times.
    """
    query = {name: value for name, value in values.items() if value not in (None, "")}
    return f"{path}?{urlencode(query, doseq=True, errors='replace')}" if query else path


class Links:
    """The addresses of the viewer's pages; a report overrides them."""

    is_report = False

    def to(self, path: str, **values: Any) -> str:
        """Return the address of a path with its parameters."""
        return address(path, **values)

    def runs(self, **state: Any) -> str:
        """Return the address of the table of runs, filtered and sorted."""
        return self.to("/", **state)

    def compare(self, first: str, second: str, **state: Any) -> str:
        """Return the address of the comparison of two runs."""
        return self.to("/compare", a=first, b=second, **state)

    def run(self, run: str, agent: str | None = None) -> str:
        """Return the address of a run."""
        return self.to("/run", run=run, agent=agent)

    def tasks(self, run: str, **state: Any) -> str:
        """Return the address of the table of a run's tasks, filtered and sorted."""
        return self.to("/tasks", run=run, **state)

    def rollouts(self, run: str, **state: Any) -> str:
        """Return the address of the table of a run's rollouts, filtered and sorted."""
        return self.to("/rollouts", run=run, **state)

    def curate(self, run: str, **rules: Any) -> str:
        """Return the address of the page that chooses tasks of a run by rules."""
        return self.to("/curate", run=run, **rules)

    def task(self, run: str, task: int, **state: Any) -> str:
        """Return the address of a task."""
        return self.to("/task", run=run, task=task, **state)

    def rollout(self, run: str, task: int, rollout: int, **state: Any) -> str:
        """Return the address of a rollout."""
        return self.to("/rollout", run=run, task=task, rollout=rollout, **state)

    def sql(self, query: str) -> str:
        """Return the address of the SQL page with a query."""
        return self.to("/sql", q=query)
