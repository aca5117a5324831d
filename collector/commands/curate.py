"""`spotter curate`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector.commands.common import AllowPartial, Json, MemoryLimit, Warehouse, print_json
from collector.errors import UsageError
from collector.terminal import Progress, say, show

if TYPE_CHECKING:
    from collector.curating.curate import CurateRequest
    from collector.curating.recipe import Recipe
    from collector.curating.topup import Budget, PlanRequest
    from collector.profiling.profile import Outcome
    from collector.profiling.sources import RunListener

BUDGET = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([kMG]?)\s*(rollouts|tokens)?", re.ASCII)
SIZES = {"": 1, "k": 1_000, "M": 1_000_000, "G": 1_000_000_000}


def curate(
    run: Annotated[
        str,
        typer.Argument(
            show_default=False,
            help="A run of the warehouse, or a rollouts file, which is profiled if the warehouse"
            " does not have it unchanged.",
        ),
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            show_default=False,
            readable=False,
            help="The file for the chosen tasks. The manifest goes beside it.",
        ),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option(
            show_default="every task, in the order of the input",
            readable=False,
            help="A YAML file that says which tasks to keep, how many, and in which order.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Choose nothing; write which tasks need more rollouts before the recipe can"
            " decide, for `spotter collect --plan`.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            show_default="no limit",
            help="The most that a plan may cost: rollouts, `500`, or output tokens, `2M tokens`.",
        ),
    ] = None,
    warehouse: Warehouse = Path("warehouse.duckdb"),
    agent: Annotated[
        str | None,
        typer.Option(help="The agent whose rollouts count, if several agents ran the same tasks."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="An earlier run or rollouts file: shows what is newly solved, newly learnable or"
            " forgotten since then.",
        ),
    ] = None,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            show_default="the original rows",
            help="Write for a trainer: `verl`, `skyrl` or `slime`; or write transcripts of stored"
            " rollouts: `sft` (the best of each task) or `dpo` (the best and the worst).",
        ),
    ] = None,
    prompt_field: Annotated[
        str | None,
        typer.Option(
            show_default="`responses_create_params.input`",
            help="For a trainer: the field with the prompt.",
        ),
    ] = None,
    answer_field: Annotated[
        str | None,
        typer.Option(
            show_default="`ground_truth`, `expected_answer` and the like",
            help="For a trainer: the field with the right answer, with dots for inner fields; an"
            " empty text writes no answers.",
        ),
    ] = None,
    data_source: Annotated[
        str | None,
        typer.Option(show_default="the agent", help="For verl and SkyRL: the data source."),
    ] = None,
    ability: Annotated[
        str | None, typer.Option(show_default="the category", help="For verl: the ability.")
    ] = None,
    env_class: Annotated[
        str | None, typer.Option(help="For SkyRL: the class of the environment.")
    ] = None,
    split: Annotated[str, typer.Option(help="For a trainer: the name of the split.")] = "train",
    least_reward: Annotated[
        float | None,
        typer.Option(
            show_default="the pass threshold", help="For `sft`: the least reward of a rollout."
        ),
    ] = None,
    least_difference: Annotated[
        float | None,
        typer.Option(
            show_default="one passes, the other does not",
            help="For `dpo`: the least difference of the rewards.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Draw the pass rates before and after as a picture: an `.svg` or `.png` file.",
        ),
    ] = None,
    annotate: Annotated[
        bool,
        typer.Option(
            "--annotate", help="Add the field `spotter` to each row: its pass rate, band and run."
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the output if it exists.")
    ] = False,
    allow_partial: AllowPartial = False,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Choose the tasks to train on, by a recipe.

    Writes the original input rows of the chosen tasks, and a manifest that says how they were
    chosen. The same recipe and run give the same bytes. docs/curating.md describes recipes.

    \b
    spotter curate results/rollouts.jsonl -o train.jsonl --recipe recipe.yml
    spotter curate step-200 -o train.jsonl --recipe recipe.yml --since step-100
    spotter curate results/rollouts.jsonl --plan plan.jsonl --budget 500
    """
    from collector.curating.curate import CurateRequest
    from collector.curating.formats.fields import FormatFields
    from collector.curating.output import OutputForm
    from collector.curating.recipe import Recipe
    from collector.curating.recipe_files import read_recipe
    from collector.curating.topup import PlanRequest

    if (output is None) == (plan is None):
        raise UsageError("give either --output, to choose tasks, or --plan, to plan more rollouts")
    if budget is not None and plan is None:
        raise UsageError("--budget is the limit of a plan: give --plan too")
    chosen = read_recipe(recipe) if recipe else Recipe()
    folder = recipe.parent if recipe else Path()
    if plan is not None:
        if annotate or since or for_ or plot:
            raise UsageError(
                "--plan chooses no tasks: leave out --annotate, --since, --for and --plot"
            )
        _plan(
            PlanRequest(
                run=run,
                warehouse=warehouse.absolute(),
                plan=plan,
                recipe=chosen,
                recipe_folder=folder,
                budget=_budget(budget),
                agent=agent,
                is_overwriting=overwrite,
                is_partial_allowed=allow_partial,
                memory_limit=memory_limit,
            ),
            as_json=json,
        )
        return
    assert output
    _curate(
        CurateRequest(
            run=run,
            warehouse=warehouse.absolute(),
            output=output,
            recipe=chosen,
            recipe_folder=folder,
            agent=agent,
            since=since,
            form=OutputForm(
                name=for_,
                fields=FormatFields(
                    prompt=prompt_field,
                    answer=answer_field,
                    data_source=data_source,
                    ability=ability,
                    env_class=env_class,
                    split=split,
                ),
                least_reward=least_reward,
                least_difference=least_difference,
            ),
            plot=plot,
            is_annotated=annotate,
            is_overwriting=overwrite,
            is_partial_allowed=allow_partial,
            memory_limit=memory_limit,
        ),
        chosen,
        as_json=json,
    )


