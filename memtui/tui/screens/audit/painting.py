"""Audit as rows: sessions, turns and one turn; rights, leaks, a reach, the live stream. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import (
    mask,
    one_line,
)
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import plural
from memtui.tui.screens.audit.state import VIEWS, AuditState, differs, mark
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine.witness import Injected, ReplayedTurn


EVIDENCE = {
    "transcript": ("▤", "transcript"),
    "trajectory": ("▤", "trajectory"),
    "sqlite": ("▤", "sqlite"),
    "store": ("≣", "the store, at least"),
    "none": ("–", "not recorded"),
}

SIGNS: Mapping[str, tuple[str, str]] = {
    "same": ("", "$dim"),
    "text_changed": ("≠ changed", "bold $stale"),
    "superseded": ("≠ replaced", "bold $stale"),
    "archived": ("≠ archived", "$stale"),
    "expired": ("≠ expired", "$stale"),
    "re-scoped": ("≠ moved", "$stale"),
    "deleted": ("† deleted", "bold $danger"),
    "ambiguous": ("? one of several", "$dim"),
    "unknown": ("? not known here", "$stale"),
}

LIKELY = 0.3

NAME_CELLS = 12

PREVIEW = 160
"""Characters of a transcript's text that are shown unasked."""

REVEALED_LINES = 60


@dataclass(frozen=True, slots=True)
class Look:
    """What painting needs beside the state."""

    glyphs: Glyphs
    zone: tzinfo | None
    now_ms: int

    def moment(self, ms: int) -> str:
        """Today 14:16, this year 3 May, else 2025-05-03."""
        if not ms:
            return "–"
        when, now = (
            datetime.fromtimestamp(ms / 1000, self.zone),
            datetime.fromtimestamp(self.now_ms / 1000, self.zone),
        )
        if when.date() == now.date():
            return f"{when:%H:%M}"
        return f"{when.day} {when:%b} {when:%H:%M}" if when.year == now.year else f"{when:%Y-%m-%d}"


def views(state: AuditState, width: int, look: Look) -> list[Row]:
    """The place's views, the active one in brackets, and what is looked at."""
    parts = []
    for name in VIEWS:
        badge = f" {len(state.leaks.leaks)}" if name == "leaks" and state.leaks and state.leaks.leaks else ""
        parts.append(
            Content.styled(f"[{name}{badge}]", "bold $primary")
            if name == state.view
            else Content.styled(f" {name}{badge} ", "$dim")
        )
    left = Content.assemble(" ", Content(" ").join(parts))
    right_text = _where(state, look)
    room = width - left.cell_length - 1
    return [Row((Content.assemble(left, (right(crop(right_text, room), room), "$dim")),))]


def _where(state: AuditState, look: Look) -> str:
    if state.view == "sessions" and state.replayed is not None:
        told = sum(turn.evidence != "none" for turn in state.replayed.turns)
        return f"{state.replayed.file.agent}   {told} of {plural(len(state.replayed.turns), 'turn')} with evidence"
    if state.view == "access" and state.rights is not None:
        return state.rights.source.rpartition("/")[2] or "no configuration: the defaults"
    if state.view == "leaks" and state.leaks is not None:
        return f"{state.leaks.turns} turns looked at"
    if state.view == "live":
        how = "paused" if state.paused else "follows the store"
        return f"only {one_line(state.words)}   {how}" if state.words else how
    return ""


def line(text: str, style: str = "$foreground") -> Row:
    """One heading row."""
    return Row((Content.styled(text, style),))


# ------------------------------------------------------------------ sessions


def sessions(state: AuditState, width: int, look: Look) -> list[Row]:
    """The sessions by agent, the latest first."""
    rows: list[Row] = []
    agent = None
    for each in sorted(state.sessions or (), key=lambda one: (one.file.agent, -one.ended_ms)):
        if each.file.agent != agent:
            agent = each.file.agent
            rows.append(line(f" {one_line(agent)}", "bold $heading"))
        sign, word = EVIDENCE[each.evidence]
        far = f"{each.evident}/{each.turns} {word.split(',')[0]}"
        name = f"{each.file.id[:8]}…{each.file.id[-2:]}" if len(each.file.id) > 12 else each.file.id
        left = f"{look.moment(each.ended_ms):<13} {name}"
        room = max(4, width - 4 - len(far) - 1)
        rows.append(
            Row(
                (
                    Content.assemble(
                        f" {sign} ",
                        (fit(left, room, look.glyphs.ellipsis), "$foreground"),
                        (f" {far}", "$dim" if each.evidence != "none" else "$stale"),
                    ),
                ),
                each.file.id,
            )
        )
    return rows


