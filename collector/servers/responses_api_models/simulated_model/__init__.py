"""A simulated model: it replays the solutions of tasks that it knows, with random mistakes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from pathlib import Path
from random import Random
from typing import Any

from pydantic import ConfigDict, Field, field_validator

from collector.bundled_files import ORIGIN
from collector.servers.responses_api_models.base import LanguageModel, ModelError
from collector.servers.responses_api_models.simulated_model.answers import (
    outage_response,
    turn_response,
)
from collector.servers.responses_api_models.simulated_model.faults import (
    Fault,
    FaultRates,
    FaultSchedule,
)
from collector.servers.responses_api_models.simulated_model.policy import Risk, next_turn
from collector.servers.responses_api_models.simulated_model.request_parsing import parse_request
from collector.servers.responses_api_models.simulated_model.solutions import load_solutions

__all__ = ["SimulatedModel"]

Row = dict[str, Any]
LOG = logging.getLogger("spotter")
# longer than any client waits
HANG_SECONDS = 86_400.0


class SimulatedModelSettings(FaultRates):
    """The settings of a simulated model; a config may hold further settings."""

    model_config = ConfigDict(extra="allow", frozen=True)

    seed: int = 0
    slip_rate: float = Field(default=0.2, ge=0, le=1)
    tasks: list[str] | None = None
    latency: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    model_name: str = "simulated"

    @field_validator("tasks", mode="before")
    @classmethod
    def _wrap_in_list(cls, tasks: Any) -> Any:
        return [tasks] if isinstance(tasks, str) else tasks

    @property
    def shown_name(self) -> str:
        """Return a model name that says that the model is simulated."""
        is_clear = "simulated" in self.model_name.lower()
        return self.model_name if is_clear else f"simulated-{self.model_name}"


class SimulatedModel(LanguageModel):
    """A model that replays solutions; the same seed in a request gives the same answer."""

    def __init__(self, settings: Row) -> None:
        """Check the settings, and load the solutions."""
        super().__init__(settings)
        self._settings = SimulatedModelSettings.model_validate(settings)
        self._solutions = load_solutions(self._settings.tasks, Path(settings.get(ORIGIN, ".")))
        self._faults = FaultSchedule(self._settings)
        self._has_warned = False

    async def respond(self, request: Row) -> Row:
        """Return the next step of the solution; the first step of a rollout may have a fault."""
        if self._settings.latency:
            await asyncio.sleep(self._settings.latency)
        try:
            fault = self._fault(request)
            if fault is None:
                return self._next_step(request)
        except (TypeError, AttributeError, OverflowError, RecursionError, UnicodeError) as error:
            raise ModelError(400, f"malformed request: {error}") from error
        if fault is Fault.OUTAGE:
            name = self._settings.shown_name
            return outage_response(request, model=name, rng=self._generator(request))
        if fault is Fault.HANG:
            await asyncio.sleep(HANG_SECONDS)
        raise ModelError(503, "a simulated failure (failure_rate, hang_rate)")

    def _fault(self, request: Row) -> Fault | None:
        if parse_request(request).steps:
            return None
        return self._faults.draw(self._key(request))

    def _next_step(self, request: Row) -> Row:
        parsed = parse_request(request)
        if parsed.prompt not in self._solutions and not self._has_warned:
            self._has_warned = True
            LOG.warning(
                "the simulated model got a task that it does not know (logged once)\n"
                "  what to do: name the file of these tasks in the model's setting tasks"
            )
        _check_limit(request.get("max_output_tokens"))
        rng = self._generator(request)
        temperature = _temperature(request.get("temperature"))
        risk = Risk(self._settings.slip_rate, temperature, parsed.prompt)
        turn = next_turn(parsed, self._solutions, risk, rng)
        return turn_response(turn, request, model=self._settings.shown_name, rng=rng)

    def _generator(self, request: Row) -> Random:
        """Return a random generator; with a seed in the request, always the same one."""
        return Random(self._key(request))  # noqa: S311

    def _key(self, request: Row) -> str | None:
        """Return a text that identifies a request with a seed, or None without a seed."""
        seed = _seed(request.get("metadata"))
        if seed is None:
            return None
        content = json.dumps([request.get("instructions"), request.get("input")], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()
        return f"{self._settings.seed} {seed} {digest}"


def _seed(metadata: Any) -> Any:
    """Return the seed that the collector put into the metadata in the form that vLLM takes."""
    text = metadata.get("extra_body") if isinstance(metadata, dict) else None
    if text is None:
        return None
    try:
        extra = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(400, f"metadata.extra_body is not JSON: {error}") from error
    return extra.get("seed") if isinstance(extra, dict) else None


def _temperature(value: Any) -> float:
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 2:
        raise ModelError(400, "temperature must be a number from 0 to 2")
    return float(value)


def _check_limit(value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ModelError(400, "max_output_tokens must be a positive whole number")
