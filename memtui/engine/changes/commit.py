"""From an agreed change set to the written one, with what goes along with it outside the table."""

from __future__ import annotations

from dataclasses import replace

from memtui.engine.changes.apply import Applier, apply
from memtui.engine.changes.change_set import CLEAN, ChangeSet, Outcome
from memtui.engine.changes.files_beside import PreparedFiles, prepare_files
from memtui.engine.changes.interrupted import INTERRUPTED
from memtui.engine.changes.staging import SEVERAL
from memtui.engine.changes.text_copies import put_back, take_out
from memtui.engine.core.errors import MemtuiError, RefusedError


def carry_out(change_set: ChangeSet, bench: Applier, *, confirmed: bool, store: str) -> Outcome:
    """Write a change set; a forget also removes mirror lines, and its undo puts them back.

    Raises RefusedError for a set that destroys and was not `confirmed`; see `apply` for the rest.
    """
    if change_set.action == CLEAN:
        if not confirmed:
            raise RefusedError(
                f"{change_set.title}: that cannot be taken back; nothing was changed.",
                fix="Look at it with --dry-run, then repeat with --yes.",
            )
        from memtui.engine.changes.purge_history import apply_past

        return apply_past(change_set, bench, confirmed=confirmed, store=store)
    if change_set.destroys and not confirmed:
        gone = sum(each.op == "delete" for each in change_set.changes) or len(change_set.purges)
        raise RefusedError(
            f"This deletes {gone:,} {'memory' if gone == 1 else 'memories'}; nothing was changed.",
            fix="Look at it with --dry-run, then repeat with --yes.",
        )
    if change_set.action in ("forget", SEVERAL) and (change_set.destroys or change_set.copies):
        from memtui.engine.changes.forgetting import apply_forget

        return apply_forget(change_set, bench, confirmed=confirmed, store=store)
    if change_set.undoes is not None and not change_set.changes and not change_set.conflicts:
        outcome = _nothing_to_write(change_set, bench)
        return replace(outcome, warnings=(*outcome.warnings, *_prepared(change_set).take()))
    outcome = (
        _with_files(change_set, bench, confirmed)
        if change_set.files
        else apply(change_set, bench, confirmed=confirmed)
    )
    if change_set.undoes is None or outcome.entry is None:
        return outcome
    return replace(outcome, warnings=(*outcome.warnings, *_mirror_lines(change_set, bench)))


def _with_files(change_set: ChangeSet, bench: Applier, confirmed: bool) -> Outcome:
    """The rows in one commit; the files are ready beside their places before it, and put there right after it."""
    prepared = _prepared(change_set)
    try:
        detail = {"files": [each.as_json() for each in change_set.files]}
        outcome = apply(change_set, bench, confirmed=confirmed, detail=detail)
    except BaseException:
        prepared.drop()
        raise
    return replace(outcome, warnings=(*outcome.warnings, *prepared.take()))


def _prepared(change_set: ChangeSet) -> PreparedFiles:
    try:
        return prepare_files(change_set.files)
    except OSError as error:
        raise MemtuiError(
            f"A file beside the store cannot be written: {(error.strerror or str(error)).lower()}.",
            fix="Make its folder writable; nothing was changed.",
        ) from error


def _nothing_to_write(change_set: ChangeSet, bench: Applier) -> Outcome:
    """An undo of what never reached the table, or is already so: only the journal has to learn of it."""
    entry = bench.journal.entry(change_set.undoes or 0)
    if entry.state == INTERRUPTED:
        bench.journal.drop(entry.entry)
    elif change_set.action == "undo":
        bench.journal.mark(entry.entry, "undone")
    return Outcome(None, change_set.action, (), warnings=change_set.warnings)


def _mirror_lines(change_set: ChangeSet, bench: Applier) -> list[str]:
    """Put back, or remove again, the lines that a forget took out of Markdown mirrors."""
    undone = bench.journal.entry(change_set.undoes or 0)
    if change_set.action == "undo":
        return put_back(undone.detail.get("erased", ()))
    original = bench.journal.entry(undone.undoes) if undone.undoes is not None else undone
    return take_out(original.detail.get("erased", ()))
