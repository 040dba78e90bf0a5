"""Full-text, id and vector indexes: there, of the right kind, and honest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.text import counted
from memtui.engine.health.check import Check, Patient, Seen

if TYPE_CHECKING:
    from memtui.engine.store.table_facts import IndexFacts


OLDEST_FTS = 1

ID_INDEX_ROWS = 50_000

OWN_LEAST = 5
"""Own questions below which they only bear witness."""

RECALL_LEAST = 0.95


def _on_text(patient: Patient) -> tuple[IndexFacts, ...]:
    if patient.facts is None or patient.store is None:
        return ()
    text = patient.store.dialect.columns.text
    return tuple(index for index in patient.facts.indexes if index.columns == (text,))


def _needs_words(patient: Patient) -> bool:
    return patient.can.visibility == "scopes" and patient.facts is not None


def _rolled_back(patient: Patient) -> int | None:
    """The version whose restore took the full-text index with it; None where that is not why it is missing."""
    from memtui.engine.health.versions import restored_without_words

    return None if patient.store is None else restored_without_words(patient.store, patient.files)


def _missing(patient: Patient) -> Seen | None:
    if not _needs_words(patient):
        return None
    words = [index for index in _on_text(patient) if index.is_text]
    if any(index.details is not None for index in words):
        assert patient.store is not None
        why = patient.store.pin().unsplit
        return Seen(why.rstrip("."), 1) if why else None
    if words:
        return Seen("the table lists a full-text index whose files are missing", 1)
    if _on_text(patient) or _rolled_back(patient) is not None:
        return None  # said by D9 and D7
    return Seen("there is no full-text index: words are not searched", 1)


def _too_new(patient: Patient) -> Seen | None:
    found = next(
        (index for index in _on_text(patient) if index.is_text and (index.version or 0) > OLDEST_FTS), None
    )
    if found is None or not patient.is_pro:
        return None
    return Seen(f"the full-text index has format {found.version}: the plugin ignores it and erases it", 1)


def _lost_by_restore(patient: Patient) -> Seen | None:
    if not _needs_words(patient) or any(index.is_text for index in _on_text(patient)):
        return None
    version = _rolled_back(patient)
    if version is None:
        return None
    return Seen(f"version {version} went back to an older one, and the full-text index went with it", 1)


def _no_positions(patient: Patient) -> Seen | None:
    for index in _on_text(patient):
        if patient.is_pro and index.is_text and index.details and not index.details.get("with_position"):
            return Seen("the full-text index has no positions: a phrase in quotes is an error", 1)
    return None


def _wrong_kind(patient: Patient) -> Seen | None:
    wrong = [index for index in _on_text(patient) if not index.is_text]
    if not wrong or not _needs_words(patient):
        return None
    names = ", ".join(f"{index.name} ({index.kind})" for index in wrong)
    return Seen(f"{names} stands on the text: the plugin makes no full-text index beside it", len(wrong))


def _no_id_index(patient: Patient) -> Seen | None:
    facts, store = patient.facts, patient.store
    if facts is None or store is None or facts.rows <= ID_INDEX_ROWS:
        return None
    if any(index.columns == (store.dialect.columns.id,) for index in facts.indexes):
        return None
    return Seen(f"no index on the ids of {counted(facts.rows, 'row')}: each write by id reads them all", 1)


def _dishonest(patient: Patient) -> Seen | None:
    facts, store = patient.facts, patient.store
    if facts is None or store is None or not any(index.is_vector for index in facts.indexes):
        return None
    from memtui.engine.health.indexes import honesty

    found = honesty(store, patient.cancel)
    if found is None:
        return None
    asked = patient.questions
    own = honesty(store, patient.cancel, questions=asked) if asked is not None and len(asked) else None
    if found.recall >= RECALL_LEAST and (
        own is None or own.questions < OWN_LEAST or own.recall >= RECALL_LEAST
    ):
        return None
    mine = () if own is None else (own.sentence(), f"recall over your own questions {own.recall:.2f}")
    index = next(index for index in facts.indexes if index.is_vector)
    return Seen(
        f"the vector index {index.name} ({index.kind}) loses "
        f"{max(found.lost_of_100, 0 if own is None else own.lost_of_100)} of 100 nearest memories",
        1,
        sure=None,
        evidence=(
            *mine,
            f"{counted(found.questions, 'stored vector')} asked with the index and without: recall {found.recall:.2f}",
            f"with the index {found.with_ms:.1f} ms, without {found.without_ms:.1f} ms",
        ),
        detail={
            "recall": round(found.recall, 4),
            "recall_own": None if own is None else round(own.recall, 4),
            "own_questions": 0 if own is None else own.questions,
            "index": index.name,
        },
    )


_MAKE = "rebuild the full-text index in the format that the agent reads"

PROTOCOL = 1

CHECKS = (
    Check(
        "D5", "full-text index", "facts", "S2", "wrong",
        "keyword search fails, and a slower substring search replaces it", _MAKE, _missing,
        back="drop the index", price="seconds",
    ),
    Check(
        "D6", "format of the full-text index", "facts", "S2", "wrong",
        "keyword search falls back, and the agent's next write drops the index", _MAKE, _too_new,
        reversible=None, price="seconds",
    ),
    Check(
        "D7", "full-text index after a restore", "facts", "S2", "wrong",
        "keyword search fails since then", _MAKE, _lost_by_restore, back="drop the index", price="seconds",
    ),
    Check(
        "D8", "positions in the full-text index", "facts", "S4", "wrong",
        "a question in quotes is an error", _MAKE, _no_positions, back="make it without positions",
        price="seconds",
    ),
    Check(
        "D9", "kind of the index on the text", "facts", "S2", "wrong",
        "keyword search fails", "drop it, then make a full-text index", _wrong_kind,
        back="make the dropped index again", price="seconds",
    ),
    Check(
        "D10", "index on the ids", "facts", "S3", "slow",
        "each write takes many times as long", "index the ids", _no_id_index, back="drop the index",
        price="about a second",
    ),
    Check(
        "D11", "honesty of the vector index", "deep", "S2", "wrong",
        "the best memory is missed by the search itself, whatever the settings", "drop the vector index", _dishonest,
        back="make the index again", price="nothing",
    ),
)  # fmt: skip
