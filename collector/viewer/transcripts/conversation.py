"""The conversation of a rollout as turns and steps, with each call beside its result."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from collector.jsonl import Row
from collector.viewer.transcripts.items import Entry, read_entries
from collector.viewer.transcripts.text_limits import PageBudget

NO_RESULT = "the file has no result for this call"
NO_CALL = "the file has no call for this result"


@dataclass(frozen=True)
class ConversationStep:
    """Entries that the model made in one response; without a number, an entry from elsewhere."""

    number: int | None
    entries: list[Entry]


@dataclass(frozen=True)
class ConversationTurn:
    """A message of the user and what follows it; turn 0 is what precedes the first message."""

    number: int
    steps: list[ConversationStep]


@dataclass(frozen=True)
class RolloutConversation:
    """The input and the output of a rollout, with turns and steps numbered throughout.

    A turn begins with a message of the user and lasts until the next one. Several messages of the
    user in a row are one turn. A step is one response of the model: reasoning, then a message and
    its calls. A new step begins in three cases: the model continues after an entry that it did not
    make (a message, a tool's result), it starts to reason again, or it writes a message after a
    call or another message.
    """

    turns: list[ConversationTurn] = field(default_factory=list)
    step_count: int = 0

    def entries(self) -> Iterator[tuple[int, int | None, Entry]]:
        """Give every entry with its turn and step; the result of a call follows the call."""
        for turn in self.turns:
            for step in turn.steps:
                for entry in step.entries:
                    yield turn.number, step.number, entry
                    if entry.result:
                        yield turn.number, step.number, entry.result


def read_conversation(row: Row, budget: PageBudget | None = None) -> RolloutConversation:
    """Return the conversation of a rollout; items of an unknown form are shown as JSON."""
    entries = read_entries(row, budget or PageBudget())
    results = _match_results(entries)
    matched = {id(result) for result in results.values()}
    turns: list[ConversationTurn] = []
    steps = 0
    last: Entry | None = None
    for entry in entries:
        if not turns or _begins_turn(entry, last):
            turns.append(ConversationTurn(_turn_number(turns, entry), []))
        if id(entry) not in matched:
            is_new = entry.is_from_model and (last is None or _begins_step(entry, last))
            steps += is_new
            _add(
                turns[-1],
                _attach_result(entry, results),
                steps if entry.is_from_model else None,
                is_new,
            )
        last = entry
    return RolloutConversation(turns, steps)


def _match_results(entries: list[Entry]) -> dict[int, Entry]:
    """Return the results by the id() of their call; several calls may share a call_id."""
    waiting: defaultdict[str, deque[Entry]] = defaultdict(deque)
    for entry in entries:
        if entry.kind == "tool-result" and entry.call_id:
            waiting[entry.call_id].append(entry)
    calls = [entry for entry in entries if entry.kind == "tool-call" and waiting[entry.call_id]]
    return {id(call): waiting[call.call_id].popleft() for call in calls if waiting[call.call_id]}


def _attach_result(entry: Entry, results: dict[int, Entry]) -> Entry:
    if entry.kind == "tool-call" and not entry.is_hosted:
        result = results.get(id(entry))
        notes = entry.notes if result else (*entry.notes, NO_RESULT)
        return replace(entry, result=result, notes=notes)
    if entry.kind == "tool-result":
        return replace(entry, notes=(*entry.notes, NO_CALL))
    return entry


def _add(turn: ConversationTurn, entry: Entry, number: int | None, is_new: bool) -> None:  # noqa: FBT001
    # a result without a call does not end the step around it
    if turn.steps and number is not None and not is_new and turn.steps[-1].number == number:
        turn.steps[-1].entries.append(entry)
    else:
        turn.steps.append(ConversationStep(number, [entry]))


def _turn_number(turns: list[ConversationTurn], entry: Entry) -> int:
    before = turns[-1].number if turns else 0
    return before + 1 if entry.role == "user" else before


def _begins_turn(entry: Entry, last: Entry | None) -> bool:
    return entry.role == "user" and (last is None or last.role != "user")


def _begins_step(entry: Entry, last: Entry) -> bool:
    if not last.is_from_model:
        return True
    if entry.kind == "reasoning":
        return last.kind != "reasoning"
    return entry.kind == "message" and last.kind in ("message", "tool-call")
