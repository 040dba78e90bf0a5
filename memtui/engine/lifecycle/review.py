"""The weekly review: which memories to look at first, and why."""

from __future__ import annotations

from collections.abc import Collection
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.clean import one_line
from memtui.engine.lifecycle.cards import Review, ReviewCard
from memtui.engine.lifecycle.doubt import Doubts
from memtui.engine.lifecycle.population import Places
from memtui.engine.lifecycle.witness import HAZARDS, Witness
from memtui.engine.memory import TIERS

if TYPE_CHECKING:
    from memtui.engine.memory import Memory
    from memtui.engine.store.table import Store

READ = 1_000
"""Texts that are read to look for doubts in the words: of the most exposed memories, and of the most doubtful."""

ONCE = 1.0
"""Uses expected at the least of a memory that does harm when it is used a single time."""


def make_review(
    store: Store, witness: Witness, *, settled: Collection[str], lately: int, limit: int | None
) -> Review:
    """The queue without the memories in `settled`, at most `limit` cards; `lately` is passed on."""
    from memtui.engine.store.view import memories_at

    catalog = witness.catalog
    at = candidates(witness.doubts)
    memories = memories_at(store, catalog, at, now_ms=witness.forecast.now_ms)
    place_of = dict(zip(catalog.ids.texts(at), at.tolist(), strict=True))
    cards = [_card(memory, place_of[memory.id], witness) for memory in memories if memory.id in place_of]
    waiting = sorted(
        (card for card in cards if card.reasons and card.id not in settled),
        key=lambda card: (-card.priority, card.id),
    )
    return Review(tuple(waiting[:limit]), len(waiting), lately, sum(card.priority for card in waiting))


def candidates(doubts: Doubts) -> Places:
    """The most doubtful and the most exposed memories, by their place."""
    priority = doubts.priority
    doubtful = np.flatnonzero(priority > 0)
    first = doubtful[np.argsort(-priority[doubtful], kind="stable")[:READ]]
    exposed = np.argsort(-doubts.exposure, kind="stable")[:READ]
    return np.union1d(first, exposed[doubts.exposure[exposed] > 0])


def _card(memory: Memory, place: int, witness: Witness) -> ReviewCard:
    reasons = witness.reasons(place, memory)
    exposure = float(witness.doubts.exposure[place])
    if any(reason.name in HAZARDS for reason in reasons):
        exposure = max(exposure, ONCE)
    return ReviewCard(
        memory.id,
        exposure,
        1 - prod(1 - reason.doubt for reason in reasons),
        reasons,
        title=one_line(memory.text[:400]),
        tier=TIERS[witness.traits.tier[place]],
        scope=memory.scope,
    )
