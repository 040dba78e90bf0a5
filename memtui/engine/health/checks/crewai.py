"""The traps of CrewAI: memories that lie where, or are written as, it loses, leaks or stumbles over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.core import iso_time
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted
from memtui.engine.dialects.crewai import PRIVATE, SOURCE
from memtui.engine.health.check import Check, Patient, Seen, memories
from memtui.engine.store import sql

if TYPE_CHECKING:
    from memtui.engine.store.table import Store

ROOT = "/"

SHOWN = 8

NOT_BLANK = r"\S"


def _is_crewai(patient: Patient) -> bool:
    return patient.can.visibility == "sources" and patient.store is not None


def _counts(patient: Patient) -> dict[str, int]:
    """Memories by their scope."""
    catalog = patient.catalog
    numbers = np.bincount(catalog.scope_codes, minlength=len(catalog.scopes)).tolist()
    return {scope: number for scope, number in zip(catalog.scopes, numbers, strict=True) if scope and number}


def _ids_in(patient: Patient, scopes: Sequence[str]) -> Sequence[str]:
    from memtui.engine.catalog.select import in_scopes

    return patient.ids_at(np.flatnonzero(in_scopes(patient.catalog, list(scopes))))


def _at_root(patient: Patient) -> Seen | None:
    counts = _counts(patient)
    others = [scope for scope in counts if scope != ROOT]
    here = counts.get(ROOT, 0)
    if not here or not others:
        return None
    evidence = [f"forget(scope={others[0]!r}), like that of any other scope, deletes these, too"]
    if any(scope.startswith(ROOT) for scope in others):
        evidence.append("a deep recall without a scope searches the scopes below / and never these")
    return Seen(
        f"{memories(here)} at the scope /, beside {counted(len(others), 'other scope', 'other scopes')}",
        here,
        ids=_ids_in(patient, [ROOT]),
        evidence=tuple(evidence),
    )


def nodes(scopes: Sequence[str]) -> set[str]:
    """Every scope that has memories, or below which one has, without the root: /crew, /crew/shop, ..."""
    found: set[str] = set()
    for scope in scopes:
        parts = scope.strip("/").split("/")
        if parts == [""]:
            continue
        lead = ROOT if scope.startswith(ROOT) else ""
        found.update(lead + path for path in accumulate(parts, lambda a, b: f"{a}/{b}"))
    return found


def _siblings(scopes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(scope, another that goes on with the same text and is not below it), each once, sorted."""
    ordered = sorted(nodes(scopes))
    for at, one in enumerate(ordered):
        for other in ordered[at + 1 :]:
            if not other.startswith(one):
                break
            rest = other[len(one) :]
            if "/" not in rest:
                yield one, other


def _alike(patient: Patient) -> Seen | None:
    counts = _counts(patient)
    pairs = list(_siblings(list(counts)))
    if not pairs:
        return None
    met = [scope for scope in counts if any(_within(scope, other) for _, other in pairs)]
    number = sum(counts[scope] for scope in met)
    return Seen(
        f"{counted(len(pairs), 'scope begins', 'scopes begin')} with the name of another beside it",
        number,
        ids=_ids_in(patient, met),
        evidence=tuple(f"{one} also takes {other}" for one, other in pairs[:SHOWN]),
    )


def _within(scope: str, node: str) -> bool:
    return scope == node or scope.startswith(f"{node}/")


def _treeless(patient: Patient) -> Seen | None:
    counts = _counts(patient)
    out = [scope for scope in counts if not scope.startswith(ROOT)]
    if not out:
        return None
    return Seen(
        f"{memories(sum(counts[scope] for scope in out))} in a scope that does not begin with /",
        sum(counts[scope] for scope in out),
        ids=_ids_in(patient, out),
        evidence=tuple(f"{scope!r}, {memories(counts[scope])}" for scope in out[:SHOWN]),
    )


def _zoned(patient: Patient) -> Seen | None:
    store = patient.store
    assert store is not None
    columns = store.dialect.columns
    time = str(columns.timestamp)
    named: list[str] = []
    unread: list[str] = []
    for batch in store.pin().scan([columns.id, time]):
        for row_id, text in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            if text is not None and iso_time.microseconds(text) is None:
                unread.append(str(row_id))
            elif text is not None and iso_time.has_zone(text):
                named.append(str(row_id))
    ids = [*named, *unread]
    if not ids:
        return None
    evidence = ((named, "names a zone"), (unread, "is no time"))
    return Seen(
        f"{memories(len(ids))} with a time that CrewAI cannot use",
        len(ids),
        ids=ids,
        evidence=tuple(f"created_at {what}: {memories(len(which))}" for which, what in evidence if which),
    )


