"""Build models in memory: two at a time, and dropped as soon as nothing reads them any more."""

from __future__ import annotations

import contextlib
import graphlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue

import duckdb

from collector.profiling.manifest import CompiledModel, Plan

THREADS = 2


def build_seeds(connection: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    """Create the look-up tables."""
    for seed in plan.seeds:
        connection.execute(f"create table {seed.relation} as {seed.sql}")


def match_rollouts(
    connection: duckdb.DuckDBPyConnection,
    plan: Plan,
    *,
    keeps_staging: bool,
    progress: Callable[[str], None],
) -> None:
    """Build the intermediate models of a batch, and drop the tables that nothing reads any more."""
    build_models(connection, plan.batch("intermediate"), progress=progress)
    readers = [model.sql for model in plan.batch("marts")]
    readers += [check.sql for check in plan.checks]
    layers = ("audits", "intermediate") if keeps_staging else ("staging", "audits", "intermediate")
    drop_unread(connection, plan.batch(*layers), readers)


def build_models(
    connection: duckdb.DuckDBPyConnection,
    models: Sequence[CompiledModel],
    *,
    progress: Callable[[str], None],
) -> None:
    """Build each model after the models it reads; raise the error of the first that fails.

    DuckDB plans a query on one thread, and small models take longer to plan than to execute. So
    two models are built at a time, each in a connection of its own.
    """
    by_name = {model.name: model for model in models}
    graph = {one.name: {other.name for other in models if reads(one, other)} for one in models}
    order = graphlib.TopologicalSorter(graph)
    order.prepare()
    running: set[Future[str]] = set()
    with contextlib.ExitStack() as stack:
        cursors = [stack.enter_context(connection.cursor()) for _ in range(THREADS)]
        free: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
        for cursor in cursors:
            free.put(cursor)
        pool = stack.enter_context(ThreadPoolExecutor(THREADS))
        try:
            while order.is_active():
                running |= {pool.submit(_build, by_name[name], free) for name in order.get_ready()}
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    progress(future.result())
                    order.done(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for cursor in cursors:
                cursor.interrupt()
            raise


def _build(model: CompiledModel, free: SimpleQueue[duckdb.DuckDBPyConnection]) -> str:
    cursor = free.get()
    try:
        cursor.execute(f"create or replace table {model.relation} as {model.sql}")
    finally:
        free.put(cursor)
    return model.name


def drop_unread(
    connection: duckdb.DuckDBPyConnection,
    models: Iterable[CompiledModel],
    readers: Sequence[str],
) -> None:
    """Drop the tables of models that no query of `readers` names: the memory is needed later."""
    for model in models:
        if not any(model.relation in sql for sql in readers):
            connection.execute(f"drop table {model.relation}")


def reads(model: CompiledModel, other: CompiledModel) -> bool:
    """Tell whether a model reads another one."""
    return other is not model and other.relation in model.sql
