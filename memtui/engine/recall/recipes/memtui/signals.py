"""Plain signals about a memory and the one before it: each is a number from 0 to 1, and counts by its weight.

Each is declared once, in `SIGNALS`. What they are worth is fitted, for dialogues and for notes apart: `weights.toml`
beside this file, made by `tests/quality/fusion.py`. Words that signals look for are English; question marks, numerals
and the rest are anyone's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from memtui.engine.recall.speakers import SPEAKER, bare_text, text_of

if TYPE_CHECKING:
    from memtui.engine.recall.candidates import CandidatePool, Floats
    from memtui.engine.recall.recipes.memtui.survey import Around
    from memtui.engine.recall.rows import CandidateRow


@dataclass(frozen=True)
class SignalSources:
    """What signals are worked out of: the question, the candidates, and the memory before each."""

    pool: CandidatePool
    earlier: Sequence[CandidateRow | None]
    """The memory before each candidate, None where there is none that may be seen."""
    around: Sequence[Around]
    """Ids of the memories before and after."""


@dataclass(frozen=True)
class Signal:
    """One signal, declared once: settings, knobs, trace, What if, proof, Why not and the rule's text are made of it."""

    name: str
    stage: Literal["neighbours", "kind"]
    said: str
    """What it says of a memory, in the rule's text."""
    weighed: str
    """What its weight is for, in the list of settings."""
    source: Callable[[SignalSources], Floats]
    """Its formula: one number from 0 to 1 a candidate."""
    flag: bool = True
    """Whether it is 0 or 1 and nothing between, which the proof checks."""
    asked: str = ""
    """Counts only where the question asks for it: a key of `ASKS`."""

    @property
    def key(self) -> str:
        """The name of the signal in the configuration."""
        first, *rest = self.name.split("_")
        return first + "".join(part.capitalize() for part in rest)


QUESTION_MARKS = ("?", "？", "؟")
"""Latin, full width, Arabic."""

_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:twen|thir|for|fif|six|seven|eigh"
    r"|nine)(?:ty|teen|teenth|tieth)\w*|hundred|thousand|half|dozen|once|twice|first|second|third)\b",
    re.IGNORECASE,
)

