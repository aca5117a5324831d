"""What the policy can do in one step: say something, or call a tool."""

from __future__ import annotations

import json
from dataclasses import dataclass

from collector.servers.responses_api_models.simulated_model.conversation import Call


@dataclass(frozen=True)
class Turn:
    """A message, or a call with its arguments as text; and what was thought before."""

    text: str = ""
    tool: str | None = None
    arguments: str = ""
    thought: str = ""

    @property
    def content(self) -> str:
        """Return what is said or called, without the thought."""
        return self.text if self.tool is None else self.tool + self.arguments


def calling(call: Call) -> Turn:
    """Make a call."""
    return Turn(
        tool=call.name,
        arguments=json.dumps(call.arguments),
        thought=f"The next thing I need is {call.name}.",
    )


def saying(text: str) -> Turn:
    """Say something."""
    return Turn(text=text, thought="Nothing is left for me to call, so I answer.")
