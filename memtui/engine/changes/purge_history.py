"""The past of memories that stay: what older versions of the table, its index and the journal still hold of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.applier import Applier, ConflictError
from memtui.engine.changes.change_set import CLEAN, CONTENTS_REMOVED, Change, ChangeSet, Outcome
from memtui.engine.changes.forgetting import SCHEMA, hashed, purge_tokens, receipts_folder, write_receipt
from memtui.engine.changes.journal import RowImages
from memtui.engine.changes.plan import change_planner, read
from memtui.engine.changes.text_copies import find_copies, mirror_folders
from memtui.engine.changes.version_tags import removed_tags, require_untagged, words_of_names, write_tags
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.secrets import find_secrets
from memtui.engine.core.text import counted
from memtui.engine.store import sql
from memtui.engine.store.table_facts import tag_names

if TYPE_CHECKING:
    from memtui.engine.changes.journal import Journal
    from memtui.engine.engine import Engine
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store
    from memtui.engine.store.writer import Writer


_COUNTED = 200
"""Memories whose entries of the journal are counted for the preview; each is a look of its own."""

_SHORTEST = 12
"""Shorter texts stand in many memories; finding one says nothing."""

_NO_LONGER = "removed before; older versions hold it"

_TOKEN = re.compile(r"\w{8,}")
"""A run of characters that the index keeps as one word, long enough to be rare."""


def plan_past(engine: Engine, ids: Sequence[str], *, drop_names: bool = False) -> ChangeSet:
    """Take the past of memories, and leave them as they are now: for secrets that were masked.

    The whole table loses its older versions, and the journal what it holds of these memories: their changes
    so far can no longer be taken back. Copies in other files are listed and stay. Names in the table hold its older
    versions: with `drop_names` they go as well, without it nothing can. A memory that is no longer in the table
    counts as long as an older version holds it.
    """
    journal, planner = engine.write_state.journal, change_planner(engine)
    found = read(planner, ids)
    gone = _only_older(
        planner.store, [conflict.id for conflict in found.conflicts if conflict.reason == "gone"]
    )
    entries, older = _journalled([*found.rows, *gone][:_COUNTED], journal)
    folder = planner.store.folder
    copies = find_copies(folder, older, mirror_folders(engine.found)) if folder is not None and older else []
    names = tag_names(planner.store.pin())
    warnings = ["The whole table loses its older versions.", *words_of_names(names, going=drop_names)]
    if entries:
        what = "it" if len(found.rows) + len(gone) == 1 else "them"
        told = counted(len(entries), "entry", "entries")
        warnings.append(f"What {told} of the journal told of {what} goes: that can no longer be undone.")
    if copies:
        said = counted(len(copies), "copy in another file stays", "copies in other files stay")
        warnings.append(f"{said}: see where.")
    count = counted(len(found.rows) + len(gone), "memory", "memories")
    kept, removed = {"history": "kept"}, {"history": "removed"}
    return ChangeSet(
        action=CLEAN,
        title=f"{count}: history removed",
        changes=(
            *(
                Change(each, "edit", kept, removed, title=row.memory.title, scope=row.memory.scope)
                for each, row in found.rows.items()
            ),
            *(Change(each, "edit", kept, removed, title=_NO_LONGER) for each in gone),
        ),
        version=found.version,
        conflicts=tuple(conflict for conflict in found.conflicts if conflict.id not in gone),
        warnings=tuple(warnings),
        copies=tuple({**copy.as_json(), "goes": False} for copy in copies),
        shrinks=True,
        tags=removed_tags(names) if drop_names else (),
    )


def apply_past(change_set: ChangeSet, applier: Applier, *, confirmed: bool, store: str) -> Outcome:
    """Shrink the table to its newest version, empty the journal of these memories, look for what is left.

    The entry is written last: a program that is killed before has removed more or less of the past, and it can be
    done again.
    """
    applier.access.require(confirmed=confirmed)
    if change_set.conflicts:
        raise ConflictError(change_set.conflicts)
    writer, journal, ids = applier.writer, applier.journal, change_set.ids
    require_untagged(writer.tags(), change_set.tags)
    with applier.gatekeeper.hold():
        before = writer.newest()
        write_tags(writer, change_set.tags)
        older = _older(writer, ids)
        alone, twins = _shared(writer.at(before), ids, older)
        version = writer.shrink()
        if alone and writer.traces([], alone).files:
            version = writer.shrink(unverified=True)
        journal.redact(ids)
        kept = purge_tokens(journal, ids)
        entry = journal.intend(
            time_ms=applier.now(),
            action=CLEAN,
            title=change_set.title,
            changes=change_set.changes,
            images=RowImages(None, None, None),
            version_before=before,
            done=version,
        )
    receipt = _receipt(change_set, applier, entry, older, alone, twins, store)
    path = write_receipt(receipts_folder(journal), receipt, CLEAN)
    left = [] if receipt["clean"] else ["Something of their history is still found; the receipt says where."]
    return Outcome(
        entry,
        CLEAN,
        change_set.changes,
        warnings=(*change_set.warnings, *kept, *left),
        copies=change_set.copies,
        version_before=before,
        version_after=version,
        receipt={**receipt, "file": str(path)},
    )


def _journalled(ids: Sequence[str], journal: Journal) -> tuple[set[int], dict[str, str]]:
    """The entries that tell of these memories, and the text of each before its first change there."""
    entries: set[int] = set()
    older: dict[str, str] = {}
    for memory_id in ids:
        for entry, row in journal.of_memory(memory_id):
            entries.add(entry.entry)
            if isinstance(row.before.get("text"), str):
                older[memory_id] = row.before["text"]
    return entries, older


def _only_older(store: Store, ids: Sequence[str]) -> tuple[str, ...]:
    """Those of the ids that an older version holds; the newest has none of them."""
    left = dict.fromkeys(ids)
    for number, _ in reversed(store.versions()):
        if not left:
            break
        try:
            for text in _strings(store.pin(number), list(left)):
                left.pop(text, None)
        except MemtuiError:  # cleaned away meanwhile
            continue
    return tuple(memory_id for memory_id in dict.fromkeys(ids) if memory_id not in left)


def _strings(pin: Snapshot, ids: Sequence[str]) -> dict[str, list[str]]:
    """Text and metadata of each memory, as stored, at one version."""
    columns = [name for name in (pin.dialect.columns.text, pin.dialect.columns.json_object) if name]
    rows = pin.rows_by_id(ids, columns)
    found: dict[str, list[str]] = {}
    for row in rows.to_pylist():
        found.setdefault(str(row[pin.dialect.columns.id]), []).extend(row[name] or "" for name in columns)
    return found


def _older(writer: Writer, ids: Sequence[str]) -> dict[str, str]:
    """What older versions hold of these memories, and whose: each secret, and each text that is another one now."""
    versions = writer.versions()
    now = _strings(writer.at(versions[-1]), ids)
    older: dict[str, str] = {}
    for number in versions[:-1]:
        for memory, strings in _strings(writer.at(number), ids).items():
            present = "\n".join(now.get(memory, ()))
            for text in strings:
                secrets = [text[secret.start : secret.end] for secret in find_secrets(text)]
                wholes = strings[:1] if len(strings[0]) >= _SHORTEST else []
                older |= dict.fromkeys(secrets, memory)
                older |= {whole: memory for whole in wholes if whole not in present}
    return older


def _shared(
    pin: Snapshot, ids: Sequence[str], older: Mapping[str, str]
) -> tuple[list[str], dict[str, list[str]]]:
    """The older texts that no memory has now, and by memory the others that say them."""
    now = "\n".join(text for strings in _strings(pin, ids).values() for text in strings)
    alone: list[str] = []
    twins: dict[str, list[str]] = {}
    column, own = pin.dialect.columns.id, set(ids)
    for text in older:
        condition = sql.contains(pin.dialect.columns.text, text)
        found = [
            value
            for batch in pin.scan([column], where=condition)
            for value in batch.column(column).to_pylist()
        ]
        others = [str(each) for each in found if each not in own]
        if others:
            twins.setdefault(older[text], []).extend(others)
        elif text not in now:
            alone.append(text)
    return alone, twins


def _receipt(
    change_set: ChangeSet,
    applier: Applier,
    entry: int,
    older: Mapping[str, str],
    alone: Sequence[str],
    twins: Mapping[str, list[str]],
    store: str,
) -> dict[str, Any]:
    """Where the older texts were looked for afterwards, and what was found; hashes, no text."""
    writer, ids = applier.writer, change_set.ids
    pin = writer.at(writer.newest())
    now = _strings(pin, ids)
    present = sorted(
        {memory for text, memory in older.items() if any(text in each for each in now.get(memory, ()))}
    )
    traces = writer.traces([], alone)
    left = [number for number in writer.versions()[:-1] if _holds(_strings(writer.at(number), ids), older)]
    indexed = sorted(
        {memory for text, memory in older.items() if text in alone and _by_index(pin, text, memory, now)}
    )
    return {
        "schema": SCHEMA,
        "entry": entry,
        "time_ms": applier.now(),
        "store": store,
        "mode": "history removed, the memory stays"
        if len(ids) == 1
        else "history removed, the memories stay",
        "memories": [
            {
                "id": memory_id,
                "text_sha256": hashed("\n".join(now.get(memory_id, ())[:1])),
                "why": "stays" if memory_id in now else "was removed before",
            }
            for memory_id in ids
        ],
        "clean": not (present or indexed or left or traces.files),
        "found": {
            "newest_version": present,
            "index": indexed,
            "versions": left,
            "files": list(traces.files),
        },
        "searched": {"versions": traces.versions_searched, "files": traces.files_searched},
        "same_text": {each: sorted(set(others)) for each, others in twins.items()},
        "mirror_lines_removed": 0,
        "copies_left": [
            {key: copy[key] for key in ("id", "path", "line", "kind")} for copy in change_set.copies
        ],
        "journal": CONTENTS_REMOVED,
    }


def _holds(strings: Mapping[str, Sequence[str]], older: Mapping[str, str]) -> bool:
    return any(text in each for text, memory in older.items() for each in strings.get(memory, ()))


def _by_index(pin: Snapshot, text: str, memory: str, now: Mapping[str, Sequence[str]]) -> bool:
    """Whether the full-text index still leads from a word that only the older text had to the memory."""
    present = " ".join(now.get(memory, ())[:1]).lower()
    words = [word for word in _TOKEN.findall(text.lower()) if word not in present]
    if not words:
        return False
    try:
        found = pin.fts_search(max(words, key=len), k=50, columns=(pin.dialect.columns.id,))
    except MemtuiError:  # there is no index
        return False
    return memory in found.column(pin.dialect.columns.id).to_pylist()
