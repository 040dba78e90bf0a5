"""The contradiction radar: a newer memory in force that says otherwise than one that was recalled.

Two ways are known, each narrow, since a false alarm costs more than a silence. "restated": the same words about the
same thing with another value of the same kind (a port, a time, a date, an amount, a version), and no name that only
one of them has. "ended": the newer one says that something earlier ended, the question asks for the kind of value
that both have, and of the older memories with such a value that no other one brings up to date, this is the nearest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from memtui.engine.explain.variation import memory_of
from memtui.engine.recall.rows import CandidateRow
from memtui.engine.recall.store_search import nearest
from memtui.engine.store.far_vectors import fetched_words

if TYPE_CHECKING:
    from memtui.engine.recall.record import Trace


LOOKED_AT = 3
"""Results that are looked at: what is further down seldom reaches a prompt."""

NEAR = 60
"""Memories looked at around each."""

SAME_WORDS, FEWEST_WORDS = 0.6, 2
"""Share of the shorter one's words, and how many, that the other one has too."""

SAME_MEANING = 0.6
"""The least cosine of two memories that say the same of different values."""

SOME_MEANING = 0.4
"""The least cosine to what a memory that says "no longer" may end."""

SERIES = 3
"""So many different values said in the same words are a log, not a contradiction."""

APART_MS = 86_400_000
"""What was written within a day of each other belongs to one thought."""

Way = Literal["restated", "ended"]

_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)

_UNITS = (
    "minutes?|min|hours?|days?|weeks?|months?|years?|seconds?|ms|s|kb|mb|gb|tb|kg|g|km|m|cm|mm|%|percent|euros?|"
    "dollars?|rows?|people|seats?|copies|times"
)

KINDS: Mapping[str, re.Pattern[str]] = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in {
        "port": r"\b(?:ports?|(?:listens?|answers?|runs?|serves?) on|-p)\s+(?:port\s+)?(\d{2,5})\b(?!\.\d)",
        "time": r"\b(\d{1,2}:\d{2})\b",
        "day": r"\b(mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?)\b",
        "date": rf"\b(\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}} (?:{_MONTHS}))\b",
        "version": r"\b(?:version |v)(\d+(?:\.\d+)*)\b",
        "amount": rf"\b(\d[\d,.]*\s?(?:{_UNITS}))(?![\w-])",
    }.items()
}
"""Kinds of values that can contradict each other."""

_ASKED: Mapping[str, re.Pattern[str]] = {
    "port": re.compile(r"\bports?\b", re.IGNORECASE),
    "time": re.compile(r"\b(?:when|what time|at what|time)\b", re.IGNORECASE),
    "day": re.compile(r"\b(?:when|which day|what day|day)\b", re.IGNORECASE),
    "date": re.compile(r"\b(?:when|what date|date|deadline|until)\b", re.IGNORECASE),
    "version": re.compile(r"\bversion\b", re.IGNORECASE),
    "amount": re.compile(
        r"\b(?:how (?:much|many|long|big|large|old)|size|limit|price|cost)\b", re.IGNORECASE
    ),
}

_ENDED = re.compile(
    r"\b(?:no longer|not any ?more|(?:earlier|old|former|previous)\b[^.;]*\b(?:closed|gone|off|removed|dead|retired|"
    r"replaced|cancelled|invalid)|used to (?:be|run|listen)|instead of the (?:old|earlier|former))\b",
    re.IGNORECASE,
)

_WORD = re.compile(r"[^\W\d_][\w-]*")

_NAME = re.compile(r"(?<![.!?:;] )(?<!^)\b[A-Z][\w-]+|\b\w+-\d+\b|\b[A-Z]{2,}-?\d*\b")

_NUMBERED = re.compile(r"\b[A-Za-z]+ \d+\b")

