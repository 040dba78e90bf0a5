"""What alone would bring the memory back, smallest first; and what cannot, with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import counted, one_line
from memtui.engine.explain import (
    DROP,
    TIMES,
    GateResult,
    IdleKnob,
    SmallestChange,
    Verdict,
    check_name,
)
from memtui.tui.paint.bars import padded_bar, progress
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import date, score
from memtui.tui.screens.whynot.state import WhyNotState
from memtui.tui.theme.tokens import category_cell, scope_style, tier_style
from memtui.tui.trace.rule_text import figure
from memtui.tui.widgets.row_list import Row

# Gates, knobs and values in words for people.

_KNOBS = {
    "limit": "how many come back",
    "scopes": "searched scopes",
    "category": "category asked for",
    "query": "the question",
    "now_ms": "the clock",
    "recipe": "the recipe",
    "memory.importance": "its importance",
    "memory.tier": "its tier",
    "memory.touch": "one use more, now",
    "memory.state": "its state",
    "memory.suppressed_until": "its suppression",
    "memory.valid_until": "its expiry",
    "memory.invalidated_at": "that it was replaced",
    "memory.length": "its length",
    "memory.twin": "its near-duplicate",
    DROP: "the vector index",
}

MEMORY = "memory."
"""What knobs on the memory's side begin with."""

_GATE_TIMES = ("inactive", "expired", "suppressed")

DAY_CHARS = 10
"""Of a date, without its time."""


def gate_name(gate: str) -> str:
    """A gate by its name."""
    return one_line(check_name(gate))


def knob_name(knob: str) -> str:
    """A knob as people call it; settings keep their own names."""
    return _KNOBS.get(knob) or one_line(knob.removeprefix("retrieval.").removeprefix("memtui."))


def on_the_memory(knob: str) -> bool:
    """Whether a change is one of the memory, not of the question."""
    return knob.startswith(MEMORY)