def turns(state: AuditState, width: int, look: Look) -> list[Row]:
    """The turns of the session under the cursor."""
    if state.replayed is None:
        return [line(" reading its turns", "$dim")]
    rows = [
        line(f" {look.glyphs.warn} {crop(one_line(each), width - 4)}", "$stale")
        for each in state.replayed.warnings
    ]
    for turn in state.replayed.turns:
        sign = mark(turn)
        style = "bold $stale" if "≠" in sign else "$ok" if sign.startswith("✓") else "$dim"
        question = shown_text(turn.turn.question, state)
        rows.append(
            Row(
                (
                    Content.assemble(
                        (right(str(turn.turn.n), 4), "$dim"),
                        "  ",
                        (fit(sign, 7), style),
                        (crop(question, width - 14, look.glyphs.ellipsis), "$foreground"),
                    ),
                ),
                str(turn.turn.n),
            )
        )
    return rows or [line(" no messages of a user in this session", "$dim")]


def turn(state: AuditState, width: int, look: Look) -> list[Row]:
    """One turn: question, answer, the block as it was, each line's memory, and what became of it."""
    chosen = state.chosen
    if chosen is None:
        return [line(" no turn under the cursor", "$dim")]
    told = EVIDENCE[chosen.evidence][1]
    most = REVEALED_LINES if state.revealed else 3
    if chosen.agrees is not None:
        told += ", the store agrees" if chosen.agrees else ", the store has less or more"
    rows = [
        fact("asked", shown_text(chosen.turn.question, state), width, most=most),
        fact("answered", shown_text(chosen.turn.answer, state) or "–", width, most=most),
        fact("evidence", f"{told}   {look.moment(chosen.turn.time_ms)}", width),
    ]
    if chosen.turn.why:
        rows.append(fact("", chosen.turn.why, width, "$dim"))
    rows += [fact(look.glyphs.warn, each, width, "$stale") for each in chosen.turn.warnings]
    if chosen.turn.quoted:
        rows.append(
            fact(
                look.glyphs.warn,
                f"{plural(chosen.turn.quoted, 'block')} typed or pasted by somebody: no injection",
                width,
                "bold $stale",
            )
        )
    asked = (state.session, chosen.turn.n) in state.asked
    if chosen.memories is None:
        rows += [line(""), line(" not recorded what was injected", "bold $stale")]
    elif not chosen.memories:
        rows += [line(""), line(" nothing was injected", "$foreground")]
    else:
        far = "since then   today" if asked else "since then"
        title = "BLOCK, AS IT WAS" if chosen.turn.block else "INJECTED, AT LEAST"
        rows += [line(""), line(f" {title}{right(far, width - len(title) - 2)}", "bold $heading")]
        for at, memory in enumerate(chosen.memories):
            rows.append(_memory(at, memory, state, width, look, asked))
    for tool in chosen.turn.tools:
        rows.append(
            fact(
                "tool",
                f"{tool.name} “{shown_text(tool.query, state)}” gave {plural(len(tool.ids), 'memory', 'memories')}",
                width,
            )
        )
    rows += [fact("rule", shown_text(each, state), width) for each in chosen.turn.rules]
    rows += [fact("focus", shown_text(each, state), width) for each in chosen.turn.focus]
    rows += _come_back(chosen, asked, width)
    if chosen.event is not None:
        rows.append(fact("store", f"{len(chosen.event.ids)} rows, v{chosen.event.version}", width))
    return rows


