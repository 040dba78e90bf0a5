"""Capture as rows: conversations, texts with their verdicts, a candidate beside its neighbour, the trace, the inbox."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.actions.keymap import Keymap
from memtui.tui.paint.cells import crop, fit
from memtui.tui.paint.difference import difference
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import ago, full
from memtui.tui.screens.capture.state import CaptureState
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine.capture import (
        CaptureCandidate,
        CaptureText,
        CaptureTrace,
        Remedy,
        Rung,
    )


KEPT, REPLACED, KNOWN, WAITS, DROPPED, SECRET, MERGED = "+", "~", "=", "o", "-", "!", "&"

_STYLES = {
    KEPT: "$ok",
    MERGED: "$ok",
    REPLACED: "$stale",
    KNOWN: "$dim",
    WAITS: "$stale",
    DROPPED: "$dim",
    SECRET: "bold $danger",
}


def verdict_of(text: CaptureText, made: Sequence[CaptureCandidate]) -> tuple[str, str]:
    """(sign, words) of what became of a text: its verdict, and behind it how or why."""
    kept = [each for each in made if each.writes]
    if any(each.decision == "supersede" for each in kept):
        return REPLACED, f"{text.verdict}, replaces {len(kept)}"
    if any(each.decision == "merge" for each in kept):
        return MERGED, f"{text.verdict}, merges {len(kept)}"
    if text.verdict == "kept":
        return KEPT, f"{text.verdict} {len(kept)}" if len(kept) > 1 else text.verdict
    why = "stored already" if text.fate == "known" else text.gate
    words = f"{text.verdict}: {why}" if why else text.verdict
    if text.fate == "known":
        return KNOWN, words
    if text.fate == "deferred":
        return WAITS, words
    return (SECRET if text.gate in ("secret", "order") else DROPPED), words


def line(
    width: int, sign: str, text: str, far: str, style: str = "$foreground", glyphs: Glyphs | None = None,
    lead: str = "",
) -> Content:  # fmt: skip
    """A sign, what stands before the text, a text and a few words at the right end."""
    ellipsis = "…" if glyphs is None else glyphs.ellipsis
    room = max(8, width - cell_len(far) - cell_len(lead) - 5)
    return Content.assemble(
        " ",
        (sign, _STYLES.get(sign, "$dim")),
        " ",
        (lead, "$dim"),
        (fit(one_line(text), room, ellipsis), style),
        " ",
        (far, "$dim"),
    )


def talks(state: CaptureState, width: int, now_ms: int, glyphs: Glyphs) -> list[Row]:
    """The conversations, newest first, with how many texts and what came of them."""
    rows = []
    counts = [
        "" if talk.conversation is None else full(len(talk.conversation.messages)) for talk in state.talks
    ]
    kept = ["–" if talk.kept is None else full(talk.kept) for talk in state.talks]
    wide, last = (max(map(len, each), default=0) for each in (counts, kept))
    for at, talk in enumerate(state.talks):
        when = f"{ago(talk.at_ms, now_ms)} " if talk.at_ms and width >= 34 else ""
        far = f"{when}{counts[at]:>{wide}} {kept[at]:>{last}}"
        title = fit(one_line(talk.title), max(8, width - cell_len(far) - 3), glyphs.ellipsis)
        rows.append(Row((Content.assemble(" ", title, " ", (far, "$dim")),), talk.key))
    if rows:
        note = "messages, memories kept; – not captured" if width >= 42 else "messages, kept"
        rows.append(Row((Content(), Content.styled(f" {crop(note, width - 2, glyphs.ellipsis)}", "$dim"))))
    return rows


def said_rows(text: str, width: int, style: str = "$dim") -> list[Row]:
    """Words in place of a list, as many lines as they need."""
    return [Row((Content.styled(f" {part.plain}", style),)) for part in Content(text).wrap(max(8, width - 2))]


def texts(state: CaptureState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """The texts in order, each with its verdict."""
    trace = state.trace
    if trace is None:
        return _held(state, width, glyphs, keys)
    made: dict[int, list[CaptureCandidate]] = {}
    places: dict[int, list[int]] = {}
    for at, candidate in enumerate(trace.candidates):
        for place in candidate.texts:
            made.setdefault(place, []).append(candidate)
            places.setdefault(place, []).append(at)
    rows = []
    for place, text in enumerate(trace.texts):
        sign, words = verdict_of(text, made.get(place, ()))
        marks = {state.marks.get(at) for at in places.get(place, ())} - {None}
        if marks:
            words = f"{words} {glyphs.mark if 'accepted' in marks else glyphs.cross}"
        if told := _entries(state, places.get(place, ())):
            words = f"{words}, {told}"
        faded = sign in (DROPPED, KNOWN)
        style = "$dim" if faded else "$foreground"
        role = f"{fit(text.role, _ROLE)} " if width >= _ROOM_FOR_ROLES else ""
        rows.append(Row((line(width, sign, text.said, words, style, glyphs, role),), str(place)))
    return rows


_ROOM_FOR_ROLES = 60
"""Cells from which the list of texts has a column of roles."""


_ROLE = 9
"""Cells of the column of roles: `assistant` is the longest."""


def _decisions(trace: CaptureTrace) -> dict[int, tuple[str, str]]:
    """(sign, two words) of what became of each message, by its place; of several texts the first that is kept."""
    made: dict[int, list[CaptureCandidate]] = {}
    for candidate in trace.candidates:
        for place in candidate.texts:
            made.setdefault(place, []).append(candidate)
    found: dict[int, tuple[str, str]] = {}
    for place, text in enumerate(trace.texts):
        if text.message is not None and (text.message not in found or text.fate == "kept"):
            found[text.message] = verdict_of(text, made.get(place, ()))
    return found


def _held(state: CaptureState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """A conversation that was not captured yet: what was said in it, and the key that captures it."""
    talk = state.shown
    if state.waiting:
        return _wrapped(state.waiting, width, "$dim")
    if talk is None:
        return _wrapped("choose a conversation", width, "$dim")
    if talk.fault:
        return _wrapped(f"This conversation cannot be read. {talk.fault}", width, "$danger")
    looked = state.looks.get(talk.key)
    what = "the reason of each decision" if looked is not None else "the decision for each text"
    enter = f"{keys.cap('said.open')} shows {what}; nothing is written"
    rows = [Row((Content.styled(f" {crop(enter, width - 2, glyphs.ellipsis)}", "$dim"), Content()))]
    decisions = {} if looked is None else _decisions(looked)
    far = max((cell_len(words) for _, words in decisions.values()), default=0)
    for at, (role, said) in enumerate(talk.held or ()):
        sign, words = decisions.get(at, ("", ""))
        room = max(8, width - _ROLE - 4 - (far + 4 if decisions else 0))
        first, *more = (part.plain for part in Content(one_line(said) or "(no text)").wrap(room))
        style = "$dim" if sign in (DROPPED, KNOWN) else "$foreground"
        line = Content.assemble(" ", (fit(role, _ROLE), "$dim"), " ", (fit(first, room), style))
        if decisions:
            line = Content.assemble(
                line, "  ", (fit(sign, 1), _STYLES.get(sign, "$dim")), " ", (words, "$dim")
            )
        rest = (Content.styled(f" {' ' * _ROLE} {part}", style) for part in more)
        rows.append(Row((line, *rest)))
    messages = 0 if talk.conversation is None else len(talk.conversation.messages)
    if talk.held is not None and (left := messages - len(talk.held)) > 0:
        rows += _wrapped(f"{counted(left, 'message')} more", width, "$dim")
    return rows


def candidate(state: CaptureState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """The candidates of a text: words, neighbour, decision, the row to be as a difference of words."""
    if state.trace is None:
        return []
    if not state.candidates:
        why = f"{keys.cap('capture.why-not')} shows why, and which setting would have kept it"
        return [*_wrapped("no memory was made from this text", width, "$dim"), *_wrapped(why, width, "$dim")]
    rows: list[Row] = []
    for at, each in state.candidates:
        mark = state.marks.get(at)
        head = f"{each.decision}{'' if mark is None else f', {mark}'}"
        if at in state.written:
            head = f"{head}, {'written as' if state.stands(at) else 'not stored:'} {_entries(state, (at,))}"
        rows.append(
            Row((Content.assemble(" ", (each.category or "no category", "bold $heading"), f"  {head}"),))
        )
        rows += _wrapped(each.abstract, width, "$foreground")
        if each.neighbours:
            near = each.neighbours[0]
            rows.append(
                Row((Content(), Content.styled(f" NEIGHBOUR {near.score:.3f}  {near.id[:8]}", "$heading")))
            )
            rows += _wrapped(near.text, width, "$dim")
            if each.writes:
                rows.append(Row((Content(), Content.styled(" ROW TO BE, field by field", "$heading"))))
                told = difference(one_line(near.text), one_line(each.writes[0].row.text), glyphs)
                rows += [Row((Content.assemble(" ", part),)) for part in told.wrap(max(8, width - 2))]
        if each.reason:
            rows.append(Row((Content(), Content.styled(" WHY", "$heading"))))
            rows += _wrapped(each.reason, width, "$foreground")
        rows.append(Row((Content(),)))
    return rows


def _entries(state: CaptureState, places: Sequence[int]) -> str:
    """The entries of the journal by which candidates were written; empty for none."""
    found = sorted({state.written[at] for at in places if at in state.written})
    return ", ".join(f"entry {each}{' undone' if each in state.taken_back else ''}" for each in found)


def _wrapped(text: str, width: int, style: str) -> list[Row]:
    parts = Content(one_line(text)).wrap(max(8, width - 2))
    return [Row((Content.styled(f" {part.plain}", style),)) for part in parts]


def trace(state: CaptureState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """The way of the chosen text: the gates of a verdict, else what each stage said."""
    trace = state.trace
    if state.heard:
        return _heard(state, width)
    if trace is None or state.text >= len(trace.texts):
        return said_rows("The way of a text stands here: what was filtered, found, near, decided.", width)
    if state.verdict is not None:
        return _verdict(state, width, glyphs, keys)
    text = trace.texts[state.text]
    lines = [_verdict_line(text, glyphs)]
    for _, each in state.candidates:
        lines.append(("candidate", glyphs.mark, f"{each.category}: {each.abstract}"))
        if each.neighbours:
            near = each.neighbours[0]
            lines.append(
                ("nearest", glyphs.mark, f"{near.score:.3f} in {trace.facts.get('scope', '')}: {near.text}")
            )
        elif each.decision != "drop":
            lines.append(("nearest", glyphs.mark, "no similar memory in this scope"))
        lines.append(
            (
                "decision",
                glyphs.mark if each.writes else glyphs.cross,
                f"{each.decision}: {each.reason}",
            )
        )
        if each.raw is not None:
            lines.append(("reply", " ", json.dumps(each.raw, ensure_ascii=False)))
    places = [at for at, _ in state.candidates]
    if told := _entries(state, places):
        stands = any(state.stands(at) for at in places)
        far = "" if stands else f"; {keys.cap('capture.apply')} writes it again"
        lines.append(("write", glyphs.mark if stands else " ", f"{told} of the Journal{far}"))
    elif any(each.writes for _, each in state.candidates):
        lines.append(("write", " ", f"not written; {keys.cap('capture.apply')} shows it first"))
    return [row for each in lines for row in _step(*each, width)]


def _verdict_line(text: CaptureText, glyphs: Glyphs) -> tuple[str, str, str]:
    """What became of a text, as in the list, and the gate that stopped it, with its number and limit."""
    signs = {"kept": glyphs.mark, "needs review": WAITS}
    measured = "" if text.limit is None else f", {_number(text.value)} of {_number(text.limit)}"
    why = f"{text.gate}{measured}: {text.reason}" if text.gate else text.reason
    return "verdict", signs.get(text.verdict, glyphs.cross), f"{text.verdict}, {why}" if why else text.verdict


def _number(value: float | str | None) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


_NAMED = 14
"""Cells of a stage's name and sign before what it said."""


