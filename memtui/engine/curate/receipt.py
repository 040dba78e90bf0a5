"""The receipt of a forget: ids and hashes of what went, and where it was looked for afterwards. No text."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.curate.changes import CONTENTS_REMOVED
from memtui.engine.curate.rows import ID
from memtui.engine.errors import MemtuiError
from memtui.engine.store import sql

if TYPE_CHECKING:
    from memtui.engine.curate.apply import Bench
    from memtui.engine.curate.changes import ChangeSet
    from memtui.engine.store.pin import Pin

SCHEMA = "memtui.receipt.v1"
_ASKED = 50
"""Memories whose words are looked up in the index; each is a search of its own."""
_SHORTEST = 12
"""Shorter texts stand in many memories; finding one says nothing."""


def make_receipt(
    change_set: ChangeSet, bench: Bench, texts: Mapping[str, str], entry: int | None, *, store: str
) -> dict[str, Any]:
    """Look everywhere for the memories that went, and put down what was found.

    `clean` is True when neither the newest version, nor its index, nor (of a shrunk history) any other version
    or file of the table holds one of them. `same_text` names other memories that say the same, word for word.
    """
    writer = bench.writer
    version = writer.newest()
    pin = writer.at(version)
    ids = [*texts, *change_set.purges]
    present = writer.rows(ids, [ID]).column(ID).to_pylist()
    twins = {each: _same_text(pin, text) for each, text in texts.items() if len(text) >= _SHORTEST}
    alone = [texts[each] for each, others in twins.items() if not others]
    traces = writer.traces(ids, alone) if change_set.shrinks else writer.traces(ids, [])
    indexed = [each for each in list(texts)[:_ASKED] if each in _by_index(pin, texts[each])]
    clean = not present and not indexed
    if change_set.shrinks:
        clean = clean and not traces.versions and not traces.files
    kept = [{key: each[key] for key in ("id", "path", "line", "kind")} for each in change_set.copies]
    return {
        "schema": SCHEMA,
        "entry": entry,
        "time_ms": bench.now(),
        "store": store,
        "mode": "history shrunk" if change_set.shrinks else "deleted",
        "memories": [
            {"id": each.id, "text_sha256": hashed(texts[each.id]), "why": each.why}
            for each in change_set.changes
            if each.id in texts
        ]
        + [{"id": each, "text_sha256": None, "why": "deleted before"} for each in change_set.purges],
        "clean": clean,
        "found": {
            "newest_version": present,
            "index": indexed,
            "versions": list(traces.versions),
            "files": list(traces.files) if change_set.shrinks else None,
        },
        "searched": {"versions": traces.versions_searched, "files": traces.files_searched},
        "same_text": {each: others for each, others in twins.items() if others},
        "mirror_lines_removed": sum(bool(each["goes"]) for each in change_set.copies),
        "copies_left": [
            each for each, whole in zip(kept, change_set.copies, strict=True) if not whole["goes"]
        ],
        "journal": CONTENTS_REMOVED if change_set.shrinks else f"kept, undo with entry {entry}",
    }


def write_receipt(folder: Path, receipt: Mapping[str, Any], kind: str = "forget") -> Path:
    """Write the receipt into `folder`; its name has its `kind`, the entry and the time."""
    path = folder / f"{kind}-{receipt['entry'] or 'traces'}-{receipt['time_ms']}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(receipt, file, indent=2)
            file.write("\n")
    except OSError as error:
        raise MemtuiError(
            f"The receipt cannot be written to {folder}: {error.strerror or error}.",
            fix="The memories are forgotten all the same; see memtui journal.",
            details=str(error),
        ) from error
    return path


def _same_text(pin: Pin, text: str) -> list[str]:
    column, ids = pin.dialect.columns.text, pin.dialect.columns.id
    found: list[str] = []
    for batch in pin.scan([ids], where=sql.is_in(column, [text])):
        found += batch.column(ids).to_pylist()
    return found


def _by_index(pin: Pin, text: str) -> list[str]:
    """Ids that the full-text index finds for the words of a text; none where there is no index."""
    words = " ".join(text.split()[:12])
    try:
        rows = pin.fts_search(words, k=50, columns=(pin.dialect.columns.id,))
    except MemtuiError:
        return []
    found: list[str] = rows.column(pin.dialect.columns.id).to_pylist()
    return found


def hashed(text: str) -> str:
    """A text as a receipt names it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
