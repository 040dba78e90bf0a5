"""The traps of Hermes: what makes its plugin refuse, double or lose memories."""

from __future__ import annotations

from collections import defaultdict

from memtui.engine.alive.hermes_rules import never_null, read_talk
from memtui.engine.core.text import counted
from memtui.engine.dialects.hermes import FACT, HASH, KIND, text_hash
from memtui.engine.health.check import Check, Patient, Seen, memories

SHOWN = 8


def _is_hermes(patient: Patient) -> bool:
    return patient.can.visibility == "users" and patient.store is not None


def _stale_hashes(patient: Patient) -> Seen | None:
    """Rows whose hash is that of another text or another workspace."""
    store = patient.store
    assert store is not None
    columns = store.dialect.columns
    names = [columns.id, KIND, str(columns.scope), columns.text, HASH]
    wrong: list[str] = []
    for batch in store.pin().scan(names):
        for row in batch.select(names).to_pylist():
            kind, scope, text = (row[name] or "" for name in names[1:4])
            if row[HASH] and row[HASH] != text_hash(kind, scope, text):
                wrong.append(str(row[columns.id]))
    if not wrong:
        return None
    return Seen(f"{memories(len(wrong))} whose {HASH} is that of another text", len(wrong), ids=wrong)


def _added_columns(patient: Patient) -> Seen | None:
    assert patient.store is not None
    names = never_null(patient.store)
    if not names:
        return None
    said = counted(len(names), "added column", "added columns")
    return Seen(f"{said} that may not be null: {', '.join(names)}", len(names))


def _stored_twice(patient: Patient) -> Seen | None:
    """Facts that the plugin itself would call the same, in one workspace and for one user."""
    store = patient.store
    assert store is not None
    columns = store.dialect.columns
    names = [columns.id, KIND, str(columns.scope), "user_id", columns.text]
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for batch in store.pin().scan(names):
        for row in batch.select(names).to_pylist():
            if row[KIND] == FACT:
                digest = text_hash(FACT, row[names[2]] or "", row[columns.text] or "")
                found[digest, row["user_id"] or ""].append(str(row[columns.id]))
    twice = [ids for ids in found.values() if len(ids) > 1]
    if not twice:
        return None
    ids = [each for group in twice for each in group]
    return Seen(
        f"{counted(len(twice), 'fact is', 'facts are')} stored more than once",
        len(twice),
        ids=ids,
        evidence=tuple(" and ".join(group) for group in twice[:SHOWN]),
    )


def _lone_answers(patient: Patient) -> Seen | None:
    assert patient.store is not None
    lone = read_talk(patient.store).lone_answers
    if not lone:
        return None
    return Seen(f"{counted(len(lone), 'answer')} without a question", len(lone), ids=lone, perhaps=True)


CHECKS = (
    Check(
        "D56", "hashes of texts", "deep", "S2", "wrong",
        "Hermes stores such a text a second time, and refuses the text that it was before as known",
        "set the text or the workspace by memtui edit, which writes the hash, or forget the memory", _stale_hashes,
        how="by hand", back="the journal", applies=_is_hermes,
    ),
    Check(
        "D57", "added columns", "light", "S1", "lost",
        "every write of Hermes' plugin fails: no memory is stored any more",
        "let the column be null: alter_columns of LanceDB with nullable true", _added_columns, how="by hand",
        back="the version before", applies=_is_hermes,
    ),
    Check(
        "D58", "facts stored twice", "deep", "S3", "wrong",
        "both take a place among the few facts that are injected",
        "forget one of them: memtui forget ID --hard", _stored_twice, how="by hand", back="the journal",
        applies=_is_hermes,
    ),
    Check(
        "D59", "questions of turns", "deep", "S3", "lost",
        "a turn that ends just before Hermes shuts down loses its question: only the answer is found",
        "wait a second after the last answer before you leave Hermes; what is lost stays lost", _lone_answers,
        how="by hand", safe=None, reversible=None, applies=_is_hermes,
    ),
)  # fmt: skip
