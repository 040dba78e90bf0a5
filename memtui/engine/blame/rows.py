"""The memories of the whole store that a sentence may rest on, found by cheap looks first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, log
from typing import TYPE_CHECKING, Any

from memtui.engine.blame.evidence import PossibleCause
from memtui.engine.blame.lexicon import folded
from memtui.engine.blame.statement import statement_of
from memtui.engine.blame.values import squeezed

if TYPE_CHECKING:
    import numpy as np

    from memtui.engine.core.progress import CancelToken
    from memtui.engine.engine import Engine

    Vector = np.ndarray[Any, np.dtype[np.float32]]


WEIGHED = 400
"""Memories of a store that are weighed one by one; of a larger one those that the cheap looks find."""

_STEM = 5
"""Letters of a word that are looked for: its other forms begin so, too."""

_FEW_ROWS = 40
"""In a smaller store nothing is rare."""


@dataclass(frozen=True, slots=True)
class StoredText:
    """A memory of the store: what is compared."""

    id: str
    text: str
    scope: str | None
    timestamp_ms: int
    near: tuple[float | None, ...] = ()
    """The cosine of its vector to each text that was embedded."""

    def as_candidate(self) -> PossibleCause:
        """What is weighed of it."""
        told = (*self.near, None, None)
        return PossibleCause(self.id, self.text, "", told[0], told[1])


def embedded(engine: Engine, texts: Sequence[str]) -> list[Vector]:
    """The vector of each text, made on this machine; empty where that would ask a service, or no model fits."""
    from memtui.engine.core.errors import MemtuiError
    from memtui.engine.providers.embedder import NoEmbedder

    embedder = engine.embedder
    if not engine.embeds_here or isinstance(embedder, NoEmbedder) or not all(texts):
        return []
    try:
        import numpy as np

        made = np.asarray(embedder.embed_passages(list(texts)), dtype=np.float32)
    except MemtuiError:
        return []
    return [row / max(float(np.linalg.norm(row)), 1e-12) for row in made]


def read_rows(
    engine: Engine,
    vectors: Sequence[Vector] = (),
    ids: Iterable[str] | None = None,
    cancel: CancelToken | None = None,
) -> list[StoredText]:
    """Every memory of the store (or those with `ids`), with the cosines of its vector to `vectors`."""
    from memtui.engine.dialects.time_columns import stored_values
    from memtui.engine.store import sql

    store = engine.store
    columns = store.dialect.columns
    text = columns.text
    if not text:
        return []
    beside = [name for name in (columns.scope, columns.timestamp, columns.created) if name]
    vector = columns.vector if vectors else None
    names = list(dict.fromkeys((columns.id, text, *beside, *((vector,) if vector else ()))))
    where = None if ids is None else sql.is_in(columns.id, list(ids))
    out: list[StoredText] = []
    for batch in store.pin().scan(names, where=where, batch_size=2048):
        if cancel is not None:
            cancel.check()
        near = _cosines(batch.column(vector), vectors) if vector else [()] * batch.num_rows
        count = batch.num_rows

        def column(name: str | None, batch: Any = batch, count: int = count) -> list[Any]:
            return batch.column(name).to_pylist() if name else [None] * count

        def times(name: str | None, batch: Any = batch, count: int = count) -> list[Any]:
            return stored_values(batch.column(name), store.dialect.times) if name else [None] * count

        for row_id, said, scope, stamp, made, cosines in zip(
            column(columns.id),
            column(text),
            column(columns.scope),
            times(columns.timestamp),
            times(columns.created),
            near,
            strict=True,
        ):
            time_ms = store.dialect.read_time(stamp) or store.dialect.read_time(made)
            out.append(
                StoredText(str(row_id), said if isinstance(said, str) else "", scope, time_ms, cosines)
            )
    return out


def rarity_of(sentence: str, rows: Sequence[StoredText]) -> dict[str, float]:
    """How rare each word of a sentence is among some memories, 0 to 1; empty for a small store."""
    if len(rows) < _FEW_ROWS:
        return {}
    low = [folded(row.text) for row in rows]
    count = len(rows)
    top = log((count + 1) / 0.5)
    out = {}
    for word in statement_of(sentence).words:
        stem = _stem(word)
        out[word] = max(0.0, log((count + 1) / (sum(stem in text for text in low) + 0.5)) / top)
    return out


def likely(sentence: str, rows: Sequence[StoredText], most: int = WEIGHED) -> list[StoredText]:
    """Of many memories those that share words, digits or meaning with a sentence, the likeliest first."""
    if len(rows) <= most:
        return list(rows)
    said = statement_of(sentence)
    rarity = rarity_of(sentence, rows)
    stems = {_stem(word): rarity.get(word, 1.0) for word in said.words}
    keys = [value.key or squeezed(value.shown) for value in said.values.values]
    keys = [key for key in keys if any(letter.isdigit() for letter in key) and len(key) >= 2]
    total = sum(stems.values()) or 1.0

    def score(row: StoredText) -> float:
        low = folded(row.text)
        found = sum(weight for stem, weight in stems.items() if stem in low) / total
        if keys:
            tight = squeezed(row.text)
            found += sum(key in tight for key in keys) / len(keys)
        return found + (row.near[0] if row.near and row.near[0] is not None else 0.0)

    return sorted(rows, key=score, reverse=True)[:most]


def with_cosines(
    candidates: Sequence[PossibleCause], near: Mapping[str, tuple[float | None, ...]]
) -> list[PossibleCause]:
    """The candidates with the cosines that are known of their vectors: to the sentence, to the question."""
    out = []
    for candidate in candidates:
        told = (*near.get(candidate.id, ()), None, None)
        out.append(replace(candidate, cosine=told[0], asked=told[1]))
    return out


def _cosines(column: Any, vectors: Sequence[Vector]) -> list[tuple[float | None, ...]]:
    """For each row the cosines to `vectors`; None for a row without a usable vector of their length."""
    import numpy as np

    nothing = (None,) * len(vectors)
    lengths = [None if told is None else told for told in column.value_lengths().to_pylist()]
    usable = [length == len(vectors[0]) for length in lengths]
    if not any(usable):
        return [nothing] * len(usable)
    kept = column.filter(_as_mask(usable))
    values = (
        kept.flatten()
        .to_numpy(zero_copy_only=False)
        .reshape(-1, len(vectors[0]))
        .astype(np.float32, copy=False)
    )
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = (values @ np.stack(vectors).T) / np.linalg.norm(values, axis=1, keepdims=True)
    rows = iter(found.tolist())
    out: list[tuple[float | None, ...]] = []
    for each in usable:
        told = next(rows) if each else None
        out.append(tuple(told) if told is not None and all(isfinite(value) for value in told) else nothing)
    return out


def _as_mask(usable: Sequence[bool]) -> Any:
    import pyarrow as pa

    return pa.array(usable)


def _stem(word: str) -> str:
    return word if not word.isascii() else word[:_STEM]