def _come_back(chosen: ReplayedTurn, asked: bool, width: int) -> list[Row]:
    """The order then, as of then and today, and the first gate that differs; nothing before it was asked."""
    memories = chosen.memories or []
    as_of = any(each.rank_as_of is not None for each in memories)
    if not memories or not (asked or as_of):
        return []
    rows = [line(""), line(" WOULD IT COME BACK", "bold $heading")]
    if any(each.rank_then is not None for each in memories):
        rows.append(fact("then", _order([(each.rank_then, each) for each in memories]), width))
    if as_of:
        rows.append(fact("as of then", _order([(each.rank_as_of, each) for each in memories]), width))
    if asked:
        rows.append(fact("today", _order([(each.rank_now, each) for each in memories]), width))
        odd = next((each for each in memories if each.gate), None)
        said = (
            f"{(odd.id or '')[:8]}: {str(odd.gate).replace('_', ' ')}" if odd else "none: the same comes back"
        )
        rows.append(fact("first gate", said, width))
    return rows


def _order(places: list[tuple[int | None, Injected]]) -> str:
    """Places and the ids that hold them; the others are silent."""
    known = sorted((place, each.id or "several") for place, each in places if place is not None)
    said = "   ".join(f"{place} {name[:8]}" for place, name in known)
    lost = sum(place is None for place, _ in places)
    return said + (f"   {lost} not" if lost and said else "" if said else "none of them")


def _memory(at: int, memory: Injected, state: AuditState, width: int, look: Look, asked: bool) -> Row:
    sign, style = SIGNS[memory.state]
    today = ""
    if asked:
        today = (
            str(memory.rank_now)
            if memory.rank_now is not None
            else f"– {str(memory.gate or '').replace('_', ' ')}"[:14]
        )
    far = f"{sign or 'same'}{right(today, max(8, len(today) + 2)) if asked else ''}"
    room = max(8, width - len(far) - 3)
    first = Content.assemble(
        " ",
        (fit(shown_text(memory.line or memory.text, state), room, look.glyphs.ellipsis), "$foreground"),
        (f" {far}", style),
    )
    used = (
        "used in the answer: likely"
        if memory.used is not None and memory.used >= LIKELY
        else "used: no trace of it"
        if memory.used is not None
        else "used: not known"
    )
    key = memory.id[:8] if memory.id else ", ".join(each[:8] for each in memory.candidates) or "no memory"
    more = [key, used]
    if memory.superseded_by:
        more.append(f"by {memory.superseded_by[:8]}")
    if memory.cut_to is not None:
        more.append(f"cut to {memory.cut_to}")
    if memory.state == "text_changed":
        more.append(f"now: {shown_text(memory.now, state)}")
    if memory.rank_as_of is not None:
        more.append(f"as of then at {memory.rank_as_of}")
    if memory.last_seen is not None and memory.state == "deleted":
        more.append(f"last in v{memory.last_seen}")
    second = Content.styled(f"   {crop('   '.join(more), width - 4, look.glyphs.ellipsis)}", "$dim")
    return Row((first, second), f"{at}:{memory.id or ''}")


def fact(name: str, text: str, width: int, style: str = "$foreground", *, most: int = 3) -> Row:
    """One line of a fact: its name, and its words on `most` lines."""
    room = max(10, width - NAME_CELLS - 2)
    lines = wrapped(one_line(text), room + 2)
    out = [
        Content.assemble(" ", (fit(name if at == 0 else "", NAME_CELLS), "$dim"), (part, style))
        for at, part in enumerate(lines[:most] or [""])
    ]
    return Row(tuple(out))


def wrapped(text: str, width: int) -> Sequence[str]:
    """A text on lines of `width` cells."""
    return [part.plain for part in Content(one_line(text)).wrap(max(10, width - 3))]


def scope_words(scope: str | None) -> str:
    """A scope as it is shown; one that would not be seen stands in quotation marks."""
    return (
        "none" if scope is None else repr(scope) if scope != scope.strip() or not scope else one_line(scope)
    )


def shown_text(text: str, state: AuditState) -> str:
    """A text of a session on one line: a preview with its secrets masked, unless it is revealed."""
    if state.revealed:
        return one_line(text)
    preview = one_line(mask(text)[0])
    return preview if len(preview) <= PREVIEW else f"{preview[:PREVIEW].rstrip()}…"


def odd_turns(state: AuditState) -> list[int]:
    """The turns with a line that is no longer what it was."""
    return [each.turn.n for each in (state.replayed.turns if state.replayed else []) if differs(each)]
