"""From a line of a block to the memory that it was made of, and what became of that memory since.

A line names no id. It is the memory's abstract (or text), made harmless and cut, behind its category, scope,
day and source. It is looked for among the memories of its scope, then among the rows that older versions of
the table had.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.errors import MemtuiError
from memtui.engine.dialects.base import OWNER
from memtui.engine.dialects.time_columns import stored_values
from memtui.engine.metadata.read import Metadata, normalise
from memtui.engine.recall.prompt_lines import HARD_CUT, sanitised
from memtui.engine.store import sql
from memtui.engine.witness.prompt_block import BlockLine, escaped

if TYPE_CHECKING:
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.table import Store


State = Literal[
    "same",
    "text_changed",
    "superseded",
    "archived",
    "expired",
    "re-scoped",
    "deleted",
    "ambiguous",
    "unknown",
]

RELATED = " Related: "

_CAPS = (80, 180, HARD_CUT, 540)
"""Lengths at which the plugin cuts a line by its own settings: a text of one of them may go on."""

_LEAST_CUT = 100
"""The shortest length at which the built-in program can be set to cut (recallMaxChars)."""

_WORD = re.compile(r"[^\W_]{2,}")

ALIKE = 0.6
"""Share of words in common from which a memory is offered as perhaps the one, edited before the history begins."""


@dataclass(frozen=True, slots=True)
class RowState:
    """A row as one version had it."""

    id: str
    text: str
    scope: str | None
    meta: Metadata
    timestamp_ms: int
    version: int
    owner: str = ""
    """The agent that the row belongs to, in stores where rows have one."""

    @property
    def day(self) -> str:
        """YYYY-MM-DD (UTC) as a block writes it; empty for a row without a time."""
        if not self.timestamp_ms:
            return ""
        try:
            return datetime.fromtimestamp(self.timestamp_ms / 1000, UTC).strftime("%Y-%m-%d")
        except (OverflowError, ValueError, OSError):
            return "Invalid Date"

    def likeness(self, line: BlockLine) -> int:
        """How the row's text answers the line's: 2 word for word, 1 the line may be cut off it, 0 not at all."""
        if line.escaped:
            return self._likeness_escaped(line.escaped)
        best = 0
        for content in dict.fromkeys((self.meta.l0_abstract, self.text)):
            whole = sanitised(content)
            if whole == line.text:
                return 2
            if whole.startswith(line.text) and line.text:
                best = max(best, 2 if len(line.text) in _CAPS or line.last else 1)
            elif line.text.startswith(whole) and _is_related(line.text[len(whole) :]) and whole:
                best = 2
        return best

    def _likeness_escaped(self, written: str) -> int:
        """The same for the built-in program, which changes nothing of a text but its entities, and cuts behind them."""
        whole = escaped(self.text)
        if written in (whole, whole.strip(), whole.split("\n", 1)[0]):
            return 2
        return (2 if len(written) >= _LEAST_CUT else 1) if written and whole.startswith(written) else 0

    def full(self, line: BlockLine) -> str:
        """The content that the line was cut from."""
        if line.escaped:
            return self.text
        contents = [sanitised(content) for content in (self.meta.l0_abstract, self.text)]
        return next((each for each in contents if each.startswith(line.text)), contents[0])


@dataclass(frozen=True, slots=True)
class Injected:
    """One memory that a turn got: its line, its id as far as it is known, and what became of it."""

    line: str | None
    """None where only the store tells of the injection."""
    id: str | None
    state: State
    text: str = ""
    """What the line said, or the memory's text then."""
    scope: str | None = None
    candidates: tuple[str, ...] = ()
    superseded_by: str | None = None
    then: str = ""
    now: str = ""
    """Of a changed text: the memory's content then and now."""
    cut_to: int | None = None
    """Characters of the content that the agent saw, where it was cut."""
    last_seen: int | None = None
    """The newest version that has a deleted memory's text."""
    perhaps: str | None = None
    """A memory with most of the words, where the history does not reach the one that was injected."""
    rank_then: int | None = None
    rank_now: int | None = None
    gate: str | None = None
    rank_as_of: int | None = None
    gate_as_of: str | None = None
    """The first gate that stopped it on the version of its moment, where it was asked as of then."""
    used: float | None = None
    """Share of the line's own words that the answer has: a guess of whether it was used; None without words."""

    def as_json(self) -> dict[str, Any]:
        """The memory of the command-line contract, with what is known beside it."""
        document: dict[str, Any] = {
            "line": self.line,
            "id": self.id,
            "state": self.state,
            "rank_then": self.rank_then,
            "rank_now": self.rank_now,
            "gate": self.gate or self.gate_as_of,
            "scope": self.scope,
        }
        if self.state == "ambiguous":
            document["candidates"] = list(self.candidates)
        for name in ("superseded_by", "cut_to", "last_seen", "perhaps", "rank_as_of", "used"):
            if getattr(self, name) is not None:
                document[name] = getattr(self, name)
        if self.state == "text_changed":
            document |= {"then": self.then, "now": self.now}
        return document


