"""One piece of a host's configuration that is memtui's, and what it makes of a tree of plain values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class InTheWayError(ValueError):
    """Something else than an object or a list stands where a piece belongs; the text names the keys to it."""


class NotReadableError(ValueError):
    """A text that is not of its format; the text of the error says where and why."""


ITEM, HOOK = "=", "hooks"

_COMMAND = re.compile(r"\bmemtui\S*\s+hook\s+(\w+)")


def _event_of(group: Any) -> str | None:
    """The event that a group of one hook runs memtui for; None for any other group."""
    hooks = group.get(HOOK) if isinstance(group, Mapping) else None
    command = hooks[0].get("command") if isinstance(hooks, list) and len(hooks) == 1 else None
    found = _COMMAND.search(command) if isinstance(command, str) else None
    return None if found is None else found[1]


@dataclass(frozen=True, slots=True)
class ConfigPiece:
    """A value and the keys to it.

    With `key` it is an item of the list there: the one whose member `key` is alike is replaced, else it is added at
    the end. `ITEM` is a plain item of a list, `HOOK` a group of hooks that runs memtui for the same event. `ours` are
    the members of the value that are memtui's: what stands beside them in the file stays.
    """

    place: tuple[str, ...]
    value: Any
    key: str = ""
    ours: tuple[str, ...] = ()

    def is_alike(self, item: Any) -> bool:
        """Whether an item of a list is this piece, perhaps with another value."""
        if self.key == ITEM:
            return bool(item == self.value)
        if self.key == HOOK:
            event = _event_of(item)
            return event is not None and event == _event_of(self.value)
        return isinstance(item, Mapping) and item.get(self.key) == self.value[self.key]

    def over(self, before: Any) -> Any:
        """The value that comes of the one that stands there: members that are not memtui's stay."""
        if not isinstance(self.value, Mapping):
            return self.value
        kept = before if isinstance(before, Mapping) and self.ours else {}
        return {
            **{name: each for name, each in kept.items() if name in self.value or name not in self.ours},
            **self.value,
        }

    def found_in(self, tree: Any) -> Any:
        """What stands in the place of this piece; None where nothing does."""
        there = value_in(tree, self.place)
        if not self.key:
            return there
        items = there if isinstance(there, list) else []
        return next((item for item in items if self.is_alike(item)), None)


def value_in(tree: Any, place: Sequence[str]) -> Any:
    """The value under keys; None where there is none."""
    for name in place:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def put_value(tree: Any, piece: ConfigPiece) -> Any:
    """A tree with a piece in its place; InTheWayError where another kind of value stands there."""
    return _put(tree, piece, 0)


def _put(tree: Any, piece: ConfigPiece, depth: int) -> Any:
    named = ".".join(piece.place[:depth]) or "the file"
    if depth == len(piece.place):
        if not piece.key:
            if tree is not None and not isinstance(tree, Mapping):
                raise InTheWayError(named)
            return piece.over(tree)
        if tree is not None and not isinstance(tree, list):
            raise InTheWayError(named)
        items = list(tree or ())
        for position, item in enumerate(items):
            if piece.is_alike(item):
                items[position] = piece.over(item)
                return items
        return [*items, piece.value]
    if tree is not None and not isinstance(tree, Mapping):
        raise InTheWayError(named)
    name = piece.place[depth]
    return {**(tree or {}), name: _put((tree or {}).get(name), piece, depth + 1)}


def take_value(tree: Any, piece: ConfigPiece) -> Any:
    """A tree without what stands in the place of a piece; objects and lists that are empty then go, too."""
    return _take(tree, piece, 0)


def _take(tree: Any, piece: ConfigPiece, depth: int) -> Any:
    if depth == len(piece.place):
        if piece.key and isinstance(tree, list):
            return [item for item in tree if not piece.is_alike(item)]
        return None
    if not isinstance(tree, Mapping) or piece.place[depth] not in tree:
        return tree
    name = piece.place[depth]
    left = _take(tree[name], piece, depth + 1)
    if left is None or left in ({}, []):
        return {key: value for key, value in tree.items() if key != name}
    return {**tree, name: left}
