"""Properties that every dialect must hold, tried on copies of a store of the real program.

Reading changes nothing, to the byte; every row is read, unknown columns too; hostile values neither stop a reading nor
reach a screen; an edit writes its fields and nothing else; undo gives back every value.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine import counted
from memtui.testing.golden_recalls import GoldenRecall, check_recalls
from memtui.testing.report import KitReport

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine import Engine, Memory

NOW_MS = 1_798_761_600_000
"""2027-01-01, the clock of every check."""

UNKNOWN = "memtui_kit_unknown"
"""The column that a later version of the program might add."""

HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "before\x00after",
    "\u202egnissel\u202c",
    "ends with a lone high \u2028 separator",
    "",
    " ",
    "x" * 20_000,
    "[bold]not a style[/bold]",
    "'); DROP TABLE memories; --",
)


@dataclass(frozen=True, slots=True)
class StoreSample:
    """A folder with a table that the real program made, and which dialect must read it."""

    dialect: str
    """The dialect's `name`."""
    folder: str | Path
    table: str | None = None
    recalls: Sequence[GoldenRecall] = ()
    recipe: str = ""
    """The recipe of the recalls; empty: the dialect's own."""
    follows: Sequence[str] = ()
    """Columns that the program itself writes anew with an edit, such as a hash of the text."""


def check_dialect(sample: StoreSample, scratch: Path) -> KitReport:
    """Try every property on copies below `scratch`; the sample itself is only read."""
    kit = _Kit(sample, scratch)
    report = KitReport(f"Dialect {sample.dialect}, {sample.folder}")
    for name, check in (
        ("the table is recognised without a column map", kit.is_recognised),
        ("reading changes nothing, to the byte", kit.reads_without_writing),
        ("every row is read, with its id, text and time", kit.reads_every_row),
        ("an unknown column is shown and kept", kit.keeps_unknown_columns),
        ("hostile values are read and cleaned", kit.reads_hostile_values),
        ("an edit writes its own fields and nothing else; undo is exact", kit.edits_and_undoes),
        ("a deletion takes one row; undo is exact", kit.deletes_and_undoes),
        ("recorded recalls are answered alike", kit.answers_as_recorded),
    ):
        report.try_property(name, check)
    return report


