"""Changes of memory-core's Markdown: planned on the lines of a chunk, written into the file, never into the index."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.applier import ConflictError, bookkeeping
from memtui.engine.changes.change_set import Change, ChangeSet, Conflict, Outcome, subject_of
from memtui.engine.changes.files_beside import FileEdit, edits_in
from memtui.engine.changes.journal import RowImages
from memtui.engine.core.errors import RefusedError
from memtui.engine.core.secrets import veiled
from memtui.engine.core.text import counted, one_line, quoted
from memtui.engine.notes.alignment import PlacedChunk
from memtui.engine.notes.annotations import read_annotations, strip_annotations
from memtui.engine.notes.entry_edit import edit_entry, is_heading, parse_values, remove_entry, without_marks
from memtui.engine.notes.index_store import NotesIndex, index_of
from memtui.engine.notes.line_merge import merge_lines
from memtui.engine.notes.memory_files import CURATED, read_file_text, split_lines
from memtui.engine.notes.note_file import SameLineError, WrittenNote, merge_into_file
from memtui.engine.notes.place_book import PlacedLines, Range, carry_ranges, line_mark

if TYPE_CHECKING:
    from memtui.engine.changes.journal import JournalEntry
    from memtui.engine.changes.reverse import Side
    from memtui.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class NoteEdit(FileEdit):
    """A file of notes as it was and as it is to be; what happens to it is said as a diff."""

    ranges: Mapping[str, Range] = field(default_factory=dict, compare=False)
    """Where the changed chunks are in the new text."""
    ranges_before: Mapping[str, Range] = field(default_factory=dict, compare=False)
    """Where they are in the old one."""

    @property
    def sentence(self) -> str:
        """The lines that go and come, with the lines around them; secrets are named by their kind."""
        lines = unified_diff(
            (self.before or "").splitlines(),
            (self.after or "").splitlines(),
            n=1,
            lineterm="",
            fromfile=self.path,
        )
        shown = [line for line in lines if not line.startswith(("---", "+++"))]
        return "\n".join([f"{self.path} changes", *(f"  {veiled(line)}" for line in shown)])


def _index(engine: Engine) -> NotesIndex:
    index = index_of(engine.store)
    assert index is not None
    return index


@dataclass(slots=True)
class _FilePlan:
    """One file while changes of it are collected: its text now, and new lines for stretches of it."""

    path: Path
    text: str
    stretches: list[tuple[int, int, list[str], str]] = field(default_factory=list)
    """First line, the line behind the last one, what stands there then, and the chunk."""

    def overlaps(self, start: int, end: int) -> bool:
        return any(start < other_end and other_start < end for other_start, other_end, *_ in self.stretches)

    def edit(self) -> NoteEdit:
        lines = list(split_lines(self.text))
        ranges: dict[str, Range] = {}
        before: dict[str, Range] = {}
        shift = 0
        for start, end, new, chunk in sorted(self.stretches):
            lines[start + shift : end + shift] = new
            before[chunk], ranges[chunk] = (start, end), (start + shift, start + shift + len(new))
            shift += len(new) - (end - start)
        return NoteEdit(str(self.path), self.text, "\n".join(lines), ranges, before)


def plan_note_edit(engine: Engine, given: Mapping[str, Mapping[str, Any] | None], title: str) -> ChangeSet:
    """Set fields of entries: text, importance, triggers, project; of each id its own. UsageError for other fields.

    An entry without fields (None) is removed from its file.
    """
    values = {
        chunk_id: None if wanted is None else parse_values(wanted) for chunk_id, wanted in given.items()
    }
    return _planned(engine, "edit", title, values)


def plan_note_forget(engine: Engine, ids: Sequence[str], *, hard: bool, shrink: bool) -> ChangeSet:
    """Remove entries from their files. RefusedError unless `hard`: memory-core has no archive, and no history."""
    if shrink:
        raise RefusedError(
            "memory-core keeps no history of its files that memtui could shrink.",
            fix="Leave --shrink-history out; nothing was changed.",
        )
    if not hard:
        raise RefusedError(
            "memory-core has no archive: a forgotten entry is removed from its file.",
            fix="Preview it with: --hard --dry-run; it can be undone. Nothing was changed.",
        )
    title = f"{counted(len(ids), 'memory', 'memories')}: removed from the Markdown"
    return _planned(engine, "forget", title, dict.fromkeys(ids))


def _planned(
    engine: Engine, action: str, title: str, wanted: Mapping[str, Mapping[str, str] | None]
) -> ChangeSet:
    engine.store.refresh()
    engine.write_state.behind = False
    index = _index(engine)
    changes: list[Change] = []
    conflicts: list[Conflict] = []
    plans: dict[Path, _FilePlan] = {}
    known = {chunk.id: chunk for chunk in index.view.content.chunks}
    for chunk_id, values in wanted.items():
        chunk = known.get(chunk_id)
        if chunk is None:
            conflicts.append(Conflict(chunk_id, "gone", "The index has no chunk with this id."))
            continue
        why = index.files.locked_because(chunk.path, chunk.source) or _why_not(index, chunk_id, values)
        if why:
            conflicts.append(Conflict(chunk_id, "refused", why))
            continue
        place = index.view.placed[chunk_id]
        made = _change(index, place, values, plans)
        if isinstance(made, Conflict):
            conflicts.append(made)
        elif made is not None:
            changes.append(replace(made, scope=f"agent:{index.agent}" if index.agent else None))
    edits = tuple(edit for plan in plans.values() if (edit := plan.edit()).before != edit.after)
    return ChangeSet(
        action=action,
        title=title,
        changes=tuple(changes),
        version=engine.store.version,
        conflicts=tuple(conflicts),
        warnings=index_notes(index) if edits else (),
        files=edits,
    )


def index_notes(index: NotesIndex) -> tuple[str, ...]:
    """What a change of a file leaves to the host, and its command for it."""
    agent = f" --agent {quoted(index.agent)}" if index.agent else ""
    return (
        "The index is the host's and is not updated by memtui: recall quotes the old entry until the host has read the "
        f"file again. Its command: openclaw memory index{agent}",
    )


def _why_not(index: NotesIndex, chunk_id: str, values: Mapping[str, str] | None) -> str:
    """Why the chunk's lines cannot be changed so, one sentence; empty where they can."""
    place = index.view.placed.get(chunk_id)
    if place is None:
        return "Where it stands in a file is not known."
    path = place.chunk.path
    if place.state == "gone":
        return f"It is no longer in {path}; the index is not updated."
    if place.state in ("unclear", "file gone"):
        problem = index.view.texts[path].problem or "it was changed here since it was indexed"
        return f"Which lines of {path} it is cannot be told: {problem}."
    if not place.whole and (values is None or "text" in values):
        return f"It is a piece of a longer line of {path}: change that line in the file."
    fields = [name for name in values or {} if name in ("importance", "triggers")]
    if fields and path not in CURATED:
        return f"OpenClaw reads {' and '.join(fields)} in {' and '.join(CURATED[::2])} alone, not in {path}."
    return ""


