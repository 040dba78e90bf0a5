"""Terms `is:` and `has:`: what the catalog decides, and the way to a provider for the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.memory import STATES
from memtui.engine.query.asking import Asking
from memtui.engine.store.catalog import DYNAMIC, INVALID, SUPERSEDED, SUPERSEDES

if TYPE_CHECKING:
    from memtui.engine.store.catalog import Mask, Meta

WITHOUT_METADATA = {"active": True, "expired": False, "superseded": False, "suppressed": False}
"""What is so of every row of a store that keeps no such thing, as `Memory` says too."""


def condition_mask(asking: Asking, condition: str) -> Mask:
    """Rows of which `is:condition` is true."""
    decide = _DECIDE.get(condition)
    if decide is None:
        return asking.provided("is", condition)
    if not asking.catalog.has_metadata and condition in WITHOUT_METADATA:
        return np.full(asking.catalog.n, WITHOUT_METADATA[condition], dtype=np.bool_)
    return decide(asking, asking.meta(f"is:{condition}"))


def carried_mask(asking: Asking, thing: str) -> Mask:
    """Rows of which `has:thing` is true."""
    if thing != "links":
        return asking.provided("has", thing)
    return np.asarray((asking.meta("links").flags & (SUPERSEDED | SUPERSEDES)) != 0)


def _superseded(asking: Asking, meta: Meta) -> Mask:
    return np.asarray(((meta.flags & SUPERSEDED) != 0) | (meta.invalidated_at <= asking.context.now_ms))


def _invalid(asking: Asking, meta: Meta) -> Mask:
    return np.asarray((meta.flags & INVALID) != 0)


def _stale(asking: Asking, meta: Meta) -> Mask:
    from memtui.engine.lifecycle.decay import DecayParams, decay_scores

    catalog, params = asking.catalog, asking.context.decay or DecayParams()
    scores = decay_scores(
        catalog.importance,
        meta.confidence,
        meta.tier,
        meta.access_count,
        catalog.timestamp,
        meta.last_accessed,
        (meta.flags & DYNAMIC) != 0,
        now_ms=asking.context.now_ms,
        params=params,
    )
    return scores.stale(params)


def _in_state(state: str) -> Callable[[Asking, Meta], Mask]:
    return lambda _asking, meta: np.asarray(meta.state == STATES.index(state))


_DECIDE: dict[str, Callable[[Asking, Meta], Mask]] = {
    "active": lambda asking, meta: meta.active(asking.context.now_ms),
    "archived": _in_state("archived"),
    "expired": lambda asking, meta: meta.expired(asking.context.now_ms),
    "invalid-metadata": _invalid,
    "pending": _in_state("pending"),
    "stale": _stale,
    "superseded": _superseded,
    "suppressed": lambda asking, meta: meta.suppressed(asking.context.now_ms),
}