@dataclass(slots=True)
class Matcher:
    """Finds the memories of lines in one store; what it reads of the table is kept for the next line."""

    store: Store
    now_ms: int
    cancel: CancelToken | None = None
    _read: dict[tuple[int, str | None, str], list[RowState]] = field(default_factory=dict)
    _written: list[RowState] | None = None
    _by_id: dict[str, RowState | None] = field(default_factory=dict)
    _agent: str = ""

    def match(self, line: BlockLine, agent: str = "") -> Injected:
        """The memory of a line, and what became of it. Of several rows that say the same, those of `agent` count."""
        self._agent = agent
        if line.id:
            return replace(self.state_of(line.id, None), line=line.line, text=line.text, scope=line.scope)
        partly: list[RowState] = []
        for near in (_on_day(self._times, line.day), self._holds(line)):
            found = [(row, row.likeness(line)) for row in self._rows(line.scope, near)] if near else []
            exact = [row for row, likeness in found if likeness == 2]
            if exact:
                return self._judged(line, exact)
            partly = partly or [row for row, likeness in found if likeness == 1]
        old = self._old_rows(line)
        exact = [row for row in old if row.likeness(line) == 2]
        if exact:
            return self._judged_old(line, exact)
        if partly:
            return self._judged(line, partly)
        old = [row for row in old if row.likeness(line) == 1]
        if old:
            return self._judged_old(line, old)
        moved = self._elsewhere(line)
        if line.scope is not None and len(_ids(moved)) == 1:
            return self._found(line, moved[0], "re-scoped")
        return self._nearest(line)

    def state_of(self, memory_id: str, then: RowState | None) -> Injected:
        """What became of a memory since it stood as `then` (None: its text then is not known)."""
        row = self.row(memory_id)
        text = then.text if then is not None else row.text if row is not None else ""
        scope = then.scope if then is not None else row.scope if row is not None else None
        if row is None:
            return Injected(None, memory_id, "deleted", text, scope, last_seen=self.last_version(memory_id))
        if then is not None and (_content(then) != _content(row) or then.text != row.text):
            return Injected(
                None, memory_id, "text_changed", text, scope, then=_content(then), now=_content(row)
            )
        state, by = self._state(row)
        if state == "same" and then is not None and then.scope != row.scope:
            state = "re-scoped"
        return Injected(None, memory_id, state, text, scope, superseded_by=by)

    def row(self, memory_id: str) -> RowState | None:
        """A memory as it is now, None when it is gone."""
        if memory_id not in self._by_id:
            names = _columns(self.store.dialect)
            rows = _states(
                self.store.rows_by_id([memory_id], names), self.store.dialect, self.store.version, self.now_ms
            )
            self._by_id[memory_id] = next(iter(rows), None)
        return self._by_id[memory_id]

    def at(self, memory_id: str, version: int) -> RowState | None:
        """A memory as it stood in a version; None where that is no longer known."""
        found = [row for row in self.writings(memory_id) if row.version <= version]
        return max(found, key=lambda row: row.version, default=None)

    def writings(self, memory_id: str) -> list[RowState]:
        """Every state of a memory that the readable versions have, in no order."""
        found = [row for row in self._changes() if row.id == memory_id]
        oldest = self._oldest()
        if oldest is not None:
            where = sql.is_in(self.store.dialect.columns.id, [memory_id])
            found += self._scan(oldest, None, where)
        return found

    def last_version(self, memory_id: str) -> int | None:
        """The newest readable version that has a memory; None where none has.

        After it was last written a memory is there until it is deleted, so the versions are halved.
        """
        written = max((writing.version for writing in self.writings(memory_id)), default=None)
        if written is None:
            return None
        later = [version for version, _ in self.store.versions() if version >= written]
        low, high = 0, len(later)  # there at `low`, gone at `high`
        while high - low > 1:
            middle = (low + high) // 2
            if self._has(memory_id, later[middle]):
                low = middle
            else:
                high = middle
        return later[low]

    def _has(self, memory_id: str, version: int) -> bool:
        where = sql.is_in(self.store.dialect.columns.id, [memory_id])
        try:
            return self.store.pin(version).count(where) > 0
        except MemtuiError:
            return False

    def former_id(self, id_or_prefix: str) -> str:
        """The one id that begins so among the rows that older versions had; itself where none or several do."""
        found = {row.id for row in self._changes() if row.id.startswith(id_or_prefix)}
        oldest = self._oldest()
        if oldest is not None and self.has_text_ids:
            column = sql.name(self.store.dialect.columns.id)
            near = f"starts_with({column}, {sql.literal(id_or_prefix)})"
            found |= {row.id for row in self._scan(oldest, None, near)}
        return next(iter(found)) if len(found) == 1 and len(id_or_prefix) >= 8 else id_or_prefix

    def rows_where(self, condition: str) -> list[RowState]:
        """The memories that a condition keeps."""
        return self._rows(None, condition)

    def history(self) -> list[RowState]:
        """Every state that the readable versions wrote, and the rows of the oldest one."""
        oldest = self._oldest()
        return self._changes() + (self._scan(oldest, None, None) if oldest is not None else [])

    @property
    def has_text_ids(self) -> bool:
        """Whether the ids of this table are texts."""
        import pyarrow as pa

        kind = self.store.schema.field(self.store.dialect.columns.id).type
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    def _judged(self, line: BlockLine, rows: list[RowState]) -> Injected:
        rows = _narrowed(line, rows, self._agent)
        ids = _ids(rows)
        if len(ids) > 1:
            return Injected(line.line, None, "ambiguous", line.text, line.scope, candidates=ids)
        return self._found(line, rows[0], *self._state(rows[0]))

    def _judged_old(self, line: BlockLine, rows: list[RowState]) -> Injected:
        newest: dict[str, RowState] = {}
        for row in rows:
            if row.id not in newest or row.version > newest[row.id].version:
                newest[row.id] = row
        rows = _narrowed(line, list(newest.values()), self._agent)
        if len(rows) > 1:
            return Injected(line.line, None, "ambiguous", line.text, line.scope, candidates=_ids(rows))
        then = rows[0]
        known = self.state_of(then.id, then)
        if known.state == "same" and then.scope != line.scope:
            known = replace(known, state="re-scoped")
        return replace(
            known,
            line=line.line,
            text=line.text,
            scope=line.scope,
            cut_to=_cut_to(line, then),
            last_seen=then.version if known.state == "text_changed" else known.last_seen,
        )

    def _found(
        self, line: BlockLine, row: RowState, state: State, superseded_by: str | None = None
    ) -> Injected:
        return Injected(
            line.line,
            row.id,
            state,
            line.text,
            line.scope,
            superseded_by=superseded_by,
            cut_to=_cut_to(line, row),
        )

    def _state(self, row: RowState) -> tuple[State, str | None]:
        meta = row.meta
        if meta.superseded_by:
            return "superseded", meta.superseded_by
        if meta.invalidated_at is not None and meta.invalidated_at <= self.now_ms:
            return "superseded", None
        if meta.state == "archived":
            return "archived", None
        if meta.expired(self.now_ms):
            return "expired", None
        return "same", None

    def _nearest(self, line: BlockLine) -> Injected:
        """The memory of the same scope with most of the line's words, where it has enough of them."""
        words = _words(line.text)
        best, share = None, 0.0
        for row in self._rows(line.scope, self._holds(line, any_of=3)) if words else ():
            other = _words(sanitised(row.meta.l0_abstract))
            both = len(words & other) / max(1, len(words | other))
            if both > share:
                best, share = row.id, both
        return Injected(
            line.line,
            None,
            "unknown",
            line.text,
            line.scope,
            perhaps=best if share >= ALIKE else None,
        )

    @property
    def _times(self) -> str | None:
        return self.store.dialect.columns.timestamp

    def _rows(self, scope: str | None, near: str | None) -> list[RowState]:
        """The memories of a scope (None: of all) that the condition `near` keeps."""
        return self._scan(self.store.version, scope, near)

    def _scan(self, version: int, scope: str | None, near: str | None) -> list[RowState]:
        key = (version, scope, near or "")
        if key not in self._read:
            dialect = self.store.dialect
            column = dialect.columns.scope
            only = sql.is_in(column, [scope]) if column and scope is not None else None
            try:
                batches = self.store.pin(version).scan(
                    _columns(dialect), where=sql.both(only, near), batch_size=8_192
                )
                self._read[key] = [row for batch in batches for row in self._checked(batch, version)]
            except MemtuiError:
                if version == self.store.version:
                    raise
                self._read[key] = []  # cleaned away meanwhile
        return self._read[key]

    def _holds(self, line: BlockLine, any_of: int = 1) -> str | None:
        """A condition that keeps the rows which hold the longest words of the line; None for a line without words."""
        words = sorted(set(_WORD.findall(line.text)), key=len, reverse=True)[:any_of]
        columns = [
            name for name in (self.store.dialect.columns.text, self.store.dialect.columns.metadata) if name
        ]
        terms = [sql.contains(column, word) for word in words for column in columns]
        return f"({' OR '.join(terms)})" if terms else None

    def _elsewhere(self, line: BlockLine) -> list[RowState]:
        """Rows of other scopes that hold its text: those of its day, of any day where it names none."""
        near = _on_day(self._times, line.day) if line.day else self._holds(line)
        rows = self._rows(None, near) if near else []
        return [row for row in rows if row.scope != line.scope and row.likeness(line) == 2]

    def _old_rows(self, line: BlockLine) -> list[RowState]:
        """Rows of the line's scope that versions wrote, and those of the oldest version that hold its words."""
        rows = [row for row in self._changes() if line.scope is None or row.scope == line.scope]
        oldest = self._oldest()
        return rows + self._scan(oldest, line.scope, self._holds(line)) if oldest is not None else rows

    def _oldest(self) -> int | None:
        versions = self.store.versions()
        return versions[0][0] if len(versions) > 1 else None

    def _changes(self) -> list[RowState]:
        """The rows that the versions after the oldest one wrote."""
        if self._written is None:
            from memtui.engine.store.changed_rows import changed_rows

            self._written = []
            oldest = self._oldest()
            if oldest is not None:
                columns = _columns(self.store.dialect)
                for written in changed_rows(self.store, columns, after=oldest, cancel=self.cancel):
                    if not written.base:
                        self._written += self._checked(written.rows, written.version)
        return self._written

    def _checked(self, rows: Any, version: int) -> list[RowState]:
        if self.cancel is not None:
            self.cancel.check()
        return _states(rows, self.store.dialect, version, self.now_ms)


