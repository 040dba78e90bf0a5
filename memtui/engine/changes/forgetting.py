"""Forgetting: archived, deleted, or deleted with every trace; with a preview of exactly what goes."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.applier import Applier, write_rows
from memtui.engine.changes.change_set import CONTENTS_REMOVED, Change, ChangeSet, Conflict, Edit, Outcome
from memtui.engine.changes.edit_row import PINNED, EditableRow
from memtui.engine.changes.plan import DERIVED, ReadRows, change_planner, kept, plan_each, plan_edit, read
from memtui.engine.changes.text_copies import TextCopy, erase, find_copies, mirror_folders
from memtui.engine.changes.version_tags import (
    removed_tags,
    require_untagged,
    words_of_names,
    write_tags,
)
from memtui.engine.changes.write_access import require_written
from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.core.private_file import make_private_folder
from memtui.engine.core.text import apart, counted, words_pattern
from memtui.engine.metadata.read import parse_object
from memtui.engine.store import sql
from memtui.engine.store.manifests import Cleanup, cleanup_of
from memtui.engine.store.row_values import ID
from memtui.engine.store.table_facts import tag_names

if TYPE_CHECKING:
    from memtui.engine.changes.journal import Journal
    from memtui.engine.engine import Engine
    from memtui.engine.store.snapshot import Snapshot
    from memtui.engine.store.table import Store


# How memories hang together: older versions, and rows that were merged into another.

OLDER, MERGED = "older version", "merged into it"

_KEYS = ("supersedes", "superseded_by", "canonical_id")


@dataclass(frozen=True, slots=True)
class MemoryLinks:
    """Who stands behind whom: ids of older versions and of merged rows by the id of what took their place."""

    older: dict[str, set[str]] = field(default_factory=dict)
    merged: dict[str, set[str]] = field(default_factory=dict)
    newer: dict[str, str] = field(default_factory=dict)
    """What took a memory's place."""

    def behind(self, ids: Iterable[str]) -> dict[str, str]:
        """Everything that stands behind these memories, at any distance, with the word for it."""
        wanted = list(ids)
        seen, found = set(wanted), {}
        while wanted:
            each = wanted.pop()
            for group, word in ((self.merged, MERGED), (self.older, OLDER)):
                for other in sorted(group.get(each, ())):
                    if other not in seen:
                        seen.add(other)
                        found[other] = word
                        wanted.append(other)
        return found


def read_links(store: Store) -> MemoryLinks:
    """The links between all memories of a store at its pinned version; one pass over those that have any.

    A link may lead to a memory that is no longer there.
    """
    columns, links = store.dialect.columns, MemoryLinks()
    if columns.metadata is None:
        return links
    linked = " OR ".join(sql.contains(columns.metadata, f'"{key}"') for key in _KEYS)
    for batch in store.scan([columns.id, columns.metadata], where=linked, batch_size=8_192):
        ids, texts = batch.column(columns.id).to_pylist(), batch.column(columns.metadata).to_pylist()
        for memory_id, text in zip(ids, texts, strict=True):
            if memory_id is not None:
                _link(links, memory_id, parse_object(text)[0])
    return links


def _link(links: MemoryLinks, each: str, metadata: dict[str, object]) -> None:
    older, newer, canonical = (metadata.get(key) for key in _KEYS)
    if isinstance(older, str) and older != each:
        links.older.setdefault(each, set()).add(older)
        links.newer[older] = each
    if isinstance(canonical, str) and canonical != each:
        links.merged.setdefault(canonical, set()).add(each)
    elif isinstance(newer, str) and newer != each:
        links.older.setdefault(newer, set()).add(each)
        links.newer.setdefault(each, newer)


# The receipt of a forget: ids and hashes of what went, and where it was looked for afterwards. No text.

SCHEMA = "memtui.receipt.v1"

_ASKED = 50
"""Memories whose words are looked up in the index; each is a search of its own."""

_SHORTEST = 12
"""Shorter texts stand in many memories; finding one says nothing."""


