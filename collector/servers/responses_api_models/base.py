"""The base class of models, which answer Responses API requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

Row = dict[str, Any]


class ModelError(Exception):
    """A model could not answer; the server passes on the status and the message."""

    def __init__(self, status: int, message: str) -> None:
        """Keep the status for the caller."""
        super().__init__(message)
        self.status = status


class LanguageModel(ABC):
    """The implementation of a model server, created from the settings of its config."""

    def __init__(self, settings: Row) -> None:
        """Store the settings; a subclass checks them and raises ValueError."""
        self.settings = settings

    @abstractmethod
    async def respond(self, request: Row) -> Row:
        """Return the response to a non-streaming Responses API request, or raise ModelError."""

    async def close(self) -> None:
        """Close all connections."""
        return