def use_in(answer: str, text: str, question: str) -> float | None:
    """Share of the words of `text` that the question does not have and the answer has; None without such words."""
    own = _words(text) - _words(question)
    return round(len(own & _words(answer)) / len(own), 2) if own and answer else None


def _columns(dialect: Dialect) -> list[str]:
    each = dialect.columns
    names = (each.text, each.scope, each.category, each.timestamp, each.created, each.metadata)
    owner = OWNER if OWNER in dialect.labels else None
    return list(dict.fromkeys(name for name in (each.id, *names, owner) if name))


def _states(rows: Any, dialect: Dialect, version: int, now_ms: int) -> list[RowState]:
    """Arrow rows as states."""
    names = rows.schema.names
    moments = (dialect.columns.timestamp, dialect.columns.created)
    columns: Mapping[str, list[Any]] = {
        name: stored_values(rows.column(name), dialect.times)
        if name in moments
        else rows.column(name).to_pylist()
        for name in names
    }
    count = rows.num_rows

    def column(role: str) -> Sequence[Any]:
        name = getattr(dialect.columns, role)
        return columns[name] if name in columns else [None] * count

    out = []
    owners = columns.get(OWNER, [None] * count)
    for row_id, text, scope, category, stamp, created, metadata, owner in zip(
        *(column(each) for each in ("id", "text", "scope", "category", "timestamp", "created", "metadata")),
        owners,
        strict=True,
    ):
        time_ms = dialect.read_time(stamp) or dialect.read_time(created)
        shown = text if isinstance(text, str) else ""
        meta = normalise(metadata, text=shown, category=category, timestamp_ms=time_ms, now_ms=now_ms)
        out.append(RowState(str(row_id), shown, scope, meta, time_ms, version, str(owner or "")))
    return out


