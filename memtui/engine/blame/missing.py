"""The memories that say what would have been right: about the same, newer, with another value."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.blame.rows import likely, rarity_of, read_rows
from memtui.engine.blame.statement import TakenApart, best_likeness, is_weighty, statement_of
from memtui.engine.blame.values import likeness

if TYPE_CHECKING:
    from memtui.engine.blame.rows import StoredText
    from memtui.engine.engine import Engine


ABOUT_THE_SAME = 0.75
"""How near a newer memory must be to the accused one to be its successor."""

WITH_ANOTHER_VALUE = 0.66
"""How near where it says another value of a kind on which the accusation rests."""

LOOKED_AT = 80
"""Memories that are compared one by one: those that share most with the accused one and the question."""

MOST = 2
BESIDE = 0.85
"""How near another one must be, of the nearest, to be named beside it."""

_REPLACED = 2.0
"""What it counts that the store itself names a memory as the successor."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A memory that would have been right, and did not come."""

    id: str
    text: str
    nearness: float
    why_not: str = ""
    """Why the recall of the turn did not bring it; empty without a turn, or where that is not known."""


def find_missing(
    engine: Engine,
    sentence: str,
    question: str,
    accused: Sequence[Any],
    rows: Sequence[StoredText],
    *,
    got: Collection[str],
    scopes: Sequence[str] | None,
) -> list[Missing]:
    """The memories that replace an accused one, the nearest first: newer, not in the turn, within `scopes`.

    A memory that says the sentence's own values is none: it would have led to the same.
    """
    by_id = {row.id: row for row in rows}
    first = accused[0]
    wrong = statement_of(first.text)
    asked = statement_of(question)
    said = statement_of(sentence)
    rarity = rarity_of(f"{first.text} {question}", rows)
    mine = by_id.get(first.id)
    successor = next((memory.superseded_by for memory in engine.memories([first.id]).values()), None)
    vectors = _vectors(engine, rows, first.id)
    found = []
    for row in likely(f"{first.text} {question}", rows, LOOKED_AT):
        if row.id in got or row.id == first.id or (scopes is not None and row.scope not in scopes):
            continue
        if mine is not None and row.timestamp_ms <= mine.timestamp_ms and row.id != successor:
            continue
        own = statement_of(row.text)
        if grounds_same(said, own, first.grounds.values):
            continue
        near = (
            _overlap(wrong, own, rarity) + 0.5 * _overlap(asked, own, rarity) + 0.9 * vectors.get(row.id, 0.0)
        )
        near += _REPLACED if row.id == successor else 0.0
        least = WITH_ANOTHER_VALUE if _says_another(said, own, first.grounds.values) else ABOUT_THE_SAME
        if near >= least:
            found.append(Missing(row.id, row.text, near))
    found.sort(key=lambda each: -each.nearness)
    return [each for each in found if each.nearness >= BESIDE * found[0].nearness][:MOST]


def grounds_same(said: TakenApart, own: TakenApart, shares: Sequence[str]) -> bool:
    """Whether a memory says the values on which the accusation rests, and no others of their kinds."""
    values = [value for value in said.values.values if value.shown in shares]
    kinds = {(value.kind, value.dimension) for value in values}
    theirs = [value for value in own.values.values if (value.kind, value.dimension) in kinds]
    return (
        bool(values)
        and all(likeness(value, own.values) >= 0.9 for value in values)
        and len(theirs) <= len(values)
    )


def _says_another(said: TakenApart, own: TakenApart, shares: Sequence[str]) -> bool:
    """Whether a memory has a value of a kind on which the accusation rests, and not the value itself."""
    values = [value for value in said.values.values if value.shown in shares]
    return any(
        likeness(value, own.values) < 0.9
        and any((each.kind, each.dimension) == (value.kind, value.dimension) for each in own.values.values)
        for value in values
    )


def _overlap(one: TakenApart, two: TakenApart, rarity: Mapping[str, float]) -> float:
    """Share of the words of a text that another has, rare ones counting more; of a short other one, of as many."""
    weights = {word: is_weighty(word) * rarity.get(word, 1.0) for word in one.words}
    total = min(sum(weights.values()), sum(is_weighty(word) for word in two.words))
    shared = sum(weight * best_likeness(word, two.words) for word, weight in weights.items())
    return min(1.0, shared / total) if total else 0.0


def _vectors(engine: Engine, rows: Sequence[StoredText], first: str) -> dict[str, float]:
    """The cosine of each memory's stored vector to that of the accused one, 0 to 1."""
    column = engine.store.dialect.columns.vector
    if not column:
        return {}
    import numpy as np

    own = _own_vector(engine, first, column)
    if own is None:
        return {}
    unit = own / max(float(np.linalg.norm(own)), 1e-12)
    return {row.id: max(0.0, row.near[0] or 0.0) for row in read_rows(engine, [unit]) if row.near}


def _own_vector(engine: Engine, memory: str, column: str) -> Any:
    import numpy as np

    from memtui.engine.store import sql

    where = sql.is_in(engine.store.dialect.columns.id, [memory])
    for batch in engine.store.pin().scan([column], where=where):
        for told in batch.column(column).to_pylist():
            if isinstance(told, list) and told and None not in told:
                return np.asarray(told, dtype=np.float32)
    return None
