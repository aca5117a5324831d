"""The messages of a trace, which are a tree: each path from the root to a leaf is a branch."""

from __future__ import annotations

from typing import Any

from collector.importing.asked import asked_row
from collector.importing.attempts import Json
from collector.importing.json_values import part
from collector.importing.messages import chat_items


def branches(nodes: list[Any]) -> list[list[Json]]:
    """Return the messages of each branch, in the order of their leaves."""
    known = [node if isinstance(node, dict) else {} for node in nodes]
    parents = {node["parent"] for node in known if isinstance(node.get("parent"), int)}
    leaves = [index for index in range(len(known)) if index not in parents]
    return [_path(known, leaf) for leaf in leaves]


def split_question(messages: list[Json]) -> tuple[list[Json], list[Json]]:
    """Return the messages before the first reply, and the others."""
    roles = [message.get("role") for message in messages]
    first = roles.index("assistant") if "assistant" in roles else len(roles)
    return messages[:first], messages[first:]


def question_input(messages: list[Json]) -> list[Json]:
    """Return messages in the form of an input row."""
    found: list[Json] = asked_row(chat_items(messages))["responses_create_params"]["input"]
    return found


def _path(nodes: list[Json], leaf: int) -> list[Json]:
    path: list[Json] = []
    index: Any = leaf
    while isinstance(index, int) and 0 <= index < len(nodes) and len(path) <= len(nodes):
        path.append(part(nodes[index], "message"))
        index = nodes[index].get("parent")
    return path[::-1]
