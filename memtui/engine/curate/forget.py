"""Forgetting: archived, deleted, or deleted with every trace; with a preview of exactly what goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.curate.apply import Bench, apply
from memtui.engine.curate.changes import Change, ChangeSet, Edit, Outcome
from memtui.engine.curate.copies import Copy, erase, find_copies
from memtui.engine.curate.links import read_links
from memtui.engine.curate.plan import DERIVED, Bureau, Found, kept, plan_edit, read
from memtui.engine.curate.receipt import make_receipt, write_receipt
from memtui.engine.curate.row_edit import PINNED, Row
from memtui.engine.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from memtui.engine.curate.journal import Journal

ARCHIVE_REASON = "forgotten with memtui"


def plan_forget(
    bureau: Bureau,
    ids: Sequence[str],
    *,
    hard: bool,
    shrink: bool,
    spare_pinned: bool,
    journal: Journal | None,
    mirrors: Sequence[Path] = (),
) -> ChangeSet:
    """Forget memories. Soft archives them; hard deletes them with their older versions, the rows merged into them
    and their lines in Markdown mirrors; `shrink` also takes them out of the table's history and of our journal.

    Pinned memories are left out when they were not named one by one (`spare_pinned`). With `shrink`, memories
    that were deleted through memtui before may be named: their traces go. Raises UsageError for `shrink` without
    `hard`.
    """
    if shrink and not hard:
        raise UsageError("Archived memories stay in the history.", fix="Shrink the history of a hard forget.")
    if not hard:
        return _archive(bureau, ids, spare_pinned)
    found = read(bureau, ids)
    gone = _deleted_before(found, journal) if shrink else []
    conflicts = [each for each in found.conflicts if each.id not in gone]
    behind = read_links(bureau.store).behind(ids) if found.rows else {}
    with_all = read(bureau, [*found.rows, *behind])
    conflicts += [each for each in with_all.conflicts if each.reason == "refused"]
    whys = dict.fromkeys(found.rows, "") | behind
    spared = [each for each, row in with_all.rows.items() if spare_pinned and _pinned(row)]
    changes = [_delete(row, whys[each]) for each, row in with_all.rows.items() if each not in spared]
    texts = {each.id: with_all.rows[each.id].memory.raw_text for each in changes}
    folder = bureau.store.folder
    copies = find_copies(folder, texts, mirrors) if folder is not None else []
    return ChangeSet(
        action="forget",
        title=_title(len(changes) + len(gone), "deleted, history shrunk" if shrink else "deleted"),
        changes=tuple(changes),
        version=found.version,
        conflicts=tuple(conflicts),
        warnings=tuple(_warnings(changes, spared, copies, shrink=shrink)),
        copies=tuple(each.as_json() for each in copies),
        shrinks=shrink,
        purges=tuple(gone),
        mark=with_all.mark,
        base=kept(replace(with_all, conflicts=[]), changes),
    )


def apply_forget(change_set: ChangeSet, bench: Bench, *, confirmed: bool, store: str) -> Outcome:
    """Delete, erase the mirror lines, shrink when asked, look for what is left, and write the receipt."""
    texts = _texts(change_set)
    outcome = apply(change_set, bench, confirmed=confirmed)
    ids = [*texts, *change_set.purges]
    if not change_set.shrinks and not texts:
        return outcome
    bench.access.require(confirmed=confirmed)
    journal, warnings = bench.journal, list(outcome.warnings)
    removed, problems = erase((Copy(**each) for each in change_set.copies), texts)
    warnings += problems
    version = outcome.version_after
    if removed and outcome.entry is not None and not change_set.shrinks:
        journal.note(outcome.entry, {"erased": removed})
    if change_set.shrinks:
        with bench.gatekeeper.hold():
            version = bench.writer.shrink()
            if bench.writer.traces(ids, []).files:
                version = bench.writer.shrink(unverified=True)
        journal.redact(ids)
    receipt = make_receipt(change_set, bench, texts, outcome.entry, store=store)
    path = write_receipt(journal.path.parent / "receipts", receipt)
    if not receipt["clean"] and change_set.shrinks:
        warnings.append("Something of these memories is still found; the receipt says where.")
    return replace(
        outcome,
        warnings=tuple(warnings),
        version_after=version or bench.writer.newest(),
        receipt={**receipt, "file": str(path)},
    )


def _archive(bureau: Bureau, ids: Sequence[str], spare_pinned: bool) -> ChangeSet:
    dialect = bureau.store.dialect
    if not dialect.reads_metadata:
        raise RefusedError(
            f"Memories of {dialect.title} cannot be archived: they have no state.",
            fix="Delete them with --hard.",
        )
    planned = plan_edit(bureau, ids, {"state": "archived"}, reason=ARCHIVE_REASON)
    spared: list[str] = []
    if spare_pinned:
        rows = read(bureau, planned.ids).rows
        spared = [each for each, row in rows.items() if _pinned(row)]
        planned = planned.without(spared)
    return replace(
        planned,
        action="forget",
        title=_title(len(planned.changes), "archived"),
        warnings=(*planned.warnings, *_spared(spared)),
    )


def _delete(row: Row, why: str) -> Change:
    memory = row.memory
    shown = {
        "text": memory.raw_text,
        "scope": memory.scope,
        "category": memory.category,
        "importance": memory.importance,
        "timestamp_ms": memory.timestamp_ms,
    }
    # The text must still be what was shown: another one may not be meant to go.
    edit = Edit(expects={"text": row.values.get("text")})
    return Change(memory.id, "delete", shown, {}, title=memory.title, why=why, scope=memory.scope, edit=edit)


def _pinned(row: Row) -> bool:
    return row.memory.metadata_values.get(PINNED) is True


def _deleted_before(found: Found, journal: Journal | None) -> list[str]:
    """Of the ids that are not in the table, those that the journal knows."""
    missing = [each.id for each in found.conflicts if each.reason == "gone"]
    return [each for each in missing if journal is not None and journal.of_memory(each)]


def _warnings(
    changes: Sequence[Change], spared: Sequence[str], copies: Sequence[Copy], *, shrink: bool
) -> list[str]:
    notes = _spared(spared)
    if any(each.id.startswith(DERIVED) for each in changes):
        notes.append("Memories that the agent makes from files come back at its next look at them.")
    if stay := [copy for copy in copies if not copy.goes]:
        notes.append(f"{len(stay)} copies in other files stay: see where.")
    if shrink:
        what = "this memory" if len(changes) == 1 else "these memories"
        notes.append(f"The whole table loses its older versions, and {what} cannot be brought back.")
    elif changes:
        what = "it" if len(changes) == 1 else "them"
        notes.append(f"Older versions of the table hold {what} until the agent's clean-up (about 14 days).")
    return notes


def _spared(ids: Sequence[str]) -> list[str]:
    return [f"{len(ids)} pinned memories are left as they are."] if ids else []


def _texts(change_set: ChangeSet) -> dict[str, str]:
    deleted: dict[str, Mapping[str, Any]] = {
        each.id: each.before for each in change_set.changes if each.op == "delete"
    }
    return {each: str(before.get("text") or "") for each, before in deleted.items()}


def _title(count: int, what: str) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'} {what}"
