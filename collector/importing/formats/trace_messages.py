"""The messages of a trace, which are a tree: each path from the root to a leaf is a branch."""

from __future__ import annotations

from typing import Any

from collector.importing.asked import asked_row
from collector.importing.attempts import Json
from collector.importing.json_values import items, part, text
from collector.importing.messages import chat_items


def branches(nodes: list[Any], root_reply: str | None = None) -> list[list[Json]]:
    """Return the messages of each branch in the order of their leaves; the agent's own is the last.

    That is the one that ends in `root_reply`, the answer of the agent itself: subagents may reply
    later. Without such a reply, it is the last one, without a compaction that was refused.
    """
    known = [node if isinstance(node, dict) else {} for node in nodes]
    parents = {node["parent"] for node in known if isinstance(node.get("parent"), int)}
    leaves = [index for index in range(len(known)) if index not in parents]
    replies = _replies(known, (root_reply or "").strip())
    own = _last_own(known, replies or _branch_ends(known, leaves))
    ends = [*(leaf for leaf in leaves if leaf != own), *([] if own is None else [own])]
    return [_path(known, end) for end in ends]


def _replies(nodes: list[Json], reply: str) -> list[int]:
    return [index for index, node in enumerate(nodes) if reply and _answer(node) == reply]


def _answer(node: Json) -> str | None:
    """Return what the model wrote in a node."""
    message = part(node, "message")
    is_made = message.get("role") == "assistant" and node.get("sampled") is not False
    return (text(message.get("content")) or "").strip() if is_made else None


def _last_own(nodes: list[Json], ends: list[int]) -> int | None:
    """Return the last of some nodes; one of a subagent only if there is no other."""
    return max([end for end in ends if not _is_subagent(nodes, end)] or ends, default=None)


def _is_subagent(nodes: list[Json], end: int) -> bool:
    return any("subagent_call" in _links(nodes[index]) for index in _indices(nodes, end))


def _branch_ends(nodes: list[Json], leaves: list[int]) -> list[int]:
    """Return the end of each branch; one of a refused compaction ends before its request."""
    accepted = [end for node in nodes for end in _links(node).get("compaction", ())]
    return [
        _reply_before(nodes, leaf)
        if "compaction_attempt" in _links(nodes[leaf]) and leaf not in accepted
        else leaf
        for leaf in leaves
    ]


def _reply_before(nodes: list[Json], leaf: int) -> int:
    earlier = _indices(nodes, leaf)[-2::-1]
    return next((index for index in earlier if _answer(nodes[index]) is not None), leaf)


def _links(node: Json) -> dict[str, list[Any]]:
    """Return the nodes that led to a node in another way than as its parent, by kind."""
    found: dict[str, list[Any]] = {}
    for link in items(node, "semantic_parents"):
        if isinstance(link, dict):
            found.setdefault(str(link.get("type")), []).append(link.get("node"))
    return found


def split_question(messages: list[Json]) -> tuple[list[Json], list[Json]]:
    """Return the messages before the first reply, and the others."""
    roles = [message.get("role") for message in messages]
    first = roles.index("assistant") if "assistant" in roles else len(roles)
    return messages[:first], messages[first:]


def question_input(messages: list[Json]) -> list[Json]:
    """Return messages in the form of an input row."""
    found: list[Json] = asked_row(chat_items(messages))["responses_create_params"]["input"]
    return found


def _path(nodes: list[Json], end: int) -> list[Json]:
    return [part(nodes[index], "message") for index in _indices(nodes, end)]


def _indices(nodes: list[Json], end: int) -> list[int]:
    """Return the way from the root to a node."""
    way: list[int] = []
    index: Any = end
    while isinstance(index, int) and 0 <= index < len(nodes) and len(way) <= len(nodes):
        way.append(index)
        index = nodes[index].get("parent")
    return way[::-1]
