"""What becomes of each row that a bad memory reached: one choice a row, all of them one change and one undo.

A choice is a word, with what it takes behind a colon: `archive`, `delete`, `mask`, `replace:2222=>48022`,
`text:The bastion answers on 48022.`, `by:32b7ca5e`, `scope:user:ines`, `leave`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from memtui.engine.changes.forgetting import plan_forget
from memtui.engine.changes.merging import plan_supersede
from memtui.engine.changes.plan import plan_edit, plan_texts, staged_memory
from memtui.engine.core.errors import UsageError
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    from memtui.engine.changes.change_set import ChangeSet, Conflict
    from memtui.engine.engine import Engine
    from memtui.engine.witness.reach import Reach


Verb = Literal["archive", "delete", "mask", "replace", "text", "by", "scope", "leave"]

VERBS: Mapping[Verb, str] = {
    "archive": "out of use, kept in the archive",
    "delete": "deleted, with its older versions",
    "mask": "its secrets masked",
    "replace": "words of it replaced",
    "text": "another text",
    "by": "replaced by another memory, kept as history",
    "scope": "moved to another scope",
    "leave": "left as it is",
}

ARROW = "=>"
"""Between the words that go and those that come."""

_TAKES: Mapping[Verb, str] = {
    "replace": f"old words{ARROW}new words",
    "text": "the new text",
    "by": "the id of the memory that takes its place",
    "scope": "a scope",
}

GROUPS = ("all", "same", "near", "captured")
"""Words that stand for several rows: every one, it and its equal copies, near copies, what was captured after it."""


@dataclass(frozen=True, slots=True)
class Mend:
    """What becomes of one row."""

    verb: Verb
    value: str = ""

    @property
    def words(self) -> str:
        """The choice as a person reads it; a text in it is masked."""
        if not self.value or self.verb == "text":
            return VERBS[self.verb]
        if self.verb == "replace":
            old, _, new = mask(self.value)[0].partition(ARROW)
            return f"“{old}” becomes “{new}”"
        return f"replaced by {self.value[:8]}" if self.verb == "by" else f"moved to {self.value}"


def read_mend(words: str) -> Mend:
    """The choice that a person typed. Raises UsageError for an unknown verb and for one that lacks its value."""
    verb, colon, value = words.partition(":")
    verb = verb.strip().lower()
    if verb not in get_args(Verb):
        raise UsageError(
            f"{verb!r} is nothing that can be done with a row.", fix=f"One of: {', '.join(VERBS)}."
        )
    mend = Mend(verb, value)  # type: ignore[arg-type]
    takes = _TAKES.get(mend.verb)
    if takes is None and colon:
        raise UsageError(f"{verb} takes nothing behind a colon.", fix=f"Write it as: {verb}.")
    if takes is not None and (
        not value.strip() or (mend.verb == "replace" and not value.partition(ARROW)[0])
    ):
        raise UsageError(f"{verb} needs {takes}.", fix=f"Write it as: {verb}:{takes.upper()}.")
    if mend.verb == "replace" and ARROW not in value:
        raise UsageError(f"{verb} needs {takes}.", fix=f"For example: {verb}:2222{ARROW}48022.")
    return mend


def usual_mends(reach: Reach) -> dict[str, Mend]:
    """Return the mends proposed at first: the memory and what says the same go out of use, everything else is left."""
    gone = set(reach.removable)
    return {row: Mend("archive" if row in gone else "leave") for row in reach.rows}


def rows_meant(reach: Reach, name: str) -> list[str]:
    """The rows of a reach that an id, the beginning of one, or a word of `GROUPS` means. Raises UsageError for none."""
    groups = {
        "all": list(reach.rows),
        "same": reach.removable,
        "near": [copy.id for copy in reach.copies if not copy.same],
        "captured": [each for each in reach.captured if each in reach.rows],
    }
    if name in groups:
        return groups[name]
    found = [row for row in reach.rows if row == name] or [
        row for row in reach.rows if len(name) >= 4 and row.startswith(name)
    ]
    if len(found) != 1:
        what = "No row" if not found else f"{len(found)} rows"
        raise UsageError(
            f"{what} of this reach {'have' if len(found) > 1 else 'has'} an id that begins with {name!r}.",
            fix=f"See: memtui blast {reach.id[:8]}. Groups: {', '.join(GROUPS)}.",
        )
    return found


def plan_mends(engine: Engine, reach: Reach, mends: Mapping[str, Mend]) -> ChangeSet:
    """One change that does to each row what was chosen for it; taken back by one undo. Writes nothing.

    Texts change in place, so that no version of them stays in use. Raises UsageError where nothing is left to
    do and for a choice that makes no sense, RefusedError for choices that contradict each other.
    """
    from memtui.engine.changes.staging import staged_with

    if strange := [mend for mend in mends if mend not in reach.rows]:
        raise UsageError(f"{strange[0]} is no row of this reach.", fix=f"See: memtui blast {reach.id[:8]}.")
    made: ChangeSet | None = None
    conflicts: list[Conflict] = []
    for planned in _plans(engine, mends):
        conflicts += planned.conflicts
        whole = replace(planned, conflicts=())
        made = whole if made is None else staged_with(made, whole, engine.store.dialect)
    if made is None or not (made.changes or conflicts):
        raise UsageError(
            "Nothing of it is to be changed in the store.",
            fix="Its files and versions are listed all the same.",
        )
    return replace(made, title=_title(mends, made), conflicts=tuple(conflicts))


def _plans(engine: Engine, mends: Mapping[str, Mend]) -> list[ChangeSet]:
    """A plan for each kind of choice; deletions first, so that whatever contradicts one is refused."""
    by_verb: dict[Verb, dict[str, str]] = {}
    for each, mend in mends.items():
        by_verb.setdefault(mend.verb, {})[each] = mend.value
    plans = []
    if gone := by_verb.get("delete"):
        plans.append(plan_forget(engine, list(gone), hard=True))
    if gone := by_verb.get("archive"):
        plans.append(plan_forget(engine, list(gone)))
    texts = {each: _new_text(engine, each, mend) for each, mend in mends.items() if mend.verb in _WORDED}
    if texts:
        plans.append(plan_texts(engine, texts, in_place=True))
    for verb in ("by", "scope"):
        wanted = by_verb.get(verb, {})
        for value in dict.fromkeys(wanted.values()):
            ids = [each for each, given in wanted.items() if given == value]
            plans.append(
                plan_supersede(engine, ids, engine.get(value).id)
                if verb == "by"
                else plan_edit(engine, ids, {"scope": value})
            )
    return plans


_WORDED = ("mask", "replace", "text")


def _new_text(engine: Engine, memory_id: str, mend: Mend) -> str:
    """The text that a row gets. Raises UsageError where there is nothing in it to change."""
    text = staged_memory(engine, memory_id).raw_text
    if mend.verb == "text":
        return mend.value
    if mend.verb == "mask":
        masked = mask(text)[0]
        if masked == text:
            raise UsageError(
                f"{memory_id[:8]} holds nothing that looks like a secret.",
                fix="Replace the words: replace:OLD=>NEW.",
            )
        return masked
    old, _, new = mend.value.partition(ARROW)
    if old not in text:
        raise UsageError(f"{memory_id[:8]} does not hold those words.", fix="Copy them from its text.")
    return text.replace(old, new)


def _title(mends: Mapping[str, Mend], made: ChangeSet) -> str:
    """How many memories, and what is done to them."""
    said = {
        "archive": "archived",
        "delete": "deleted",
        "mask": "masked",
        "replace": "reworded",
        "text": "reworded",
        "by": "replaced",
        "scope": "moved",
    }
    counts: dict[str, int] = {}
    for mend in mends.values():
        if mend.verb in said:
            counts[said[mend.verb]] = counts.get(said[mend.verb], 0) + 1
    count = counted(len(made.changes), "memory", "memories")
    return f"{count} of one reach: {', '.join(f'{number} {word}' for word, number in counts.items())}"
