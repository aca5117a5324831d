"""The `responses_create_params` of a row: a filled prompt, settings for all rows, a seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from collector.collection.problems import UnusableRowError
from collector.collection.prompts import Prompt

Row = dict[str, Any]
PARAMS = "responses_create_params"
# the name that people type, and the name in the Responses API
OLD_LIMIT, LIMIT = "max_tokens", "max_output_tokens"


@dataclass(frozen=True)
class RowParams:
    """How a row's `responses_create_params` are filled."""

    prompt: Prompt | None
    overrides: Mapping[str, Any]
    has_seed: bool

    def fill_prompt(self, row: Row) -> None:
        """Fill the prompt's templates from the row; call it before other fields are added."""
        if not self.prompt:
            return
        params = row.setdefault(PARAMS, {})
        if not isinstance(params, dict):
            raise UnusableRowError(f"{PARAMS} is not an object")
        if params.get("input"):
            raise UnusableRowError(
                f"{PARAMS}.input exists already, and prompt_config would replace it",
                "leave out prompt_config, or the input of these rows",
            )
        try:
            params["input"] = self.prompt.messages(row)
        except ValueError as error:
            raise UnusableRowError(str(error)) from error

    def set_overrides(self, row: Row) -> bool:
        """Merge the settings for all rows over the row's own; tell whether one was renamed."""
        if not isinstance(row.get(PARAMS), dict):
            raise UnusableRowError(
                f"no {PARAMS}" if PARAMS not in row else f"{PARAMS} is not an object",
                "agents need it: put it into the rows, or give a prompt_config",
            )
        is_renamed = OLD_LIMIT in row[PARAMS]
        row[PARAMS] = _with_current_names(row[PARAMS]) | _with_current_names(self.overrides)
        if self.has_seed:
            _extra_body(row)
        return is_renamed

    def refuse_any(self) -> None:
        """Raise UnusableRowError if a setting would change a row of a taskset."""
        settings = {
            "prompt_config": self.prompt,
            "responses_create_params": self.overrides,
            "num_repeats_add_seed": self.has_seed,
        }
        if names := [name for name, value in settings.items() if value]:
            raise UnusableRowError(
                f"a row of a taskset cannot take {', '.join(names)}", f"leave out {names[0]}"
            )

    def set_seed(self, row: Row, seed: int) -> None:
        """Add a seed in the form that vLLM reads, if rows get one."""
        if self.has_seed:
            # json, not orjson: servers and NeMo Gym write it with a space after the colon
            text = json.dumps(_extra_body(row) | {"seed": seed})
            row[PARAMS].setdefault("metadata", {})["extra_body"] = text


def seed_of(row: Row) -> int | None:
    """Return the seed of a materialized row, if it has one."""
    seed = _stored_extra_body(row).get("seed")
    return seed if isinstance(seed, int) else None


def without_seed(row: Row) -> Row:
    """Return a materialized row without its seed."""
    if seed_of(row) is None:
        return row
    body = {name: value for name, value in _stored_extra_body(row).items() if name != "seed"}
    metadata = {**row[PARAMS]["metadata"], "extra_body": body}
    return {**row, PARAMS: {**row[PARAMS], "metadata": metadata}}


def _stored_extra_body(row: Row) -> Row:
    """Return the vLLM settings of a row; nothing if it has none that can be read."""
    try:
        return _extra_body(row) if isinstance(row.get(PARAMS), dict) else {}
    except UnusableRowError:
        return {}


def _with_current_names(params: Mapping[str, Any]) -> Row:
    """Return the parameters under their names in the Responses API."""
    if OLD_LIMIT not in params:
        return dict(params)
    rest = {name: value for name, value in params.items() if name != OLD_LIMIT}
    return {LIMIT: params[OLD_LIMIT], **rest}


def _extra_body(row: Row) -> Row:
    """Return the vLLM settings of a row, which travel as text."""
    metadata = row[PARAMS].get("metadata", {})
    text = metadata.get("extra_body", "{}") if isinstance(metadata, dict) else None
    try:
        body = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise UnusableRowError(
            f"{PARAMS}.metadata.extra_body is not a JSON object, and the seed goes there"
        )
    return body