_TIME = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|weeks?|weekend|months?|years?|(?:mon|tues|wednes|thurs|fri"
    r"|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|morning|evening|night|since|until|recently|soon|spring|summer|autumn|winter|christmas)\b"
    r"|\b(?:19|20)\d\d\b|\d(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)

_ASKS_NUMBER = re.compile(r"\bhow (?:many|much|old|long|often|far|big|tall|high)\b", re.IGNORECASE)

_ASKS_TIME = re.compile(r"\b(?:when|how long|which (?:day|month|year|date))\b", re.IGNORECASE)


def asks_number(question: str) -> bool:
    """Whether a question wants a number."""
    return bool(_ASKS_NUMBER.search(question))


def asks_time(question: str) -> bool:
    """Whether a question wants a time."""
    return bool(_ASKS_TIME.search(question))


@dataclass(frozen=True)
class Wanted:
    """Something that a question may ask for: how it is told, and what to say of a question that does not."""

    holds: Callable[[str], bool]
    missing: str


ASKS: Mapping[str, Wanted] = {
    "asks_number": Wanted(asks_number, "the question asks for no number"),
    "asks_time": Wanted(asks_time, "the question asks for no time"),
}
"""By the name under which the trace has it."""


def signals(
    question: str,
    pool: CandidatePool,
    earlier: Sequence[CandidateRow | None],
    around: Sequence[Around],
) -> Mapping[str, Floats]:
    """Every signal by name, one number a candidate; 0 throughout where the question asks for no such thing.

    `earlier` is the memory before each candidate, None where there is none that may be seen; `around` the ids.
    """
    sources = SignalSources(pool, earlier, around)
    return {
        signal.name: signal.source(sources)
        if not signal.asked or ASKS[signal.asked].holds(question)
        else np.zeros(pool.n)
        for signal in SIGNALS
    }


def of_stage(stage: str) -> tuple[Signal, ...]:
    """The signals that a stage adds, in order."""
    return tuple(signal for signal in SIGNALS if signal.stage == stage)


def _words_before(given: SignalSources) -> Floats:
    words = np.array([_score(given.pool, row) for row in given.earlier])
    best = max((hit.score for hit in given.pool.bm25.values()), default=0.0)
    return np.log1p(words) / np.log1p(best) if best > 0 else np.zeros(given.pool.n)


def _asked_before(given: SignalSources) -> Floats:
    return _flags(
        before is not None and before.once("asks", _asks) and spoken(row)[0] != spoken(before)[0]
        for row, before in zip(given.pool.rows, given.earlier, strict=True)
    )


def _ends_session(given: SignalSources) -> Floats:
    return _flags(before is not None and after is None for before, after in given.around)


def _of_text(name: str, holds: Callable[[CandidateRow], bool]) -> Callable[[SignalSources], Floats]:
    """A flag that the text of each candidate tells by itself."""
    return lambda given: _flags(row.once(name, holds) for row in given.pool.rows)


def _flags(found: Iterable[bool]) -> Floats:
    return np.array(list(found), np.float64)


def _score(pool: CandidatePool, row: CandidateRow | None) -> float:
    index = None if row is None else pool.place.get(row.id)
    hit = None if index is None else pool.bm25.get(index)
    return 0.0 if hit is None else max(0.0, hit.score)


def _asks(row: CandidateRow) -> bool:
    return spoken(row)[1].rstrip().endswith(QUESTION_MARKS)


def holds_question(row: CandidateRow) -> bool:
    """Whether a memory asks anything."""
    text = spoken(row)[1]
    return any(mark in text for mark in QUESTION_MARKS)


def _holds_number(row: CandidateRow) -> bool:
    return bool(_NUMBER.search(spoken(row)[1]))


def _holds_time(row: CandidateRow) -> bool:
    return bool(_TIME.search(spoken(row)[1]))


def spoken(row: CandidateRow) -> tuple[str, str]:
    """Who said a memory, empty where that is not known; and what was said, without who said it."""
    told: tuple[str, str] = row.once("spoken", _spoken)
    return told


def _spoken(row: CandidateRow) -> tuple[str, str]:
    speaker = text_of(row.metadata.values, (SPEAKER,))
    return speaker, bare_text(row.text, speaker)


SIGNALS = (
    Signal(
        "words_before",
        "neighbours",
        "words met just before",
        "of the keyword score of the memory before, same session",
        _words_before,
        flag=False,
    ),
    Signal(
        "asked_before",
        "neighbours",
        "asked just before",
        "for what another speaker has just asked about",
        _asked_before,
    ),
    Signal(
        "last_of_session",
        "neighbours",
        "ends its session",
        "for what ends its session",
        _ends_session,
    ),
    Signal(
        "numbers",
        "kind",
        "has a number",
        "for a number, where one is asked for",
        _of_text("number", _holds_number),
        asked="asks_number",
    ),
    Signal(
        "times",
        "kind",
        "names a time",
        "for a time, where one is asked for",
        _of_text("time", _holds_time),
        asked="asks_time",
    ),
)
"""Every plain signal; a weight below 0 takes away."""

RETIRED: Mapping[str, str] = {
    "first_of_session": "begins its session",
    "question": "is a question",
    "opener": "opens with a greeting",
}
"""Signals that counted once, by name, with what they said of a memory: settings that name them are read and have no
effect, saved receipts still tell them. They were manners of our own dialogues, see `weights.toml`."""


def signal_words() -> Mapping[str, str]:
    """What each plain signal of the recipe `memtui` says of a memory, by its name in a trace; also of old traces."""
    return {**RETIRED, **{signal.name: signal.said for signal in SIGNALS}}
