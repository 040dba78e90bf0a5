"""Plain signals about a memory and the one before it: each is a number from 0 to 1, and counts by its weight.

What they are worth is fitted, for dialogues and for notes apart: `weights.toml` beside this file, made by
`tests/quality/fusion.py`. Words that signals look for are English; question marks, numerals and the rest are anyone's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from memtui.engine.recall.recipes.memtui.late_interaction import bare_text
from memtui.engine.recall.recipes.memtui.survey import SPEAKER, text_of

if TYPE_CHECKING:
    from memtui.engine.recall.candidates import CandidatePool, Floats
    from memtui.engine.recall.recipes.memtui.survey import Around
    from memtui.engine.recall.rows import CandidateRow


@dataclass(frozen=True)
class Signal:
    """One signal: its name among the settings, the stage that adds it, what it says."""

    name: str
    stage: Literal["neighbours", "kind"]
    meaning: str

    @property
    def key(self) -> str:
        """Its name in the configuration."""
        first, *rest = self.name.split("_")
        return first + "".join(part.capitalize() for part in rest)


SIGNALS = (
    Signal("words_before", "neighbours", "keyword score of the memory before, same session"),
    Signal("asked_before", "neighbours", "another speaker asks something just before"),
    Signal("first_of_session", "neighbours", "begins its session"),
    Signal("last_of_session", "neighbours", "ends its session"),
    Signal("question", "kind", "asks a question itself"),
    Signal("numbers", "kind", "has a number, where one is asked for"),
    Signal("times", "kind", "names a time, where one is asked for"),
    Signal("opener", "kind", "opens with a greeting or an exclamation"),
)

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

_OPENER = re.compile(
    r"^\W*(?:hey+|hi|hello|(?:ha){2,}\w*|wow|oh+|thanks?|congrat\w*|yes|yeah|no|nice|great|cool|lol|omg|aww+|good"
    r"|that)\b",
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


def signals(
    question: str,
    pool: CandidatePool,
    earlier: Sequence[CandidateRow | None],
    around: Sequence[Around],
) -> Mapping[str, Floats]:
    """Every signal by name, one number a candidate.

    `earlier` is the memory before each candidate, None where there is none that may be seen; `around` the ids.
    """
    rows = pool.rows
    place = {row.id: index for index, row in enumerate(pool.rows)}
    words = np.array([_score(pool, place, row) for row in earlier])
    best = max((hit.score for hit in pool.bm25.values()), default=0.0)
    inside = np.array([any(ids) for ids in around], bool)
    number, time = asks_number(question), asks_time(question)
    return {
        "words_before": np.log1p(words) / np.log1p(best) if best > 0 else np.zeros(pool.n),
        "asked_before": _flags(
            before is not None and before.once("asks", _asks) and spoken(row)[0] != spoken(before)[0]
            for row, before in zip(rows, earlier, strict=True)
        ),
        "first_of_session": np.where([first is None for first, _ in around], inside, False).astype(float),
        "last_of_session": np.where([last is None for _, last in around], inside, False).astype(float),
        "question": _flags(row.once("question", _holds_question) for row in rows),
        "numbers": _flags(row.once("number", _holds_number) for row in rows) if number else np.zeros(pool.n),
        "times": _flags(row.once("time", _holds_time) for row in rows) if time else np.zeros(pool.n),
        "opener": _flags(row.once("opener", _opens) for row in rows),
    }


def _flags(found: Iterable[bool]) -> Floats:
    return np.array(list(found), np.float64)


def _score(pool: CandidatePool, place: Mapping[str, int], row: CandidateRow | None) -> float:
    index = None if row is None else place.get(row.id)
    hit = None if index is None else pool.bm25.get(index)
    return 0.0 if hit is None else max(0.0, hit.score)


def _asks(row: CandidateRow) -> bool:
    return spoken(row)[1].rstrip().endswith(QUESTION_MARKS)


def _holds_question(row: CandidateRow) -> bool:
    text = spoken(row)[1]
    return any(mark in text for mark in QUESTION_MARKS)


def _holds_number(row: CandidateRow) -> bool:
    return bool(_NUMBER.search(spoken(row)[1]))


def _holds_time(row: CandidateRow) -> bool:
    return bool(_TIME.search(spoken(row)[1]))


def _opens(row: CandidateRow) -> bool:
    return bool(_OPENER.search(spoken(row)[1]))


def spoken(row: CandidateRow) -> tuple[str, str]:
    """Who said a memory, empty where that is not known; and what was said, without who said it."""
    told: tuple[str, str] = row.once("spoken", _spoken)
    return told


def _spoken(row: CandidateRow) -> tuple[str, str]:
    speaker = text_of(row.metadata.values, (SPEAKER,))
    return speaker, bare_text(row.text, speaker)
