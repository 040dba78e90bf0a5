"""Changes of keys, checked before they are used: known actions, keys that arrive, nothing taken from another action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from memtui.tui.actions.action import Action, cap
from memtui.tui.actions.data import WHERE
from memtui.tui.actions.key_names import RESERVED, unusable

# Where the keys of each context work: what the place is called, and what stands around it.

_EVERYWHERE = ("app",)

ANY_SCREEN = "*"
"""Stands for every context that is a whole screen."""


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """A context of keys: its name for people, and the contexts whose keys work there too.

    Nothing works around a dialog: it has the whole keyboard.
    """

    title: str
    inside: tuple[str, ...] = _EVERYWHERE
    needs: str = ""
    """What its keys need, where the key does not say it itself."""
    on: str = ""
    """The mode to go to for its actions; empty where there is none to go to: a dialog."""
    by: str = ""
    """The id of the action that opens it on that mode, where it is not the mode itself."""


PLACES: dict[str, KeyPlace] = {
    name: KeyPlace(
        row["title"],
        tuple(row.get("inside", _EVERYWHERE)),
        row.get("needs", ""),
        row.get("on", ""),
        row.get("by", ""),
    )
    for name, row in WHERE.items()
}


def place(context: str) -> KeyPlace:
    """The place of a context."""
    return PLACES.get(context) or KeyPlace(context.capitalize())


def together(a: str, b: str) -> bool:
    """Whether keys of both contexts can be live at the same moment."""
    return a == b or _around(a, b) or _around(b, a)


def is_screen(context: str) -> bool:
    """Whether the context is a whole screen, with nothing but the app around it."""
    return place(context).inside == _EVERYWHERE


def _around(outer: str, inner: str) -> bool:
    inside = place(inner).inside
    return outer in inside or (ANY_SCREEN in inside and is_screen(outer))


NEEDED = ("app.palette", "app.help", "app.quit")
"""Without a key for these nobody gets any further."""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """Other keys for one action, as somebody wrote them down. Without keys the action is to have none."""

    id: str
    keys: tuple[str, ...]
    line: int = 0
    """1-based line of the file, 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class KeyProblem:
    """Why something in the file is not used, and what to do; the action keeps its keys."""

    line: int
    what: str
    fix: str = ""

    @property
    def sentence(self) -> str:
        """The whole in one line."""
        at = f"line {self.line}: " if self.line else ""
        return f"{at}{self.what} {self.fix}".rstrip()


@dataclass(frozen=True, slots=True)
class Clash:
    """One key that two actions have which are live at the same moment."""

    key: str
    mine: str
    other: str


def apply(
    table: Sequence[Action], wishes: Sequence[KeyChange]
) -> tuple[tuple[Action, ...], tuple[KeyProblem, ...]]:
    """The table with every wish that can be granted, and a problem for each that cannot.

    All wishes are looked at together, so that two actions can swap their keys; one that fails is taken out and
    the rest looked at again.
    """
    if not wishes:
        return tuple(table), ()
    problems: list[KeyProblem] = []
    granted: dict[str, KeyChange] = {}
    known = {key.id: key for key in table}
    for wish in wishes:
        found = _alone(wish, known) or _twice(wish, granted)
        if found is None:
            granted[wish.id] = wish
        else:
            problems.append(found)
    old = {_pair(clash) for clash in clashes(table)}
    while True:
        changed = tuple(key.on(granted[key.id].keys) if key.id in granted else key for key in table)
        bad = [clash for clash in clashes(changed, frozenset(granted)) if _pair(clash) not in old]
        if not bad:
            return changed, tuple(sorted(problems, key=lambda problem: problem.line))
        worst = max(bad, key=lambda clash: granted[clash.mine].line)
        problems.append(_taken(worst, granted.pop(worst.mine), known))


def clashes(table: Sequence[Action], of: frozenset[str] | None = None) -> list[Clash]:
    """Every key that two actions have which are live together, or that begins a sequence of another.

    With `of`, only those in which an action of these ids has a part, which is then `mine`.
    """
    by_first: dict[str, list[tuple[str, Action]]] = {}
    for key in table:
        for each in key.each:
            by_first.setdefault(each.split(" ")[0], []).append((each, key))
    found = []
    for pressed in by_first.values():
        for i, (each, key) in enumerate(pressed):
            for other_each, other in pressed[i + 1 :]:
                if key is other and each != other_each:
                    continue  # one action may have "g" and "g g": the first of them never gets that far
                if not _collide(each, other_each) or not together(key.context, other.context):
                    continue
                for mine, its, theirs in ((other, other_each, key), (key, each, other)):
                    if of is None or mine.id in of:
                        found.append(Clash(its, mine.id, theirs.id))
                        break
    return found


def _collide(a: str, b: str) -> bool:
    return a == b or a.startswith(f"{b} ") or b.startswith(f"{a} ")


def _pair(clash: Clash) -> frozenset[str]:
    return frozenset((clash.mine, clash.other))


def _alone(wish: KeyChange, known: Mapping[str, Action]) -> KeyProblem | None:
    """What is wrong with a wish whatever the others are."""
    if wish.id not in known:
        near = get_close_matches(wish.id, known, 1, 0.5)
        fix = f"Did you mean {near[0]}?" if near else "memtui keys lists every action."
        return KeyProblem(wish.line, f"there is no action {wish.id}.", fix)
    if not wish.keys and wish.id in NEEDED:
        return KeyProblem(wish.line, f"{wish.id} must keep a key.", "Give it another one.")
    for keys in wish.keys:
        for i, key in enumerate(keys.split(" ")):
            if i and key in RESERVED:
                continue  # after another key it is free
            if key not in known[wish.id].each and (why := unusable(key)):
                return KeyProblem(
                    wish.line, f"{wish.id}: {key or 'an empty name'} {why}.", "Choose another key."
                )
    return None


def _twice(wish: KeyChange, granted: Mapping[str, KeyChange]) -> KeyProblem | None:
    if wish.id not in granted:
        return None
    return KeyProblem(
        wish.line, f"{wish.id} is set twice.", f"Line {granted[wish.id].line} is used; keep one."
    )


def _taken(clash: Clash, wish: KeyChange, known: Mapping[str, Action]) -> KeyProblem:
    other = known[clash.other]
    where = place(other.context).title
    what = f'{clash.mine}: {cap(clash.key)} is already {other.id} ("{other.title}", {where}).'
    return KeyProblem(wish.line, what, f"Choose another key, or give {other.id} another one.")