_COMMON = frozenset(
    [
        "the",
        "a",
        "an",
        "and",
        "or",
        "of",
        "to",
        "in",
        "on",
        "at",
        "for",
        "from",
        "by",
        "with",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "it",
        "its",
        "this",
        "that",
        "our",
        "we",
        "i",
        "you",
        "they",
        "he",
        "she",
        "my",
        "your",
        "their",
        "has",
        "have",
        "had",
        "not",
        "no",
        "now",
        "since",
        "will",
        "would",
        "can",
        "as",
        "than",
        "then",
        "there",
        "here",
        "all",
        "any",
        "only",
        "also",
        "but",
        "if",
        "when",
        "which",
        "who",
        "what",
        "how",
        "so",
        "into",
        "out",
        "up",
        "down",
        "over",
        "after",
        "before",
        "until",
    ]
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A recalled memory and a newer one in force that says otherwise."""

    recalled: str
    rank: int
    newer: str
    newer_rank: int | None
    """Its place in the answer; None where it did not come back."""
    kind: str
    """Of the values: port, time, day, date, version, amount."""
    value: str
    newer_value: str
    recalled_ms: int
    newer_ms: int
    way: Way
    text: str
    newer_text: str

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


def corrected_text(found: Disagreement) -> str:
    """The sentence that was recalled with the newer value in place of its own, and the newer memory's after it.

    So the right memory has the words by which the wrong one was found. Where the value is not in the sentence as
    written, the newer text alone.
    """
    pattern = rf"(?<!\w){re.escape(found.value)}(?!\w)"
    told = re.sub(pattern, lambda _: found.newer_value, found.text.strip())
    if told == found.text.strip():
        return found.newer_text
    end = "" if told.endswith((".", "!", "?")) else "."
    return f"{told}{end} {found.newer_text.strip()}"


@dataclass(frozen=True)
class RadarReading:
    """What a memory says, as the radar reads it."""

    row: CandidateRow

    @cached_property
    def values(self) -> dict[str, tuple[str, ...]]:
        """By kind the values that it names, as written."""
        found = {kind: tuple(dict.fromkeys(p.findall(self.row.text))) for kind, p in KINDS.items()}
        return {kind: each for kind, each in found.items() if each}

    @cached_property
    def words(self) -> frozenset[str]:
        """The memory's words without values and without the commonest ones, bare of plural and tense."""
        text = self.row.text
        for pattern in KINDS.values():
            text = pattern.sub(" ", text)
        return frozenset(_bare(w) for match in _WORD.findall(text) if (w := match.lower()) not in _COMMON)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names in it: capitalised within a sentence, or with a number behind ("printer-3", "board 19")."""
        text = self.row.text
        for pattern in KINDS.values():
            text = pattern.sub(" ", text)
        numbered = (match.lower() for match in _NUMBERED.findall(text))
        values = {value.lower() for each in self.values.values() for value in each}
        return frozenset(match.lower() for match in _NAME.findall(self.row.text)).union(numbered) - values

    @property
    def ends_something(self) -> bool:
        """Whether it says that something earlier is over."""
        return bool(_ENDED.search(self.row.text))

    @cached_property
    def unit(self) -> Any:
        """The memory's vector at length 1; None where there is no usable one."""
        wide = self.row.wide
        length = 0.0 if wide is None else float(np.linalg.norm(wide))
        return None if wide is None or not np.isfinite(length) or length == 0 else wide / length


def find_disagreements(trace: Trace) -> tuple[Disagreement, ...]:
    """What newer memories say otherwise than the first results of `trace`, the best placed first; usually nothing.

    One vector search for each result that names a value, on the version that was asked. Silent for traces that
    were read from a file, for results without vectors, and where each search would fetch every vector from far away.
    """
    if trace.outside is None or _fetches(trace):
        return ()
    found: dict[str, Disagreement] = {}
    looker = _Looker(trace)
    rows = {row.id: row for row in trace.pool.rows}
    for rank, id in enumerate(trace.returned[:LOOKED_AT], 1):
        old = RadarReading(rows[id])
        if old.values and old.unit is not None and (each := looker.newer_than(old, rank)) is not None:
            found.setdefault(each.newer, each)
    return tuple(found.values())


def _fetches(trace: Trace) -> bool:
    pin = memory_of(trace).pin
    return not pin.vectors_in_memory and bool(fetched_words(pin))


class _Looker:
    """Looks around memories of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace, self._pin = trace, memory_of(trace).pin
        scopes = trace.filters.get("scopes")
        self._scopes = None if scopes is None else frozenset(scopes)
        self._agent = trace.filters.get("agent")
        self._asked = {kind for kind, pattern in _ASKED.items() if pattern.search(trace.query)}

    def around(self, said: RadarReading) -> list[tuple[float, RadarReading]]:
        """Memories in force near one, that the same question may read: cosine and what they say."""
        found = nearest(self._pin, said.unit, k=NEAR + 1, where=None)
        near = []
        for row, distance in zip(found.rows, found.numbers, strict=True):
            if row.id != said.row.id and self._in_force(row):
                near.append((1.0 - float(distance), RadarReading(row)))
        return near

    def _in_force(self, row: CandidateRow) -> bool:
        meta, now = row.metadata, self._trace.now_ms
        if self._scopes is not None and row.scope not in self._scopes:
            return False
        return (
            row.active(now) and not meta.expired(now) and meta.state == "confirmed" and row.timestamp_ms > 0
        )

    def newer_than(self, old: RadarReading, rank: int) -> Disagreement | None:
        """The newest memory that says otherwise than `old`."""
        near = self.around(old)
        told = [(reading, "restated") for cosine, reading in near if _restates(old, reading, cosine)]
        values = {_values(reading, kind) for reading, _ in told for kind in _differing(old, reading)}
        if len(values) >= SERIES:
            return None
        if not told:
            told = [(reading, "ended") for cosine, reading in near if self._ends(old, reading, cosine)]
        if not told:
            return None
        newer, way = max(told, key=lambda each: each[0].row.timestamp_ms)
        kind = _differing(old, newer)[0]
        returned = self._trace.returned
        place = returned.index(newer.row.id) + 1 if newer.row.id in returned else None
        if place is not None and place < rank:
            return None  # the agent reads the newer one first
        return Disagreement(
            old.row.id,
            rank,
            newer.row.id,
            place,
            kind,
            old.values[kind][0],
            newer.values[kind][0],
            old.row.timestamp_ms,
            newer.row.timestamp_ms,
            "restated" if way == "restated" else "ended",
            old.row.text,
            newer.row.text,
        )

    def _ends(self, old: RadarReading, newer: RadarReading, cosine: float) -> bool:
        """Whether `newer` says that something ended which can only be `old`."""
        kinds = [kind for kind in _differing(old, newer) if kind in self._asked]
        if not kinds or not newer.ends_something or cosine < SOME_MEANING or not _later(old, newer):
            return False
        kind = kinds[0]
        others = [
            reading
            for _, reading in self.around(newer)
            if kind in reading.values and _later(reading, newer) and reading.row.id != old.row.id
        ]
        free = [reading for reading in others if not self._kept_up(reading, kind)]
        return all(_cosine(reading, newer) < cosine for reading in free)

    def _kept_up(self, said: RadarReading, kind: str) -> bool:
        """Whether a memory has a counterpart of its own: one in nearly the same words with such a value."""
        return any(cosine >= SAME_MEANING and kind in reading.values for cosine, reading in self.around(said))


def _later(old: RadarReading, newer: RadarReading) -> bool:
    linked = newer.row.id in (old.row.metadata.superseded_by, old.row.metadata.supersedes)
    return not linked and newer.row.timestamp_ms - old.row.timestamp_ms >= APART_MS


def _restates(old: RadarReading, newer: RadarReading, cosine: float) -> bool:
    if cosine < SAME_MEANING or not _later(old, newer) or not _differing(old, newer):
        return False
    if old.names - newer.names and newer.names - old.names:
        return False
    shared = len(old.words & newer.words)
    return shared >= FEWEST_WORDS and shared >= SAME_WORDS * min(len(old.words), len(newer.words))


def _differing(old: RadarReading, newer: RadarReading) -> list[str]:
    """Kinds of which both name values and none in common; empty where another kind is the same in both."""
    both = [kind for kind in old.values if kind in newer.values]
    return [kind for kind in both if not {*_lower(old.values[kind])} & {*_lower(newer.values[kind])}]


def _values(said: RadarReading, kind: str) -> tuple[str, ...]:
    return tuple(sorted(_lower(said.values[kind])))


def _lower(values: Iterable[str]) -> Sequence[str]:
    return [re.sub(r"\s+", "", value.lower()).removesuffix("s") for value in values]


def _cosine(one: RadarReading, other: RadarReading) -> float:
    return -1.0 if one.unit is None or other.unit is None else float(one.unit @ other.unit)


def _bare(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
