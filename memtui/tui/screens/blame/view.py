"""A wrong answer as rows: the verdict, the suspects, one memory whole, what would have been right. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import mask, one_line
from memtui.engine.blame import ACCUSED
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import crop, fit, folded, right
from memtui.tui.paint.numbers import date
from memtui.tui.screens.blame.state import INSTEAD, MISSING, SUSPECT, BlameState
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import Choice, State, failed

if TYPE_CHECKING:
    from memtui.engine.blame import Blame, SuspectedCause
    from memtui.tui.paint.glyphs import Glyphs
    from memtui.tui.widgets.view_rows import Look


SINCE = {
    "text_changed": "its text has changed since",
    "superseded": "it was superseded since",
    "archived": "it was archived since",
    "expired": "it has expired since",
    "re-scoped": "it was moved since",
    "deleted": "it was deleted since",
    "ambiguous": "several memories have its text",
    "unknown": "it is not known in this store",
}
"""What became of a suspect since the turn, in words."""

_LABEL_CELLS = 12

_WHOLE_SESSION = 100
"""Cells of a line from which it names a session whole, not by the beginning of its id."""

_BAR_CELLS = 8


def percent(confidence: float) -> str:
    """A probability in percent; none that was computed is certain."""
    return f"{min(99, max(1, round(confidence * 100)))}%"


def verdict(found: Blame) -> str:
    """The verdict in a sentence."""
    if found.verdict == "unknown":
        return "Not known: nothing to judge by."
    where = "of this turn" if found.turn is not None else "in the store"
    if found.verdict == "none":
        return f"No memory {where} caused this sentence."
    return f"Memory {found.suspects[0].id[:8]} probably caused it ({percent(found.suspects[0].confidence)})."


def head(state: BlameState, width: int, glyphs: Glyphs) -> list[Content]:
    """The sentence, its turn, the verdict and what limits it, for lines of `width` cells."""
    room = max(20, width - 2)
    lines = [Content.styled(crop(f"“{_said(state.sentence)}”", room, glyphs.ellipsis), "bold $foreground")]
    found = state.found
    if found is None:
        words = state.progress.what if state.progress is not None else "looking for the turn in the sessions"
        lines.append(Content.styled("" if state.error is not None else words, "$dim"))
    else:
        lines.append(Content.styled(crop(_turn(found, room), room, glyphs.ellipsis), "$dim"))
        style = "bold $match" if found.verdict == "memory" else "bold $stale"
        lines.append(Content.styled(crop(verdict(found), room, glyphs.ellipsis), style))
        lines += [
            Content.styled(crop(f"! {one_line(note)}", room, glyphs.ellipsis), "$stale")
            for note in found.notes
        ]
    return [Content.assemble(" ", line) for line in lines]


def _turn(found: Blame, room: int) -> str:
    if found.turn is None:
        return "No clear turn says this sentence: the whole store was asked, all scopes."
    turn = found.turn.replayed.turn
    session = one_line(found.turn.file.id)[: None if room >= _WHOLE_SESSION else 8]
    where = f"turn {turn.n} of {session}, {one_line(found.turn.file.agent)}, {date(turn.time_ms)}"
    return f"{where}   asked: {_said(turn.question)}" if turn.question.strip() else where


def instead_of_rows(state: BlameState) -> State | None:
    """The words in place of the lists: while it is looked, where nothing was found, and why it failed."""
    other = Choice("ask", "another sentence", "or the same in other words", key="blame.ask")
    if state.error is not None:
        return failed("The cause could not be looked for.", state.error, Choice("again", "try again"), other)
    if state.found is None:
        label = state.progress.what if state.progress is not None else "looking for the turn in the sessions"
        return State("loading", label, skeleton=True)
    if state.found.suspects:
        return None
    facts = [("verdict", verdict(state.found)), ("turn", _turn(state.found, _WHOLE_SESSION))]
    facts += [("note", f"{one_line(note)}.") for note in state.found.notes]
    recall = Choice("recall", "ask in Recall", "what the memory answers today")
    return State("empty", "No memory says anything of this sentence.", tuple(facts), (other, recall))


def suspects(state: BlameState, width: int, look: Look) -> list[Row]:
    """The suspects, the likeliest first: probability, text, what they share."""
    return [
        _suspect(suspect, width, look.glyphs) for suspect in (state.found.suspects if state.found else ())
    ]


def _suspect(each: SuspectedCause, width: int, glyphs: Glyphs) -> Row:
    accused = each.confidence >= ACCUSED
    style = "bold $danger" if accused else "$dim"
    wide = width >= 60
    bar = padded_bar(each.confidence, _BAR_CELLS, glyphs) if wide else ""
    lead = Content.assemble(
        " ", (right(percent(each.confidence), 3), style), " ", (bar, style), " " if wide else ""
    )
    room = max(10, width - lead.cell_length - 1)
    said = f"shares {', '.join(_said(part) for part in each.shares)}" if each.shares else "shares no word"
    below = crop(f"{said}   {each.how}" if each.how else said, room, glyphs.ellipsis)
    free = room - cell_len(below) - 3
    widths = (room, free) if free >= room // 3 else (room,)
    first, *rest = folded(_said(each.text), widths, glyphs.ellipsis)
    lead_below = " " * lead.cell_length
    second = Content.assemble(lead_below, (below, "$dim"))
    if rest:
        second = Content.assemble(lead_below, (f"{rest[0]}   ", "$foreground"), (below, "$dim"))
    return Row((Content.assemble(lead, (first, "$foreground")), second), f"{SUSPECT}:{each.id}")


def others(state: BlameState, width: int, look: Look) -> list[Row]:
    """What would have been right with why it stayed out, and what the recall brings without the accused."""
    found, glyphs = state.found, look.glyphs
    if found is None:
        return []
    rows: list[Row] = []
    if found.missing:
        rows.append(_heading("WOULD HAVE BEEN RIGHT"))
        for each in found.missing:
            lines = _wrapped(_said(each.text), width, 2, glyphs, "$foreground", 1)
            lines += _wrapped(_said(each.why_not), width, 3, glyphs, "$stale", 3) if each.why_not else []
            rows.append(Row(tuple(lines), f"{MISSING}:{each.id}"))
    elif found.verdict == "memory":
        rows += [_heading("WOULD HAVE BEEN RIGHT"), _plain("no newer memory says otherwise", width, glyphs)]
    if found.instead:
        rows += [_heading("RECALLED WITHOUT THE SUSPECT")]
        rows += [
            Row(tuple(_wrapped(_said(each.text), width, 2, glyphs, "$foreground", 1)), f"{INSTEAD}:{each.id}")
            for each in found.instead
        ]
    elif found.verdict == "memory" and found.turn is not None:
        rows += [_heading("RECALLED WITHOUT THE SUSPECT"), _plain("nothing else", width, glyphs)]
    if not rows:
        rows.append(_plain("nothing to put right: no memory is accused", width, glyphs))
    return rows


def memory(state: BlameState, width: int, look: Look) -> list[Row]:
    """The memory under the cursor: its text, what it shares, why it is suspected, where it came from."""
    found, glyphs = state.found, look.glyphs
    if found is None:
        return []
    kind, _, row_id = state.row.partition(":")
    if kind == SUSPECT and state.suspect is not None:
        return _whole(state.suspect, width, glyphs)
    for each in found.missing:
        if (kind, row_id) == (MISSING, each.id):
            return [
                _heading(f"WOULD HAVE BEEN RIGHT  {each.id[:8]}"),
                *_text(each.text, width, glyphs),
                *(
                    [_heading("WHY IT DID NOT COME"), *_text(each.why_not, width, glyphs, "$stale")]
                    if each.why_not
                    else []
                ),
            ]
    for other in found.instead:
        if (kind, row_id) == (INSTEAD, other.id):
            return [_heading(f"RECALLED INSTEAD  {other.id[:8]}"), *_text(other.text, width, glyphs)]
    return [_plain("no memory under the cursor", width, glyphs)]


def _whole(each: SuspectedCause, width: int, glyphs: Glyphs) -> list[Row]:
    accused = "accused" if each.confidence >= ACCUSED else "not accused"
    rows = [
        _heading(f"{percent(each.confidence)} {accused}  {each.id[:8]}"),
        *_text(each.text, width, glyphs),
    ]
    rows.append(_heading("WHY"))
    rows += _fact("shares", ", ".join(_said(part) for part in each.shares) or "no word", width, glyphs)
    rows += _fact("evidence", _said(each.why), width, glyphs)
    if each.how:
        rows += _fact("in the turn", each.how, width, glyphs)
    if each.state in SINCE:
        rows += _fact("since", SINCE[each.state], width, glyphs)
    rows.append(_heading("WHERE IT CAME FROM"))
    for step in each.came_from:
        rows += _fact(date(step.time_ms)[:10] if step.time_ms else "", step.said, width, glyphs)
    return rows


def _said(text: str) -> str:
    return mask(one_line(text))[0]


def _heading(text: str) -> Row:
    return Row((Content.styled(f" {text}", "bold $heading"),))


def _plain(text: str, width: int, glyphs: Glyphs) -> Row:
    return Row((Content.styled(f"  {crop(text, max(8, width - 3), glyphs.ellipsis)}", "$dim"),))


def _text(text: str, width: int, glyphs: Glyphs, style: str = "$foreground") -> list[Row]:
    return [Row((line,)) for line in _wrapped(_said(text), width, 40, glyphs, style, 1)]


def _wrapped(text: str, width: int, most: int, glyphs: Glyphs, style: str, indent: int) -> list[Content]:
    """A text on at most `most` lines, cut with an ellipsis."""
    room = max(10, width - indent - 2)
    parts: Sequence[Content] = Content(text).wrap(room) or [Content("")]
    lines = [part.plain.rstrip() for part in parts[:most]]
    if len(parts) > most:
        lines[-1] = (
            f"{crop(lines[-1], room - 1, glyphs.ellipsis).removesuffix(glyphs.ellipsis)}{glyphs.ellipsis}"
        )
    return [Content.assemble(" " * indent, (line, style)) for line in lines]


def _fact(name: str, text: str, width: int, glyphs: Glyphs) -> list[Row]:
    room = max(10, width - _LABEL_CELLS - 3)
    lines = [part.plain for part in Content(text).wrap(room)] or [""]
    return [
        Row(
            (
                Content.assemble(
                    " ", (fit(name if at == 0 else "", _LABEL_CELLS), "$dim"), (part, "$foreground")
                ),
            )
        )
        for at, part in enumerate(lines)
    ]
