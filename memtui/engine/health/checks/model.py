"""Whether the vectors are the model's that the agent asks with, and belong to their texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import one_line
from memtui.engine.health.check import Check, Patient, Seen, memories

if TYPE_CHECKING:
    from memtui.engine.discovery.types import FoundStore


def _other_length(patient: Patient) -> Seen | None:
    store, found = patient.store, patient.found
    if store is None or found is None or store.dims is None or found.config_dims is None:
        return None
    if store.dims == found.config_dims:
        return None
    return Seen(
        f"{one_line(found.model or 'the model')} gives {found.config_dims} numbers, the table holds {store.dims}",
        1,
        files=_holders(patient, found),
    )


def _holders(patient: Patient, found: FoundStore) -> tuple[str, ...]:
    """The configuration, and the file that it includes where the model stands in one."""
    from memtui.engine.configuration.file import open_config

    if not found.config:
        return ()
    try:
        config = open_config(patient.environ, patient.cwd, path=Path(found.config))
    except MemtuiError:
        return (found.config,)
    lead = ("plugins", "entries", found.plugin, "config", "embedding")
    spots = [config.spot((*lead, name)) for name in ("dimensions", "model")]
    return tuple(dict.fromkeys((found.config, *(str(spot.file) for spot in spots if spot.there))))


def _other_model(patient: Patient) -> Seen | None:
    from memtui.engine.health.forensics import examine

    if patient.store is None or patient.store.dims is None:
        return None
    found = examine(patient)
    if found is None or not found.other_model.size:
        return None
    rows = _unexplained(patient, found.other_model)
    if not rows.size:
        return None
    share = rows.size / max(1, found.rows)
    since = "" if found.since_ms is None else f", since {_day(found.since_ms)}"
    return Seen(
        f"{memories(rows.size)} ({share:.0%}) with vectors of another model{since}{found.among}",
        int(rows.size),
        ids=patient.ids_of_rows(rows),
        since_ms=found.since_ms,
        sure=found.sure_model,
        evidence=found.evidence_model,
        **_weight(found.models_apart),
    )


def _unexplained(patient: Patient, rows: Any) -> Any:
    """The rows that neither D16 nor D17 names: a vector that says nothing, or that texts share, is of no model."""
    import numpy as np

    from memtui.engine.health.checks.vectors import shared_rows

    return rows[~np.isin(rows, np.concatenate([patient.vectors.constant, *shared_rows(patient)]))]


def _other_text(patient: Patient) -> Seen | None:
    from memtui.engine.health.forensics import examine

    if patient.store is None or patient.store.dims is None:
        return None
    found = examine(patient)
    if found is None or not found.other_text.size:
        return None
    return Seen(
        f"{memories(found.other_text.size)} with a vector that belongs to another text{found.among}",
        int(found.other_text.size),
        ids=patient.ids_of_rows(found.other_text),
        sure=found.sure_text,
        evidence=found.evidence_text,
        **_weight(found.texts_apart),
    )


def _weight(stands: bool) -> dict[str, Any]:
    """Rows that only look unusual are a note: so do texts of a rare kind in a healthy store."""
    if stands:
        return {}
    return {
        "severity": "S4",
        "perhaps": True,
        "remedy": "unusual, perhaps only because of their texts: read them before you embed them again",
    }


def _day(time_ms: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(time_ms / 1000, UTC).date().isoformat()


_EMBED = "embed these texts again with the store's model"

PROTOCOL = 1

CHECKS = (
    Check(
        "D18", "length of the model's vectors", "facts", "S2", "wrong",
        "the plugin stops at its start, and nothing is recalled",
        "embed the store with the configured model, or set the model that made it: memtui reembed", _other_length,
        how="by hand", safe=False, back="switch back to the old table", price="one embedding a memory",
    ),
    Check(
        "D19", "one model for all vectors", "deep", "S2", "wrong",
        "the agent cannot find them by meaning", _EMBED, _other_model, back="the journal",
        price="one embedding a memory",
    ),
    Check(
        "D20", "vectors and their texts", "deep", "S2", "wrong",
        "a question meets the wrong memory", _EMBED, _other_text, back="the journal",
        price="one embedding a memory",
    ),
)  # fmt: skip
