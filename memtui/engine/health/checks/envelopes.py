"""Rows that a host's envelope was stored in: what it put around a message, taken for a memory."""

from __future__ import annotations

import numpy as np

from memtui.engine.health.check import Check, Patient, Seen, memories


def _envelopes(patient: Patient) -> Seen | None:
    from memtui.engine.catalog.text_search import StoreFacts
    from memtui.engine.health.envelopes import texts_without

    if patient.store is None or patient.engine is None:
        return None
    facts = StoreFacts(patient.store, patient.catalog, patient.cancel)
    rows = np.flatnonzero(facts.rows("is", "envelope"))
    if not rows.size:
        return None
    ids = patient.ids_at(rows)
    left = texts_without(patient.engine, ids)
    nothing = sum(not rest for rest in left.values())
    said = (
        (nothing, "nothing else: it would be forgotten"),
        (len(left) - nothing, "with a text beside it: the envelope would be cut out"),
    )
    times = patient.catalog.timestamp[rows]
    known = times[times > 0]
    return Seen(
        f"{memories(rows.size)} with an envelope of the host",
        rows.size,
        ids=ids,
        evidence=tuple(f"{count}: {what}" for count, what in said if count),
        since_ms=int(known.min()) if known.size else None,
    )


PROTOCOL = 1

CHECKS = (
    Check(
        "D60", "envelopes of the host", "light", "S2", "wrong",
        "what a channel says of a message, or what a stranger wrote, is recalled as if it were remembered",
        "forget the rows that are nothing else, cut the envelope out of the others", _envelopes,
        back="the journal", price="one write; texts that change are embedded again",
    ),
)  # fmt: skip
