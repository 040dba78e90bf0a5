"""A change set: what will be written, row by row, before anything is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.changes.stored_changes import StoredChanges
from memtui.engine.core.secrets import veiled
from memtui.engine.core.text import counted, one_line

if TYPE_CHECKING:
    from memtui.engine.changes.files_beside import FileEdit
    from memtui.engine.changes.version_tags import TagEdit, VersionCopy

Op = Literal["edit", "add", "delete"]

CONTENTS_REMOVED = "contents removed"
"""What a receipt says of a journal that holds nothing of its memories any more."""

MAINTAIN = "maintain"
"""The action of a receipt: the table was folded, pruned or indexed, and every row stayed as it was."""

NAME, PIN = "name", "pin"
"""The actions that name a version, and that copy one into a table of its own."""

CLEAN = "clean"
"""The action that takes the past of memories and leaves them as they are."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What becomes of one row of the table, in the table's own terms.

    `columns` are new values of whole columns. `metadata` are keys of the metadata object: a new value, the
    text of one (`Raw`), or `REMOVED`. Where both the metadata column and keys of it are given, the whole text
    is taken if the stored one is as expected, else the keys. What must still be there when it is written:
    `expects`, values of columns, and `expects_metadata`, the text of keys (None: absent). `vector` is
    float32 [dims], `REMOVED` for a NULL, None for no change.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expects: Mapping[str, Any] = field(default_factory=dict)
    expects_metadata: Mapping[str, str | None] = field(default_factory=dict)
    vector: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one memory, as a person reads it: `before` and `after` hold the changed fields only."""

    id: str
    op: Op
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    title: str = ""
    """The memory's text on one line, for lists."""
    why: str = ""
    """How it comes to be in the set: "older version", "merged into it"; empty when it was named."""
    group: str = ""
    """Rows that stand or fall together, such as a memory and the one that supersedes it."""
    scope: str | None = None
    edit: Edit = field(default_factory=Edit, repr=False, compare=False)
    row: Any = field(default=None, repr=False, compare=False)
    """The whole new row of an "add", a table of one row; of several where they shared their id when they went."""
    rows: int = 1
    """How many rows of the table have the id, where its program itself gives one to several: all of them."""

    def as_json(self) -> dict[str, Any]:
        """The row of the command-line contract."""
        extra: dict[str, Any] = {"why": self.why} if self.why else {}
        if self.rows > 1:
            extra["rows"] = self.rows
        return {
            "id": self.id,
            "op": self.op,
            "before": dict(self.before),
            "after": dict(self.after),
            **extra,
        }


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """One field of a conflict: what it was, what we want it to be, what it has become meanwhile."""

    field: str
    before: Any
    mine: Any
    theirs: Any


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a row cannot be changed as planned."""

    id: str
    reason: Literal["gone", "there again", "duplicate id", "changed", "refused"]
    sentence: str
    fields: tuple[FieldConflict, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        fields = [
            {
                "field": conflict.field,
                "before": conflict.before,
                "mine": conflict.mine,
                "theirs": conflict.theirs,
            }
            for conflict in self.fields
        ]
        return {"id": self.id, "reason": self.reason, "sentence": self.sentence, "fields": fields}


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Everything that one action does: one preview, one commit, one entry of the journal.

    `version` is the table version that it was planned on. A set with `conflicts` is not applied.
    """

    action: str
    """edit, forget, restore, merge, undo, redo, clean, name, pin."""
    title: str
    """One line: what it does, "3 memories: scope to agent:main"."""
    changes: Sequence[Change]
    """In order; of very many a `StoredChanges`, which is on the disk."""
    version: int
    conflicts: tuple[Conflict, ...] = ()
    left: tuple[Conflict, ...] = ()
    """Rows that were chosen and are left as they are, and why."""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the rules of the store add to what was asked for, in sentences: nothing to worry about."""
    copies: tuple[Mapping[str, Any], ...] = ()
    """Of a forget: where else the text stands; the lines of mirrors go with it, backups and notes stay."""
    shrinks: bool = False
    """Of a forget or a clean: old versions of the table and what the journal holds of these memories go, too."""
    purges: tuple[str, ...] = ()
    """Of a forget that shrinks: memories deleted before, whose traces go."""
    undoes: int | None = None
    """The journal entry that this takes back."""
    files: tuple[FileEdit, ...] = ()
    """Files beside the store that are written with it, and taken back with it."""
    tags: tuple[TagEdit, ...] = ()
    """Names of versions in the table itself that change with it."""
    removed_copies: tuple[VersionCopy, ...] = ()
    """Of an undo: tables that were made by copying a version, and go."""
    put_back: bool = False
    """Whether its rows were in the table before: they come back as they were, also those without a vector."""
    allowed_by: str = ""
    """The right by which an agent does it without a question; the journal names it."""
    unsent: str = ""
    """Of a preview: what would be sent to make its vectors, which are none so far. Such a set is never written."""
    mark: Any = field(default=None, repr=False, compare=False)
    base: Any = field(default=None, repr=False, compare=False)
    """The whole rows as they were when this was planned, at `version`; spares reading them again."""
    bulk: Any = field(default=None, repr=False, compare=False)
    """Of a set of very many memories (`bulk_shift.BulkShift`): all of them as numbers; `changes` are the first."""

    @property
    def count(self) -> int:
        """How many memories are changed, also those that `changes` does not list."""
        return len(self.changes) if self.bulk is None else len(self.bulk)

    @property
    def destroys(self) -> bool:
        """Whether memories are deleted: to be confirmed."""
        deletes = "delete" in _ops(self.changes)
        return self.shrinks or (deletes and self.action not in ("undo", "redo"))

    @property
    def asides(self) -> tuple[str, ...]:
        """What it does outside of the rows, in sentences: files beside the store, names of versions, copies."""
        files = [file.sentence for file in self.files]
        return (
            *files,
            *(tag.sentence for tag in self.tags),
            *(copy.sentence for copy in self.removed_copies),
        )

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories concerned, in order."""
        stored = _stored(self.changes)
        return tuple(change.id for change in self.changes) if stored is None else tuple(stored.ids)

    @property
    def by_scope(self) -> tuple[tuple[str | None, int], ...]:
        """How many memories of each scope are concerned, most first."""
        stored = _stored(self.changes)
        if self.bulk is not None:
            counts: Mapping[str | None, int] = self.bulk.by_scope
        else:
            counts = Counter(change.scope for change in self.changes) if stored is None else stored.scopes
        return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0] or "")))

    def without(self, ids: Iterable[str]) -> ChangeSet:
        """The same set with these memories left alone, and what belongs together with them."""
        dropped = set(ids)
        groups = {change.group for change in self.changes if change.id in dropped and change.group}
        stored = _stored(self.changes)

        def stays(change: Change) -> bool:
            return change.id not in dropped and change.group not in groups

        kept: Sequence[Change] = (
            tuple(change for change in self.changes if stays(change))
            if stored is None
            else stored.kept(stays)
        )
        return replace(
            self,
            title=_recounted(self.title, self.changes, kept),
            changes=kept,
            conflicts=tuple(conflict for conflict in self.conflicts if conflict.id not in dropped),
            copies=tuple(copy for copy in self.copies if copy["id"] not in dropped),
            bulk=None if self.bulk is None else self.bulk.without(dropped),
        )

    def leaving_refused(self) -> ChangeSet:
        """Return the set without rows that can never be changed so; `left` still names them.

        For rows that a filter chose: one that cannot be changed must not keep the others from it.
        """
        refused = tuple(conflict for conflict in self.conflicts if conflict.reason == "refused")
        rest = tuple(conflict for conflict in self.conflicts if conflict.reason != "refused")
        return replace(self, conflicts=rest, left=(*self.left, *refused))

    def as_json(self) -> dict[str, Any]:
        """The preview of the command-line contract: nothing was written, so there is no entry."""
        conflicts = (*self.conflicts, *self.left)
        document = outcome_json(None, self.action, self.changes, conflicts, self.warnings, self.copies)
        return {**document, "changed": self.count, "notes": [*self.notes, *self.asides]}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change wrote. `entry` is its number in the journal, None when there was nothing to write."""

    entry: int | None
    action: str
    changes: Sequence[Change]
    conflicts: tuple[Conflict, ...] = ()
    warnings: tuple[str, ...] = ()
    copies: tuple[Mapping[str, Any], ...] = ()
    version_before: int = 0
    version_after: int = 0
    receipt: Mapping[str, Any] | None = None
    """Of a forget: ids and hashes of what went, and where it was looked for afterwards."""
    count: int | None = None
    """How many memories were changed, where `changes` lists only the first of very many."""

    @property
    def final(self) -> bool:
        """Whether it can never be taken back: the journal holds nothing of it."""
        return self.receipt is not None and self.receipt["journal"] == CONTENTS_REMOVED

    @property
    def changed(self) -> int:
        """How many memories were changed, added or deleted."""
        return len(self.changes) if self.count is None else self.count

    def as_json(self) -> dict[str, Any]:
        """The document of the command-line contract."""
        document = outcome_json(
            self.entry, self.action, self.changes, self.conflicts, self.warnings, self.copies
        )
        document["changed"] = self.changed
        return document if self.receipt is None else {**document, "receipt": dict(self.receipt)}


def _stored(changes: Sequence[Change]) -> StoredChanges[Change] | None:
    return changes if isinstance(changes, StoredChanges) else None


def _ops(changes: Sequence[Change]) -> frozenset[Op]:
    stored = _stored(changes)
    return frozenset(change.op for change in changes) if stored is None else stored.ops


_BY_KIND = re.compile(r": \d+ [a-z]+(?:, \d+ [a-z]+)*$")


def _recounted(title: str, before: Iterable[Change], after: Iterable[Change]) -> str:
    """A title that begins with how many memories it is about, for what is left of them.

    What it counts by kind after that ("2 memories captured: 1 new, 1 replaced") was counted of all of them, and goes.
    """
    old, new = (
        counted(count, "memory", "memories")
        for count in (len({change.group or change.id for change in changes}) for changes in (before, after))
    )
    if old == new or not title.startswith(old):
        return title
    return new + _BY_KIND.sub("", title.removeprefix(old))


def outcome_json(
    entry: int | None,
    action: str,
    changes: Iterable[Change],
    conflicts: Iterable[Conflict],
    warnings: Iterable[str],
    copies: Iterable[Mapping[str, Any]],
) -> dict[str, Any]:
    """`entry`, `changed`, `rows`, `conflicts`, `warnings`, and `copies` where there are any."""
    rows = [change.as_json() for change in changes]
    document = {
        "schema": "memtui.change.v1",
        "action": action,
        "entry": entry,
        "changed": len(rows),
        "rows": rows,
        "conflicts": [conflict.as_json() for conflict in conflicts],
        "warnings": list(warnings),
    }
    more = [dict(copy) for copy in copies]
    return {**document, "copies": more} if more else document


# Taking back, or making again, exactly the rows and fields of one entry of the journal.

COUNTERS = frozenset(
    (
        "access_count",
        "last_accessed_at",
        "injected_count",
        "last_injected_at",
        "last_confirmed_use_at",
        "bad_recall_count",
        "suppressed_until_turn",
        "suppressed_until_ms",
    )
)
"""What the agent counts in a memory while it uses it: its numbers win over ours, and are no conflict."""


# What a change was about, in words, for the journal's list: "port of the bastion: 2222 to 8443".

LONGEST = 200
"""Characters of a subject."""

_AROUND = 4
"""Words before a changed piece that say what it is about."""

_PIECE = 60
"""Characters of a replaced piece, and of its replacement."""

_NAMED = 2
"""Memories that are named where there are several."""

_LOOKED_AT = 4_096
"""Characters of a text of which a line is made: a secret that this cuts is far behind what the line shows."""


def subject_of(changes: Sequence[Change]) -> str:
    """One line on what `changes` are about; secrets in it are named by their kind. Empty for no change."""
    if not changes:
        return ""
    if len(changes) == 1:
        text = _of_one(changes[0])
    else:
        telling = (change for change in changes if change.op != "edit" or "text" in change.after)
        several = list(islice(telling, _NAMED)) or changes[:_NAMED]
        rest = len(changes) - len(several)
        room = (LONGEST - len(f"; {rest:,} more")) // _NAMED - 2
        named = "; ".join(_short(_title(change), room) for change in several)
        text = f"{named}; {rest:,} more" if rest else named
    return _short(text, LONGEST)


def _of_one(change: Change) -> str:
    before, after = change.before.get("text"), change.after.get("text")
    if change.op == "edit" and isinstance(before, str) and isinstance(after, str):
        return _replaced(one_line(veiled(before)), one_line(veiled(after)))
    title = _title(change)
    if change.op != "edit":
        return title
    fields = ", ".join(
        f"{name} {_value(change.before, name)} to {_value(change.after, name)}" for name in change.after
    )
    return f"{_short(title, max(_PIECE, LONGEST - len(fields) - 2))}: {fields}"


def _replaced(before: str, after: str) -> str:
    """The words before the changed piece, then the piece as it was and as it is."""
    old, new = before.split(" "), after.split(" ")
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    gone = " ".join(old[start : len(old) - end])
    come = " ".join(new[start : len(new) - end])
    lead = " ".join(old[max(0, start - _AROUND) : start])
    piece = f"{_short(gone, _PIECE) or 'nothing'} to {_short(come, _PIECE) or 'nothing'}"
    return f"{lead}: {piece}" if lead else piece


def _title(change: Change) -> str:
    text = change.title or change.after.get("text") or change.before.get("text") or change.id
    return one_line(veiled(str(text).lstrip()[:_LOOKED_AT]))


def _value(side: Mapping[str, Any], name: str) -> str:
    value = side.get(name)
    if value is None:
        return "nothing"
    if isinstance(value, float):
        return f"{value:g}"
    return _short(one_line(veiled(str(value))), 24)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