class _Kit:
    """The checks; each works on a copy of its own."""

    def __init__(self, sample: StoreSample, scratch: Path) -> None:
        self.sample, self.scratch, self.copies = sample, scratch, 0

    def copy(self) -> Path:
        """A fresh copy of the sample's folder."""
        self.copies += 1
        place = self.scratch / f"copy-{self.copies}" / Path(self.sample.folder).name
        shutil.copytree(self.sample.folder, place)
        return place

    def open(self, place: Path, *, writable: bool = False) -> Engine:
        """The store at `place`, without any environment."""
        from memtui.engine import open_engine

        state = self.scratch / f"state-{self.copies}"
        return open_engine(
            place,
            now=lambda: NOW_MS,
            environ={"HOME": str(self.scratch / "home")},
            cwd=self.scratch,
            table=self.sample.table,
            writable=writable,
            state=state if writable else None,
        )

    def stored(self, place: Path) -> pa.Table:
        """Every column of every row, in the order of their ids, as LanceDB has them."""
        engine = self.open(place)
        with engine:
            table = lance_table(place, engine.store.table_name).to_arrow()
            return table.sort_by(engine.store.dialect.columns.id).combine_chunks()

    # ------------------------------------------------------------------ the properties

    def is_recognised(self) -> None:
        """The dialect's name is the sample's."""
        with self.open(self.copy()) as engine:
            name = engine.store.dialect.name
        assert name == self.sample.dialect, f"the table was read as {name}"

    def reads_without_writing(self) -> None:
        """Opening, listing, showing and counting leave every byte as it was."""
        place = self.copy()
        before = digests(place)
        with self.open(place) as engine:
            engine.memories(_some(engine, 50))
            engine.stats()
        after = digests(place)
        changed = sorted(set(before.items()) ^ set(after.items()))
        assert not changed, f"changed: {', '.join(name for name, _ in changed[:5])}"

    def reads_every_row(self) -> None:
        """As many memories as rows, each with an id, the stored text, and a time where the column has one."""
        place = self.copy()
        stored = self.stored(place)
        with self.open(place) as engine:
            dialect = engine.store.dialect
            memories = dialect.to_memories(stored, NOW_MS)
            count = engine.store.count()
        assert count == len(memories) == stored.num_rows, (
            f"{counted(len(memories), 'memory', 'memories')} of {counted(stored.num_rows, 'row')}"
        )
        texts = stored.column(dialect.columns.text).to_pylist()
        wrong = [m.id for m, text in zip(memories, texts, strict=True) if m.raw_text != (text or "")]
        assert not wrong, f"another text than the stored one: {', '.join(wrong[:3])}"
        own = dialect.doubled_ids
        single = [m.id for m in memories if not (own and m.id.startswith(own))]
        assert len(set(single)) == len(single), "two memories have the same id"
        if dialect.columns.timestamp is not None:
            untimed = [m.id for m in memories if m.timestamp_ms <= 0]
            assert len(untimed) < len(memories), (
                "no memory has a time, though the dialect names a column for it"
            )

    def keeps_unknown_columns(self) -> str | None:
        """A column of a later version is shown, and stays through an edit."""
        place = self.copy()
        with self.open(place) as engine:
            name, columns = engine.store.table_name, engine.store.dialect.columns
            if UNKNOWN in engine.store.columns or engine.store.dialect.can.edits_files:
                return "the sample is no table"
        lance_table(place, name).add_columns({UNKNOWN: f"concat('kept ', cast({columns.id} as string))"})
        with self.open(place, writable=True) as engine:
            recognised = engine.store.dialect.name
            assert recognised == self.sample.dialect, "with it, the table is not recognised"
            memory = _first(engine)
            assert memory.extra.get(UNKNOWN) == f"kept {memory.id}", "it is not shown"
            if engine.store.dialect.can.writable:
                _edit(engine, memory.id)
        rows = lance_table(place, name).to_arrow().to_pylist()
        lost = [row[columns.id] for row in rows if row[UNKNOWN] != f"kept {row[columns.id]}"]
        assert not lost, f"lost by an edit: {', '.join(map(str, lost[:3]))}"
        return None

    def reads_hostile_values(self) -> None:
        """Rows with control characters, empty and very long texts, and values of the extremes of each type."""
        from memtui.engine import ListQuery

        place = self.copy()
        stored = self.stored(place)
        with self.open(place) as engine:
            dialect, name = engine.store.dialect, engine.store.table_name
        hostile = [_hostile_row(stored, dialect.columns.id, number) for number in range(len(HOSTILE))]
        import pyarrow as pa

        lance_table(place, name).add(pa.Table.from_pylist(hostile, schema=stored.schema))
        with self.open(place) as engine:
            recognised = engine.store.dialect.name
            assert recognised == self.sample.dialect, "with them, the table is not recognised"
            ids = [row[dialect.columns.id] for row in hostile]
            engine.view(ListQuery())
            found = engine.memories([str(memory_id) for memory_id in ids])
            assert len(found) == len(ids), f"{len(found)} of {len(ids)} rows are read"
            for memory in found.values():
                raw = [sign for sign in memory.text if _is_raw(sign)]
                assert not raw, f"a raw control character in the text for the screen: {raw[0]!r}"

    def edits_and_undoes(self) -> str | None:
        """One field of one row is set; all other values of the table stay, and undo brings it back."""
        place = self.copy()
        before = self.stored(place)
        with self.open(place, writable=True) as engine:
            if not engine.store.dialect.can.writable:
                return "the dialect is read only"
            memory = _first(engine)
            allowed = _edit(engine, memory.id) | set(self.sample.follows)
            between = self.stored(place)
            _only(before, between, engine.store.dialect.columns.id, memory.id, allowed)
            _undo(engine)
        _same(before, self.stored(place))
        return None

    def deletes_and_undoes(self) -> str | None:
        """One row goes, and comes back with every value."""
        from memtui.engine import changes

        place = self.copy()
        before = self.stored(place)
        with self.open(place, writable=True) as engine:
            if not engine.store.dialect.can.writable:
                return "the dialect is read only"
            memory = _first(engine)
            changes.apply(engine, changes.plan_forget(engine, [memory.id], hard=True), confirmed=True)
            left = self.stored(place).num_rows
            assert left == before.num_rows - 1, f"{counted(before.num_rows - left, 'row')} went"
            _undo(engine)
        _same(before, self.stored(place))
        return None

    def answers_as_recorded(self) -> str | None:
        """The sample's recalls."""
        if not self.sample.recalls:
            return "the sample has no recorded recalls"
        with self.open(self.copy()) as engine:
            wrong = check_recalls(engine, self.sample.recalls, self.sample.recipe)
        assert not wrong, "\n".join([f"{len(wrong)} of {len(self.sample.recalls)} differ", *wrong[:3]])
        return None


