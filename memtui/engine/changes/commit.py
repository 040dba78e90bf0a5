"""Apply a change set: its rows in one commit, with what goes along with it outside the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine.changes.applier import bookkeeping, write_rows
from memtui.engine.changes.bulk_shift import apply_bulk
from memtui.engine.changes.change_set import CLEAN, NAME, PIN, ChangeSet, Outcome
from memtui.engine.changes.files_beside import PreparedFiles, prepare_files
from memtui.engine.changes.interrupted import INTERRUPTED
from memtui.engine.changes.journal import RowImages
from memtui.engine.changes.staging import SEVERAL
from memtui.engine.changes.text_copies import put_back, take_out
from memtui.engine.changes.version_tags import write_tags
from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    from memtui.engine.changes.applier import Applier
    from memtui.engine.changes.journal import Journal
    from memtui.engine.changes.write_state import WriteState
    from memtui.engine.engine import Engine


def apply(engine: Engine, change_set: ChangeSet, *, confirmed: bool = False) -> Outcome:
    """Write a change set as one entry of the journal. The next plan is made on the version after it.

    `confirmed` says that a person agreed to a deletion, and that no agent is running where that matters. Raises
    RefusedError without it where it is needed, and when the store is open for reading only; ConflictError when a
    row is not what the plan expects.
    """
    if change_set.unsent:
        raise RefusedError(
            f"Its vectors are not made: {change_set.unsent}.", fix="Plan it again where that may be sent."
        )
    if engine.store.dialect.can.edits_files:
        from memtui.engine.changes.note_changes import apply_notes

        return apply_notes(engine, change_set, confirmed=confirmed)
    writing = engine.write_state
    if _ours_alone(change_set, writing):
        return _write_aside(change_set, writing.journal, now_ms=engine.now_ms, client=writing.client)
    try:
        outcome = _write(change_set, writing.applier, confirmed=confirmed, store=engine.store.uri)
    finally:
        if change_set.shrinks:  # vectors tell of texts: none of a memory whose every trace goes stays here
            engine.store.drop_kept()
    writing.behind = True
    return outcome


def apply_staged(engine: Engine, change_set: ChangeSet, *, confirmed: bool = False) -> Outcome:
    """Write everything that is staged, as it was agreed to; then nothing is staged any more. See `apply`."""
    outcome = apply(engine, change_set, confirmed=confirmed)
    engine.write_state.staged.clear()
    return outcome


def fold_words(engine: Engine) -> None:
    """At the end of a batch: take the rows beside the full-text index into it; see `Writer.fold_words`."""
    writing = engine.write_state
    with writing.applier.gatekeeper.hold():
        writing.applier.writer.fold_words()
    writing.behind = True


def _ours_alone(change_set: ChangeSet, writing: WriteState) -> bool:
    """Whether only names in memtui's own file, or copies that it made, are changed: the store is not touched."""
    if change_set.changes or change_set.tags or not change_set.asides:
        return False
    journal, action, undone = writing.journal, change_set.action, change_set.undoes
    while undone is not None:  # a redo takes back the undo of it
        entry = journal.entry(undone)
        action, undone = entry.action, entry.undoes
    return action in (NAME, PIN)


def _write(change_set: ChangeSet, applier: Applier, *, confirmed: bool, store: str) -> Outcome:
    """Write a change set; a forget also removes mirror lines, and its undo puts them back.

    Raises RefusedError for a set that destroys and was not `confirmed`; see `write_rows` for the rest.
    """
    if change_set.action == CLEAN:
        if not confirmed:
            raise RefusedError(
                f"{change_set.title}: that cannot be undone; nothing was changed.",
                fix="Preview it with --dry-run, then repeat with --yes.",
            )
        from memtui.engine.changes.purge_history import apply_past

        return apply_past(change_set, applier, confirmed=confirmed, store=store)
    if change_set.destroys and not confirmed:
        gone = sum(change.op == "delete" for change in change_set.changes) or len(change_set.purges)
        raise RefusedError(
            f"This deletes {counted(gone, 'memory', 'memories')}; nothing was changed.",
            fix="Preview it with --dry-run, then repeat with --yes.",
        )
    if change_set.bulk is not None and change_set.count:
        return apply_bulk(change_set, applier, confirmed=confirmed)
    if change_set.action in ("forget", SEVERAL) and (change_set.destroys or change_set.copies):
        from memtui.engine.changes.forgetting import apply_forget

        return apply_forget(change_set, applier, confirmed=confirmed, store=store)
    if (
        not change_set.changes
        and not change_set.conflicts
        and (change_set.undoes is not None or change_set.asides)
    ):
        return _write_aside(
            change_set, applier.journal, now_ms=applier.now(), client=applier.client, applier=applier
        )
    outcome = (
        _with_files(change_set, applier, confirmed)
        if change_set.files
        else write_rows(change_set, applier, confirmed=confirmed)
    )
    if change_set.undoes is None or outcome.entry is None:
        return outcome
    return replace(outcome, warnings=(*outcome.warnings, *_mirror_lines(change_set, applier)))


