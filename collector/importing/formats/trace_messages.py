"""The messages of a trace, which are a tree: each path from the root to a leaf is a branch."""

from __future__ import annotations

from typing import Any

from collector.importing.asked import asked_row
from collector.importing.attempts import Json
from collector.importing.messages import chat_items
from collector.importing.values import part


def branches(nodes: list[Any]) -> list[list[Json]]:
    """Return the messages of each branch, in the order of their leaves."""
    known = [node if isinstance(node, dict) else {} for node in nodes]
    parents = {node["parent"] for node in known if isinstance(node.get("parent"), int)}
    leaves = [index for index in range(len(known)) if index not in parents]
    return [_path(known, leaf) for leaf in leaves]


def split_question(messages: list[Json], asked: Json) -> list[Json]:
    """Return the messages after the question; all of them if they begin in another way."""
    question = asked["responses_create_params"]["input"]
    count = len(question)
    given = asked_row(chat_items(messages[:count]))["responses_create_params"]["input"]
    return messages[count:] if given == question else messages


def _path(nodes: list[Json], leaf: int) -> list[Json]:
    path: list[Json] = []
    index: Any = leaf
    while isinstance(index, int) and 0 <= index < len(nodes) and len(path) <= len(nodes):
        path.append(part(nodes[index], "message"))
        index = nodes[index].get("parent")
    return path[::-1]