def _change(
    index: NotesIndex, place: PlacedChunk, values: Mapping[str, str] | None, plans: dict[Path, _FilePlan]
) -> Change | Conflict | None:
    chunk = place.chunk
    text = index.view.texts[chunk.path].text
    where = index.files.place(chunk.path)
    assert text is not None
    assert where is not None
    real = Path(os.path.realpath(where))
    plan = plans.setdefault(real, _FilePlan(real, text))
    old = list(split_lines(text))[place.start : place.end]
    if values is not None and set(values) - {"text"} and is_heading(old):
        return Conflict(
            chunk.id, "refused", "It is a heading: OpenClaw reads fields at the entries below it."
        )
    if plan.overlaps(place.start, place.end):
        return Conflict(
            chunk.id, "refused", "Another chunk to be changed holds the same lines: change one at a time."
        )
    title = one_line(place.text)
    if values is None:
        plan.stretches.append((place.start, place.end, remove_entry(old), chunk.id))
        before = {
            "text": place.text,
            "path": chunk.path,
            "start_line": place.start + 1,
            "end_line": place.end,
        }
        return Change(chunk.id, "delete", before, {}, title=title)
    if "text" in values:
        following = split_lines(text)[place.end : place.end + 5]
        values = {**values, "text": without_marks(values["text"], following)}
    new = edit_entry(old, values)
    if new == old:
        return None
    plan.stretches.append((place.start, place.end, new, chunk.id))
    before, after = _shown(old), _shown(new)
    names = [name for name in ("text", "importance", "triggers", "project") if before[name] != after[name]]
    return Change(
        chunk.id,
        "edit",
        {name: before[name] for name in names},
        {name: after[name] for name in names},
        title=title,
    )


def _shown(lines: Sequence[str]) -> dict[str, Any]:
    plain = [line.removesuffix("\r") for line in lines]
    fields = read_annotations(plain)
    text = "\n".join(strip_annotations(line) for line in plain)
    return {
        "text": text,
        "importance": fields.importance,
        "triggers": fields.triggers,
        "project": fields.project,
    }


