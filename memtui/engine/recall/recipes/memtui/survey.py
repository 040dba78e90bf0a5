"""What all memories of a scope have in common, and who spoke before and after whom in which session."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from memtui.engine.dialects.time_columns import stored_values
from memtui.engine.recall.far_rows import far_rows
from memtui.engine.recall.recipes.memtui.question import words_of
from memtui.engine.recall.rows import unwrapped
from memtui.engine.recall.speakers import SPEAKER, text_of

if TYPE_CHECKING:
    import pyarrow as pa

    from memtui.engine.dialects.base import Dialect
    from memtui.engine.store.snapshot import Snapshot


SAMPLE = 4096
"""Rows whose words are counted, evenly spread: shares are right to one or two percent, exact in smaller scopes."""

FEW = 50
"""With fewer rows than this, nothing is known of what is common: no word is, and words count nearly alike."""

SESSIONS = ("session", "session_id", "sessionId", "source_session")
"""Metadata keys that name the session, the first one present counts."""

_TELLING = r'"(?:speaker|session|session_id|sessionId|source_session)\\?"|^\s*"'
"""Metadata with such a key, plain or within a JSON string, and any that is a JSON string."""


def word_rarity(count: int, rows: int) -> float:
    """1 for a word of none of `rows` (or of `FEW`, where there are fewer), 0 for one of all."""
    return 1 - math.log(count + 1) / math.log(max(rows, FEW) + 1)


Around = tuple[str | None, str | None]
"""The ids of the memories before and after."""


@dataclass(frozen=True)
class SessionChains:
    """Memories of sessions in the order in which they were said; neighbours stand side by side."""

    ids: Sequence[str]
    sessions: np.ndarray[Any, np.dtype[np.int64]]
    """Equal numbers: the same scope and session."""
    place: Mapping[str, int]
    _told: dict[str, Around] = field(default_factory=dict, repr=False, compare=False)

    def around(self, memory_id: str) -> Around:
        """The memories before and after in the same session, None at its ends or outside any session."""
        told = self._told.get(memory_id)
        if told is None:
            at = self.place.get(memory_id)
            told = (None, None) if at is None else (self._same(at, at - 1), self._same(at, at + 1))
            self._told[memory_id] = told
        return told

    def _same(self, at: int, other: int) -> str | None:
        inside = 0 <= other < len(self.ids) and self.sessions[other] == self.sessions[at]
        return self.ids[other] if inside else None


@dataclass(frozen=True)
class Survey:
    """A scope as a whole: `counts[word]` of `sampled` rows contain a word, a row's speaker included."""

    sampled: int
    counts: Mapping[str, int]
    years: tuple[int, ...]
    """Years in which there are memories."""
    speakers: tuple[str, ...]
    chains: SessionChains
    twice: int = 0
    """Rows whose metadata was encoded twice."""
    spoken: float = 0.0
    """The share of the rows that have a speaker."""

    def share(self, word: str) -> float:
        """The part of the rows that contain a word (lower case); 0 where there are too few rows to tell."""
        return self.counts.get(word, 0) / self.sampled if self.sampled >= FEW else 0.0

    def rarity(self, word: str) -> float:
        """How much a word (lower case) tells rows apart: 1 - log(rows with it + 1) / log(max(n, FEW) + 1).

        1 for a word of no row, 0 for one of every row of n >= FEW; few rows say little about what is rare.
        """
        return word_rarity(self.counts.get(word, 0), self.sampled)


def nothing() -> Survey:
    """The survey of no rows."""
    return Survey(0, {}, (), (), SessionChains((), np.array([], np.int64), {}))


@dataclass
class _Reading:
    """What is gathered row by row."""

    stride: int
    seen: int = 0
    sampled: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    years: set[int] = field(default_factory=set)
    speakers: set[str] = field(default_factory=set)
    twice: int = 0
    spoken: int = 0
    members: list[tuple[int, int, str]] = field(default_factory=list)
    """(session number, time, id) in storage order."""
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)


