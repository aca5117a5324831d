"""The fields of a settings class are the options of the command that takes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from pydantic import BaseModel, PositiveInt, StrictBool
from typer.testing import CliRunner

from collector.collection.record import RecordedSettings, load_record
from collector.collection.settings import AggregateSettings, CollectOptions, CollectSettings
from collector.collection.settings.rows import RowSettings
from collector.commands.setting_options import with_setting_options
from collector.errors import FileError, UsageError
from collector.overrides import MAP, declared_overrides
from collector.validation import validate_settings


class Settings(BaseModel):
    name: Annotated[str, typer.Option("--name", "-n", help="A name.")]
    count: Annotated[PositiveInt | None, typer.Option(help="A number.")] = None
    is_quick: Annotated[StrictBool, typer.Option(help="A switch.")] = False
    params: Annotated[dict[str, Any], typer.Option(help="A map."), MAP] = {}
    repeats: Annotated[int | dict[str, int], typer.Option(help="Either."), MAP] = 1
    kinds: Annotated[tuple[str, ...], typer.Option(help="Several.")] = ()


TAKEN: list[tuple[Settings, bool]] = []


def take(settings: Settings, *, json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Remember the settings."""
    TAKEN.append((settings, json))


def run(*arguments: str) -> tuple[Settings, bool]:
    app = typer.Typer()
    app.command()(with_setting_options(take))
    TAKEN.clear()
    result = CliRunner().invoke(app, arguments)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return TAKEN[0]


def test_a_command_gets_checked_settings_and_its_own_options() -> None:
    assert run("-n", "x") == (Settings(name="x"), False)
    flags = ("--count=3", "--is-quick", "--params={a: 1}", "--params={b: 2}", "--kinds=k")
    given = Settings(name="x", count=3, is_quick=True, params={"a": 1, "b": 2}, kinds=("k",))
    assert run("-n", "x", *flags, "--json") == (given, True)
    assert run("-n", "x", "--repeats={a: 2}")[0].repeats == {"a": 2}


@pytest.mark.parametrize("flag", ["--count=0", "--params=3", "--params=[", "--repeats=x"])
def test_a_wrong_value_is_named(flag: str) -> None:
    with pytest.raises(UsageError, match=flag[2:].partition("=")[0]):
        run("-n", "x", flag)


def test_each_field_has_an_override() -> None:
    overrides = declared_overrides(with_setting_options(take))
    assert set(overrides) == {*Settings.model_fields, "json"}
    assert overrides["params"].is_map
    assert overrides["repeats"].is_map
    assert overrides["kinds"].is_list
    assert overrides["is_quick"].is_switch


@pytest.mark.parametrize("settings", [CollectOptions, AggregateSettings])
def test_every_setting_is_an_option_with_help(settings: type[BaseModel]) -> None:
    for name, field in settings.model_fields.items():
        (option,) = [note for note in field.metadata if isinstance(note, typer.models.OptionInfo)]
        assert option.help, name


def test_the_record_keeps_every_row_setting() -> None:
    assert RowSettings.model_fields.keys() <= RecordedSettings.model_fields.keys()


def test_an_old_record_is_read_and_unknown_fields_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "out_run.json"
    settings = {
        "agent_name": "a",
        "limit": None,
        "num_repeats": 2,
        "num_repeats_add_seed": False,
        "responses_create_params": {},
        "prompt_config": {"path": "p.yaml", "sha256": "0"},
        "of_another_version": 1,
    }
    materialized = {"sha256": "1", "task_count": 1, "rollout_count": 2, "repeats": {"a": 2}}
    record: dict[str, Any] = {
        "versions": {},
        "input": {"path": "tasks.jsonl", "sha256": "2"},
        "settings": settings,
        "materialized": materialized,
    }
    path.write_text(json.dumps(record), encoding="utf-8")
    read = load_record(path)
    assert read is not None
    assert read.settings.keeps_own_agents
    assert read.settings.num_repeats == 2
    record["settings"]["num_repeats"] = "many"
    path.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(FileError, match=r"settings\.num_repeats"):
        load_record(path)


def test_a_collection_needs_a_task_file() -> None:
    with pytest.raises(UsageError, match="input_jsonl_fpath"):
        validate_settings(CollectSettings, {"output_jsonl_fpath": Path("out.jsonl")})