def _on_day(column: str | None, day: str) -> str | None:
    """A condition that keeps the rows of one UTC day, whether their times are in ms or in seconds."""
    if column is None or not day:
        return None
    try:
        datetime.fromisoformat(day)
    except ValueError:
        return None
    start = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
    end = start + int(timedelta(days=1).total_seconds() * 1000)
    name = sql.name(column)
    return f"({name} >= {start} AND {name} < {end}) OR ({name} >= {start // 1000} AND {name} < {end // 1000})"


def _narrowed(line: BlockLine, rows: list[RowState], agent: str) -> list[RowState]:
    """Of several rows those that the agent, the line's day, source and tier speak for, where they speak for any."""
    tests: tuple[Callable[[RowState], bool], ...] = (
        lambda row: not agent or not row.owner or row.owner == agent,
        lambda row: row.day == line.day,
        lambda row: not line.source or row.meta.source == line.source,
        lambda row: not line.tier or row.meta.tier[:1].upper() == line.tier,
    )
    for test in tests:
        if len(rows) > 1:
            rows = [row for row in rows if test(row)] or rows
    return rows


def _ids(rows: Iterable[RowState]) -> tuple[str, ...]:
    return tuple(sorted({row.id for row in rows}))


def _cut_to(line: BlockLine, row: RowState) -> int | None:
    return len(line.text) if len(line.text) < len(row.full(line)) else None


def _content(row: RowState) -> str:
    return row.meta.l0_abstract or row.text


def _is_related(rest: str) -> bool:
    return rest.startswith(RELATED) or RELATED.startswith(rest)


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
