"""Leaks, the reach of one memory, and what happens now, as rows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.paint.bars import spark
from memtui.tui.paint.cells import crop, fit, flowing, right, tilde
from memtui.tui.paint.numbers import full
from memtui.tui.screens.audit.state import AuditState
from memtui.tui.screens.audit.view import (
    EVIDENCE,
    fact,
    line,
    moment,
    scope_words,
    shown_text,
    turn_words,
    wrapped,
)
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.view_rows import Look

if TYPE_CHECKING:
    from memtui.engine.witness import (
        Leak,
        LeakTurn,
        ReachedTurn,
    )


TOLD_CELLS = 8
"""Cells of the word that says what becomes of a row."""


def leaks(state: AuditState, width: int, look: Look) -> list[Row]:
    """What crossed, or can."""
    if state.leaks is None:
        return [line(" checking the channels", "$dim")]
    rows = []
    for at, leak in enumerate(state.leaks.leaks):
        did = leak.certainty == "did"
        far = counted(len(leak.turns), "turn") if leak.turns else ""
        rows.append(
            Row(
                flowing(
                    Content.styled(
                        f" {look.glyphs.cross if did else look.glyphs.warn} {leak.certainty:<6}",
                        "bold $danger" if did else "bold $stale",
                    ),
                    one_line(leak.sentence),
                    Content.styled(right(far, 10), "$dim"),
                    width - 1,
                    look.glyphs.ellipsis,
                ),
                str(at),
            )
        )
    return rows or [
        line(f" {one_line(each)}", "$foreground") for each in wrapped(state.leaks.sentence, width)
    ]


def channels(state: AuditState, width: int, look: Look) -> list[Row]:
    """How much each channel had to look at."""
    from memtui.engine.witness import (
        CHANNELS,
        UNSEEN,
    )

    if state.leaks is None:
        return []
    rows = []
    for channel, looked in state.leaks.looked.items():
        found = sum(leak.channel == channel for leak in state.leaks.leaks)
        seen = "not checked" if looked is None else f"{full(looked)} checked"
        rows.append(
            Row(
                (
                    Content.assemble(
                        f" {fit(CHANNELS[channel], 24)}",
                        (right(str(found), 4), "bold $stale" if found else "$dim"),
                        (f"   {seen}", "$dim"),
                    ),
                ),
            )
        )
    return [*rows, *(line(f" {each}", "$dim") for each in wrapped(UNSEEN, width))]


def proof(state: AuditState, width: int, look: Look) -> list[Row]:
    """The proof of the leak under the cursor."""
    leak = state.shown_leak
    if leak is None:
        return [line(" no leak under the cursor", "$dim")]
    rows = [line(f" {one}", "bold $foreground") for one in wrapped(leak.sentence, width)]
    if leak.id:
        words = f"{leak.id[:8]}  {shown_text(leak.text, state)}".rstrip()
        rows.append(fact("memory", words, width, revealed=state.revealed))
    rows.append(fact("meant for", _meant_for(state, leak), width))
    if leak.scope is not None:
        since = f" since {moment(leak.since_ms, look)}" if leak.since_ms else ""
        rows.append(fact("is in", f"{scope_words(leak.scope)}{since}", width))
    if leak.reason:
        rules = leak.rules.words if leak.rules is not None else "by today's rules"
        rows.append(fact("rule", f"{leak.reason}, {rules}", width))
    if leak.path:
        rows.append(fact("path", tilde(leak.path), width))
    if leak.turns:
        rows += [line(""), line(" turns", "bold $heading")]
        for turn in leak.turns:
            where = f", line {turn.line}" if turn.line else ""
            rows.append(
                Row(
                    (
                        Content.styled(
                            f" {moment(turn.time_ms, look):<13} {_turn_of(turn)}{where}   {EVIDENCE[turn.evidence][1]}"[
                                :width
                            ],
                            "$foreground",
                        ),
                    ),
                    f"{turn.session}#{turn.n}",
                )
            )
    if leak.today is not None:
        rows += [line(""), line(" today", "bold $heading")]
        could = (
            "yes: the real recipe finds it as" if leak.today else "no: the real recipe does not find it as"
        )
        rows.append(fact("could", f"{could} {leak.agent}, k 20", width))
    return rows


def _meant_for(state: AuditState, leak: Leak) -> str:
    """Whose eyes the memory was for: the readers of the scope that it was written into, by the matrix."""
    if leak.id is None:
        return "not known: this is no single memory"
    scope = leak.meant_for or leak.scope
    if state.rights is None or scope is None:
        return scope_words(scope)
    readers = [
        cell.agent
        for cell in state.rights.matrix.cells
        if cell.scope == scope and cell.read and cell.agent not in state.pseudo
    ]
    return f"{scope_words(scope)}: {', '.join(map(one_line, readers)) or 'no agent'} may read it"


def reach(state: AuditState, width: int, look: Look) -> list[Row]:
    """The reach as a tree: copies, agents, answers, files."""
    found = state.reach
    if found is None:
        said = (
            "How far one memory went. It is chosen by enter on a line of a turn, on a leak by its own key, and in "
            "Browse by the command: used by."
        )
        return [line(f" {each}", "$dim") for each in wrapped(said, width)]

    def told(key: str) -> Content:
        """What becomes of a row, at its right."""
        mend = state.mends.get(key)
        word = mend.verb if mend is not None else ""
        style = "$dim" if word == "leave" else "bold $stale"
        return Content.styled(right(word, TOLD_CELLS + 1) if key in state.mends else "", style)

    head = flowing(
        Content(" "),
        one_line(found.text),
        told(found.id),
        width - 1,
        look.glyphs.ellipsis,
        "bold $foreground",
    )
    rows = [Row(head, found.id)]
    branches: list[tuple[str, list[tuple[str, str]]]] = [
        (
            f"copies {len(found.copies)}",
            [
                (f"{'=' if copy.same else '≈'} {copy.preview}   {copy.scope}   {copy.likeness:.2f}", copy.id)
                for copy in found.copies
            ],
        ),
        (
            f"agents {len(found.agents)}",
            [(f"{agent}   {counted(count, 'turn')}", "") for agent, count in found.agents.items()],
        ),
        (f"answers {found.answers}", [("with its words, likely used", "")] if found.answers else []),
        (
            f"captured {len(found.captured)}",
            [(f"{each[:8]} {preview}", each) for each, preview in found.captured.items()],
        ),
        (
            f"files {len(found.files)}",
            [(f"{file.path.rpartition('/')[2]}   {file.kind}", "") for file in found.files],
        ),
    ]
    for at, (name, leaves) in enumerate(branches):
        last = at == len(branches) - 1
        rows.append(Row((Content.assemble((" └─ " if last else " ├─ ", "$faint"), (name, "bold $heading")),)))
        for leaf, (text, key) in enumerate(leaves):
            stem = "    " if last else " │  "
            twig, under = ("└─ ", "   ") if leaf == len(leaves) - 1 else ("├─ ", "│  ")
            first, *more = flowing(
                Content.styled(f"{stem}{twig}", "$faint"),
                one_line(text),
                told(key),
                width - 1,
                look.glyphs.ellipsis,
            )
            below = (
                Content.assemble((f"{stem}{under}", "$faint"), (each.plain.strip(), "$foreground"))
                for each in more
            )
            rows.append(Row((first, *below), key))
    return rows


def reached_turns(state: AuditState, width: int, look: Look) -> list[Row]:
    """The turns that got it."""
    found = state.reach
    if found is None:
        return [line(f" {each}", "$dim") for each in wrapped("the turns that injected it", width)]
    rows = [
        Row(
            (
                Content.styled(
                    crop(
                        f" {moment(turn.time_ms, look):<13} {turn.agent:<8} {_turn_of(turn)}",
                        width,
                    ),
                    "$foreground",
                ),
            ),
            f"{turn.session}#{turn.n}",
        )
        for turn in found.turns
    ]
    if found.events:
        rows.append(line(f" {len(found.events)} more, known from the store only (minimum)", "$dim"))
    return rows or [line(" no turn is known that injected this memory", "$dim")]


def change(state: AuditState, width: int, look: Look) -> list[Row]:
    """What one change would take out, and what remains."""
    found = state.reach
    if found is None:
        said = "What would be changed of it and of its copies, what stays, and the proof of it."
        return [line(f" {each}", "$dim") for each in wrapped(said, width)]
    rows = [line(" ONE CHANGE, can be undone", "bold $heading")]
    kept = 0
    for each, mend in state.mends.items():
        if mend.verb == "leave":
            kept += 1
            continue
        rows.append(fact(mend.verb, f"{each[:8]} {found.rows[each]}", width, most=1))
        if mend.value:
            rows.append(fact("", mend.words, width, "$stale", most=2))
    if len(rows) == 1:
        rows.append(line(" nothing is chosen: open a row to say what becomes of it", "$dim"))
    if kept:
        rows.append(fact("leaves", f"{counted(kept, 'row')} as they are", width, "$dim"))
    left = f"{counted(len(found.files), 'file')} and {counted(len(found.turns), 'turn')}"
    rows.append(fact("not changed", f"{left}: listed only", width, "$dim"))
    if found.versions is not None:
        rows.append(
            fact("remains", f"the text stays in versions v{found.versions[0]} to v{found.versions[1]}", width)
        )
    rows += [fact(look.glyphs.warn, warning, width, "$stale") for warning in found.warnings]
    rows += [line(""), line(" PROOF PACK", "bold $heading")]
    rows.append(fact("holds", "what was stored, who could and did read it, what remains", width))
    rows += [fact("", tilde(file.path), width, "$dim") for file in found.files]
    return rows


def live(state: AuditState, width: int, look: Look) -> list[Row]:
    """What versions write, newest first."""
    signs = {"stored": ("+", "$ok"), "changed": ("~", "$stale"), "injected": ("▸", "$primary")}
    rows = []
    for at, each in enumerate(state.live_shown):
        sign, style = signs[each.kind]
        rows.append(
            Row(
                flowing(
                    Content.assemble(
                        (f" {moment(each.time_ms, look):<7}", "$dim"),
                        (f"{sign} {each.kind:<9}", style),
                        (fit(scope_words(each.scope), 16, look.glyphs.ellipsis), "$dim"),
                    ),
                    each.preview,
                    Content(),
                    width - 1,
                    look.glyphs.ellipsis,
                ),
                f"{at}:{each.id}",
            )
        )
    if state.live and not rows:
        return [line(f" none of {counted(len(state.live), 'row')} passes the filter", "$dim")]
    if rows:
        return rows
    told = (
        "Paused: what is written meanwhile shows when it goes on."
        if state.paused
        else "What agents store, change and are given shows here within two seconds, newest first; what was before is "
        "in Journal and Health."
    )
    return [
        line(" no write since this view was opened", "$foreground"),
        *(line(f" {each}", "$dim") for each in wrapped(told, width)),
    ]


def costs(state: AuditState, width: int, look: Look) -> list[Row]:
    """Injections a day, silent turns, and the dearest memories of whose use there is no trace."""
    found = state.economy
    if found is None:
        return [line(" reading what injections cost", "$dim")]
    counted_days = f"{full(sum(found.by_day))} in {counted(len(found.by_day), 'day')}, minimum"
    most = max(found.by_day, default=0)
    rows = [
        fact("injections", counted_days, width),
        fact("per day", f"{spark(found.by_day, look.glyphs)}  most {full(most)}, today last", width),
        fact("turns", turn_words(found), width),
        line(""),
        line(" MOST EXPENSIVE UNUSED", "bold $heading"),
    ]
    rows += [
        Row(
            flowing(
                Content.assemble(
                    (right(full(each.tokens), 6), "$stale"), (right(f"{each.times}×", 5), "$dim"), "  "
                ),
                one_line(each.preview),
                Content(),
                width - 1,
                look.glyphs.ellipsis,
            ),
            f"d:{each.id}",
        )
        for each in found.dearest
    ]
    return rows if found.dearest else [*rows, line(" none is known", "$dim")]


def live_counts(state: AuditState, width: int, look: Look) -> list[Row]:
    """What happened so far."""
    kinds = [each.kind for each in state.live]
    return [fact(kind, full(kinds.count(kind)), width) for kind in ("stored", "changed", "injected")] + [
        fact("history", f"minimum {counted(state.injections, 'injection')} before", width)
    ]


def _turn_of(turn: LeakTurn | ReachedTurn) -> str:
    return f"{turn.session[:8]} {turn.name}"