def survey(pin: Snapshot, where: str | None, *, check: Callable[[], None] = lambda: None) -> Survey:
    """Read the rows that `where` keeps, once a version of the table; `check` may raise between two batches."""
    return pin.derived(("survey", where), lambda: _survey(pin, where, check))


def _survey(pin: Snapshot, where: str | None, check: Callable[[], None]) -> Survey:
    columns = pin.dialect.columns
    names = (columns.id, columns.text, columns.scope, columns.timestamp, columns.created, columns.metadata)
    reading = _Reading(max(1, -(-pin.count(where) // SAMPLE)))
    wanted = [name for name in dict.fromkeys(names) if name]
    far = pin.on_object_storage  # there the rows that are found would be fetched a second time
    for batch in far_rows(pin).scan(where) if far else pin.scan(wanted, where=where):
        check()
        _read(reading, batch, pin.dialect)
    order = sorted(range(len(reading.members)), key=lambda at: reading.members[at][:2])
    members = [reading.members[at] for at in order]
    ids = [memory_id for _, _, memory_id in members]
    chains = SessionChains(
        ids, np.array([number for number, _, _ in members], np.int64), {i: at for at, i in enumerate(ids)}
    )
    return Survey(
        reading.sampled,
        reading.counts,
        tuple(sorted(reading.years)),
        tuple(sorted(reading.speakers)),
        chains,
        reading.twice,
        reading.spoken / max(1, reading.seen),
    )


def _read(reading: _Reading, batch: pa.RecordBatch, dialect: Dialect) -> None:
    columns = dialect.columns
    first = -reading.seen % reading.stride
    sampled = set(range(first, batch.num_rows, reading.stride))
    reading.seen += batch.num_rows
    speakers: dict[int, str] = {}
    for at, values, twice in _telling(batch, columns.metadata):
        reading.twice += twice
        speakers[at] = text_of(values, (SPEAKER,))
        reading.speakers |= {speakers[at]} - {""}
        reading.spoken += bool(speakers[at])
        if session := text_of(values, SESSIONS):
            scope = str(batch.column(columns.scope)[at]) if columns.scope else ""
            number = reading.numbers.setdefault((scope, session), len(reading.numbers))
            reading.members.append((number, _time(batch, at, dialect), str(batch.column(columns.id)[at])))
    texts = batch.column(columns.text)
    for at in sorted(sampled):
        text = texts[at].as_py()
        words = words_of(text if isinstance(text, str) else "")
        reading.counts.update(words | words_of(speakers.get(at, "")))
        reading.sampled += 1
        year = _year(_time(batch, at, dialect))
        if year is not None:
            reading.years.add(year)


def _telling(batch: pa.RecordBatch, column: str | None) -> Iterator[tuple[int, Mapping[str, Any], bool]]:
    """The rows whose metadata names a speaker or a session, or was encoded twice; the metadata; whether it was."""
    if column is None:
        return
    import pyarrow as pa
    import pyarrow.compute as pc

    stored = batch.column(column)
    if not (pa.types.is_string(stored.type) or pa.types.is_large_string(stored.type)):
        return
    telling = pc.match_substring_regex(stored, _TELLING).fill_null(False).to_numpy(zero_copy_only=False)
    for at in np.flatnonzero(telling).tolist():
        raw = stored[at].as_py()
        inner = unwrapped(raw)
        try:
            values = json.loads(inner or raw)
        except (ValueError, RecursionError):
            continue
        if isinstance(values, dict):
            yield at, values, inner is not None


def _time(batch: pa.RecordBatch, at: int, dialect: Dialect) -> int:
    for name in (dialect.columns.timestamp, dialect.columns.created):
        stamp = (
            dialect.read_time(stored_values(batch.column(name).slice(at, 1), dialect.times)[0]) if name else 0
        )
        if stamp:
            return stamp
    return 0


def _year(stamp: int) -> int | None:
    try:
        return datetime.fromtimestamp(stamp / 1000, UTC).year if stamp > 0 else None
    except (ValueError, OverflowError, OSError):
        return None
