"""What every model offers: a Responses API object for a Responses API request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

Row = dict[str, Any]


class ModelError(Exception):
    """A model that could not answer; the server passes status and message on."""

    def __init__(self, status: int, message: str) -> None:
        """Keep the status the caller gets."""
        super().__init__(message)
        self.status = status


class Model(ABC):
    """A model server's implementation, made from the settings of its config."""

    def __init__(self, settings: Row) -> None:
        """Check the settings; raise ValueError if one is wrong."""
        self.settings = settings

    @abstractmethod
    async def respond(self, request: Row) -> Row:
        """Answer a (non-streaming) Responses API request, or raise ModelError."""

    async def close(self) -> None:
        """Let go of connections."""
        return
