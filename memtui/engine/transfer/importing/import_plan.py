"""The plan of an import: what becomes of every record, before anything is written. The run does exactly this."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.text import counted, one_line
from memtui.engine.transfer.importing.draft import FileState, ImportDraft
from memtui.engine.transfer.importing.embedding_cost import Cost
from memtui.engine.transfer.importing.request import (
    GROUPS,
    MEANINGS,
    Group,
    ImportRequest,
    ImportRules,
    Resolution,
)
from memtui.engine.transfer.importing.spool import WHERE, Spool
from memtui.engine.transfer.record import FieldLoss, LossTable, Rejected

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.transfer.detection import Detected
    from memtui.engine.transfer.importing.existing import ExistingMemories
    from memtui.engine.transfer.importing.groups import RecordEvidence


@dataclass(frozen=True, slots=True)
class CopyMatch:
    """The memory that an incoming one is compared with: a present one, or an earlier one of the source."""

    id: str
    text: str
    where: str = ""
    """Its place in the source; empty for a present one."""
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class PlannedRecord:
    """One record of the plan, as a person looks at it."""

    number: int
    group: Group
    where: str
    id: str
    text: str
    scope: str | None
    category: str | None
    importance: float | None
    timestamp_ms: int | None
    metadata: str | None
    match: CopyMatch | None = None
    choice: Resolution | None = None
    """Of a conflict: what was decided, None while it is open."""
    flags: tuple[str, ...] = ()
    left_out: bool = False
    """A new one that a person does not want."""


@dataclass(slots=True, eq=False)
class ImportPlan:
    """Everything that is known before an import is run. Its spool lies in `folder` until `close`."""

    request: ImportRequest
    sources: tuple[Detected, ...]
    mapping: Mapping[str, str]
    """Of a table of another program: role to column, as guessed or given."""
    dialect: Dialect
    version: int
    """The table version that it was made on."""
    rules: ImportRules
    draft: ImportDraft
    evidence: RecordEvidence
    present: ExistingMemories
    spool: Spool
    folder: Path
    scopes: tuple[tuple[str | None, str | None, int], ...]
    states: Mapping[Path, FileState]
    """What each source was like when it was read."""
    cost: Cost
    near_looked_for: bool
    vectors: NDArray[np.float32] | None
    """Vectors of all rows, where near copies were looked for; a file in `folder`."""
    warnings: list[str] = field(default_factory=list)
    _group: NDArray[np.uint8] | None = field(default=None, repr=False)
    _sizes: list[int] | None = field(default=None, repr=False)
    """How many records `_group` has of each."""

    @property
    def total(self) -> int:
        """Records that were read."""
        return len(self.draft)

    @property
    def group(self) -> NDArray[np.uint8]:
        """The group of each record, as a place in `rules.GROUPS`."""
        if self._group is None:
            from memtui.engine.transfer.importing.groups import groups

            self._group, self._sizes = groups(self.evidence, self.rules), None
        return self._group

    @property
    def counts(self) -> dict[Group, int]:
        """How many records are in each group; "invalid" counts what is no record at all.

        New ones that a person left out are not counted as new: they are `left_out`.
        """
        import numpy as np

        group = self.group
        if self._sizes is None:  # asked at every paint
            self._sizes = np.bincount(group, minlength=len(GROUPS)).tolist()
        counts: dict[Group, int] = dict(zip(GROUPS, self._sizes, strict=True))
        counts["invalid"] += sum(self.draft.reasons.values())
        counts["new"] -= len(self.left_out)
        return counts

    @property
    def left_out(self) -> frozenset[int]:
        """The new records that a person left out."""
        new, group = GROUPS.index("new"), self.group
        return frozenset(n for n in self.request.left_out if 0 <= n < len(group) and group[n] == new)

    @property
    def flags(self) -> dict[str, int]:
        """Rows with what a person should know although it holds nothing back."""
        import numpy as np

        from memtui.engine.transfer.importing import draft

        flags = self.evidence.flags
        named = {"orders": draft.ORDERS, "masked": draft.MASKED, "secret": draft.SECRET}
        return {name: int(np.count_nonzero(flags & bit)) for name, bit in named.items()}

    def switched(self, rules: ImportRules) -> ImportPlan:
        """The same plan under other rules; near copies stay as they were looked for."""
        from dataclasses import replace

        return replace(self, rules=rules, _group=None)

    def decided(self, request: ImportRequest) -> ImportPlan:
        """The same plan with other decisions: those of `request` about conflicts and new records."""
        from dataclasses import replace

        decisions = {name: getattr(request, name) for name in ("conflicts", "choices", "left_out")}
        return replace(self, request=replace(self.request, **decisions))

    def choice(self, number: int) -> Resolution:
        """What is done with a conflict."""
        return self.request.choices.get(number, self.request.conflicts)

    def numbers(self, group: Group) -> NDArray[np.int64]:
        """The records of a group, in the order of the source."""
        import numpy as np

        return np.flatnonzero(self.group == GROUPS.index(group))

    def rival(self, number: int) -> int:
        """The place of the present row that a conflict is with: same id, same fact, or nearly the same text."""
        found = self.evidence
        return next(
            (int(at[number]) for at in (found.same_id, found.fact, found.rival) if at[number] >= 0), -1
        )

    def page(self, group: Group, offset: int, limit: int) -> list[PlannedRecord]:
        """Some records of a group with what they are compared with."""
        numbers = self.numbers(group)[offset : offset + limit].tolist()
        return list(self._items(numbers, group))

    def losses(self) -> tuple[FieldLoss, ...]:
        """The ledger of what will be written: fields that change or are lost, with the rows it happens to."""
        import numpy as np

        taken = self.taken()
        sets = np.frombuffer(self.draft.notes, dtype=np.uintc)[taken] if len(taken) else np.empty(0, int)
        ledger = LossTable()
        for number, rows in enumerate(np.bincount(sets, minlength=len(self.draft.note_sets)).tolist()):
            for note in dict.fromkeys(self.draft.note_sets[number]):
                ledger.count(note.field, note.what, rows, self.draft.note_examples[number])
        return ledger.lines()

    def decisions(self) -> tuple[NDArray[np.int64], dict[int, int]]:
        """(records that are added, ascending; place of a present row to the record that replaces it).

        Of several that are taken in the place of one, the last wins; a text that lost a secret replaces nothing.
        """
        import numpy as np

        from memtui.engine.transfer.importing.draft import MASKED

        found = self.evidence
        replaced: dict[int, int] = {}
        instead: dict[int, int] = {}
        both: list[int] = []
        for number in self.numbers("conflict").tolist():
            choice = self.choice(number)
            if choice == "both":
                both.append(number)
            elif choice == "take" and not found.flags[number] & MASKED:
                place = self.rival(number)
                if place >= 0:
                    replaced[place] = number
                else:
                    instead[int(found.twice[number])] = number
        added = self.group == GROUPS.index("new")
        added[[*instead, *self.left_out]] = False
        added[[*both, *instead.values()]] = True
        return np.flatnonzero(added), replaced

    def taken(self) -> NDArray[np.int64]:
        """The records that will be written as new rows or in place of present ones, ascending."""
        import numpy as np

        adds, replaced = self.decisions()
        if not replaced:
            return adds
        return np.union1d(adds, np.array(list(replaced.values()), dtype=np.int64)).astype(np.int64)

    def to_embed(self) -> NDArray[np.int64]:
        """Those of `taken` that bring no vector."""
        from memtui.engine.transfer.importing.draft import HAS_VECTOR

        taken = self.taken()
        bare: NDArray[np.int64] = taken[(self.evidence.flags[taken] & HAS_VECTOR) == 0]
        return bare

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """The texts of some records."""
        column = self.dialect.columns.text
        return [str(row[column]) for row in self.spool.rows(numbers, [column])]

    def rejected(self) -> Iterator[Rejected]:
        """What is left out and why: broken parts first, then rows held back by a rule."""
        yield from sorted(self.draft.rejected, key=lambda each: not each.broken)

    def as_json(self, entry: int | None = None) -> dict[str, Any]:
        """The document of the command-line contract."""

        return plan_json(self, entry)

    def close(self) -> None:
        """Forget the spool."""
        import shutil

        self.spool.close()
        self.vectors = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _items(self, numbers: Sequence[int], group: Group) -> Iterator[PlannedRecord]:
        columns = self.dialect.columns
        names = (columns.id, columns.text, columns.scope, columns.category, columns.importance,
                 columns.timestamp, columns.metadata, WHERE)  # fmt: skip
        rows = self.spool.rows(numbers, [name for name in names if name])
        matches = self._matches(numbers, group)

        def get(row: Mapping[str, Any], column: str | None) -> Any:
            return row.get(column) if column else None

        for number, row, match in zip(numbers, rows, matches, strict=True):
            stamp = get(row, columns.timestamp)
            yield PlannedRecord(
                number,
                group,
                row[WHERE],
                str(row[columns.id]),
                str(row[columns.text]),
                get(row, columns.scope),
                get(row, columns.category),
                get(row, columns.importance),
                _milliseconds(stamp),
                get(row, columns.metadata),
                match,
                self.request.choices.get(number),
                self._flag_words(number),
                group == "new" and number in self.request.left_out,
            )

    def _flag_words(self, number: int) -> tuple[str, ...]:
        from memtui.engine.transfer.importing import draft

        flags = int(self.evidence.flags[number])
        words = {"prompt injection": draft.ORDERS, "masked": draft.MASKED, "secret": draft.SECRET}
        return tuple(word for word, bit in words.items() if flags & bit)

    def _matches(self, numbers: Sequence[int], group: Group) -> list[CopyMatch | None]:
        found = self.evidence
        present: dict[int, int] = {}
        earlier: dict[int, int] = {}
        cosines: dict[int, float] = {}
        lookups: Mapping[Group, Callable[[int], tuple[int, int]]] = {
            "same_id": lambda n: (int(found.same_id[n]), int(found.twice[n])),
            "exact": lambda n: (int(found.exact[n]), int(found.repeated[n])),
            "near": lambda n: (int(found.near[n]), int(found.near_within[n])),
            "conflict": lambda n: (self.rival(n), int(found.twice[n])),
        }
        look = lookups.get(group)
        for number in numbers if look else ():
            assert look is not None
            here, before = look(number)
            if here >= 0:
                present[number] = here
                cosines[number] = float(max(found.near_cosine[number], found.rival_cosine[number]))
            elif before >= 0:
                earlier[number] = before
                cosines[number] = float(found.near_within_cosine[number])
        rows = dict(zip(present, self.present.texts(list(present.values())), strict=True))
        names = [self.dialect.columns.id, self.dialect.columns.text, WHERE]
        spooled = dict(zip(earlier, self.spool.rows(list(earlier.values()), names), strict=True))
        matches: list[CopyMatch | None] = []
        for number in numbers:
            cosine = cosines.get(number) or None
            if number in rows:
                matches.append(CopyMatch(rows[number][0], rows[number][2], cosine=cosine))
            elif number in spooled:
                row = spooled[number]
                matches.append(CopyMatch(str(row[names[0]]), str(row[names[1]]), str(row[WHERE]), cosine))
            else:
                matches.append(None)
        return matches


# The plan as the command line prints it.

SHOWN = 1_000
"""Rows that are listed with their reason; all are counted."""

TEXT = 100
"""Characters of a text that tell which record it is."""

_HELD: tuple[Group, ...] = ("conflict", "secret", "noise", "short", "near", "exact")


def plan_json(plan: ImportPlan, entry: int | None) -> dict[str, Any]:
    """`format`, `evidence`, `plan`, `loss`, `entry`, `rejected`, and what belongs to them."""
    source = plan.sources[0]
    adds, replaced = plan.decisions()
    return {
        "schema": "memtui.import.v1",
        "format": source.format.name,
        "evidence": [phrase for source in plan.sources for phrase in source.evidence],
        "sources": [str(source.path) for source in plan.sources],
        "records": plan.total,
        "plan": dict(plan.counts),
        "added": len(adds),
        "replaced": len(replaced),
        "left_out": len(plan.left_out),
        "new": _new(plan),
        "flags": plan.flags,
        "rules": sorted(plan.rules.on),
        "near_looked_for": plan.near_looked_for,
        "mapping": dict(plan.mapping),
        "scopes": [{"from": theirs, "to": ours, "rows": rows} for theirs, ours, rows in plan.scopes],
        "embedding": {
            "rows": len(plan.to_embed()),
            "chars": plan.cost.chars,
            "tokens": plan.cost.tokens,
            "seconds": plan.cost.seconds,
            "model": plan.cost.model,
            "problem": plan.cost.problem,
        },
        "loss": [loss.as_json() for loss in plan.losses()],
        "entry": entry,
        "rejected": _rejected(plan),
        "reasons": [
            {"why": why, "rows": rows, "broken": broken} for (why, broken), rows in plan.draft.reasons.items()
        ],
        "warnings": [*plan.draft.remarks, *plan.warnings],
    }


def _milliseconds(stamp: Any) -> int | None:
    """A time of the table in milliseconds; None where there is none."""
    if isinstance(stamp, datetime):
        return int(stamp.timestamp() * 1000)
    return int(stamp) if stamp is not None else None


def _new(plan: ImportPlan) -> list[dict[str, Any]]:
    """Records that are new, by the number that leaves one out; the first thousand."""
    return [
        {"record": record.number + 1, "where": record.where, "text": one_line(record.text)[:TEXT]}
        | ({"left_out": True} if record.left_out else {})
        for record in plan.page("new", 0, SHOWN)
    ]


def _rejected(plan: ImportPlan) -> list[dict[str, Any]]:
    """What is left out: what cannot be read, then rows that a rule holds back; the first thousand."""
    found: list[dict[str, Any]] = []
    for each in plan.rejected():
        if len(found) >= SHOWN:
            return found
        found.append({"where": each.where, "why": each.why, "broken": each.broken})
    for group in _HELD:
        for item in plan.page(group, 0, SHOWN - len(found)):
            if group == "conflict" and plan.choice(item.number) != "keep":
                continue
            match = {} if item.match is None else {"match": item.match.id or item.match.where}
            found.append({"where": item.where, "why": MEANINGS[group], "group": group, **match})
    return found


# Running a plan: vectors first, then one commit and one entry of the journal; or nothing at all.

ACTION = "import"

TYPED = "memtui-add-"
"""How the folder of a source begins whose memories a person typed."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import wrote. `entry` is its number in the journal, None when there was nothing to write."""

    entry: int | None
    added: int
    replaced: int
    warnings: tuple[str, ...] = ()


def title(plan: ImportPlan, added: int, replaced: int) -> str:
    """One line for the journal: how many memories from where."""
    if plan.sources[0].path.parent.name.startswith(TYPED):
        return f"{counted(added, 'memory', 'memories')} added"
    names = plan.sources[0].path.name
    more = f" and {len(plan.sources) - 1} more" if len(plan.sources) > 1 else ""
    instead = f", {replaced:,} replaced" if replaced else ""
    return (
        f"{counted(added, 'memory', 'memories')} from {names}{more} ({plan.sources[0].format.name}){instead}"
    )