def plan_note_shift(engine: Engine, entry: JournalEntry, side: Side, *, action: str) -> ChangeSet:
    """Bring the lines of an entry of the journal back to how they were before it, or forth again.

    Other lines that changed meanwhile stay; where the same line did, it is a conflict.
    """
    written = edits_in(entry.detail)
    edits, conflicts = [], []
    rows = engine.write_state.journal.rows(entry.entry)
    for record in written:
        wanted = record if side == "after" else record.reverse
        now = read_file_text(Path(wanted.path)).text
        merged = None if now is None else merge_lines(wanted.before or "", wanted.after or "", now)
        if now is None or merged is None:
            sentence = f"{wanted.path} is no longer there."
        elif merged.text is None:
            sentence = f"Line {merged.line} of {wanted.path} was changed again since."
        else:
            places = entry.detail.get("places", {}).get(wanted.path, {})
            sides = ("before", "after") if side == "before" else ("after", "before")
            lines, merged_lines = split_lines(wanted.after or ""), split_lines(merged.text)
            edits.append(
                NoteEdit(
                    wanted.path,
                    now,
                    merged.text,
                    carry_ranges(_ranges(places, sides[0]), lines, merged_lines),
                    carry_ranges(
                        _ranges(places, sides[1]), split_lines(wanted.before or ""), split_lines(now)
                    ),
                )
            )
            continue
        conflicts += [Conflict(row.id, "changed", sentence) for row in rows] or [
            Conflict(wanted.path, "changed", sentence)
        ]
    back = side == "before"
    ops = {"delete": "add", "add": "delete", "edit": "edit"}
    changes = tuple(
        Change(
            row.id,
            ops[row.op] if back else row.op,  # type: ignore[arg-type]
            row.after if back else row.before,
            row.before if back else row.after,
            title=one_line(str(row.before.get("text") or row.after.get("text") or "")),
        )
        for row in rows
    )
    return ChangeSet(
        action=action,
        title=f"{action} of entry {entry.entry}: {entry.title}",
        changes=() if conflicts else changes,
        version=engine.store.version,
        conflicts=tuple(conflicts),
        warnings=index_notes(_index(engine)) if edits else (),
        undoes=entry.entry,
        files=tuple(edits),
        put_back=True,
    )


def _ranges(places: Mapping[str, Any], side: str) -> dict[str, Range]:
    return {chunk: (int(start), int(end)) for chunk, (start, end) in places.get(side, {}).items()}


def plan_note_undo(engine: Engine, number: int | None) -> ChangeSet:
    """Plan to take back entry `number`, by default the last one that is applied; an undo is taken back by a redo."""
    journal = engine.write_state.journal
    if number is None:
        applied = journal.entries(states=("applied",))
        entry = next((entry for entry in applied if entry.action not in ("undo", "redo")), None)
        if entry is None:
            raise RefusedError("There is nothing to undo.", fix="See what was changed with: memtui journal.")
    else:
        entry = journal.entry(number)
    if entry.action == "undo":
        return plan_note_redo(engine, entry.entry)
    if entry.action == "redo" and entry.undoes is not None:
        entry = journal.entry(journal.entry(entry.undoes).undoes or entry.undoes)
    if entry.state not in ("applied", "interrupted"):
        raise RefusedError(
            f"Entry {entry.entry} is {entry.state} already.", fix="See it with: memtui journal."
        )
    return plan_note_shift(engine, entry, "before", action="undo")


def plan_note_redo(engine: Engine, number: int | None) -> ChangeSet:
    """Plan to make again what was undone: the entry `number` (or its undo), by default the last one undone."""
    journal = engine.write_state.journal
    undos = [entry for entry in journal.entries(states=("applied",)) if entry.action == "undo"]
    if number is not None:
        undos = [entry for entry in undos if number in (entry.entry, entry.undoes)]
    if not undos:
        what = "There is nothing to redo." if number is None else f"Entry {number} is not undone."
        raise RefusedError(what, fix="See what was undone with: memtui journal.")
    return plan_note_shift(engine, undos[0], "before", action="redo")


def apply_notes(engine: Engine, change_set: ChangeSet, *, confirmed: bool) -> Outcome:
    """Write the lines into their files as one entry of the journal; see `commit.apply`."""
    writing = engine.write_state
    writing.require_writable()
    if change_set.conflicts:
        raise ConflictError(change_set.conflicts)
    if change_set.destroys and not confirmed:
        raise RefusedError(
            f"This removes {counted(len(change_set.changes), 'entry', 'entries')} from the Markdown.",
            fix="Preview it with --dry-run, then repeat with --yes; nothing was changed.",
        )
    if change_set.changes and not change_set.files:
        raise RefusedError(engine.store.dialect.can.read_only_because, fix="Nothing was changed.")
    journal = writing.journal
    if not any(edit.before != edit.after for edit in change_set.files):
        if change_set.undoes is not None and change_set.action == "undo":
            undone = journal.entry(change_set.undoes)
            if undone.state == "interrupted":
                journal.drop(undone.entry)
            else:
                journal.mark(undone.entry, "undone")
        return Outcome(None, change_set.action, (), change_set.left, change_set.warnings)
    with writing.make_gate().hold():
        entry = journal.intend(
            time_ms=engine.now_ms,
            action=change_set.action,
            title=change_set.title,
            changes=change_set.changes,
            images=RowImages(None, None, None),
            version_before=change_set.version,
            undoes=change_set.undoes,
            detail=_detail(change_set, change_set.files, writing.client),
        )
        try:
            written = _write_all(change_set)
        except BaseException:
            journal.drop(entry)
            raise
        journal.note(entry, _detail(change_set, written, writing.client))
        _keep_places(engine, change_set, written)
        journal.applied(entry, change_set.version, **bookkeeping(change_set.undoes, journal))
    writing.behind = True
    engine.store.refresh()
    return Outcome(
        entry,
        change_set.action,
        change_set.changes,
        change_set.left,
        change_set.warnings,
        version_before=change_set.version,
        version_after=engine.store.version,
    )


