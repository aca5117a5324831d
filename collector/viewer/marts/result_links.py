"""Links from the ids in the result of a query to the pages of runs, tasks and rollouts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from collector.viewer.links import Links

RowLinks = Callable[[Sequence[str | None]], dict[int, str]]
# the columns of a run, a task and a rollout in the marts
KEYS = (
    ("run_id", "task_index", "rollout_index"),
    ("baseline_run_id", "baseline_task_index", ""),
)


def result_links(columns: Sequence[str], run_ids: Collection[str], links: Links) -> RowLinks:
    """Return a function that gives the addresses for the cells of a row, by the cell's place.

    A task needs its run in the same row, unless the warehouse has one run only.
    """
    places = {name.lower(): place for place, name in reversed(list(enumerate(columns)))}
    keys = [[places.get(name) for name in names] for names in KEYS]
    only_run = next(iter(run_ids)) if len(run_ids) == 1 else None

    def row_links(row: Sequence[str | None]) -> dict[int, str]:
        hrefs: dict[int, str] = {}
        for run_at, task_at, rollout_at in keys:
            run = row[run_at] if run_at is not None else only_run
            if run is None or run not in run_ids:
                continue
            if run_at is not None:
                hrefs[run_at] = links.run(run)
            task = _index(row, task_at)
            if task is None or task_at is None:
                continue
            hrefs[task_at] = links.task(run, task)
            rollout = _index(row, rollout_at)
            if rollout is not None and rollout_at is not None:
                hrefs[rollout_at] = links.rollout(run, task, rollout)
        return hrefs

    return row_links


def _index(row: Sequence[str | None], place: int | None) -> int | None:
    text = row[place] if place is not None else None
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None
