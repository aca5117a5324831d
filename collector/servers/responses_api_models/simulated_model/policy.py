"""Decide on the next step of a conversation."""

from __future__ import annotations

from random import Random

from collector.servers.responses_api_models.simulated_model.conversation import Conversation
from collector.servers.responses_api_models.simulated_model.phrases import (
    NotUnderstoodError,
    understand,
)
from collector.servers.responses_api_models.simulated_model.progress import progress
from collector.servers.responses_api_models.simulated_model.rules import RULES
from collector.servers.responses_api_models.simulated_model.slips import (
    FINISHED,
    Risk,
    slipped,
    wrong_answer,
)
from collector.servers.responses_api_models.simulated_model.sums import Solved, solve
from collector.servers.responses_api_models.simulated_model.turns import Turn, calling, saying

SHOWN_CHARACTERS = 200


def decide(conversation: Conversation, risk: Risk, rng: Random) -> Turn:
    """Solve a sum, or go one step further with a request; say so if neither is possible."""
    if solved := solve(conversation.request):
        return _answer(solved, risk, rng)
    try:
        intents = understand(conversation.request, RULES, instructions=conversation.instructions)
    except NotUnderstoodError as error:
        return saying(f"I cannot do that: I do not understand {str(error)[:SHOWN_CHARACTERS]!r}.")
    found = progress(intents, conversation.steps, conversation.tools)
    if found.problem:
        return saying(f"I could not do all of this: {found.problem}.")
    if rng.random() < risk.chance(len(conversation.steps)):
        return slipped(rng, found, conversation)
    return calling(found.call) if found.call else saying(FINISHED)


def _answer(solved: Solved, risk: Risk, rng: Random) -> Turn:
    """Answer as asked; every bit of effort is a chance to get it wrong."""
    slips = any(rng.random() < risk.chance(step) for step in range(solved.effort))
    if not slips:
        return saying(f"I worked this out step by step.\n\nAnswer: {solved.answer}")
    if rng.random() < 0.1:  # right, but not in the form that was asked for
        return saying(f"This makes {solved.answer}.")
    return saying(f"I get this at once.\n\nAnswer: {wrong_answer(rng, solved.answer)}")