def blank_texts(patient: Patient) -> list[str]:
    """Ids of the memories whose text is white space, in a store of CrewAI: it stores them with a vector of zeros."""
    store = patient.store
    if store is None or not _is_crewai(patient):
        return []
    columns = store.dialect.columns
    blank = f"NOT regexp_like({sql.name(columns.text)}, {sql.literal(NOT_BLANK)})"
    return [
        str(value)
        for batch in store.pin().scan([columns.id], where=blank)
        for value in batch.column(0).to_pylist()
    ]


def _blank(patient: Patient) -> Seen | None:
    ids = blank_texts(patient)
    return Seen(f"{memories(len(ids))} with a blank text", len(ids), ids=ids) if ids else None


def _lost_privacy(patient: Patient) -> Seen | None:
    store = patient.store
    assert store is not None
    if not {SOURCE, PRIVATE} <= set(store.columns):
        return None
    open_now = _rows(store, None, f"{sql.name(PRIVATE)} = false AND {_unsourced()}")
    lost: dict[str, int] = {}
    for version, _ in store.versions()[:-1]:
        if patient.cancel is not None:
            patient.cancel.check()
        try:
            private = _rows(store, version, f"{sql.name(PRIVATE)} = true")
        except MemtuiError:  # cleaned away meanwhile, or made before there was such a column
            continue
        for row_id, text in private.items():
            if row_id in open_now and open_now[row_id] != text:
                lost[row_id] = version
    if not lost:
        return None
    return Seen(
        f"{memories(len(lost))} once private, now for everybody",
        len(lost),
        ids=list(lost),
        evidence=tuple(
            f"{row_id} was private in version {version}" for row_id, version in list(lost.items())[:SHOWN]
        ),
        perhaps=True,
    )


def _unsourced() -> str:
    return f"({sql.name(SOURCE)} IS NULL OR {sql.name(SOURCE)} = '')"


def _rows(store: Store, version: int | None, where: str) -> dict[str, str]:
    """Id and text of the rows that `where` keeps, in a version (None: the newest)."""
    pin = store.pin(version)
    columns = pin.dialect.columns
    found: dict[str, str] = {}
    for batch in pin.scan([columns.id, columns.text], where=where):
        found.update(zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True))
    return found


PROTOCOL = 1

CHECKS = (
    Check(
        "D50", "memories at the root", "light", "S2", "lost",
        "a forget of any scope deletes them, and a deep recall passes them by",
        "give them a scope of their own: memtui edit ID --set scope=/company", _at_root, how="by hand",
        back="the journal", applies=_is_crewai,
    ),
    Check(
        "D51", "scopes of one beginning", "light", "S2", "lost",
        "CrewAI takes a scope for a beginning: its recall, forget and reset take the other, too",
        "give the longer one another name: memtui edit ID --set scope=/crew/other", _alike, how="by hand",
        back="the journal", applies=_is_crewai,
    ),
    Check(
        "D52", "scopes in the tree", "light", "S2", "wrong",
        "they stand in no tree: only a recall that names exactly this beginning finds them",
        "let the scope begin with /: memtui edit ID --set scope=/crew/shop", _treeless, how="by hand",
        back="the journal", applies=_is_crewai,
    ),
    Check(
        "D53", "times without a zone", "light", "S1", "wrong",
        "every recall that meets one of them fails as a whole",
        "forget them, and let CrewAI remember them anew: it writes UTC without a zone", _zoned, how="by hand",
        back="the journal", applies=_is_crewai,
    ),
    Check(
        "D54", "blank texts", "light", "S2", "wrong",
        "CrewAI gives them a vector of zeros, which is half alike to every question and stands near the top",
        "forget them: memtui forget ID --hard", _blank, how="by hand", back="the journal", applies=_is_crewai,
    ),
    Check(
        "D55", "privacy after updates", "deep", "S1", "lost",
        "CrewAI's consolidation drops source and private of what it updates: everybody recalls it",
        "set them again: memtui edit ID --set private=yes source=NAME", _lost_privacy, how="by hand",
        back="the journal", applies=_is_crewai,
    ),
)  # fmt: skip
