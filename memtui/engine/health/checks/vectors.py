"""Vectors that no search by meaning finds, or that lead it astray."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted
from memtui.engine.health.check import Check, Patient, Seen, memories
from memtui.engine.health.checks.crewai import blank_texts
from memtui.engine.store import sql
from memtui.engine.store.sql import SENTINEL

if TYPE_CHECKING:
    from collections.abc import Sequence


OFF_UNIT_SHARE = 0.01


def _has_vectors(patient: Patient) -> bool:
    return patient.store is not None and patient.store.dims is not None


def _rows(patient: Patient, rows: Any, sentence: str) -> Seen | None:
    """What was seen in these rows (by row id); None for none."""
    if not len(rows):
        return None
    return Seen(sentence.format(memories(len(rows))), len(rows), ids=patient.ids_of_rows(rows))


LIGHT_BYTES = 512 << 20
"""Up to this size the vectors are looked through for missing ones in the light pass, too."""


def _null(patient: Patient) -> Seen | None:
    store = patient.store
    if store is None or not _has_vectors(patient):
        return None
    harm = store.dialect.can.bare_rows
    evidence = (harm,) if harm else ()
    if patient.deep:
        seen = _rows(patient, patient.vectors.null, "{} without a vector")
        return None if seen is None else replace(seen, evidence=evidence)
    pin, columns = store.pin(), store.dialect.columns
    if pin.on_object_storage or pin.rows * (store.dims or 0) * 4 > LIGHT_BYTES:
        raise MemtuiError("All vectors would be read for that.", fix="Look with: memtui doctor --deep.")
    bare = f"{sql.name(str(columns.vector))} IS NULL"
    ids = [str(id) for batch in pin.scan([columns.id], where=bare) for id in batch.column(0).to_pylist()]
    if not ids:
        return None
    return Seen(f"{memories(len(ids))} without a vector", len(ids), ids=ids, evidence=evidence)


def _not_finite(patient: Patient) -> Seen | None:
    if not _has_vectors(patient):
        return None
    return _rows(patient, patient.vectors.not_finite, "{} with a vector that holds no finite number")


def _zero(patient: Patient) -> Seen | None:
    if not _has_vectors(patient):
        return None
    seen = _rows(patient, patient.vectors.zero, "{} with a vector of zeros")
    if seen is not None and (
        blank := set(blank_texts(patient))
    ):  # nothing can be embedded there: D54 tells of them
        left = [memory_id for memory_id in seen.ids if memory_id not in blank]
        seen = Seen(f"{memories(len(left))} with a vector of zeros", len(left), ids=left) if left else None
    store = patient.store
    if store is None or not store.pin().sentinels:
        return seen
    if seen is not None:
        return replace(seen, count=seen.count + 1, ids=(*seen.ids, SENTINEL), evidence=(_LEFT_BEHIND,))
    met = patient.uses_l2 and "agentId" not in store.columns
    return Seen(
        _LEFT_BEHIND,
        1,
        ids=(SENTINEL,),
        severity=None if met else "S4",
        evidence=(
            "by distance it is recalled before real memories" if met else "no recall of its program meets it",
        ),
        remedy="remove that row with the agent stopped; memtui hides it from every answer",
    )


_LEFT_BEHIND = f"the row {SENTINEL}, which a program adds when it makes a table, was never removed"


def _off_unit(patient: Patient) -> Seen | None:
    if not _has_vectors(patient):
        return None
    found = patient.vectors
    if len(found.off_unit) <= OFF_UNIT_SHARE * max(1, found.usable):
        return None
    low, high = found.norms
    seen = _rows(patient, found.off_unit, "{} with a vector that is not of length 1")
    assert seen is not None
    lengths = f"lengths from {low:.3g} to {high:.3g}"
    if patient.uses_l2:
        return Seen(seen.sentence, seen.count, ids=seen.ids, evidence=(lengths,))
    return Seen(
        f"{seen.sentence}; the agent compares angles, so it does not matter to it",
        seen.count,
        ids=seen.ids,
        severity="S4",
        evidence=(lengths,),
    )


def _constant(patient: Patient) -> Seen | None:
    if not _has_vectors(patient):
        return None
    return _rows(patient, patient.vectors.constant, "{} with a vector of one and the same number")


def shared_rows(patient: Patient) -> list[Any]:
    """Groups of rows (by row id) of different texts that have one vector."""
    return [] if (found := _sharing(patient)) is None else found[0]


def _equal(patient: Patient) -> Seen | None:
    found = _sharing(patient)
    if found is None or not found[0]:
        return None
    import numpy as np

    groups, first = found
    sizes = sum(map(len, groups))
    return Seen(
        f"{memories(sizes)} share a vector with another text, in {counted(len(groups), 'group')}"
        if len(groups) > 1
        else f"{memories(sizes)} of different texts share one vector",
        sizes,
        ids=patient.ids_of_rows(np.concatenate(groups)),
        evidence=tuple(
            f"{len(group)} with one vector: {text[:60]!r} and others"
            for group, text in list(zip(groups, first, strict=True))[:5]
        ),
    )


def _sharing(patient: Patient) -> tuple[list[Any], list[str]] | None:
    """The groups, and the first text of each; None where nothing is to be read."""
    store = patient.store
    if store is None or not _has_vectors(patient) or not patient.vectors.equal:
        return None
    import numpy as np

    columns = store.dialect.columns
    rows = np.concatenate(patient.vectors.equal)
    taken = store.take(rows.tolist(), [columns.id, columns.text, str(columns.vector)])
    vectors = taken.column(str(columns.vector)).combine_chunks().flatten().to_numpy(zero_copy_only=False)
    texts = [(text or "").strip() for text in taken.column(columns.text).to_pylist()]
    found = _members(vectors.reshape(len(texts), -1), texts, [len(group) for group in patient.vectors.equal])
    return [rows[list(group)] for group in found], [texts[group[0]] for group in found]


def _members(vectors: Any, texts: Sequence[str], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Groups of places whose vectors are equal in every number while their texts are not, as a model reads them."""
    out, start = [], 0
    for size in sizes:
        groups: dict[bytes, list[int]] = {}
        for at in range(start, start + size):
            groups.setdefault(vectors[at].tobytes(), []).append(at)
        out += [tuple(group) for group in groups.values() if len({_as_read(texts[at]) for at in group}) > 1]
        start += size
    return out