def plain(value: Any) -> str:
    """A value in a few words."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return figure(value)
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value) or "none"
    return one_line(str(value))


def gate_number(gate: str, value: Any) -> str:
    """The number or the limit of a gate; empty where it has none."""
    if value is None or value == "" or gate == "unknown_id":
        return ""
    if gate in _GATE_TIMES and isinstance(value, int | float):
        return date(value)[:DAY_CHARS]
    return score(value) if isinstance(value, float) and 0 < value < 1 else plain(value)


def change_words(knob: str, before: Any, after: Any, forth: str) -> str:
    """`6 → 9`; a question shows only what is added to it."""
    if knob == "query":
        old, new = one_line(str(before)), one_line(str(after))
        return f"add {new[len(old) :].strip()}" if new.startswith(old) else new
    if knob == "memory.twin":
        return "forget it"
    if knob == DROP:
        return f"drop it ({one_line(str(before))})"
    if knob in TIMES:
        return f"{_moment(before)} {forth} {_moment(after)}"
    return f"{plain(before)} {forth} {plain(after)}"


def _moment(value: Any) -> str:
    return date(value) if isinstance(value, int | float) and value > 0 else "none"


KNOB_CELLS, BAR_CELLS = 22, 8


def change_rows(verdict: Verdict, searching: bool, width: int, glyphs: Glyphs) -> list[Row]:
    """Two lines a change, then the powerless knobs by reason."""
    rows: list[Row] = []
    if verdict.changes:
        rows.append(_heading("ONE OF THESE ALONE BRINGS IT BACK, THE SMALLEST FIRST", width))
        rows += [Row(_change(change, width, glyphs), f"change:{change.knob}") for change in verdict.changes]
    elif not searching and not verdict.returned and verdict.gate != "unknown_id":
        rows.append(Row((Content.styled(" No single change was found that brings it back.", "$foreground"),)))
    elif searching and not verdict.returned:
        rows.append(Row((Content.styled(" searching: what helps is listed as it is found", "$dim"),)))
    if verdict.powerless:
        rows.append(Row((Content(), *_heading("NO EFFECT ON THEIR OWN", width).lines)))
        rows += _powerless(verdict.powerless, width)
    return rows


def _heading(text: str, width: int) -> Row:
    return Row((Content.styled(f" {text}", "bold $heading").truncate(max(8, width), ellipsis=True),))


def _change(change: SmallestChange, width: int, glyphs: Glyphs) -> tuple[Content, ...]:
    sure = ("confirmed", "$ok") if change.confirmed else ("estimated", "$stale")
    mark = glyphs.mark if change.confirmed else "~"
    rank = "" if change.rank is None else f"to #{change.rank}  "
    end = Content.assemble((rank, "bold $foreground"), (f"{mark} ", sure[1]), sure)
    room = max(8, width - KNOB_CELLS - end.cell_length - 6)
    said = change_words(change.knob, change.before, change.after, glyphs.forth)
    short = said if cell_len(said) <= room else ""
    first = Content.assemble(
        "   ",
        (fit(knob_name(change.knob), KNOB_CELLS, glyphs.ellipsis), "bold $key"),
        (fit(short, room), "$foreground"),
        " ",
        end,
    )
    lines = [] if short else Content.styled(said, "$foreground").wrap(max(12, width - 6))
    return (first, *(Content.assemble("     ", line) for line in lines), _how_much(change, width, glyphs))


def _how_much(change: SmallestChange, width: int, glyphs: Glyphs) -> Content:
    """How far the knob is turned, what one step less does, and what else is to be said."""
    told = []
    if on_the_memory(change.knob):
        told.append("of the memory")
    turned = change.knob not in TIMES and not on_the_memory(change.knob)
    if turned and change.one_less is not None and change.one_less != change.before:
        told.append(f"{plain(change.one_less)} does not")
    if change.note:
        told.append(one_line(change.note))
    share = (
        "one word"
        if change.knob == "query"
        else "a switch"
        if change.size >= 1 and (change.one_less is None or change.knob in TIMES)
        else f"{change.size:.0%} of its range"
    )
    line = Content.assemble(
        "     ",
        (padded_bar(min(1.0, change.size), BAR_CELLS, glyphs), "$primary"),
        (f" {share}", "$dim"),
        ("   " + "   ".join(told) if told else "", "$dim"),
    )
    return line.truncate(max(8, width - 1), ellipsis=True)


def _powerless(powerless: Sequence[IdleKnob], width: int) -> list[Row]:
    by_reason: dict[str, list[str]] = {}
    for knob in powerless:
        by_reason.setdefault(one_line(knob.why), []).append(knob_name(knob.knob))
    rows = []
    for why, knobs in by_reason.items():
        names, room = ", ".join(knobs), width - KNOB_CELLS - 5
        if len(names) < KNOB_CELLS and len(why) <= room:
            line = Content.assemble("   ", (fit(names, KNOB_CELLS), "$foreground"), (why, "$dim"))
            rows.append(Row((line,)))
            continue
        lines = Content.styled(names, "$foreground").wrap(max(12, width - 4))
        reason = Content.styled(why, "$dim").wrap(max(12, width - 6))
        told = [Content.assemble("   ", line) for line in lines]
        rows.append(Row((*told, *(Content.assemble("     ", line) for line in reason))))
    return rows


# The ladder: every gate in order, whether the memory passed it, its number against the limit.

GATE_CELLS, NUMBER_CELLS = 16, 11

MOST_VALUE = 18

BESIDE = 88
"""From this width on a gate's sentence stands beside its numbers."""

INDENT = 3