def _step(name: str, sign: str, said: str, width: int) -> list[Row]:
    """What one stage said, whole: in as many lines as it takes."""
    parts = Content(one_line(said)).wrap(max(8, width - _NAMED - 1))
    heads = [
        Content.assemble(" ", (fit(name, 10), "$dim"), sign, " "),
        *[Content(" " * (_NAMED - 1))] * len(parts),
    ]
    return [Row((Content.assemble(head, part.plain),)) for head, part in zip(heads, parts, strict=False)]


def _verdict(state: CaptureState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """The first gate that stopped it, the changes that would have kept it, then the gates before and behind."""
    verdict = state.verdict
    assert verdict is not None
    rows = []
    if verdict.kept:
        rows.append(Row((Content.styled(f" {glyphs.mark} kept", "$ok"),)))
    for rung in verdict.ladder:
        if rung.passed is False:
            rows += _wrapped(f"{glyphs.cross} {rung.gate}: {rung.sentence}", width, "$foreground")
    if state.remedy is not None:
        rows += _wrapped(f"{keys.cap('capture.accept')} takes the first change and keeps it", width, "$ok")
    for remedy in verdict.remedies:
        sure = "kept in a replay" if remedy.confirmed else "not tried"
        said = f"smallest change: {_change_words(remedy, glyphs)}  ({sure})"
        rows += _wrapped(said, width, "$ok" if remedy.confirmed else "$foreground")
    if not verdict.kept and not verdict.remedies:
        rows.append(Row((Content.styled(" no setting and no plainer wording keeps it", "$dim"),)))
    told = {True: f"{glyphs.mark} passed", None: "  not reached"}
    for passed, words in told.items():
        names = [f"{rung.gate}{_measured(rung)}" for rung in verdict.ladder if rung.passed is passed]
        if names:
            rows += _wrapped(f"{words}: {', '.join(names)}", width, "$dim")
    return rows


def _measured(rung: Rung) -> str:
    """What a gate measured, where it says more than that it was passed."""
    plain = rung.passed is None or rung.sentence in ("", "it passed")
    return "" if plain else f" ({one_line(rung.sentence)})"


def _change_words(remedy: Remedy, glyphs: Glyphs) -> str:
    """A change in words: a setting by its name and values as its file has them."""
    if isinstance(remedy.before, str) and isinstance(remedy.after, str):
        return f"{remedy.setting}: {remedy.before} {glyphs.forth} {remedy.after}"
    before, after = (json.dumps(each, ensure_ascii=False) for each in (remedy.before, remedy.after))
    return f"{remedy.setting}: {before} {glyphs.forth} {after}"


def _heard(state: CaptureState, width: int) -> list[Row]:
    from memtui.engine.transfer import (
        whole_items,
    )

    items = whole_items(state.heard, "memories")
    heard = f"{counted(len(state.heard), 'character')}, {counted(len(items), 'memory', 'memories')} whole"
    rows = [Row((Content.styled(f" {state.waiting}: {heard}", "$dim"),))]
    for each in items:
        rows += _wrapped(str(each.get("text", "")), width, "$foreground")
    return rows


def inbox(state: CaptureState, width: int, now_ms: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """What waits, one line each."""
    if not state.inbox_read:
        return said_rows("reading the inbox", width)
    if not state.items:
        done = f" {state.done} done." if state.done else ""
        way = (
            f"Memories that need review will be listed here. {keys.cap('capture.paste')} pastes a conversation, "
            f"{keys.cap('capture.load')} loads one from a file."
        )
        return [*said_rows(f"Nothing needs review.{done}", width), *said_rows(way, width)]
    signs = {"unsure": WAITS, "pending": WAITS, "rejected": glyphs.cross}
    rows = []
    for each in state.items:
        when = ago(each.at_ms, now_ms) if each.at_ms else ""
        why = "" if each.kind == "pending" else one_line(each.why)  # its kind says it
        far = crop(f"{why}  {when}".strip(), max(10, width // 3), glyphs.ellipsis)
        rows.append(
            Row(
                (line(width, signs[each.kind], f"{each.verdict:<12} {each.text}", far, glyphs=glyphs),),
                each.id,
            )
        )
    return rows


def item(state: CaptureState, width: int, keys: Keymap) -> list[Row]:
    """What waits in full, and what each key would do, before it is pressed."""
    found = state.chosen
    if found is None:
        return said_rows(
            "Choose an item: its text, the reason, and the result of each key are shown here.", width
        )
    near = f"{found.near_score:.3f}  {found.near}" if found.near_score is not None else "no similar memory"
    facts = [
        ("source", found.said or "not recorded"),
        ("memory", found.text),
        ("reason", found.why),
        ("nearest", near),
        (f"{keys.cap('capture.accept')} accept", found.if_accepted),
        (f"{keys.cap('capture.edit')} edit", "edit the text, then accept it"),
        (f"{keys.cap('capture.refuse')} reject", found.if_refused),
    ]
    rows = []
    for name, text in facts:
        parts = Content(one_line(text)).wrap(max(8, width - 13))
        rows += [
            Row((Content.assemble(" ", (fit(name if at == 0 else "", 10), "$dim"), " ", part.plain),))
            for at, part in enumerate(parts)
        ]
    return rows