def _keep_places(engine: Engine, change_set: ChangeSet, written: Sequence[FileEdit]) -> None:
    """Note where the chunks of the written files are now: of those that were changed by what was planned for them."""
    index = _index(engine)
    view = index.view
    kept: dict[str, PlacedLines] = {}
    for record in written:
        before, after = split_lines(record.before or ""), split_lines(record.after or "")
        for path, text in view.texts.items():
            place = index.files.place(path)
            if place is None or os.path.realpath(place) != record.path or text.text is None:
                continue
            chunks = [placed for placed in view.placed.values() if placed.chunk.path == path]
            now = {
                placed.chunk.id: (placed.start, placed.end) for placed in chunks if placed.state in _PLACED
            }
            ranges = carry_ranges(now, split_lines(text.text), before)
            own = {edit.path: edit.ranges for edit in change_set.files if isinstance(edit, NoteEdit)}
            planned = next((edit for edit in change_set.files if edit.path == record.path), None)
            exact = own.get(record.path, {})
            known = view.content.file_of.get(path)
            kept[path] = PlacedLines(
                "" if known is None else known.hash,
                tuple(line_mark(line) for line in after),
                {
                    **carry_ranges(ranges, before, after),
                    **carry_ranges(exact, split_lines((planned.after if planned else None) or ""), after),
                },
            )
    index.book.keep(kept)


_PLACED = ("indexed", "changed", "gone")


def _detail(change_set: ChangeSet, files: Sequence[FileEdit], client: str) -> Mapping[str, Any]:
    return {
        "subject": subject_of(change_set.changes),
        **({"client": client} if client else {}),
        "files": [FileEdit(file.path, file.before, file.after).as_json() for file in files],
        "places": {
            file.path: {"before": dict(file.ranges_before), "after": dict(file.ranges)}
            for file in change_set.files
            if isinstance(file, NoteEdit)
        },
    }


def _write_all(change_set: ChangeSet) -> list[FileEdit]:
    """Every file, or none: what was written before a file that cannot be is taken back. ConflictError for a line."""
    done: list[tuple[Path, WrittenNote]] = []
    try:
        for edit in change_set.files:
            path = Path(edit.path)
            done.append((path, merge_into_file(path, edit.before or "", edit.after or "")))
    except BaseException as error:
        for path, written in reversed(done):
            merge_into_file(path, written.after, written.before)
        if isinstance(error, SameLineError):
            ids = change_set.ids or ("",)
            raise ConflictError(
                [Conflict(memory_id, "changed", error.message) for memory_id in ids]
            ) from error
        raise
    return [FileEdit(str(path), written.before, written.after) for path, written in done]


def finish_notes(engine: Engine, entry: JournalEntry, planned: ChangeSet) -> Outcome:
    """Complete an entry that was cut off; its own number stays where its lines are there already."""
    journal = engine.write_state.journal
    if planned.conflicts or any(edit.before != edit.after for edit in planned.files):
        outcome = apply_notes(engine, planned, confirmed=True)
        journal.drop(entry.entry)
        return outcome
    engine.write_state.require_writable()
    journal.applied(entry.entry, engine.store.version, **bookkeeping(entry.undoes, journal))
    return Outcome(entry.entry, entry.action, (), version_after=engine.store.version)


def notes_applied(entry: JournalEntry) -> bool | None:
    """Whether the lines of an entry that was cut off are in their files; None where that cannot be told."""
    said = set()
    for edit in edits_in(entry.detail):
        now = read_file_text(Path(edit.path)).text
        if now is None:
            return None
        there = merge_lines(edit.before or "", edit.after or "", now).text == now
        back = merge_lines(edit.after or "", edit.before or "", now).text == now
        said.add(there if there != back else None)
    return said.pop() if len(said) == 1 else None
