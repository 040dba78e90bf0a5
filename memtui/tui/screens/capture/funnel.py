"""The funnel as rows: from texts to rows with its losses, what other settings would have left, and the last days."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.actions.keymap import Keymap
from memtui.tui.paint.bars import bar
from memtui.tui.paint.cells import crop, fit, folded
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.screens.capture.state import CaptureState
from memtui.tui.screens.capture.view import said_rows
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine.capture import Otherwise
    from memtui.engine.changes import RecallEffect


def steps(state: CaptureState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """Five bars: texts, candidates, grounded, admitted, rows."""
    found = state.funnel
    if found is None or not found.texts:
        lines = (
            state.waiting or "no conversation was captured here yet",
            f"{keys.cap('capture.again')} captures every conversation of the list; nothing is written",
        )
        return [
            Row((Content.styled(f" {crop(line, width - 2, glyphs.ellipsis)}", "$dim"),)) for line in lines
        ]
    words = {"create": "new", "merge": "merged", "supersede": "replaced", "support": "supported"}
    parts = ", ".join(f"{count} {words.get(each, each)}" for each, count in found.decided.items())
    rows = []
    for name, count in (
        ("texts", found.texts),
        ("candidates", found.candidates),
        ("grounded", found.grounded),
        ("admitted", found.admitted),
        ("rows", found.rows),
    ):
        room = max(8, min(32, width - 46))
        drawn = bar(count / found.texts, room, glyphs) if count else ""
        whole = f"of {counted(len(state.runs), 'conversation')}{as_if(state)}"
        said = {"rows": parts, "texts": whole}.get(name, "")
        rows.append(
            Row(
                (
                    Content.assemble(
                        f" {name:<11}", (f"{full(count):>6}  ", "bold"), (fit(drawn, room), "$primary"), " ",
                        (crop(said, max(0, width - room - 22), glyphs.ellipsis), "$dim"),
                    ),
                )
            )
        )  # fmt: skip
    return rows


def losses(state: CaptureState, width: int, glyphs: Glyphs) -> list[Row]:
    """What was lost, by reason, each with one example; a known fault of the plugin is marked."""
    found = state.funnel
    if found is None or not found.losses:
        counted_some = found is not None and found.texts
        return said_rows(
            "nothing was lost" if counted_some else "what was left out, by reason, each with an example",
            width,
        )
    most = max(loss.count for loss in found.losses)
    room = max(6, min(20, width // 5))
    rows = []
    for loss in found.losses:
        said = f"! {loss.fault}" if loss.fault else f"“{one_line(loss.example)}”"
        style = "$danger" if loss.fault else "$dim"
        first, *more = folded(said, [max(4, width - room - 29)] * 2, glyphs.ellipsis)
        line = Content.assemble(
            " ", fit(loss.gate, 18, glyphs.ellipsis), (f"{full(loss.count):>6}  ", "bold"),
            (fit(bar(loss.count / most, room, glyphs), room), "$stale"), " ", (first, style),
        )  # fmt: skip
        lines = (line, *(Content.assemble(" " * (room + 28), (part, style)) for part in more))
        rows.append(Row(lines, loss.gate))
    return rows


def otherwise(state: CaptureState, width: int, glyphs: Glyphs) -> list[Row]:
    """What the same conversations would have left under one other setting each; no model is asked."""
    if state.funnel is None or not state.funnel.texts:
        return said_rows("what the same conversations would leave under other settings", width)
    if state.otherwise is None:
        return [Row((Content.styled(f" {state.waiting or 'replaying'}", "$dim"),))]
    now = state.funnel.rows
    rows = [_as_it_is(state, width, glyphs)]
    rows += [
        Row((Content.assemble(" ", *_tried(state, each, now, width, glyphs)),)) for each in state.otherwise
    ]
    note = "replayed with recorded answers; no model is called"
    if state.unknown:
        note = f"not known: these settings need {counted(state.unknown, 'more model call')}"
    rows += [Row((Content(),)), Row((Content.styled(f" {crop(note, width - 2, glyphs.ellipsis)}", "$dim"),))]
    return rows


def as_if(state: CaptureState) -> str:
    """The settings that are tried, in words; empty where none is turned."""
    said = ", ".join(words_of(name, value) for name, value in state.turned.items())
    return f"   as if: {said}" if said else ""


def words_of(setting: str, value: Any) -> str:
    """What a setting means, in a few words."""
    named = {
        "captureAssistant": "agent texts too",
        "keepUnsure": "uncertain wording, too",
        "minMessages": f"minimum {counted(value, 'text')}",
    }
    return named.get(setting, f"{setting}: {value}")


def _as_it_is(state: CaptureState, width: int, glyphs: Glyphs) -> Row:
    """What these rows would do to the answers of recall, before other settings are compared with it."""
    effect = state.answers.get("")
    if effect is None:
        said = "trying the questions asked here" if state.funnel and state.funnel.rows else ""
    elif not effect.asked:
        said = "no question was asked yet"
    else:
        said = f"{counted(effect.asked, 'question')}: {_answers(effect)} memories"
    name, room = "changed" if state.turned else "current", _name_room(width)
    said = crop(said, width - room - 5, glyphs.ellipsis)
    return Row((Content.assemble(" ", (fit(name, room), "bold"), "  ", said),))


def _name_room(width: int) -> int:
    return max(22, min(32, width - 62))


def _answers(effect: RecallEffect) -> str:
    """Answers that change, with the memories that come into them and leave them."""
    gained = sum(len(change.entered) for change in effect.changed)
    lost = sum(len(change.left) for change in effect.changed)
    return f"{counted(len(effect.changed), 'answer')}, +{full(gained)} -{full(lost)}"


def _tried(
    state: CaptureState, each: Otherwise, now: int, width: int, glyphs: Glyphs
) -> list[str | tuple[str, str]]:
    told: tuple[str, str]
    if each.rows is None:
        told = ("not known: needs a model call", "$dim")
    else:
        copies = f"   {counted(each.copies, 'copy', 'copies')}" if each.copies else ""
        effect = state.answers.get(each.setting)
        asked = "" if effect is None or not effect.asked else f"   {_answers(effect)}"
        told = (f"rows {full(now)} {glyphs.forth} {full(each.rows)}{copies}{asked}", "$foreground")
    room = _name_room(width)
    text, style = told
    name = fit(words_of(each.setting, each.value), room, glyphs.ellipsis)
    return [name, "  ", (crop(text, width - room - 5, glyphs.ellipsis), style)]


def by_day(state: CaptureState, width: int, glyphs: Glyphs) -> list[Row]:
    """Rows that a capture made, day by day, and what the plugin's admission kept out."""
    if not state.days:
        return []
    most = max((max(day.captured, day.rejected) for day in state.days), default=0) or 1
    room = max(4, (width - 28) // 2)
    rows = []
    for each in state.days:
        day = datetime.fromtimestamp(each.at_ms / 1000, UTC).strftime("%a %d")
        kept = bar(each.captured / most, room, glyphs) if each.captured else ""
        lost = glyphs.loss * max(1, round(room * each.rejected / most)) if each.rejected else ""
        rows.append(
            Row(
                (
                    Content.assemble(
                        f" {day}  ", (fit(kept, room), "$ok"), f"{full(each.captured):>6}  ",
                        (fit(lost, room), "$faint"), f"{full(each.rejected):>6}",
                    ),
                )
            )
        )  # fmt: skip
    note = "rows kept; candidates rejected by the plugin's admission"
    rows += [Row((Content(),)), Row((Content.styled(f" {crop(note, width - 2, glyphs.ellipsis)}", "$dim"),))]
    return rows
