"""What memory costs as rows: each day of an agent, the most expensive memories, the figures with their labels. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.paint.cells import fit, flowing, right
from memtui.tui.paint.numbers import full
from memtui.tui.screens.audit.state import AuditState
from memtui.tui.screens.audit.view import fact, line, wrapped
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.view_rows import Look

if TYPE_CHECKING:
    from memtui.engine.cost import CacheFigures, CostSum, WhatIfCost


NOT_RECORDED = "not recorded"

ALL_DAYS = "all days"

_WIDE_FORMS = 52
"""Cells from which a form of the block has its cache figures on its line."""


def days(state: AuditState, width: int, look: Look) -> list[Row]:
    """A row for each agent and day: turns, injected tokens, the share that was used."""
    report = state.cost
    if report is None:
        return [line(" reading what memory costs", "$dim")]
    if not report.turns:
        return [line(" no session of the last 14 days", "$dim")]
    rows = [_day_row("all days", report.total, ALL_DAYS, width, look)]
    for day in report.days():
        name = f"{day.day[5:] if day.day[:1].isdigit() else day.day} {one_line(day.agent)}"
        rows.append(_day_row(name, day.sum, f"{day.day} {day.agent}", width, look))
    return rows


def _day_row(name: str, total: CostSum, key: str, width: int, look: Look) -> Row:
    told = f"{full(total.tokens)} tok" if total.recorded else NOT_RECORDED
    share = total.used_share
    tail = Content.assemble(
        (right(counted(total.turns, "turn"), 9), "$dim"),
        (right(told, 13), "$foreground"),
        (right(f"{share:.0%} used" if share is not None else "", 10), "$dim"),
    )
    room = max(8, width - tail.cell_length - 2)
    head = Content.styled(fit(name, room, look.glyphs.ellipsis), "$foreground")
    return Row((Content.assemble(" ", head, tail),), key)


def memories(state: AuditState, width: int, look: Look) -> list[Row]:
    """The memories that cost most: tokens, turns, in how many they were used."""
    report = state.cost
    if report is None:
        return []
    found = report.memories()
    if not found:
        return [line(" no memory of this store was injected", "$dim")]
    rows = [line(" tokens turns   used in", "$dim")]
    for memory in found:
        used = f"{memory.used} of {memory.judged}" if memory.judged else "–"
        lead = Content.assemble(
            (right(full(memory.tokens), 7), "$stale"),
            (right(full(memory.turns), 6), "$dim"),
            (right(used, 10), "$dim"),
            "  ",
        )
        text = one_line(memory.preview)
        rows.append(Row(flowing(lead, text, Content(), width - 1, look.glyphs.ellipsis), f"d:{memory.id}"))
    return rows


def figures(state: AuditState, width: int, look: Look) -> list[Row]:
    """The figures of the day under the cursor, each measured or estimated, and the other forms of the block."""
    total, report = state.cost_sum, state.cost
    if total is None or report is None:
        return [line(" reading what memory costs", "$dim")]
    from memtui.engine.cost import ESTIMATOR, NEVER_COMPARED

    rows = [
        line(f" {one_line(state.cost_row).upper() or 'ALL DAYS'}", "bold $heading"),
        *_of_sum(total, width),
    ]
    rows += [line(""), line(" PROMPT CACHE", "bold $heading")]
    rows += _cache("measured", total.measured_turns, total.measured, width)
    rows += _cache("estimated", total.estimated_turns, total.estimated, width)
    if state.forms is not None:
        rows += [line(""), *_forms(state.forms, width, look)]
    notes = [f"Injected tokens are estimated: {ESTIMATOR}."]
    notes += [f"{rule.title}: {rule.source} ({rule.read})." for rule in report.rules()]
    notes += [*(f"{note}." for note in report.notes), NEVER_COMPARED]
    rows.append(line(""))
    for note in notes:
        rows += [line(f" {part}", "$dim") for part in wrapped(one_line(note), width)]
    return rows


def _of_sum(total: CostSum, width: int) -> list[Row]:
    unknown = full(total.turns - total.recorded)
    turns = f"{full(total.turns)}, {full(total.silent)} without a memory, {unknown} {NOT_RECORDED}"
    injected = f"{full(total.tokens)} tokens, estimated" if total.recorded else NOT_RECORDED
    share = total.used_share
    used = NOT_RECORDED if share is None else f"{share:.0%} of the tokens, estimated"
    places = [name for name, _ in total.places.most_common() if name not in ("none", NOT_RECORDED)]
    stands = ", ".join(places) or ("no block" if total.places["none"] else NOT_RECORDED)
    changed = f"{full(total.changed)} of {counted(total.pairs, 'turn')}" if total.pairs else NOT_RECORDED
    lost = f"{full(total.lost)} of {full(total.head)} tokens, estimated" if total.pairs else NOT_RECORDED
    facts = (
        ("turns", turns),
        ("injected", injected),
        ("used", used),
        ("position", stands),
        ("changed", changed),
        ("prefix lost", lost),
    )
    return [fact(name, value, width) for name, value in facts]


def _cache(label: str, turns: int, found: CacheFigures, width: int) -> list[Row]:
    if not turns:
        return [fact(label, NOT_RECORDED if label == "measured" else "no known rule for these models", width)]
    told = f"{full(found.read)} read, {full(found.written)} written, {full(found.fresh)} neither"
    return [fact(label, f"{told}, in {counted(turns, 'turn')}", width)]


def _forms(forms: WhatIfCost, width: int, look: Look) -> list[Row]:
    rows = [line(" WHAT IF, HYPOTHETICAL", "bold $heading")]
    if not forms.turns:
        return [*rows, line(" no turn with a recorded prompt", "$dim")]
    wide = width >= _WIDE_FORMS
    for variant in forms.variants:
        recall = "recall –" if variant.recall is None else f"recall {variant.recall:.2f}"
        read = f"{full(variant.cache.read)} read" if wide else ""
        tail = Content.assemble(
            (right(f"{full(variant.tokens)} tok", 11), "$foreground"),
            (right(read, 14) if wide else "", "$dim"),
            (right(recall, 13), "$dim"),
        )
        room = max(8, width - tail.cell_length - 2)
        name = fit(variant.name, room, look.glyphs.ellipsis)
        rows.append(Row((Content.assemble(" ", (name, "$foreground"), tail),)))
    cases = (
        f"Recall in the block on {counted(forms.cases, 'case')}."
        if forms.cases
        else f"Recall not measured: {forms.unmeasured}."
    )
    said = f"{counted(forms.turns, 'recorded turn')} played again by Anthropic's rule where no other is known. {cases}"
    return [*rows, *(line(f" {part}", "$dim") for part in wrapped(said, width))]