def lance_table(place: Path, table: str) -> Any:
    """The table as LanceDB itself opens it."""
    from memtui.engine.store.lancedb_import import import_lancedb

    return import_lancedb().connect(str(place)).open_table(table)


def digests(folder: Path) -> Mapping[str, str]:
    """The digest of every file below a folder."""
    return {
        str(file.relative_to(folder)): sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _is_raw(sign: str) -> bool:
    """Whether a terminal would act on the character."""
    return (sign < " " and sign not in "\n\t") or "\u202a" <= sign <= "\u202e"


def _some(engine: Engine, count: int) -> list[str]:
    """The ids of the first memories, as they are listed."""
    from memtui.engine import ListQuery

    return engine.ids(engine.view(ListQuery()), 0, count)


def _first(engine: Engine) -> Memory:
    """The memory that is listed first."""
    ids = _some(engine, 1)
    return engine.memories(ids)[ids[0]]


def _edit(engine: Engine, memory_id: str) -> set[str]:
    """Set the first simple field that the dialect has to another value; the columns that may change."""
    from memtui.engine import changes

    fields = {field.name for field in engine.editable}
    columns = engine.store.dialect.columns
    memory = engine.memories([memory_id])[memory_id]
    if "importance" in fields:
        value = 0.25 if memory.importance != 0.25 else 0.75
        planned = changes.plan_edit(engine, [memory_id], {"importance": value})
        allowed = {columns.importance, columns.metadata, *engine.store.dialect.labels}
    else:
        scopes = {one.scope for one in engine.memories(_some(engine, 200)).values()}
        other = next((scope for scope in sorted(filter(None, scopes)) if scope != memory.scope), None)
        assert "scope" in fields, "there is no field that the kit can edit: importance or scope"
        assert other, "there are no two scopes in the sample to edit between"
        planned = changes.plan_edit(engine, [memory_id], {"scope": other})
        allowed = {columns.scope, columns.metadata}
    changes.apply(engine, planned)
    return {column for column in allowed if column}


def _undo(engine: Engine) -> None:
    from memtui.engine import changes

    changes.apply(engine, changes.plan_undo(engine), confirmed=True)


def _only(before: pa.Table, after: pa.Table, column: str, memory_id: str, allowed: set[str]) -> None:
    """Raise AssertionError where anything but `allowed` of one row differs."""
    old, new = before.to_pylist(), after.to_pylist()
    assert len(old) == len(new), f"{len(new)} rows, {len(old)} before"
    changed = 0
    for one, other in zip(old, new, strict=True):
        names = {name for name in one if not _equal(one[name], other[name])}
        if str(one[column]) != memory_id:
            assert not names, f"another row changed: {one[column]} ({', '.join(sorted(names))})"
            continue
        changed += bool(names)
        assert names <= allowed, f"changed beside the field: {', '.join(sorted(names - allowed))}"
    assert changed, "nothing was written"


def _same(before: pa.Table, after: pa.Table) -> None:
    """Raise AssertionError where a value or the schema with its metadata is another."""
    assert before.schema.equals(after.schema, check_metadata=True), "the schema or its metadata changed"
    for name in before.schema.names:
        differ = [
            place
            for place, (one, other) in enumerate(
                zip(before.column(name).to_pylist(), after.column(name).to_pylist(), strict=True)
            )
            if not _equal(one, other)
        ]
        assert not differ, f"{name} of {counted(len(differ), 'row')} differs from before"


def _equal(one: Any, other: Any) -> bool:
    """Equal values; NaN equals NaN."""
    return bool(one == other) or (one != one and other != other)


def _hostile_row(stored: pa.Table, id_column: str, number: int) -> dict[str, Any]:
    """A row like the first, with a hostile text in each column of texts and an extreme of each other type."""
    import pyarrow as pa

    row: dict[str, Any] = stored.slice(0, 1).to_pylist()[0]
    for field in stored.schema:
        if field.name == id_column:
            row[field.name] = f"hostile-{number}" if pa.types.is_string(field.type) else 9_000_000 + number
        elif pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            row[field.name] = HOSTILE[number]
        elif pa.types.is_floating(field.type):
            row[field.name] = (float("nan"), float("inf"), -1.0, 1e300)[number % 4]
    return row
