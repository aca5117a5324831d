"""The settings of `collect`, `aggregate` and `reverify`: the one place where each is declared.

A field has its type, default and checks. The `Option` in its annotation adds what the command line
needs: flags that are not its name with dashes, and the help, which is also its row in
docs/commands.md. `OverrideName` and the notes beside it are for NeMo Gym's `+key=value` form.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Self

from pydantic import AfterValidator, Field, NonNegativeInt, StrictBool, model_validator
from typer import Option

from collector.artifacts import NO_ROLLOUTS
from collector.collection.row_params import LIMIT, OLD_LIMIT
from collector.collection.settings.connection import Connection, Waiting
from collector.collection.settings.counting import Counting
from collector.collection.settings.rows import DEFAULT, RowSettings, positive_or_none
from collector.collection.settings.sessions import SessionSettings
from collector.collection.settings.stopping import StoppingSettings


def _valid_rollouts_path(path: Path) -> Path:
    if path.suffix != ".jsonl" or path.name.endswith(NO_ROLLOUTS):
        raise ValueError(
            f"{path} cannot be a rollouts file: its name must end in .jsonl, and not in "
            + ", ".join(NO_ROLLOUTS)
        )
    return path


RolloutsPath = Annotated[Path, AfterValidator(_valid_rollouts_path)]


class AggregateSettings(Counting, Connection):
    """The settings of `spotter aggregate`."""

    input_glob: Annotated[
        str,
        Field(min_length=1),
        Option(
            "--input-glob",
            "--input",
            "-i",
            help="The rollouts files: patterns separated by commas. Other artifacts that match are"
            " skipped.",
        ),
    ]
    output_jsonl_fpath: Annotated[
        RolloutsPath,
        Option(
            "--output-jsonl-fpath",
            "--output",
            "-o",
            help="The merged rollouts file. The metrics file is named after it.",
        ),
    ]
    merge_shards: Annotated[
        StrictBool,
        Option("--merge-shards/--no-merge-shards", help="Write the merged files."),
    ] = True
    overwrite: Annotated[StrictBool, Option(help="Replace an earlier merged file.")] = False


class CallSettings(SessionSettings, Counting, Waiting):
    """The settings of whatever calls servers rollout by rollout."""


class CollectOptions(RowSettings, StoppingSettings, CallSettings, Connection):
    """The settings of `spotter collect`; with `--serve`, the task file may come later."""

    input_jsonl_fpath: Annotated[
        Path | None,
        Option(
            "--input-jsonl-fpath",
            "--input",
            "-i",
            readable=False,
            help="The task file; not needed with `--serve` or `--plan`.",
        ),
    ] = None
    output_jsonl_fpath: Annotated[
        RolloutsPath,
        Option(
            "--output-jsonl-fpath",
            "--output",
            "-o",
            help="The rollouts file. The other files are written beside it.",
        ),
    ]
    plan: Annotated[
        Path | None,
        Option(
            readable=False,
            help="With `--resume`, add the repeats of a plan to the run, and run only the missing"
            " rollouts of its tasks. A plan has JSON lines with `task_index` and `num_repeats`"
            " (in total), and `agent_name` and `task_id` if wanted.",
        ),
    ] = None
    prompt_config: Annotated[
        Path | None,
        Option(
            readable=False,
            help="A YAML file with a `user` template and an optional `system` template.",
        ),
    ] = None

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        default = self.agent_map.get(DEFAULT)
        if self.agent_name and default and default != self.agent_name:
            raise ValueError(
                f"agent_name is {self.agent_name}, but agent_map sends the rest to {default}:"
                " give one of them"
            )
        if {OLD_LIMIT, LIMIT} <= self.responses_create_params.keys():
            raise ValueError(f"{OLD_LIMIT} and {LIMIT} are the same: give one of them")
        if self.environment_routing_mode == "legacy" and not self.environment_server_name:
            raise ValueError("environment_routing_mode=legacy needs environment_server_name")
        if self.environment_routing_mode == "taskset" and not self.environment_server_routes:
            raise ValueError("environment_routing_mode=taskset needs environment_server_routes")
        return self

    @model_validator(mode="after")
    def _refuse_plan_contradictions(self) -> Self:
        if self.plan is None:
            return self
        if not self.resume_from_cache:
            raise ValueError(
                "--plan adds repeats to a run that exists, so it needs --resume\n  what to do:"
                f" spotter collect --plan {quote(str(self.plan))}"
                f" -o {quote(str(self.output_jsonl_fpath))} --resume"
            )
        fields = CollectOptions.model_fields
        names = [
            *RowSettings.model_fields,
            *StoppingSettings.model_fields,
            *("input_jsonl_fpath", "prompt_config"),
        ]
        given = [name for name in names if getattr(self, name) != fields[name].default]
        if given:
            raise ValueError(
                f"--plan takes tasks, agents and settings from the run: leave out"
                f" {', '.join(given)}"
            )
        return self


class CollectSettings(CollectOptions):
    """The settings of a collection, whose task file is known."""

    input_jsonl_fpath: Path


class PlanSettings(CollectOptions):
    """The settings of a collection that adds the repeats of a plan to a run."""

    plan: Path


class ReverifyOptions(CallSettings):
    """The settings of `spotter reverify`."""

    rollouts_jsonl_fpath: Annotated[
        Path | None,
        Option(
            "--rollouts-jsonl-fpath",
            "--rollouts",
            readable=False,
            help="The rollouts file to verify again: the same as ROLLOUTS.",
        ),
    ] = None
    materialized_inputs_jsonl_fpath: Annotated[
        Path | None,
        Option(
            "--materialized-inputs-jsonl-fpath",
            "--inputs",
            readable=False,
            show_default="`<stem>_materialized_inputs.jsonl`",
            help="The materialized inputs of the rollouts.",
        ),
    ] = None
    output_jsonl_fpath: Annotated[
        RolloutsPath,
        Option(
            "--output-jsonl-fpath",
            "--output",
            "-o",
            help="The new rollouts file. The other files are written beside it.",
        ),
    ]
    limit: Annotated[
        NonNegativeInt | None,
        AfterValidator(positive_or_none),
        Option(help="Verify only the first rollouts of the file; 0 means all."),
    ] = None
    judge_failed_only: Annotated[
        StrictBool,
        Option(
            help="Verify only rollouts whose judge failed (class `judge_failed`), and carry the"
            " others over unchanged."
        ),
    ] = False
    force: Annotated[
        StrictBool,
        Option(
            help="Also call resources servers that do not say that they can verify without a"
            " session. The record marks the run as unsafe."
        ),
    ] = False


class ReverifySettings(ReverifyOptions):
    """The settings of a reverification, whose rollouts file is known."""

    rollouts_jsonl_fpath: Path
