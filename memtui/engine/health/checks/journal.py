"""The journal of what was changed through memtui: whether somebody changed it."""

from __future__ import annotations

from memtui.engine.health.check import Check, Patient, Seen


def _chain(patient: Patient) -> Seen | None:
    assert patient.engine is not None
    found = patient.engine.write_state.journal.verify()
    if found.broken is None:
        return None
    return Seen(
        f"entry {found.broken} of the journal was changed outside memtui",
        1,
        files=(str(patient.engine.write_state.journal.path),),
        evidence=(found.why,),
        detail={"entry": found.broken},
    )


def _has_journal(patient: Patient) -> bool:
    return patient.engine is not None and patient.state is not None


PROTOCOL = 1

CHECKS = (
    Check(
        "D61", "journal", "light", "S2", "lost",
        "an undo would write what somebody else put there",
        "look at the entry (memtui journal ENTRY) and bring the journal back from a backup", _chain, how="by hand",
        safe=None, reversible=None, applies=_has_journal,
    ),
)  # fmt: skip