def make_receipt(
    change_set: ChangeSet,
    applier: Applier,
    texts: Mapping[str, str],
    entry: int | None,
    *,
    store: str,
    before: int,
    reworded: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Look everywhere for the memories that went, and put down what was found.

    `clean` is True when neither the newest version, nor its index, nor (of a shrunk history) any other version
    or file of the table holds one of them. `same_text` names other memories that say the same, word for word.
    `reworded` are the texts before of memories that stay with other words: they are looked for in what is older.
    Of a history that stays only the version `before` is looked at: it holds them, and so may any older one.
    """
    writer = applier.writer
    version = writer.newest()
    pin = writer.at(version)
    ids = [*texts, *change_set.purges]
    present = writer.rows(ids, [ID]).column(ID).to_pylist()
    twins = {each: _same_text(pin, text) for each, text in texts.items() if len(text) >= _SHORTEST}
    alone = [texts[each] for each, others in twins.items() if not others]
    alone += [
        text for text in (reworded or {}).values() if len(text) >= _SHORTEST and not _same_text(pin, text)
    ]
    traces = writer.traces(ids, alone) if change_set.shrinks else writer.still_in(before, ids)
    indexed = [text for text in list(texts)[:_ASKED] if text in _by_index(pin, texts[text])]
    clean = not present and not indexed
    if change_set.shrinks:
        clean = clean and not traces.versions and not traces.files
    kept = [{key: copy[key] for key in ("id", "path", "line", "kind")} for copy in change_set.copies]
    return {
        "schema": SCHEMA,
        "entry": entry,
        "time_ms": applier.now(),
        "store": store,
        "mode": "history shrunk" if change_set.shrinks else "deleted",
        "memories": [
            {"id": change.id, "text_sha256": hashed(texts[change.id]), "why": change.why}
            for change in change_set.changes
            if change.id in texts
        ]
        + [
            {"id": each, "text_sha256": hashed(text), "why": "redacted"}
            for each, text in (reworded or {}).items()
        ]
        + [{"id": purge, "text_sha256": None, "why": "deleted before"} for purge in change_set.purges],
        "clean": clean,
        "found": {
            "newest_version": present,
            "index": indexed,
            "versions": list(traces.versions),
            "files": list(traces.files) if change_set.shrinks else None,
        },
        "searched": {"versions": traces.versions_searched, "files": traces.files_searched},
        "same_text": {each: others for each, others in twins.items() if others},
        "mirror_lines_removed": sum(bool(copy["goes"]) for copy in change_set.copies),
        "copies_left": [
            each for each, whole in zip(kept, change_set.copies, strict=True) if not whole["goes"]
        ],
        "journal": CONTENTS_REMOVED if change_set.shrinks else f"kept, undo with entry {entry}",
    }


def write_receipt(folder: Path, receipt: Mapping[str, Any], kind: str = "forget") -> Path:
    """Write the receipt into `folder`; its name has its `kind`, the entry and the time."""
    path = folder / f"{kind}-{receipt['entry'] or 'traces'}-{receipt['time_ms']}.json"
    try:
        make_private_folder(folder)
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


def receipts_folder(journal: Journal) -> Path:
    """The folder of the receipts of a store, beside its journal."""
    return journal.path.parent / "receipts"


def read_receipts(engine: Engine, memory: str) -> list[tuple[Path, Mapping[str, Any]]]:
    """The receipts of forgetting and of a purged past that name a memory, with their files, the oldest first.

    One that cannot be read is left out.
    """
    folder = receipts_folder(engine.write_state.journal)
    found: list[tuple[Path, Mapping[str, Any]]] = []
    for path in sorted(folder.glob("*.json")):
        try:
            receipt = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        named = receipt.get("memories") if isinstance(receipt, dict) else None
        if any(isinstance(each, dict) and each.get("id") == memory for each in named or ()):
            found.append((path, receipt))
    return sorted(found, key=lambda each: (int(each[1].get("time_ms") or 0), each[0].name))


def receipts_of_entry(engine: Engine, entry: int) -> list[dict[str, Any]]:
    """What was put down when the memories of an entry went, the first one first, each with its `file`.

    Hashes, and where they were looked for afterwards. One that cannot be read is left out.
    """
    folder = receipts_folder(engine.write_state.journal)
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob(f"*-{entry}-*.json")):
        with suppress(OSError, ValueError):
            receipt = json.loads(path.read_text(encoding="utf-8"))
            if (
                isinstance(receipt, dict)
                and receipt.get("schema") == SCHEMA
                and receipt.get("entry") == entry
            ):
                found.append({**receipt, "file": str(path)})
    return found


def _same_text(pin: Snapshot, text: str) -> list[str]:
    column, ids = pin.dialect.columns.text, pin.dialect.columns.id
    found: list[str] = []
    for batch in pin.scan([ids], where=sql.is_in(column, [text])):
        found += batch.column(ids).to_pylist()
    return found


def _by_index(pin: Snapshot, text: str) -> list[str]:
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


_AGE = re.compile(r"(\d+)\s*([a-z]+)")

ARCHIVE_REASON = "forgotten with memtui"


def plan_forget(
    engine: Engine,
    ids: Sequence[str],
    *,
    hard: bool = False,
    shrink: bool = False,
    spare_pinned: bool = False,
    drop_names: bool = False,
) -> ChangeSet:
    """Forget memories. Soft archives them; hard deletes them with their older versions, the rows merged into them
    and their lines in Markdown mirrors; `shrink` also takes them out of the table's history and of our journal.

    Pinned memories are left out when they were not named one by one (`spare_pinned`). With `shrink`, memories
    that were deleted through memtui before may be named: their traces go. Names in the table hold its older
    versions: with `drop_names` they go as well. Raises UsageError for `shrink` without `hard`.
    """
    if shrink and not hard:
        raise UsageError("Archived memories stay in the history.", fix="Shrink the history of a hard forget.")
    if engine.store.dialect.can.edits_files:
        from memtui.engine.changes.note_changes import plan_note_forget

        return plan_note_forget(engine, ids, hard=hard, shrink=shrink)
    if not hard:
        return _archive(engine, ids, spare_pinned)
    journal = engine.write_state.journal if engine.state is not None else None
    planner = change_planner(engine)
    found = read(planner, ids, doubled=True)
    gone = _deleted_before(found, journal) if shrink else []
    conflicts = [conflict for conflict in found.conflicts if conflict.id not in gone]
    behind = read_links(planner.store).behind(ids) if found.rows else {}
    with_all = read(planner, [*found.rows, *behind], doubled=True)
    conflicts += [conflict for conflict in with_all.conflicts if conflict.reason == "refused"]
    whys = dict.fromkeys(found.rows, "") | behind
    spared = [each for each, row in with_all.rows.items() if spare_pinned and _pinned(row)]
    column, many = planner.store.dialect.columns.text, with_all.doubled
    changes = [
        _delete(row, whys[each], column, many.get(each, 1))
        for each, row in with_all.rows.items()
        if each not in spared
    ]
    texts = {change.id: with_all.rows[change.id].memory.raw_text for change in changes}
    folder = planner.store.folder
    copies = find_copies(folder, texts, mirror_folders(engine.found)) if folder is not None else []
    names = tag_names(planner.store.pin()) if shrink else {}
    cleanup = None if folder is None else cleanup_of(folder / f"{planner.store.table_name}.lance")
    return ChangeSet(
        action="forget",
        title=_title(
            sum(change.rows for change in changes) + len(gone),
            "deleted, history shrunk" if shrink else "deleted",
        ),
        changes=tuple(changes),
        version=found.version,
        conflicts=tuple(conflicts),
        warnings=(
            *_warnings(changes, spared, copies, shrink=shrink, cleanup=cleanup),
            *words_of_names(names, going=drop_names),
        ),
        copies=tuple(copy.as_json() for copy in copies),
        shrinks=shrink,
        tags=removed_tags(names) if drop_names else (),
        purges=tuple(gone),
        mark=with_all.mark,
        base=kept(replace(with_all, conflicts=[]), changes),
    )


REDACTED = "[REDACTED]"

_LAYERS = ("l0_abstract", "l1_overview", "l2_content")

_FOLLOW = (*_LAYERS, "fact_key")
"""What is made anew with the words."""


def plan_forget_person(
    engine: Engine, ids: Sequence[str], name: str, redacted: Mapping[str, str] | None = None
) -> ChangeSet:
    """Plan to delete memories with every trace, but of those in `redacted` only to take words out.

    `redacted` gives the words by the id of the memory; empty ones mean the `name`, whole or a word of it.
    """
    words = {each: said for each, said in (redacted or {}).items() if each in ids}
    deleted = [memory_id for memory_id in ids if memory_id not in words]
    planned = plan_forget(engine, deleted, hard=True, shrink=True, drop_names=True)
    return _with_redacted(engine, planned, words, name) if words else planned


def _with_redacted(engine: Engine, planned: ChangeSet, words: Mapping[str, str], name: str) -> ChangeSet:
    """A forget that also takes words out of memories that stay: texts, summaries, past.

    `words` are those of each memory by its id; empty for the `name`, or one of its words. A memory that holds none
    of them is a conflict, and where its metadata holds them elsewhere a warning says so: nothing stays unsaid.
    """
    given: dict[str, dict[str, Any]] = {}
    idle, elsewhere = [], dict[str, list[str]]()
    for each, row in read(change_planner(engine), list(words)).rows.items():
        pattern = _taken_out(words[each], name)
        values = row.memory.metadata_values
        known = {"text": row.memory.raw_text, **{key: values.get(key) for key in _LAYERS}}
        found = {key: text for key, text in known.items() if isinstance(text, str) and pattern.search(text)}
        given[each] = {key: pattern.sub(REDACTED, text) for key, text in found.items()}
        left = [key for key, value in values.items() if key not in _FOLLOW and pattern.search(str(value))]
        if left:
            elsewhere[each] = left
        if not found:
            sentence = "It holds none of the words to take out: delete it, or say which words."
            idle.append(Conflict(each, "refused", sentence))
    named = {each: new for each, new in given.items() if new}
    edits = plan_each(engine, named, "words taken out", in_place=True)
    kept = tuple(replace(change, why="redacted") for change in edits.changes if change.id not in planned.ids)
    told = tuple(
        f"{each[:8]} keeps the words in its metadata: {', '.join(keys)}." for each, keys in elsewhere.items()
    )
    what = f"{counted(len(kept), 'memory', 'memories')} redacted, history shrunk"
    if planned.changes:
        what = f"{counted(len(planned.changes), 'memory', 'memories')} deleted, {len(kept)} redacted, history shrunk"
    return replace(
        planned,
        title=what,
        changes=(*planned.changes, *kept),
        conflicts=(*planned.conflicts, *edits.conflicts, *idle),
        warnings=(*planned.warnings, *edits.warnings, *told),
        mark=None,
        base=None,
    )


def holds_words(text: str, words: str, name: str) -> bool:
    """Whether a text holds these words, with any space between them; empty ones: the `name` or a word of it."""
    return _taken_out(words, name).search(text) is not None


def _taken_out(words: str, name: str) -> re.Pattern[str]:
    parts = words_pattern(words)
    return re.compile(apart(parts) if parts else name_pattern(name), re.IGNORECASE)


def name_pattern(name: str) -> str:
    """What a name looks like in a text: the whole of it, or one of its words alone."""
    return apart("|".join(words_pattern(part) for part in (name, *name.split())))


def apply_forget(change_set: ChangeSet, applier: Applier, *, confirmed: bool, store: str) -> Outcome:
    """Delete, erase the mirror lines, shrink when asked, look for what is left, and write the receipt."""
    texts = _texts(change_set)
    reworded = {
        change.id: str(change.before.get("text") or "")
        for change in change_set.changes
        if change.op == "edit"
    }
    if change_set.shrinks:
        require_untagged(applier.writer.tags(), change_set.tags)
    outcome = write_rows(change_set, applier, confirmed=confirmed)
    ids = [*texts, *change_set.purges]
    if not change_set.shrinks and not texts:
        return outcome
    applier.access.require(confirmed=confirmed)
    journal, warnings = applier.journal, list(outcome.warnings)
    removed, problems = erase((TextCopy(**copy) for copy in change_set.copies), texts)
    warnings += problems
    version = outcome.version_after
    if removed and outcome.entry is not None and not change_set.shrinks:
        journal.note(outcome.entry, {"erased": removed})
    if change_set.shrinks:
        with applier.gatekeeper.hold():
            write_tags(applier.writer, change_set.tags)
            version = applier.writer.shrink()
            if applier.writer.traces(ids, []).files:
                version = applier.writer.shrink(unverified=True)
        journal.redact([*ids, *reworded])
        warnings += purge_tokens(journal, [*ids, *reworded])
    receipt = make_receipt(
        change_set,
        applier,
        texts,
        outcome.entry,
        store=store,
        before=outcome.version_before,
        reworded=reworded,
    )
    path = write_receipt(receipts_folder(journal), receipt)
    if not receipt["clean"] and change_set.shrinks:
        warnings.append("Something of these memories is still found; the receipt says where.")
    return replace(
        outcome,
        warnings=tuple(warnings),
        version_after=version or applier.writer.newest(),
        receipt={**receipt, "file": str(path)},
    )


def purge_tokens(journal: Journal, ids: Sequence[str]) -> list[str]:
    """Remove the token vectors of these memories for good, where there are any; what went wrong, in words."""
    from memtui.engine.store.token_table import FOLDER, open_token_table

    try:
        table = open_token_table(journal.path.parent / FOLDER)
        if table is not None:
            table.purge(ids)
    except MemtuiError as error:
        return [f"Their token vectors could not be removed ({error}): memtui context remove removes all."]
    return []


def _archive(engine: Engine, ids: Sequence[str], spare_pinned: bool) -> ChangeSet:
    dialect = engine.store.dialect
    require_written(dialect)
    if not dialect.reads_metadata:
        raise RefusedError(
            f"Memories of {dialect.title} cannot be archived: they have no state.",
            fix="Delete them instead (--hard in the shell).",
        )
    planned = plan_edit(engine, ids, {"state": "archived"}, reason=ARCHIVE_REASON)
    spared: list[str] = []
    if spare_pinned:
        rows = read(change_planner(engine), planned.ids).rows
        spared = [each for each, row in rows.items() if _pinned(row)]
        planned = planned.without(spared)
    return replace(
        planned,
        action="forget",
        title=_title(len(planned.changes), "archived"),
        warnings=(*planned.warnings, *_spared(spared)),
    )


def _delete(row: EditableRow, why: str, text_column: str, rows: int) -> Change:
    memory = row.memory
    shown = {
        "text": memory.raw_text,
        "scope": memory.scope,
        "category": memory.category,
        "importance": memory.importance,
        "timestamp_ms": memory.timestamp_ms,
    }
    # The text must still be what was shown: another one may not be meant to go.
    edit = Edit(expects={text_column: row.values.get(text_column)})
    return Change(
        memory.id, "delete", shown, {}, title=memory.title, why=why, scope=memory.scope, edit=edit, rows=rows
    )


def _pinned(row: EditableRow) -> bool:
    return row.memory.metadata_values.get(PINNED) is True


def _deleted_before(found: ReadRows, journal: Journal | None) -> list[str]:
    """Of the ids that are not in the table, those that the journal knows."""
    missing = [conflict.id for conflict in found.conflicts if conflict.reason == "gone"]
    return [each for each in missing if journal is not None and journal.of_memory(each)]


def _warnings(
    changes: Sequence[Change],
    spared: Sequence[str],
    copies: Sequence[TextCopy],
    *,
    shrink: bool,
    cleanup: Cleanup | None,
) -> list[str]:
    notes = _spared(spared)
    notes += [
        f"{counted(change.rows, 'row shares', 'rows share')} the id {change.id}: all of them go."
        for change in changes
        if change.rows > 1
    ]
    if any(change.id.startswith(DERIVED) for change in changes):
        notes.append("Memories that the agent makes from files come back when it reads those files again.")
    if stay := [copy for copy in copies if not copy.goes]:
        said = counted(len(stay), "copy in another file stays", "copies in other files stay")
        notes.append(f"{said}: see where.")
    if shrink:
        what = "this memory" if len(changes) == 1 else "these memories"
        notes.append(f"The whole table loses its older versions, and {what} cannot be brought back.")
    elif changes:
        what = "it" if len(changes) == 1 else "them"
        notes.append(f"Older versions still contain {what}{_until(cleanup)}")
    return notes


def _until(cleanup: Cleanup | None) -> str:
    """How long older versions stay, by what the table is set to."""
    if cleanup is None:
        return "; how long, is not known of a table elsewhere."
    if not cleanup.older_than:
        return "; no cleanup runs in this table automatically."
    age = _AGE.sub(r"\1 \2", cleanup.older_than)
    every = f", at every {cleanup.interval}th version" if cleanup.interval else ""
    return f" until the table's own clean-up (of those older than {age}{every})."


def _spared(ids: Sequence[str]) -> list[str]:
    return [f"{len(ids)} pinned memories are left as they are."] if ids else []


def _texts(change_set: ChangeSet) -> dict[str, str]:
    deleted: dict[str, Mapping[str, Any]] = {
        change.id: change.before for change in change_set.changes if change.op == "delete"
    }
    return {each: str(before.get("text") or "") for each, before in deleted.items()}


def _title(count: int, what: str) -> str:
    return f"{counted(count, 'memory', 'memories')} {what}"