def _with_files(change_set: ChangeSet, applier: Applier, confirmed: bool) -> Outcome:
    """The rows in one commit; the files are ready beside their places before it, and put there right after it."""
    prepared = _prepared(change_set)
    try:
        detail = {"files": [file.as_json() for file in change_set.files]}
        outcome = write_rows(change_set, applier, confirmed=confirmed, detail=detail)
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


def _write_aside(
    change_set: ChangeSet, journal: Journal, *, now_ms: int, client: str = "", applier: Applier | None = None
) -> Outcome:
    """Write a set that changes no row: files beside the store, names of versions, copies; one entry of the journal.

    An undo of what never reached the table, or is already so, has only the journal to tell, and makes no entry.
    Names in the table need an `applier`: they are written under the store's own lock.
    """
    undone = None if change_set.undoes is None else journal.entry(change_set.undoes)
    if undone is not None and (undone.state == INTERRUPTED or not change_set.asides):
        there = applier.writer.tags() if applier is not None and change_set.tags else {}
        written = (tag for tag in change_set.tags if not tag.before or there.get(tag.before) == tag.version)
        change_set = replace(change_set, tags=tuple(written))  # of what was cut off only what came to be
        _aside(change_set, applier, warnings := list(change_set.warnings))
        if undone.state == INTERRUPTED:
            journal.drop(undone.entry)
        elif change_set.action == "undo":
            journal.mark(undone.entry, "undone")
        return Outcome(None, change_set.action, (), warnings=tuple(warnings))
    detail = {
        **({"client": client} if client else {}),
        **({"files": [file.as_json() for file in change_set.files]} if change_set.files else {}),
        **({"tags": [tag.as_json() for tag in change_set.tags]} if change_set.tags else {}),
    }
    version = change_set.version
    entry = journal.intend(
        time_ms=now_ms,
        action=change_set.action,
        title=change_set.title,
        changes=(),
        images=RowImages(None, None, None),
        version_before=version,
        undoes=change_set.undoes,
        detail=detail,
    )
    try:
        _aside(change_set, applier, warnings := list(change_set.warnings))
    except BaseException:
        journal.drop(entry)
        raise
    journal.applied(entry, version, **bookkeeping(change_set.undoes, journal))
    return Outcome(
        entry,
        change_set.action,
        (),
        warnings=tuple(warnings),
        version_before=version,
        version_after=version,
    )


def _aside(change_set: ChangeSet, applier: Applier | None, warnings: list[str]) -> None:
    """Files, names and copies of a set; what others changed since is left, and said in `warnings`."""
    prepared = _prepared(change_set)
    try:
        if change_set.tags and applier is not None:
            applier.access.require(confirmed=True)
            with applier.gatekeeper.hold() as hold:
                applier.writer.newest()
                hold.check()
                write_tags(applier.writer, change_set.tags)
        for copy in change_set.removed_copies:
            copy.remove()
    except BaseException:
        prepared.drop()
        raise
    warnings += prepared.take()


def _mirror_lines(change_set: ChangeSet, applier: Applier) -> list[str]:
    """Put back, or remove again, the lines that a forget took out of Markdown mirrors."""
    undone = applier.journal.entry(change_set.undoes or 0)
    if change_set.action == "undo":
        return put_back(undone.detail.get("erased", ()))
    original = applier.journal.entry(undone.undoes) if undone.undoes is not None else undone
    return take_out(original.detail.get("erased", ()))
