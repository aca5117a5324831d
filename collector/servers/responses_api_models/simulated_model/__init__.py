"""A model of our own: it knows the solutions of tasks, replays them, and slips at times."""

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
from collector.servers.responses_api_models.base import Model, ModelError
from collector.servers.responses_api_models.simulated_model.answers import failed, response
from collector.servers.responses_api_models.simulated_model.conversation import read
from collector.servers.responses_api_models.simulated_model.faults import Fault, Faults, Rates
from collector.servers.responses_api_models.simulated_model.policy import Risk, decide
from collector.servers.responses_api_models.simulated_model.solutions import learn

__all__ = ["SimulatedModel"]

Row = dict[str, Any]
LOG = logging.getLogger("spotter")
HINT = "name the file of these tasks in its config, under tasks"
# longer than anybody waits
HANG_SECONDS = 86_400.0


class Settings(Rates):
    """The settings of a simulated model; configs hold more than it needs."""

    model_config = ConfigDict(extra="allow", frozen=True)

    seed: int = 0
    slip_rate: float = Field(default=0.2, ge=0, le=1)
    tasks: list[str] | None = None
    latency: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    model_name: str = "simulated"

    @field_validator("tasks", mode="before")
    @classmethod
    def _listed(cls, tasks: Any) -> Any:
        return [tasks] if isinstance(tasks, str) else tasks

    @property
    def shown_name(self) -> str:
        """Return a name that nobody takes for that of a real model."""
        is_clear = "simulated" in self.model_name.lower()
        return self.model_name if is_clear else f"simulated-{self.model_name}"


class SimulatedModel(Model):
    """Replay what it learned; the same seed in a request gives the same answer."""

    def __init__(self, settings: Row) -> None:
        """Check the settings, and learn the solutions."""
        super().__init__(settings)
        self._settings = Settings.model_validate(settings)
        self._solutions = learn(self._settings.tasks, Path(settings.get(ORIGIN, ".")))
        self._faults = Faults(self._settings)
        self._has_told = False

    async def respond(self, request: Row) -> Row:
        """Take the conversation's next step, unless its first one is to go wrong."""
        if self._settings.latency:
            await asyncio.sleep(self._settings.latency)
        try:
            fault = self._fault(request)
            if fault is None:
                return self._next_step(request)
        except (TypeError, AttributeError, OverflowError, RecursionError, UnicodeError) as error:
            raise ModelError(400, f"this request makes no sense: {error}") from error
        if fault is Fault.OUTAGE:
            name = self._settings.shown_name
            return failed(request, model=name, rng=self._generator(request))
        if fault is Fault.HANG:
            await asyncio.sleep(HANG_SECONDS)
        raise ModelError(503, "this failure is simulated (failure_rate, hang_rate)")

    def _fault(self, request: Row) -> Fault | None:
        if read(request).steps:
            return None
        return self._faults.draw(self._key(request))

    def _next_step(self, request: Row) -> Row:
        conversation = read(request)
        if conversation.request not in self._solutions and not self._has_told:
            self._has_told = True
            LOG.warning(
                "the simulated model was asked a task it does not know (told once): %s", HINT
            )
        _check_limit(request.get("max_output_tokens"))
        rng = self._generator(request)
        temperature = _temperature(request.get("temperature"))
        risk = Risk(self._settings.slip_rate, temperature, conversation.request)
        turn = decide(conversation, self._solutions, risk, rng)
        return response(turn, request, model=self._settings.shown_name, rng=rng)

    def _generator(self, request: Row) -> Random:
        """Return a generator that the seeds and the conversation determine, if there is a seed."""
        return Random(self._key(request))  # noqa: S311

    def _key(self, request: Row) -> str | None:
        """Return what the answer to a request with a seed depends on."""
        seed = _seed(request.get("metadata"))
        if seed is None:
            return None
        said = json.dumps([request.get("instructions"), request.get("input")], sort_keys=True)
        digest = hashlib.sha256(said.encode()).hexdigest()
        return f"{self._settings.seed} {seed} {digest}"


def _seed(metadata: Any) -> Any:
    """Return the seed that the collector put into the metadata, as vLLM takes it."""
    text = metadata.get("extra_body") if isinstance(metadata, dict) else None
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(400, f"metadata.extra_body is not JSON: {error}") from error
    return found.get("seed") if isinstance(found, dict) else None


def _temperature(given: Any) -> float:
    if given is None:
        return 1.0
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 2:
        raise ModelError(400, "temperature must be a number from 0 to 2")
    return float(given)


def _check_limit(given: Any) -> None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise ModelError(400, "max_output_tokens must be a positive whole number")
