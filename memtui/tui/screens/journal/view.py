"""The Journal as rows: a timeline by day, and one entry with what it changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.engine.changes import Change, EntryRow, JournalEntry
from memtui.tui.actions.keymap import Keymap
from memtui.tui.dialogs.change_preview_view import SHOWN, change_lines, heading, sentences
from memtui.tui.paint.cells import crop, fit, flowing, right, tilde
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import ago, full
from memtui.tui.screens.journal.narrowing import who
from memtui.tui.screens.journal.state import REMOVED, JournalState, between, why_not_undo
from memtui.tui.widgets.row_list import Row

STATES = {"applied": "", "undone": "undone", "interrupted": "cut off", "left": "left"}

STATE_CELLS = 8

ACTION_CELLS = 8

NUMBER_CELLS = 6

_GONE = {"forget": "deleted including history", "clean": "history removed"}
"""What an entry did whose texts are gone with the memories."""


def moment(ms: int, zone: tzinfo | None) -> datetime:
    """A time of the journal as people read it."""
    return datetime.fromtimestamp(ms / 1000, zone)


def timeline(
    state: JournalState, width: int, now_ms: int, zone: tzinfo | None, glyphs: Glyphs, keys: Keymap
) -> list[Row]:
    """The entries, newest first, under the day of each; what needs a person first."""
    amiss = state.found or state.broken or _abandoned(state)
    rows = [Row(tuple(mishaps(state, width, glyphs, keys)))] if amiss else []
    day = ""
    for at, entry in enumerate(state.entries):
        when = moment(entry.time_ms, zone)
        here = f"{when:%A} {when.day} {when:%B %Y}"
        if here != day:
            day = here
            title = Content.styled(f" {here}", "bold $heading")
            rows.append(Row((title,) if not rows else (Content(), title)))
        rows.append(Row(_entry(entry, width, f"{when:%H:%M}", glyphs), str(entry.entry)))
        older = state.entries[at + 1] if at + 1 < len(state.entries) else None
        if older is not None and (others := between(entry, older)):
            said = f"        {counted(others, 'other version')} of the table in between"
            rows.append(Row((Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"),)))
    return rows


def _abandoned(state: JournalState) -> bool:
    return state.lock is not None and state.lock.stale


def mishaps(state: JournalState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Content]:
    """What was changed by others, cut off or left behind, and the key for each."""
    said = [f"{state.broken} Check it before you undo it."] if state.broken else []
    for number, found in state.found.items():
        said.append(
            f"Entry {number} was cut off in the middle; its change is {found}."
            f" {keys.cap('journal.fix')} finishes it, undoes it, or closes it."
        )
    if state.lock is not None and state.lock.stale:
        said.append(
            f"The write lock is {state.lock.phrase}: its program is gone, or stuck."
            f" When no agent runs, {keys.cap('journal.fix')} breaks it."
        )
    return [*sentences(said, width, glyphs.warn, "bold $danger"), Content()]


def _entry(entry: JournalEntry, width: int, clock: str, glyphs: Glyphs) -> tuple[Content, ...]:
    mark, style = {
        "undone": (glyphs.back, "$dim"),
        "interrupted": (glyphs.warn, "bold $danger"),
    }.get(entry.state, (" ", ""))
    if not mark.strip() and why_not_undo(entry):
        mark, style = glyphs.cross, "$dim"
    faded = entry.state == "undone" or bool(why_not_undo(entry))
    state = STATES.get(entry.state, entry.state)
    lead = Content.assemble(
        " ",
        (mark, style),
        (right(full(entry.entry), NUMBER_CELLS), "$dim"),
        (f" {clock} ", "$dim"),
        (fit(one_line(entry.action), ACTION_CELLS, glyphs.ellipsis), "$dim" if faded else "bold $foreground"),
        (right(full(entry.rows), 7), "$foreground"),
        "  ",
    )
    tail = Content.styled(right(state, STATE_CELLS) if state else " ", style or "$dim")
    return flowing(lead, _title(entry), tail, width - 1, glyphs.ellipsis, "$dim" if faded else "$foreground")


def words_of(entry: JournalEntry) -> str:
    """The words by which an entry is found, in lower case."""
    return f"{entry.action} {_title(entry)}".lower()


def _title(entry: JournalEntry) -> str:
    """What it was about, else what it did; the count of memories stands in its own column."""
    if subject := entry.detail.get("subject"):
        return one_line(str(subject))
    if entry.title.endswith(REMOVED):
        return _GONE.get(entry.action, "of memories that were forgotten since: texts removed")
    shown = counted(entry.rows, "memory", "memories")
    return one_line(entry.title.removeprefix(f"{shown}: ").removeprefix(f"{shown} "))


def _whole_title(entry: JournalEntry, state: JournalState) -> str:
    """What it was about, with the text that the journal keeps cut as the memory has it now, if it begins so."""
    said = _title(entry)
    begin, cut, rest = said.partition("…")
    texts = (one_line(text) for text in state.titles.values())
    return next((text + rest for text in texts if cut and text.startswith(begin.rstrip())), said)


def detail(
    state: JournalState, width: int, now_ms: int, zone: tzinfo | None, glyphs: Glyphs, keys: Keymap
) -> list[Row]:
    """One entry: when, what, from which version to which, and each memory before and after."""
    entry = state.entry(state.shown)
    if entry is None:
        return [Row((Content.styled(" no entry under the cursor", "$dim"),))]
    lines = [Content.styled(line, "bold $foreground") for line in _wrapped(_whole_title(entry, state), width)]
    when = moment(entry.time_ms, zone)
    facts = [
        ("when", f"{when:%Y-%m-%d %H:%M:%S}, {ago(entry.time_ms, now_ms)}"),
        ("who", one_line(who(entry))),
        ("what", one_line(_title(entry) if entry.title.endswith(REMOVED) else entry.title)),
        ("version", f"{full(entry.version_before)} {glyphs.forth} {_after(entry)}"),
        ("state", keys.words(_state(entry, state))),
    ]
    if entry.undoes is not None:
        facts.append(("undoes", f"entry {full(entry.undoes)}"))
    lines.append(Content())
    for name, text in facts:
        for i, part in enumerate(Content(text).wrap(max(12, width - 14)) or [Content()]):
            label = fit(name if i == 0 else "", 12)
            lines.append(Content.assemble(" ", (label, "$dim"), (part.plain, "$foreground")))
    lines.append(Content())
    rows = [Row((line,)) for line in lines]
    if state.rows is None:
        return [*rows, Row((Content.styled(" reading its memories", "$dim"),))]
    for receipt in state.receipts:
        rows += [
            Row((line,)) for line in receipt_lines(receipt, width, zone, glyphs, keys.cap("journal.receipts"))
        ]
    told = {memory["id"] for receipt in state.receipts for memory in receipt.get("memories") or ()}
    for row in state.rows[:SHOWN]:
        if row.id in told and not (row.before or row.after or row.id in state.titles):
            continue  # the receipt names it; of its text nothing is left to be shown
        change = _change(row, state.titles.get(row.id, ""))
        rows += [Row((line,)) for line in change_lines(change, width, glyphs)]
    if not state.rows and entry.rows and not state.receipts:
        rows.append(
            Row(
                tuple(
                    heading(
                        "Its memories are not listed: more than the journal keeps, or forgotten for good.",
                        "$dim",
                    )
                )
            )
        )
    if len(state.rows) > SHOWN:
        rows.append(Row(tuple(heading(f"and {full(len(state.rows) - SHOWN)} more", "$dim"))))
    return rows


def receipt_lines(
    receipt: Mapping[str, Any], width: int, zone: tzinfo | None, glyphs: Glyphs, key: str
) -> list[Content]:
    """The receipt of a forget: whether anything of it was found, where it was looked for, the hashes of the texts."""
    found, searched = receipt.get("found") or {}, receipt.get("searched") or {}
    left = {
        "the newest version": len(found.get("newest_version") or ()),
        "the index": len(found.get("index") or ()),
        "older versions": len(found.get("versions") or ()),
        "files of the table": len(found.get("files") or ()),
    }
    there = ", ".join(f"{place} {full(count)}" for place, count in left.items() if count)
    copies = receipt.get("copies_left") or ()
    clean = bool(receipt.get("clean"))
    facts = [
        ("mode", one_line(str(receipt.get("mode", "")))),
        ("found", "nothing of it" if clean else there or "something of it"),
        (
            "looked in",
            f"{counted(int(searched.get('versions') or 0), 'version')},"
            f" {counted(int(searched.get('files') or 0), 'file')}",
        ),
        ("mirror", f"{counted(int(receipt.get('mirror_lines_removed') or 0), 'line')} removed"),
        *(("copies left", one_line(str(copy.get("path", "")))) for copy in copies),
        ("journal", one_line(str(receipt.get("journal", "")))),
        ("written", f"{moment(int(receipt.get('time_ms') or 0), zone):%Y-%m-%d %H:%M:%S}"),
        ("file", one_line(tilde(str(receipt.get("file", ""))))),
    ]
    mark, style = (glyphs.mark, "bold $ok") if clean else (glyphs.warn, "bold $stale")
    title = Content.assemble(
        (f" {mark} ", style), ("RECEIPT", "bold $heading"), (f"   {key} opens it", "$key")
    )
    lines = [title]
    for name, text in facts:
        parts = Content(text).wrap(max(12, width - 16)) or [Content()]
        for i, part in enumerate(parts):
            label = fit(name if i == 0 else "", 12)
            lines.append(Content.assemble("   ", (label, "$dim"), (part.plain, "$foreground")))
    for memory in receipt.get("memories") or ():
        digest = str(memory.get("text_sha256") or "deleted before")
        said = f"   {one_line(str(memory.get('id')))[:8]}    sha256 {digest}"
        lines.append(Content.styled(crop(said, width - 1, glyphs.ellipsis), "$dim"))
    return [*lines, Content()]


def _after(entry: JournalEntry) -> str:
    return "(not known)" if entry.version_after is None else full(entry.version_after)


def _state(entry: JournalEntry, state: JournalState) -> str:
    found = state.found.get(entry.entry, "")
    if entry.state == "interrupted":
        ways = "{journal.fix} finishes it, undoes it, or closes it."
        return f"cut off: {found or 'not checked'}. {ways}"
    if entry.state == "left":
        return "closed without writing"
    if entry.state == "undone":
        return "undone. {journal.redo} redoes it."
    why = why_not_undo(entry, state.rows)
    return f"{entry.state}. {why}" if why else f"{entry.state}. {{journal.undo}} undoes it."


def _change(row: EntryRow, title: str) -> Change:
    """A memory of the journal as the preview shows changes; `title` is its text today, empty where it is gone."""
    text = row.after.get("text") or row.before.get("text") or title
    return Change(row.id, row.op, row.before, row.after, title=one_line(str(text)))


def _wrapped(text: str, width: int) -> Sequence[str]:
    return [f" {line.plain}" for line in Content(text).wrap(max(12, width - 3))]