def _curate(request: CurateRequest, recipe: Recipe, *, as_json: bool) -> None:
    from collector.curating.curate import curate as curate_run
    from collector.curating.report import curate_blocks, curate_warnings, output_notes

    progress, listener = _listener()
    try:
        result = curate_run(request, listener)
    finally:
        progress.clear()
    _warn(result.outcomes)
    for warning in curate_warnings(result, recipe):
        say(f"warning: {warning}")
    for note in output_notes(result.manifest["output"]):
        say(note)
    if as_json:
        print_json(result.manifest)
    else:
        show(list(curate_blocks(result)))


def _plan(request: PlanRequest, *, as_json: bool) -> None:
    from collector.curating.report import plan_blocks
    from collector.curating.topup import plan_rollouts

    progress, listener = _listener()
    try:
        result = plan_rollouts(request, listener)
    finally:
        progress.clear()
    _warn(result.outcomes)
    if as_json:
        print_json(result.as_data())
    else:
        show(list(plan_blocks(result)))


def _listener() -> tuple[Progress, RunListener]:
    from collector.profiling.sources import RunListener

    progress = Progress()
    return progress, RunListener(progress=progress, say=progress.say)


def _warn(outcomes: list[Outcome]) -> None:
    from collector.profiling.doubts import warnings

    for outcome in outcomes:
        for warning in warnings(outcome):
            say(f"warning: {warning}")


def _budget(text: str | None) -> Budget:
    """Return the limit that a text means: rollouts, or output tokens."""
    from collector.curating.topup import Budget

    if text is None:
        return Budget()
    found = BUDGET.fullmatch(text.strip())
    if not found:
        raise UsageError(f"--budget {text!r}: write it like 500, `500 rollouts` or `2M tokens`")
    amount = float(found[1].replace("_", "").replace(",", "")) * SIZES[found[2]]
    if found[3] == "tokens":
        return Budget(tokens=amount)
    return Budget(rollouts=int(amount))