_READ = 250
"""Characters of a text that every model reads: the shortest limit is 256 tokens, and one may be a single character."""

_WORD = re.compile(r"\w+")


def _as_read(text: str) -> tuple[str, ...]:
    """What a model may see of a text: its beginning, and of that the words alone, in no order and no case."""
    return tuple(sorted(_WORD.findall(text[:_READ].casefold()))) or (text,)


_EMBED = "embed their texts again"

_PRICE = "one embedding a memory"

PROTOCOL = 1

CHECKS = (
    Check(
        "D12", "missing vectors", "light", "S1", "lost",
        "search by meaning never finds them, and one of them stops a whole batch of the plugin's writes",
        _EMBED, _null, back="the journal", price=_PRICE,
    ),
    Check(
        "D13", "numbers that are none", "deep", "S2", "wrong",
        "distances to them are no numbers: they come first, last or never", _EMBED, _not_finite,
        back="the journal", price=_PRICE,
    ),
    Check(
        "D14", "vectors of zeros", "deep", "S2", "wrong",
        "search by meaning never finds them", _EMBED, _zero, back="the journal", price=_PRICE,
    ),
    Check(
        "D15", "length of the vectors", "deep", "S2", "wrong",
        "a search by distance ranks them by their length, too", "scale them to length 1, or embed them again",
        _off_unit, back="the journal", price=_PRICE,
    ),
    Check(
        "D16", "vectors that say nothing", "deep", "S2", "wrong",
        "they are as near to one question as to any other", _EMBED, _constant, back="the journal", price=_PRICE,
    ),
    Check(
        "D17", "one vector for several texts", "deep", "S2", "wrong",
        "a question meets all of them or none, whatever they say", _EMBED, _equal, back="the journal", price=_PRICE,
    ),
)  # fmt: skip
