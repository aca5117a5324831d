"""Describe what is wrong with a run: a message for people, and fields for scripts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from collector.artifacts import Run
from collector.errors import FileError, InvariantError, LinesError
from collector.profiling.manifest import CompiledModel
from collector.terminal import counted_noun


@dataclass(frozen=True)
class RunProblem:
    """The first problem of one run, with the exit code that the command ends with."""

    run: Run
    kind: str
    message: str
    exit_code: int
    count: int = 0
    keys: tuple[tuple[int, int], ...] = ()
    lines: tuple[int, ...] = ()


def file_problem(run: Run, error: FileError) -> RunProblem:
    """Describe a file that cannot be read, or that has lines that cannot be used."""
    problem = RunProblem(run, "unreadable_file", str(error), error.exit_code)
    if isinstance(error, LinesError):
        lines = tuple(error.numbers)
        return replace(problem, kind="unreadable_lines", count=error.count, lines=lines)
    return problem


def fates_of_missing(missing: int, *, failed: int, refused: int) -> list[str]:
    """Say what resuming does for missing rollouts, if some failed, or even failed for good."""
    fates = {
        "failed for good: resuming does not try again, and the failures file says why": refused,
        "failed: resuming tries again, if --max-attempts allows more attempts": failed - refused,
        "left no failure: resuming runs them": missing - failed if failed else 0,
    }
    return [f"  {counted_noun(count, 'rollout')} {fate}" for fate, count in fates.items() if count]


def invariant_problem(
    run: Run,
    audit: CompiledModel,
    *,
    count: int,
    keys: list[tuple[int, int]],
    advice: str = "",
) -> RunProblem:
    """Describe the rows that an audit returned for a run; `keys` has only the first of them."""
    file = run.inputs if audit.name.startswith("audit_inputs") else run.rollouts
    more = ", …" if count > len(keys) else ""
    message = (
        f"{audit.meta['kind']} in {file}\n"
        f"  {audit.meta['invariant']}: {count}\n"
        f"  (task, rollout): {', '.join(map(str, keys))}{more}\n"
        + (advice or f"  what to do: {audit.meta['advice']}")
    )
    return RunProblem(
        run=run,
        kind=audit.meta["kind"],
        message=message,
        exit_code=InvariantError.exit_code,
        count=count,
        keys=tuple(keys),
    )
