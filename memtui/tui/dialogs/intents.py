"""What a typed sentence asks for: VERB [THING] [about WORDS] [in SCOPE] [as FORM] [since TIME], by the table's verbs.

Each sentence ends on a preview, never on a write; what of it was not understood is kept, to be shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from memtui.tui.actions.data import SENTENCES

FORMS = {
    "markdown": "markdown",
    "md": "markdown",
    "obsidian": "obsidian",
    "vault": "obsidian",
    "json": "json",
    "jsonl": "jsonl",
    "lines": "jsonl",
    "csv": "csv",
    "table": "csv",
    "parquet": "parquet",
}
"""Words for the forms of an export."""

_FILLERS = frozenset(
    (
        "the",
        "a",
        "an",
        "all",
        "my",
        "our",
        "any",
        "every",
        "everything",
        "memory",
        "memories",
        "about",
        "of",
        "on",
    )
) | {"named"}
"""Words that say nothing about which memories are meant."""

CONDITIONS = {
    "archived": "archived",
    "pending": "pending",
    "expired": "expired",
    "superseded": "superseded",
    "replaced": "superseded",
    "stale": "stale",
    "noise": "noise",
    "duplicates": "duplicate",
    "secrets": "secret",
    "pinned": "pinned",
}
"""Words that, standing alone, name a condition of memories rather than a word in them."""

_TIMES = {"today": 1, "yesterday": 2, "week": 7, "month": 30, "year": 365}
_DAYS = re.compile(r"(\d{1,4})(d|days?|w|weeks?)?")


_PLACES = ("undo", "merge", "mask", "clean")
"""Sentences whose words are not a filter of memories, or that name their condition themselves."""


@dataclass(frozen=True, slots=True)
class Intent:
    """A sentence as it was understood."""

    name: str
    """Of its row in the table."""
    label: str
    words: tuple[str, ...] = ()
    """What the memories must hold, or the words of a question."""
    scope: str = ""
    days: int = 0
    form: str = ""
    unknown: tuple[str, ...] = ()
    """Words that could not be used."""
    condition: str = ""
    """What all of them are, as the filter's `is:` names it."""

    @property
    def title(self) -> str:
        """The whole in words, as it will be done."""
        parts = [self.label]
        joined = f"what is {self.condition}" if self.condition else " ".join(self.words)
        if joined:  # "Merge duplicates about lint", "Forget Peter Lund"
            parts.append(f"about {joined}" if self.name in _PLACES else joined)
        if self.scope:
            parts.append(f"in {self.scope}" if joined else self.scope)
        if self.days and self.name == "undo":
            parts.append({1: "of today", 2: "of yesterday"}.get(self.days, f"of the last {self.days} days"))
        elif self.days:
            parts.append(f"of the last {self.days} days" if self.days > 1 else "of today")
        if self.form:
            parts.append(f"as {self.form}")
        return " ".join(parts)


def understood(text: str, scopes: Sequence[str] = ()) -> list[Intent]:
    """What the sentence may ask for, the longest verb first; empty where no verb begins it, or nothing follows it.

    `scopes` are those of the store: "atlas" means project:atlas.
    """
    typed = text.split()
    lowered = [word.casefold() for word in typed]
    found: list[tuple[int, Intent]] = []
    for name, row in SENTENCES.items():
        best, said = 0, ""
        for verb in row["verbs"]:
            parts = verb.split()
            if lowered[: len(parts)] == parts and len(parts) > best:
                best, said = len(parts), verb
        if best and (intent := _intent(name, typed[best:], scopes, said)) is not None:
            found.append((best, intent))
    return [intent for _, intent in sorted(found, key=lambda pair: -pair[0])]


def examples(text: str) -> list[str]:
    """The two sentences that are nearest to one whose verb is not known."""
    first = text.partition(" ")[0].casefold()
    verbs = {verb.split()[0]: row for row in SENTENCES.values() for verb in reversed(row["verbs"])}
    near = get_close_matches(first, verbs, 2, 0.78) if len(first) > 3 else []
    return [f"{verb}{text[len(first) :]}" for verb in near if verb != first]


def _intent(name: str, rest: list[str], scopes: Sequence[str], verb: str) -> Intent | None:
    row = SENTENCES[name]
    if row["takes"] == "place":  # it goes there; what else was said is not used
        return Intent(name, row["label"], unknown=tuple(w for w in rest if w.casefold() not in _FILLERS))
    if row["takes"] in ("question", "path"):
        return Intent(name, row["label"], tuple(rest)) if rest else None
    things = {word for thing in row.get("things", ()) for word in thing.split()}
    words: list[str] = []
    unknown: list[str] = []
    scope, form, days, told = "", "", 0, any(word in things for word in verb.split())
    at = 0
    while at < len(rest):
        word = rest[at]
        low = word.casefold()
        after = rest[at + 1] if at + 1 < len(rest) else ""
        if low in things:
            told = True
        elif low == "as" and name == "export" and after:
            form = FORMS.get(after.casefold(), "")
            unknown += [] if form else [after]
            at += 1
        elif low in ("in", "from", "of") and after and (named := scope_of(after, scopes)):
            scope = named
            at += 1
        elif low in ("since", "last", "from", "in") and after.casefold() in _TIMES:
            days = _TIMES[after.casefold()]
            at += 1
        elif low in ("since", "last") and (number := _DAYS.fullmatch(after.casefold())):
            weeks = (number[2] or "").startswith("w") or rest[at + 2 : at + 3] in (["weeks"], ["week"])
            days = int(number[1]) * (7 if weeks else 1)
            at += 2 if rest[at + 2 : at + 3] and rest[at + 2].casefold() in ("days", "weeks", "week") else 1
        elif low in ("yesterday", "today"):
            days = _TIMES[low]
        elif name == "export" and not scope and (named := scope_of(word, scopes)):
            scope = named
        elif low not in _FILLERS:
            words.append(word)
        at += 1
    if name == "export" and not form and words and words[-1].casefold() in FORMS:
        form = FORMS[words.pop().casefold()]
    if not (words or scope or days or (row["takes"] == "anything" and (told or form))):
        return None
    if (name == "clean" and words and not told) or (verb == "save" and not (form or scope)):
        return None  # "clean up old versions", "save this question as a case": something else is meant
    condition = CONDITIONS.get(words[0].casefold(), "") if len(words) == 1 and name not in _PLACES else ""
    words = [] if condition else [word.strip('"') for word in words]
    return Intent(name, row["label"], tuple(words), scope, days, form, tuple(unknown), condition)


def scope_of(word: str, scopes: Sequence[str]) -> str:
    """The scope that a word names: the whole of it, or what stands after its last colon; empty for none."""
    low = word.casefold()
    for scope in scopes:
        if scope and low in (scope.casefold(), scope.casefold().rpartition(":")[2]):
            return scope
    return ""
