"""Leaks, the reach of one memory, and what happens now, as rows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import one_line
from memtui.tui.paint.cells import crop, fit, right, tilde
from memtui.tui.paint.numbers import full, plural
from memtui.tui.screens.audit.painting import EVIDENCE, Look, fact, line, scope_words, wrapped
from memtui.tui.screens.audit.state import AuditState
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine.witness import (
        LeakTurn,
        ReachedTurn,
    )


def leaks(state: AuditState, width: int, look: Look) -> list[Row]:
    """What crossed, or can."""
    if state.leaks is None:
        return [line(" looking through the channels", "$dim")]
    rows = []
    for at, each in enumerate(state.leaks.leaks):
        did = each.certainty == "did"
        far = plural(len(each.turns), "turn") if each.turns else ""
        rows.append(
            Row(
                (
                    Content.assemble(
                        (
                            f" {look.glyphs.cross if did else look.glyphs.warn} {each.certainty:<6}",
                            "bold $danger" if did else "bold $stale",
                        ),
                        (
                            fit(one_line(each.sentence), max(8, width - 21), look.glyphs.ellipsis),
                            "$foreground",
                        ),
                        (right(far, 10), "$dim"),
                    ),
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
        found = sum(each.channel == channel for each in state.leaks.leaks)
        seen = "could not look" if looked is None else f"{full(looked)} looked at"
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
    return [*rows, *(line(f" {each}", "$faint") for each in wrapped(UNSEEN, width))]


def proof(state: AuditState, width: int, look: Look) -> list[Row]:
    """The proof of the leak under the cursor."""
    leak = state.shown_leak
    if leak is None:
        return [line(" no leak under the cursor", "$dim")]
    rows = [line(f" {one}", "bold $foreground") for one in wrapped(leak.sentence, width)]
    if leak.id:
        rows.append(fact("memory", leak.id, width))
    if leak.scope is not None:
        rows.append(fact("is in", scope_words(leak.scope), width))
    if leak.reason:
        rows.append(fact("rule", f"{leak.reason}, by today's rules", width))
    if leak.path:
        rows.append(fact("path", tilde(leak.path), width))
    if leak.turns:
        rows += [line(""), line(" turns", "bold $heading")]
        for each in leak.turns:
            where = f", line {each.line}" if each.line else ""
            rows.append(
                Row(
                    (
                        Content.styled(
                            f" {look.moment(each.time_ms):<13} {_turn_of(each)}{where}   {EVIDENCE[each.evidence][1]}"[
                                :width
                            ],
                            "$foreground",
                        ),
                    ),
                    f"{each.session}#{each.n}",
                )
            )
    if leak.today is not None:
        rows += [line(""), line(" today", "bold $heading")]
        could = (
            "yes: the real recipe finds it as" if leak.today else "no: the real recipe does not find it as"
        )
        rows.append(fact("could", f"{could} {leak.agent}, k 20", width))
    return rows


def reach(state: AuditState, width: int, look: Look) -> list[Row]:
    """The reach as a tree: copies, agents, answers, files."""
    found = state.reach
    if found is None:
        return [line(" open a memory of a turn, of a leak, or one in Browse", "$dim")]
    rows = [Row((Content.styled(f" {crop(found.text, width - 2)}", "bold $foreground"),), found.id)]
    branches: list[tuple[str, list[tuple[str, str]]]] = [
        (
            f"copies {len(found.copies)}",
            [
                (f"{'=' if each.same else '≈'} {each.preview}   {each.scope}   {each.likeness:.2f}", each.id)
                for each in found.copies
            ],
        ),
        (
            f"agents {len(found.agents)}",
            [(f"{agent}   {plural(count, 'turn')}", "") for agent, count in found.agents.items()],
        ),
        (f"answers {found.answers}", [("have its words, likely used", "")] if found.answers else []),
        (f"captured {len(found.captured)}", [(each, each) for each in found.captured]),
        (
            f"files {len(found.files)}",
            [(f"{each.path.rpartition('/')[2]}   {each.kind}", "") for each in found.files],
        ),
    ]
    for at, (name, leaves) in enumerate(branches):
        last = at == len(branches) - 1
        rows.append(Row((Content.assemble((" └─ " if last else " ├─ ", "$faint"), (name, "bold $heading")),)))
        for leaf, (text, key) in enumerate(leaves):
            stem = "    " if last else " │  "
            twig = "└─ " if leaf == len(leaves) - 1 else "├─ "
            rows.append(
                Row(
                    (
                        Content.assemble(
                            (f"{stem}{twig}", "$faint"), (crop(one_line(text), width - 8), "$foreground")
                        ),
                    ),
                    key,
                )
            )
    return rows


def reached_turns(state: AuditState, width: int, look: Look) -> list[Row]:
    """The turns that got it."""
    found = state.reach
    if found is None:
        return []
    rows = [
        Row(
            (
                Content.styled(
                    crop(
                        f" {look.moment(each.time_ms):<13} {each.agent:<8} {_turn_of(each)}",
                        width,
                    ),
                    "$foreground",
                ),
            ),
            f"{each.session}#{each.n}",
        )
        for each in found.turns
    ]
    if found.events:
        rows.append(line(f" {len(found.events)} more that only the store tells of (at least)", "$dim"))
    return rows or [line(" no turn is known to have got it", "$dim")]


def change(state: AuditState, width: int, look: Look) -> list[Row]:
    """What one change would take out, and what remains."""
    found = state.reach
    if found is None:
        return []
    rows = [line(" ONE CHANGE", "bold $heading")]
    rows.append(
        fact("takes out", plural(len(found.removable), "memory", "memories") + ", undone any day", width)
    )
    rows.append(
        fact(
            "leaves",
            f"{plural(len(found.files), 'file')} and {plural(len(found.turns), 'turn')}: listed, never touched",
            width,
        )
    )
    if found.versions is not None:
        rows.append(
            fact("remains", f"the text stays in versions v{found.versions[0]} to v{found.versions[1]}", width)
        )
    rows += [fact(look.glyphs.warn, each, width, "$stale") for each in found.warnings]
    rows += [line(""), line(" PROOF PACK", "bold $heading")]
    rows.append(fact("holds", "what was stored, who could and did read it, what remains", width))
    rows += [fact("", tilde(each.path), width, "$dim") for each in found.files]
    return rows


def live(state: AuditState, width: int, look: Look) -> list[Row]:
    """What versions write, newest first."""
    signs = {"stored": ("+", "$ok"), "changed": ("~", "$stale"), "injected": ("▸", "$primary")}
    rows = []
    for at, each in enumerate(state.live_shown):
        sign, style = signs[each.kind]
        rows.append(
            Row(
                (
                    Content.assemble(
                        (f" {look.moment(each.time_ms):<7}", "$dim"),
                        (f"{sign} {each.kind:<9}", style),
                        (fit(scope_words(each.scope), 16, look.glyphs.ellipsis), "$dim"),
                        (crop(each.preview, width - 36, look.glyphs.ellipsis), "$foreground"),
                    ),
                ),
                f"{at}:{each.id}",
            )
        )
    if state.live and not rows:
        return [line(f" none of {plural(len(state.live), 'row')} passes the filter", "$dim")]
    return rows or [line(" nothing was written since you look", "$dim")]


def costs(state: AuditState, width: int, look: Look) -> list[Row]:
    """Injections a day, silent turns, and the dearest memories of whose use there is no trace."""
    found = state.economy
    if found is None:
        return [line(" reading what injections cost", "$dim")]
    days = " ".join(str(each) if each else "·" for each in found.by_day)
    rows = [
        fact("14 days", f"{days}   injections a day, at least", width),
        fact(
            "turns",
            f"{full(found.turns)}, {full(found.silent)} silent, {full(found.unknown)} not recorded",
            width,
        ),
        line(""),
        line(" DEAREST, NO TRACE OF USE", "bold $heading"),
    ]
    rows += [
        Row(
            (
                Content.assemble(
                    (right(full(each.tokens), 6), "$stale"),
                    (right(f"{each.times}×", 5), "$dim"),
                    f"  {crop(one_line(each.preview), width - 15, look.glyphs.ellipsis)}",
                ),
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
        fact("history", f"{plural(state.injections, 'injection')} known of before, at least", width)
    ]


def _turn_of(turn: LeakTurn | ReachedTurn) -> str:
    return f"{turn.session[:8]} turn {turn.n}"