def ladder_rows(verdict: Verdict, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    """A heading, then one row a gate. Where they do not fit, gates that were passed share a line."""
    height -= 1
    return [_ladder_heading(width), *_fitting(verdict, width, height, glyphs)]


def _ladder_heading(width: int) -> Row:
    own, least = _cells(width)
    line = f" {'':2}{fit('CHECK', GATE_CELLS)}{right('MEMORY', own)} {right('LIMIT', least)}"
    return Row((Content.styled(line, "bold $heading").truncate(width, ellipsis=True),))


def _cells(width: int) -> tuple[int, int]:
    """Of the memory's own value, and of the limit."""
    if width < GATE_CELLS + 2 * NUMBER_CELLS + 6:
        return 8, 8
    return max(NUMBER_CELLS, min(MOST_VALUE, width - GATE_CELLS - NUMBER_CELLS - 6)), NUMBER_CELLS


def _fitting(verdict: Verdict, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    whole = list(_told(verdict, width, glyphs, everything=True))
    if _lines(whole) <= height:
        return whole
    brief = list(_told(verdict, width, glyphs, everything=False))
    if _lines(brief) <= height:
        return brief
    return [
        row
        for beyond, part in _parts(verdict, width)
        for row in (*beyond, *_folded(verdict, part, width, glyphs))
    ]


def _told(verdict: Verdict, width: int, glyphs: Glyphs, *, everything: bool) -> Iterator[Row]:
    for beyond, part in _parts(verdict, width):
        yield from beyond
        for rung in part:
            yield _row(verdict, rung, width, glyphs, told=everything or rung.passed is False)


def _parts(verdict: Verdict, width: int) -> Iterator[tuple[tuple[Row, ...], list[GateResult]]]:
    """The gates that the memory came to, then, below a heading, what would have been behind the one that failed."""
    came: list[GateResult] = []
    beyond: list[GateResult] = []
    part = came
    for rung in verdict.ladder:
        if rung.applies and rung.passed is not None:  # one that is not asked stays with the one before it
            part = beyond if rung.hypothetical else came
        (beyond if rung.applies and rung.passed is None else part).append(rung)
    if not any(rung.passed is not None for rung in beyond):  # nothing is said of what would have been
        came, beyond = list(verdict.ladder), []
    yield (), came
    if beyond:
        yield (
            (
                Row(
                    (
                        Content.styled(" WITHOUT THE FAILED CHECK", "bold $heading").truncate(
                            width, ellipsis=True
                        ),
                    )
                ),
            ),
            beyond,
        )


def _lines(rows: Sequence[Row]) -> int:
    return sum(len(row.lines) for row in rows)


def _folded(verdict: Verdict, ladder: list[GateResult], width: int, glyphs: Glyphs) -> Iterator[Row]:
    for kind, group in groupby(ladder, lambda rung: _mark(rung, glyphs)):
        rungs = list(group)
        if len(rungs) == 1 or rungs[0].passed is False:
            yield from (_row(verdict, rung, width, glyphs, told=rung.passed is False) for rung in rungs)
            continue
        mark, style = kind
        passed = "would pass" if rungs[0].hypothetical else "passed"
        what = "not asked" if not rungs[0].applies else passed if rungs[0].passed else "not known"
        names = ", ".join(gate_name(rung.gate) for rung in rungs)
        line = Content.assemble(
            " ", (mark, style), " ", (f"{counted(len(rungs), 'check')} {what}: ", "$dim"), (names, "$dim")
        )
        yield Row((line.truncate(max(8, width - 1), ellipsis=True),), f"gate:{rungs[0].gate}")


def _row(verdict: Verdict, rung: GateResult, width: int, glyphs: Glyphs, *, told: bool) -> Row:
    mark, style = _mark(rung, glyphs)
    first = rung.gate == verdict.gate
    name_style = "bold $stage-cut" if first else "$foreground" if rung.applies else "$dim"
    value, limit = (gate_number(rung.gate, each) for each in (rung.value, rung.limit))
    limit = (
        limit if value or rung.passed is False else ""
    )  # a limit that nothing was held against says nothing
    own, least = _cells(width)
    head = Content.assemble(
        " ",
        (mark, style),
        " ",
        (fit(gate_name(rung.gate), GATE_CELLS, glyphs.ellipsis), name_style),
        (right(value, own, glyphs.ellipsis), "bold $foreground" if first else "$foreground"),
        (f" {right(limit, least, glyphs.ellipsis)}", "$dim"),
    )
    said = "" if first else _sentence(rung)  # the verdict above says that of the first
    style = "$dim"
    if width >= BESIDE:
        room = width - head.cell_length - 4
        parts = Content.styled(said, style).wrap(max(16, room)) if told else [Content.styled(said, style)]
        parts = parts or [Content()]
        rest = [Content.assemble(" " * (head.cell_length + 2), part) for part in parts[1:]]
        return Row(
            (Content.assemble(head, "  ", parts[0].truncate(room, ellipsis=True)), *rest), f"gate:{rung.gate}"
        )
    lines = Content.styled(said, style).wrap(max(16, width - INDENT - 2)) if told and said else []
    return Row((head, *(Content.assemble(" " * INDENT, line) for line in lines)), f"gate:{rung.gate}")


def _sentence(rung: GateResult) -> str:
    aside = " It would have stopped it too." if rung.hypothetical and rung.passed is False else ""
    return one_line(rung.sentence) + aside


def _mark(rung: GateResult, glyphs: Glyphs) -> tuple[str, str]:
    if not rung.applies:
        return glyphs.dot, "$dim"
    if rung.passed is None:
        return "?", "$dim"
    if rung.passed:
        return glyphs.mark, "$dim" if rung.hypothetical else "$ok"
    return glyphs.cross, "$dim" if rung.hypothetical else "bold $stage-cut"


def rung_words(verdict: Verdict, key: str) -> str:
    """The sentence of the gate under the cursor; behind the gate that stopped the memory, as what would be."""
    rung = verdict.rung(key.removeprefix("gate:"))
    if rung is None:
        return ""
    numbered = rung.hypothetical and rung.applies and rung.passed and rung.value is not None
    return f"{_sentence(rung)} (if it had passed)" if numbered else _sentence(rung)


# The verdict in a few lines: which memory, which question, the first gate that it failed.

MOST_LINES = 4
"""Lines of the sentence; the ladder has it whole."""


def verdict_lines(state: WhyNotState, width: int, glyphs: Glyphs) -> list[Content]:
    """The memory on one line, then the sentence."""
    lines = [_memory(state, width, glyphs)]
    room = max(20, width - 4)
    if state.error is not None:
        said = [(str(state.error), "$danger")]
    elif state.verdict is None:
        told = state.progress
        said = [(told.what if told is not None and told.fetches else "running every check", "$dim")]
    else:
        returned = state.verdict.returned
        said = [(one_line(state.verdict.sentence), "bold $ok" if returned else "bold $stage-cut")]
        said += [(one_line(warning), "$stale") for warning in state.verdict.warnings[:1]]
    for n, (text, style) in enumerate(said):
        wrapped = Content.styled(text, style).wrap(room)
        mark = _verdict_mark(state, glyphs) if n == 0 else glyphs.warn
        shown = wrapped[:MOST_LINES] if n == 0 else wrapped[:1]
        for i, line in enumerate(shown):
            lines.append(Content.assemble(f" {mark} " if i == 0 else "   ", line))
    return lines


def _verdict_mark(state: WhyNotState, glyphs: Glyphs) -> str:
    if state.error is not None:
        return glyphs.warn
    if state.verdict is None:
        return glyphs.busy
    return glyphs.mark if state.verdict.returned else glyphs.cross


def _memory(state: WhyNotState, width: int, glyphs: Glyphs) -> Content:
    memory = state.memory
    if memory is None:
        return Content.styled(f"   {one_line(state.memory_id)}", "$dim")
    scope = one_line(memory.scope or "no scope")
    room = max(10, width - len(scope) - 14)
    return Content.assemble(
        " ",
        (glyphs.tier(memory.tier), tier_style(memory.tier)),
        " ",
        category_cell(memory.category),
        " ",
        (crop(one_line(memory.text)[:600], room, glyphs.ellipsis), "bold $foreground"),
        "  ",
        (scope, scope_style(memory.scope)),
    ).truncate(max(8, width), ellipsis=True)


def asked(state: WhyNotState, room: int, glyphs: Glyphs) -> str:
    """The question, and by which recipe."""
    recipe = one_line(state.trace.recipe)
    return f"{crop(one_line(state.trace.query[:400]), max(8, room - len(recipe) - 3), glyphs.ellipsis)}   {recipe}"


def searched(state: WhyNotState, glyphs: Glyphs) -> Content:
    """How far the search for the smallest change is."""
    count = len(state.verdict.changes) if state.verdict is not None else 0
    found = f"{count} found" if count else ""
    if state.phase == "stopped":
        return Content.styled(f"{found}   stopped".strip(), "$stale")
    if state.phase in ("looking", "searching"):
        done = state.progress
        if done is None or not done.total:
            return Content.styled("searching", "$primary")
        strip = progress(done.fraction, 8, glyphs)
        return Content.assemble((f"{found}   " if found else "", "$dim"), (strip, "$primary"))
    return Content.styled(found, "$dim")


def failed_gates(state: WhyNotState) -> str:
    """How many gates the memory failed, the first by name."""
    if state.verdict is None:
        return ""
    failed = [rung for rung in state.verdict.ladder if rung.passed is False]
    if not failed or state.verdict.returned:
        return f"{counted(len(state.verdict.ladder), 'check')}, all passed" if state.verdict.returned else ""
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"failed: {gate_name(failed[0].gate)}{more}"
