"""Audit as rows: sessions, turns and one turn; rights, leaks, a reach, the live stream. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import (
    clean,
    counted,
    one_line,
)
from memtui.tui.paint.cells import crop, fit, flowing, right
from memtui.tui.paint.numbers import full
from memtui.tui.screens.audit.state import VIEWS, AuditState, differs, mark
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.state_panel import Choice, State
from memtui.tui.widgets.view_rows import Look, views_line

if TYPE_CHECKING:
    from memtui.engine.witness import Injected, InjectionEconomy, ReplayedTurn


EVIDENCE = {
    "transcript": ("▤", "transcript"),
    "trajectory": ("▤", "trajectory"),
    "sqlite": ("▤", "sqlite"),
    "store": ("≣", "store counters, minimum"),
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

ASCII_SIGNS = str.maketrans("▤≣┄✓✗≠†≈–▸…└├─│“”", '#=.+x!x~->.`+-|""')

LIKELY = 0.3

NAME_CELLS = 12

BESIDE_CELLS = 26
"""Cells of the column beside an injected text: what became of it."""

LEAST_TEXT = 34
"""Cells that a text must have beside that column; with less, it stands below the text."""

MOST_LINES = 8
"""Lines of an injected text, and of the one that replaced it."""

PREVIEW = 480
"""Characters of a transcript's text that are shown unasked."""

REVEALED_LINES = 60


def moment(ms: int, look: Look) -> str:
    """Today 14:16, this year 3 May, else 2025-05-03."""
    if not ms:
        return "–"
    when, now = (datetime.fromtimestamp(at / 1000, look.zone) for at in (ms, look.now_ms))
    if when.date() == now.date():
        return f"{when:%H:%M}"
    return f"{when.day} {when:%b} {when:%H:%M}" if when.year == now.year else f"{when:%Y-%m-%d}"


def views(state: AuditState, width: int, look: Look) -> list[Row]:
    """The place's views, the active one in brackets, and what is looked at."""
    leaks = len(state.leaks.leaks) if state.leaks else 0
    labels = (
        (f"{name} {leaks}" if name == "leaks" and leaks else name, name == state.view) for name in VIEWS
    )
    return views_line(labels, _where(state, width), width)


_ROOM_FOR_TURNS = 100
"""Cells from which it is said that turns are counted."""


def _where(state: AuditState, width: int) -> str:
    if state.view == "sessions" and state.replayed is not None:
        told, turns = sum(turn.evidence != "none" for turn in state.replayed.turns), len(state.replayed.turns)
        among = counted(turns, "turn") if width >= _ROOM_FOR_TURNS else f"{turns}"
        return f"{state.replayed.file.agent}   {told} of {among} with evidence"
    if state.view == "access" and state.rights is not None:
        return state.rights.source.rpartition("/")[2] or "no configuration: the defaults"
    if state.view == "leaks" and state.leaks is not None:
        return f"{counted(state.leaks.turns, 'turn')} checked"
    if state.view == "cost" and state.cost is not None:
        return f"{counted(len(state.cost.turns), 'turn')} in 14 days"
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
    for session in sorted(state.sessions or (), key=lambda one: (one.file.agent, -one.ended_ms)):
        if session.file.agent != agent:
            agent = session.file.agent
            rows.append(line(f" {one_line(agent)}", "bold $heading"))
        sign, word = EVIDENCE[session.evidence]
        machine = (
            "" if session.turns else session.file.machine
        )  # nobody asked in it: there is no turn to account for
        far = machine or f"{session.evident}/{session.turns} {word.split(',')[0]}"
        name = (
            f"{session.file.id[:8]}…{session.file.id[-2:]}" if len(session.file.id) > 12 else session.file.id
        )
        left = f"{moment(session.ended_ms, look):<13} {name}"
        room = max(4, width - 4 - len(far) - 1)
        rows.append(
            Row(
                (
                    Content.assemble(
                        f" {sign} ",
                        (fit(left, room, look.glyphs.ellipsis), "$foreground"),
                        (f" {far}", "$dim" if session.evidence != "none" or machine else "$stale"),
                    ),
                ),
                session.file.id,
            )
        )
    return rows


