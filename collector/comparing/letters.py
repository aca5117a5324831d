"""Give runs letters: two runs share a letter unless the data can tell them apart."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from string import ascii_lowercase


def compact_letters(names: Sequence[str], separated: Collection[frozenset[str]]) -> dict[str, str]:
    """Return the letters of names that are sorted from best to worst (insert and absorb).

    Names share a letter exactly if their pair is not among the separated ones.
    """
    groups = [set(names)]
    for pair in separated:
        groups = _absorb([part for group in groups for part in _parts(group, pair)])
    order = {name: number for number, name in enumerate(names)}
    groups.sort(key=lambda group: sorted(order[name] for name in group))
    return {
        name: "".join(letter(number) for number, group in enumerate(groups) if name in group)
        for name in names
    }


def letter(number: int) -> str:
    """Return a, b, …, z, then (27), (28), …."""
    return ascii_lowercase[number] if number < len(ascii_lowercase) else f"({number + 1})"


def _parts(group: set[str], pair: frozenset[str]) -> list[set[str]]:
    """Split a group that holds both names of a separated pair: one part without each."""
    return [group - {name} for name in pair] if pair <= group else [group]


def _absorb(groups: list[set[str]]) -> list[set[str]]:
    """Drop groups that another group contains."""
    kept: list[set[str]] = []
    for group in sorted(groups, key=len, reverse=True):
        if not any(group <= other for other in kept):
            kept.append(group)
    return kept
