"""Cases, measures and settings found, as rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.tui.actions.keymap import Keymap
from memtui.tui.paint.bars import padded_bar
from memtui.tui.paint.cells import fit, flowing, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import score
from memtui.tui.paint.waterfall import number
from memtui.tui.screens.cases.state import CasesState, answers, missing, results
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine.capture import CaptureCase, CaseResult
    from memtui.engine.cases import (
        Case,
        CaseAnswer,
        CaseReport,
    )


MEASURES = (
    ("hit", "hit@{k}", True),
    ("recall", "recall@{k}", True),
    ("mrr", "MRR", True),
    ("ndcg", "nDCG@{k}", True),
    ("silence", "correct silence", True),
    ("rejected", "wrong returned", False),
    ("wrong_scope", "wrong scope", False),
)
"""Name, title, and whether more is better."""

VALUE_CELLS, BAR_CELLS = 6, 10

EXPECTS_CELLS = 13


def worth(answer: CaseAnswer | None) -> float | None:
    """What a case is worth under a setup: nDCG, for a silent one whether it was silent; less what was wrong."""
    if answer is None or answer.measures is None:
        return None
    good = answer.measures.ndcg if answer.measures.ndcg is not None else answer.measures.silence
    return (good if good is not None else 1.0) - answer.measures.rejected


def wants(case: Case) -> str:
    """What a case asks for, in a few letters."""
    if case.silent:
        return "none"
    return ", ".join(
        part
        for part in (
            str(len(case.expected)) if case.expected else "",
            f"rejects {len(case.rejected)}" if case.rejected else "",
        )
        if part
    )


def case_rows(state: CasesState, width: int, glyphs: Glyphs) -> list[Row]:
    """Every case with what A and B make of it; conversations after the questions."""
    cases, talks = (state.book.cases, state.book.talks) if state.book is not None else ((), ())
    rows = [Row(_case_lines(state, case, width, glyphs), case.id) for case in cases]
    return [*rows, *(Row(_talk_lines(state, talk, width, glyphs), talk.id) for talk in talks)]


def list_heading(state: CasesState) -> str:
    """The names of the columns on the right of `case_rows`."""
    b = f"{'B':>{VALUE_CELLS}}  " if state.b is not None else ""
    return f"{'expects':>{EXPECTS_CELLS}}{'A':>{VALUE_CELLS}}{b}"


def _case_lines(state: CasesState, case: Case, width: int, glyphs: Glyphs) -> tuple[Content, ...]:
    a, b = answers(state, case)
    values = [worth(a), worth(b)]
    warn = bool(missing(state, case)) or any(each is not None and each.error for each in (a, b))
    two = state.b is not None
    old = state.stale
    tail = Content.assemble(
        (right(wants(case), EXPECTS_CELLS), "$dim"),
        (right(_figure(a, values[0]), VALUE_CELLS), "$dim" if old else _hue(values[0])),
        (right(_figure(b, values[1]), VALUE_CELLS) if two else "", "$dim" if old else _hue(values[1])),
        _trend(values[0], values[1], glyphs) if two else "",
        " ",
    )
    lead = Content.assemble(" ", (glyphs.warn if warn else " ", "bold $stale"), " ")
    return flowing(lead, one_line(case.query), tail, width, glyphs.ellipsis)


def _talk_lines(state: CasesState, talk: CaptureCase, width: int, glyphs: Glyphs) -> tuple[Content, ...]:
    a, b = results(state, talk)
    two = state.b is not None
    warn = any(each is not None and each.error for each in (a, b))
    tail = Content.assemble(
        (right(f"keeps {len(talk.expected)}", EXPECTS_CELLS), "$dim"),
        (right(_outcome(a), VALUE_CELLS), _talk_hue(a)),
        (right(_outcome(b), VALUE_CELLS) + "  " if two else "", _talk_hue(b)),
        " ",
    )
    lead = Content.assemble(" ", (glyphs.warn if warn else " ", "bold $stale"), " ")
    return flowing(lead, f"talk  {one_line(talk.name)}", tail, width, glyphs.ellipsis)


def _outcome(found: CaseResult | None) -> str:
    if found is None:
        return "-"
    if found.error:
        return "failed"
    return "right" if found.passed else f"{len(found.missing) + len(found.surplus)} off"


def _talk_hue(found: CaseResult | None) -> str:
    return "$dim" if found is None else "$score-high" if found.passed else "$delta-down"


def _figure(answer: CaseAnswer | None, value: float | None) -> str:
    if answer is not None and value is None:
        return "failed"
    return score(value) if value is not None else "-"


def _hue(value: float | None) -> str:
    if value is None:
        return "$dim"
    return "$score-high" if value >= 0.6 else "$score-mid" if value >= 0.3 else "$delta-down"


def _trend(a: float | None, b: float | None, glyphs: Glyphs) -> tuple[str, str]:
    if a is None or b is None or a == b:
        return "  ", "$dim"
    return (f" {glyphs.up}", "$delta-up") if b > a else (f" {glyphs.down}", "$delta-down")


# ---------------------------------------------------------------------- measures


def measure_rows(state: CasesState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Row]:
    """Averages of A and B, what the paired test says, the flips, and the settings that were found."""
    report = state.report
    lines = _tuning(state, width, keys)
    if lines:
        lines.append(Content())
    talks = [results(state, talk) for talk in state.book.talks] if state.book is not None else []
    ran = [each for each, _ in talks if each is not None]
    if ran:
        lines += [Content.styled(" CONVERSATIONS", "bold $heading")]
        for name, column in (("A", ran), ("B", [each for _, each in talks if each is not None])):
            if column:
                well = sum(each.passed for each in column)
                lines.append(Content(f" {name}  {well} of {len(column)} leave what they should"))
        lines.append(Content())
    if report is None and ran:
        pass
    elif report is None:
        lines.append(Content.styled(f" Not run yet: {keys.cap('cases.run')} asks every case.", "$dim"))
    else:
        lines += _averages(report, state, width, glyphs, keys)
        lines += _paired(report, width, glyphs)
    return [Row((line,)) for line in lines]


def _averages(
    report: CaseReport, state: CasesState, width: int, glyphs: Glyphs, keys: Keymap
) -> list[Content]:
    other = report.other
    bars = BAR_CELLS if width >= 2 * BAR_CELLS + 48 else 0
    head = " " + fit("MEASURE", 16) + right("A", VALUE_CELLS) + " " * (bars + 1 if bars else 0)
    if other is not None:
        head += right("B", VALUE_CELLS) + " " * (bars + 1 if bars else 0) + right("B - A", 8)
    lines = [Content.styled(head, "bold $heading")]
    for name, title, more in MEASURES:
        a = report.mean[name]
        b = other.mean[name] if other is not None else None
        if a is None and b is None:
            continue
        parts: list[str | tuple[str, str]] = [
            (f" {fit(title.format(k=report.k), 16)}", "$foreground" if more else "$dim"),
            *_bar(a, more, bars, glyphs),
        ]
        if other is not None:
            parts += [*_bar(b, more, bars, glyphs), _difference(a, b, more)]
        lines.append(Content.assemble(*parts))
    asked = [answer for answer in report.answers if answer.measures is not None]
    left = len(report.answers) - len(asked)
    said = f" {counted(len(asked), 'case')} judged" + (f", {left} could not be" if left else "")
    if state.stale:
        said += f"; the setups have changed since: {keys.cap('cases.run')} runs them"
    return [*lines, Content.styled(said, "$stale" if left or state.stale else "$dim")]


def _bar(value: float | None, more: bool, cells: int, glyphs: Glyphs) -> list[str | tuple[str, str]]:
    text = (right(score(value), VALUE_CELLS), "bold $foreground")
    if not cells:
        return [text]
    return [text, " ", (padded_bar(value or 0.0, cells, glyphs), "$score-high" if more else "$stage-cut")]


def _difference(a: float | None, b: float | None, more: bool) -> tuple[str, str]:
    if a is None or b is None:
        return " " * 8, "$dim"
    gap = b - a
    if round(gap, 3) == 0:
        return right("=", 8), "$dim"
    better = (gap > 0) == more
    return right(f"{'+' if gap > 0 else ''}{number(gap)}", 8), "$delta-up" if better else "$delta-down"


def _paired(report: CaseReport, width: int, glyphs: Glyphs) -> list[Content]:
    test = report.paired
    if test is None or report.other is None:
        return []
    style = "bold $foreground" if test.distinguishable else "bold $stale"
    lines = [
        Content(),
        Content.assemble(" ", (test.verdict, style)),
        Content.styled(f" B better in {test.better}, worse in {test.worse}", "$dim"),
    ]
    if report.flips:
        lines += [Content(), Content.styled(" FLIPS", "bold $heading")]
        for flip in sorted(report.flips, key=lambda each: each.b - each.a):
            up = flip.b > flip.a
            lead = Content.assemble(
                (f" {glyphs.up if up else glyphs.down} ", "$delta-up" if up else "$delta-down"),
                (f"{score(flip.a):>4} {glyphs.forth} {score(flip.b):<4}  ", "$dim"),
            )
            lines += flowing(lead, one_line(flip.case.query), Content(), width - 1, glyphs.ellipsis)
    return lines


def block_text(state: CasesState) -> str:
    """The configuration block of the search, as it is copied."""
    return json.dumps(state.tuning.block, indent=2) if state.tuning is not None else ""


def _tuning(state: CasesState, width: int, keys: Keymap) -> list[Content]:
    found = state.tuning
    if found is None:
        return []
    held = found.held_out
    lines = [Content.styled(" SETTINGS FOUND", "bold $heading")]
    if not found.settings:
        return [*lines, Content.styled(f" {found.tried} tried: none is better than what is set.", "$dim")]
    lines += [Content.styled(f" {line}", "$match") for line in block_text(state).split("\n")]
    said = (
        f"{found.tried} tried, {found.stopped}. On the cases that chose them {found.train_gain:+.3f} nDCG;"
        f" on {counted(held.cases, 'case')} kept apart {held.difference:+.3f}:"
        f" {held.verdict.replace('B', 'the new ones').replace('A is', 'the old ones are')}."
        f" {keys.cap('cases.copy')} copies the block."
    )
    lines += [
        Content.assemble(" ", part) for part in Content.styled(said, "$foreground").wrap(max(12, width - 2))
    ]
    return lines


# ---------------------------------------------------------------------- one case


def detail_rows(state: CasesState, width: int, glyphs: Glyphs) -> list[Row]:
    """One case: what it asks for, and where each memory stands under A and B."""
    case = state.case
    if state.talk is not None:
        return _talk_rows(state, state.talk, width, glyphs)
    if case is None:
        return []
    a, b = answers(state, case)
    lines = [
        Content.assemble(" ", line.stylize("bold"))
        for line in Content(one_line(case.query)).wrap(max(12, width - 2))
    ]
    facts = []
    if case.scopes is not None:
        facts.append("scopes " + ", ".join(case.scopes))
    if case.category:
        facts.append(f"category {case.category}")
    if case.note:
        facts.append(case.note)
    for fact in facts:
        lines += [
            Content.assemble(" ", line)
            for line in Content.styled(one_line(fact), "$dim").wrap(max(12, width - 2))
        ]
    if case.silent:
        lines += [Content(), Content.styled(" no result is expected", "$foreground")]
    for heading, ids in (("EXPECTED", case.expected), ("WRONG", case.rejected)):
        if ids:
            columns = f"{'A':>5}{'B':>5}" if state.b is not None else f"{'A':>5}"
            lines += [
                Content(),
                Content.assemble((f" {fit(heading, 10)}", "bold $heading"), (columns, "$dim")),
            ]
            lines += [part for id in ids for part in _memory_lines(state, id, (a, b), width, glyphs)]
    for answer, name in ((a, "A"), (b, "B")):
        if answer is not None and answer.error:
            said = Content.styled(f"{glyphs.warn} {name}: {one_line(answer.error)}", "$stale")
            lines += [Content(), *(Content.assemble(" ", line) for line in said.wrap(max(12, width - 2)))]
    return [Row((line,)) for line in lines]


def _talk_rows(state: CasesState, talk: CaptureCase, width: int, glyphs: Glyphs) -> list[Row]:
    """A conversation: the memories that it should leave, which it does under A and B, and what it leaves beside."""
    found = [result for result in results(state, talk) if result is not None]
    two = len(found) == 2
    lines = [Content.styled(f" {one_line(talk.name)}", "bold")]
    said = f"a conversation, captured by {talk.recording['recipe']}"
    lines += _wrapped(said, width, "$dim")
    lines += [
        Content(),
        Content.assemble(
            (" AB" if two else " A" if found else "", "$dim"), (" SHOULD LEAVE", "bold $heading")
        ),
    ]
    for text in talk.expected or ("nothing",):
        signs = "".join(glyphs.cross if text in each.missing else glyphs.mark for each in found)
        lines += _wrapped(f"{signs} {one_line(text)}" if signs else one_line(text), width, "$foreground")
    for name, each in zip("AB", found, strict=False):
        if each.surplus:
            lines += [Content(), Content.styled(f" {name} LEAVES, TOO", "bold $heading")]
            lines += [part for text in each.surplus for part in _wrapped(one_line(text), width, "$stale")]
        if each.error:
            lines += [Content(), *_wrapped(f"{glyphs.warn} {name}: {one_line(each.error)}", width, "$stale")]
    if not found:
        lines += [Content(), *_wrapped("not run yet", width, "$dim")]
    return [Row((line,)) for line in lines]


def _wrapped(text: str, width: int, style: str) -> list[Content]:
    return [Content.assemble(" ", part) for part in Content.styled(text, style).wrap(max(12, width - 2))]


def _memory_lines(
    state: CasesState, id: str, found: Sequence[CaseAnswer | None], width: int, glyphs: Glyphs
) -> tuple[Content, ...]:
    memory = state.book.memories.get(id) if state.book is not None else None
    two = state.b is not None
    places = "".join(right(_place(each, id), 5) for each in (found if two else found[:1]))
    if memory is None:
        text, style = f"{glyphs.warn} gone from the store", "$stale"
    else:
        text, style = one_line(memory.text)[:400], "$foreground"
    lead = Content.assemble((f" {fit(one_line(id)[:8], 10)}", "$dim"), (places, "bold $foreground"), "  ")
    return flowing(lead, text, Content(), width - 1, glyphs.ellipsis, style)


def _place(answer: CaseAnswer | None, id: str) -> str:
    if answer is None or (answer.measures is None and not answer.ids):
        return "-"
    return f"#{answer.ids.index(id) + 1}" if id in answer.ids else "out"