def turns(state: AuditState, width: int, look: Look) -> list[Row]:
    """The turns of the session under the cursor."""
    if state.replayed is None:
        return [line(" reading its turns", "$dim")]
    rows = [
        Row(
            flowing(
                Content.styled(f" {look.glyphs.warn} ", "$stale"),
                one_line(warning),
                Content(),
                width - 1,
                look.glyphs.ellipsis,
                "$stale",
            )
        )
        for warning in state.replayed.warnings
    ]
    for turn in state.replayed.turns:
        sign = mark(turn, storeless=state.storeless)
        style = "bold $stale" if "≠" in sign else "$ok" if sign.startswith("✓") else "$dim"
        question = shown_text(turn.turn.question, state)
        rows.append(
            Row(
                flowing(
                    Content.assemble((right(str(turn.turn.n), 4), "$dim"), "  ", (fit(sign, 7), style)),
                    question,
                    Content(),
                    width - 1,
                    look.glyphs.ellipsis,
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
        fact("asked", shown_text(chosen.turn.question, state), width, most=most, revealed=state.revealed),
        fact(
            "answered",
            shown_text(chosen.turn.answer, state) or "–",
            width,
            most=most,
            revealed=state.revealed,
        ),
        fact("evidence", f"{told}   {moment(chosen.turn.time_ms, look)}", width),
    ]
    notes = [fact("", chosen.turn.why, width, "$dim")] if chosen.turn.why else []
    notes += [fact(look.glyphs.warn, warning, width, "$stale") for warning in chosen.turn.warnings]
    if not chosen.memories:  # else the block comes first, where there is little room
        rows += notes
    if chosen.turn.quoted:
        rows.append(
            fact(
                look.glyphs.warn,
                f"{counted(chosen.turn.quoted, 'block')} typed or pasted by somebody: no injection",
                width,
                "bold $stale",
            )
        )
    asked = (state.session, chosen.turn.n) in state.asked
    if chosen.memories is None:
        rows += [line(""), line(" not recorded what was injected", "bold $stale")]
    elif not chosen.memories and not chosen.turn.active and not chosen.turn.intents:
        rows += [line(""), line(" nothing was injected", "$foreground")]
    else:
        far = "since then   today" if asked else "since then"
        title = "INJECTED BLOCK" if chosen.turn.block else "INJECTED (MINIMUM)"
        column = width - BESIDE_CELLS
        head = (
            f"{title:<{column - 1}}{far}"
            if column - 3 >= LEAST_TEXT
            else f"{title}{right(far, width - len(title) - 2)}"
        )
        rows += [line(""), line(f" {head}", "bold $heading")]
        for at, memory in enumerate(chosen.memories):
            rows.append(_memory(at, memory, state, width, look, asked))
        rows += notes
    for name, others in (("active memory", chosen.turn.active), ("standing intent", chosen.turn.intents)):
        rows += [
            fact(name, f"{shown_text(other.text, state)}   {other.source}", width, revealed=state.revealed)
            for other in others
        ]
    if chosen.turn.sender is not None:
        rows.append(fact("asked by", one_line(chosen.turn.sender.name or chosen.turn.sender.id), width))
    for tool in chosen.turn.tools:
        given = (
            counted(len(tool.ids), "memory", "memories")
            if tool.ids or not tool.sources
            else ", ".join(tool.sources)
        )
        words = f" “{shown_text(tool.query, state)}”" if tool.query else ""
        rows.append(
            fact(
                "tool",
                f"{tool.name}{words}: {'refused' if tool.failed else one_line(given)}",
                width,
                revealed=state.revealed,
            )
        )
    for name, own in (("rule", chosen.turn.rules), ("focus", chosen.turn.focus)):
        rows += [fact(name, shown_text(each, state), width, revealed=state.revealed) for each in own]
    rows += _come_back(chosen, asked, width)
    if chosen.event is not None:
        rows.append(fact("store", f"{counted(len(chosen.event.ids), 'row')}, v{chosen.event.version}", width))
    return rows


def _come_back(chosen: ReplayedTurn, asked: bool, width: int) -> list[Row]:
    """The order then, as of then and today, and the first gate that differs; nothing before it was asked."""
    memories = chosen.memories or []
    as_of = any(memory.rank_as_of is not None or memory.gate_as_of for memory in memories)
    if not memories or not (asked or as_of):
        return []
    rows = [line(""), line(" WOULD IT COME BACK", "bold $heading")]
    if any(memory.rank_then is not None for memory in memories):
        rows.append(fact("then", _order([(memory.rank_then, memory) for memory in memories]), width))
    if as_of:
        rows.append(fact("as of then", _order([(memory.rank_as_of, memory) for memory in memories]), width))
        rows.append(_first_gate("gate then", [(memory, memory.gate_as_of) for memory in memories], width))
    if asked:
        rows.append(fact("today", _order([(memory.rank_now, memory) for memory in memories]), width))
        rows.append(_first_gate("first gate", [(memory, memory.gate) for memory in memories], width))
    return rows


def _first_gate(name: str, gates: list[tuple[Injected, str | None]], width: int) -> Row:
    """The first memory that does not come back, and the gate that stops it."""
    odd = next(((injection, gate) for injection, gate in gates if gate), None)
    said = (
        f"{(odd[0].id or '')[:8]}: {odd[1].replace('_', ' ')}"
        if odd and odd[1]
        else "none: the same comes back"
    )
    return fact(name, said, width)


def _order(places: list[tuple[int | None, Injected]]) -> str:
    """Places and the ids that hold them; the others are silent."""
    known = sorted((place, injection.id or "several") for place, injection in places if place is not None)
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
    said = _as_it_is(memory.line or memory.text) if state.revealed else one_line(memory.line or memory.text)
    beside = _beside(memory)
    room = width - BESIDE_CELLS - 3
    far = f"{sign or 'same'}{right(today, max(8, len(today) + 2)) if asked else ''}"
    if room < LEAST_TEXT:
        room = max(8, width - len(far) - 3)
        beside = ()
    lines = [part.plain for part in Content(said).wrap(room)][:MOST_LINES] or [""]
    marks = [(far, style), *((words, "$dim") for words in beside)]
    out = []
    for number in range(max(len(lines), len(marks))):
        text = fit(lines[number] if number < len(lines) else "", room, look.glyphs.ellipsis)
        mark = marks[number] if number < len(marks) else ("", "")
        out.append(Content.assemble(" ", (text, "$foreground"), "  ", mark))
    if not beside:
        said = "   ".join(_beside(memory))
        out.append(Content.styled(f"   {crop(said, width - 4, look.glyphs.ellipsis)}", "$dim"))
    after = state.texts.get(memory.superseded_by or "", "")
    now = memory.now if memory.state == "text_changed" else after
    out += [line for row in _now(now, state, width) for line in row.lines]
    return Row(tuple(out), f"{at}:{memory.id or ''}")


def _now(text: str, state: AuditState, width: int) -> list[Row]:
    """The words that stand in the place of a memory today; none where it is as it was."""
    if not text:
        return []
    return [fact("  now", shown_text(text, state), width, "$stale", most=MOST_LINES, revealed=state.revealed)]


def _beside(memory: Injected) -> tuple[str, ...]:
    """What became of an injected memory: whether it was used, which it is, and how it changed since."""
    used = (
        "used: likely"
        if memory.used is not None and memory.used >= LIKELY
        else "no evidence of use"
        if memory.used is not None
        else "use not known"
    )
    several = f"one of {counted(len(memory.candidates), 'memory', 'memories')}" if memory.candidates else ""
    found = [used, memory.id[:8] if memory.id else several or "no memory"]
    if memory.superseded_by:
        found.append(f"by {memory.superseded_by[:8]}")
    if memory.cut_to is not None:
        found.append(f"cut to {memory.cut_to}")
    if memory.rank_as_of is not None:
        found.append(f"as of then at {memory.rank_as_of}")
    if memory.last_seen is not None and memory.state == "deleted":
        found.append(f"last in v{memory.last_seen}")
    return tuple(found)


def turn_words(found: InjectionEconomy) -> str:
    """How many turns there are, and by which ways they got memories."""
    counts = (f"{full(found.turns)}", f"{full(found.silent)} without memory", *found.other_ways())
    return ", ".join((*counts, f"{full(found.unknown)} not recorded"))


def fact(
    name: str, text: str, width: int, style: str = "$foreground", *, most: int = 3, revealed: bool = False
) -> Row:
    """One line of a fact: its name, and its words on `most` lines; secrets are masked unless `revealed`."""
    room = max(10, width - NAME_CELLS - 2)
    lines = wrapped(text, room + 2, revealed=revealed)
    out = [
        Content.assemble(" ", (fit(name if at == 0 else "", NAME_CELLS), "$dim"), (part, style))
        for at, part in enumerate(lines[:most] or [""])
    ]
    return Row(tuple(out))


def wrapped(text: str, width: int, *, revealed: bool = False) -> Sequence[str]:
    """A text on lines of `width` cells; secrets are masked unless `revealed`."""
    shown = _as_it_is(text) if revealed else one_line(text)
    return [part.plain for part in Content(shown).wrap(max(10, width - 3))]


def _as_it_is(text: str) -> str:
    """A text on one line, its secrets, too: for what a person asked to reveal."""
    return " ".join(clean(text).split())


def scope_words(scope: str | None) -> str:
    """A scope as it is shown; one that would not be seen stands in quotation marks."""
    return (
        "none" if scope is None else repr(scope) if scope != scope.strip() or not scope else one_line(scope)
    )


def shown_text(text: str, state: AuditState) -> str:
    """A text of a session on one line: a preview with its secrets masked, unless it is revealed."""
    if state.revealed:
        return _as_it_is(text)
    preview = one_line(text)
    return preview if len(preview) <= PREVIEW else f"{preview[:PREVIEW].rstrip()}…"


def odd_turns(state: AuditState) -> list[int]:
    """The turns with a line that is no longer what it was."""
    if state.storeless:
        return []
    return [each.turn.n for each in (state.replayed.turns if state.replayed else []) if differs(each)]


def changes_something(state: AuditState) -> bool:
    """Whether a row of the reach is to be changed at all."""
    return any(mend.verb != "leave" for mend in state.mends.values())


def counts(state: AuditState) -> tuple[str, str, str]:
    """What stands at the right of each panel's title."""
    if state.view == "sessions":
        count = full(len(state.sessions)) if state.sessions else ""
        turns = full(len(state.replayed.turns)) if state.replayed is not None else ""
        return count, turns, f"{state.turn} of {turns}" if state.turn else ""
    if state.view == "access" and state.rights is not None:
        found = state.rights.matrix
        across = f"{len(found.agents)} by {counted(len(found.counts), 'scope')}"
        return across, full(len(found.findings)), ""
    if state.view == "leaks" and state.leaks is not None:
        leak = state.shown_leak
        certainty = leak.certainty if leak else ""
        return f"{len(state.leaks.leaks)} found", full(len(state.leaks.looked)), certainty
    if state.view == "reach" and state.reach is not None:
        changed = sum(mend.verb != "leave" for mend in state.mends.values())
        return state.reach.id[:8], full(len(state.reach.turns)), counted(changed, "memory", "memories")
    if state.view == "cost" and state.cost is not None:
        return full(len(state.cost.days())), full(len(state.cost.memories())), state.cost_row
    return "", "", ""


def no_sessions(injections: int) -> State:
    """What stands in the place of the sessions where there are none."""
    told = (
        f"Known from the store only: minimum {counted(injections, 'injection')}."
        if injections
        else "The store shows no injection either: not recorded."
    )
    facts = (("searched", "the sessions of every agent of this environment"), ("store", told))
    access = Choice("access", "see who may read what", "{audit.next-view} goes to the next view")
    return State("empty", "Sessions of agents will be listed here.", facts, (access,))
