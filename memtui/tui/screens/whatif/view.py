"""What comes back under the tried settings, against what came back before: who rose, who fell, who left and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import counted, duration, one_line
from memtui.tui.actions.keymap import Keymap
from memtui.tui.paint.bars import marks, padded_bar, slider
from memtui.tui.paint.cells import crop, fit, right, shorten
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import date
from memtui.tui.paint.waterfall import number
from memtui.tui.screens.whatif import state as reduce
from memtui.tui.screens.whatif.state import CATEGORY, CLOCK, OWNER, SCOPES, VECTOR, VERSION, WhatIfState
from memtui.tui.theme.tokens import category_cell, tier_style
from memtui.tui.trace import rule_text, stages
from memtui.tui.trace.rule_text import figure
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine import Memory, Trace
    from memtui.engine.explain import Parameter


BAR, MOVED, SCORE = 8, 7, 6


def result_rows(state: WhatIfState, width: int, glyphs: Glyphs) -> list[Row]:
    """The list now; then who came back before and does not; then the watched memory where it is in neither."""
    trace, base = state.trace, state.base
    if trace is None or base is None:
        return []
    rows = [_result(trace, base, id, width, glyphs) for id in trace.returned]
    if not rows:
        rows.append(Row((Content.styled("  Nothing comes back.", "$foreground"),)))
    gone = [id for id in base.returned if id not in trace.returned]
    if gone:
        rows.append(Row((Content(), Content.styled(" NO LONGER", "bold $heading"))))
        rows += [_missing(trace, base, id, width, glyphs) for id in gone]
    if state.selected and state.selected not in (*trace.returned, *gone):
        rows.append(Row((Content(), Content.styled(" STILL MISSING", "bold $heading"))))
        rows.append(_missing(trace, base, state.selected, width, glyphs))
    return rows


def known(trace: Trace, base: Trace, id: str) -> Memory | None:
    """A memory as the base read it; only those that are new are read for this answer."""
    return base.memories.get(id) or (trace.memories.get(id) if fresh(trace, base) else None)


def fresh(trace: Trace, base: Trace) -> bool:
    """Whether the answer has memories that the base has not."""
    return any(row.id not in base.memories for row in trace.pool.rows)


def _name(memory: Memory | None, id: str, cells: int, glyphs: Glyphs) -> Content:
    room = max(6, cells - 7)
    text = crop(one_line(memory.text)[:400], room, glyphs.ellipsis) if memory else one_line(id)
    tier, category = (memory.tier, memory.category) if memory else (None, None)
    return Content.assemble(
        (glyphs.tier(tier), tier_style(tier)),
        " ",
        category_cell(category),
        " ",
        (fit(text, room), "$foreground"),
    )


def _result(trace: Trace, base: Trace, id: str, width: int, glyphs: Glyphs) -> Row:
    rank = trace.returned.index(id) + 1
    candidate = next(result for result in trace.results if result.id == id)
    moved, style = _moved(base, id, rank, glyphs)
    bar = BAR if width >= 56 else 0
    best = max((result.score or 0.0 for result in trace.results), default=0.0)
    full = stages.BEST_RANKS if stages.of_ranks(candidate) is not None else max(1.0, best)
    share = (candidate.score or 0.0) / full
    line = Content.assemble(
        (right(str(rank), 3), "bold $foreground"),
        " ",
        _name(known(trace, base, id), id, width - 4 - bar - SCORE - MOVED - 2, glyphs),
        " ",
        (padded_bar(share, bar, glyphs), "$score-high"),
        (right(stages.score_words(candidate), SCORE), "bold $foreground"),
        (right(moved, MOVED), style),
        " ",
    )
    return Row((line,), id)


def _moved(base: Trace, id: str, rank: int, glyphs: Glyphs) -> tuple[str, str]:
    if id not in base.returned:
        return "new", "bold $delta-up"
    by = base.returned.index(id) + 1 - rank
    if by == 0:
        return "=", "$dim"
    return (f"{glyphs.up}{by}", "$delta-up") if by > 0 else (f"{glyphs.down}{-by}", "$delta-down")


def _missing(trace: Trace, base: Trace, id: str, width: int, glyphs: Glyphs) -> Row:
    candidate = next((candidate for candidate in trace.candidates if candidate.id == id), None)
    if candidate is None:
        why = "never became a candidate"
    else:
        inputs = stages.gate_step(candidate)
        missed = rule_text.missed(
            candidate.reason, inputs.get("value"), inputs.get("limit", candidate.limit), inputs
        )
        why = rule_text.gate(candidate.reason) + (f": {missed}" if missed else "")
    was = f"was #{base.returned.index(id) + 1}" if id in base.returned else ""
    memory = known(trace, base, id)
    room = width - 8 - len(was)
    return Row(
        (
            Content.assemble(
                "    ", _name(memory, id, room, glyphs), (right(was, len(was) + 1), "$delta-down"), " "
            ),
            Content.assemble(" " * 11, (crop(why, max(8, width - 13), glyphs.ellipsis), "$stage-cut")),
        ),
        id,
    )


def summary(state: WhatIfState) -> str:
    """How much changed: `2 in, 2 out, 4 moved`."""
    trace, base = state.trace, state.base
    if trace is None or base is None:
        return ""
    came = sum(1 for id in trace.returned if id not in base.returned)
    went = sum(1 for id in base.returned if id not in trace.returned)
    both = [id for id in trace.returned if id in base.returned]
    moved = sum(1 for id in both if trace.returned.index(id) != base.returned.index(id))
    if not (came or went or moved):
        return "the same list" if state.tried else ""
    return f"{came} new, {went} gone, {moved} moved"


def asked(state: WhatIfState) -> str:
    """How the list came about: from what was found, or by another search, and in what time."""
    if state.found is None:
        return ""
    trace = state.found.trace
    ms = duration(trace.total_ms)
    if state.found.asked:
        return f"searched again, {ms}"
    return f"from {counted(trace.pool.n, 'candidate')} searched, {ms}"


# The settings as sliders: name, value, track, and under each the points where the list turns over.

NAME, VALUE = 22, 11

MOST_TRACK, LEAST_TRACK = 44, 12

_TITLES = {
    CLOCK: "as of",
    VERSION: "table version",
    SCOPES: "scopes",
    OWNER: "agent",
    CATEGORY: "category",
    VECTOR: "asked with",
}

_HEADINGS = {
    "limit": "QUESTION",
    "source": "QUESTION",
    "retrieval": "SEARCH AND SCORE",
    "decay": "LIFECYCLE DECAY",
    "memtui": "WEIGHTS",
    "memEngine": "MEM-ENGINE",
    "memoryCore": "MEMORY-CORE",
}


Painted = dict[tuple[str, int, str], tuple[tuple[object, ...], Row]]
"""The last row of each setting, width and set of glyphs, with everything that it was painted from."""


def slider_rows(state: WhatIfState, width: int, glyphs: Glyphs, painted: Painted | None = None) -> list[Row]:
    """The question's own rows, then every parameter of the recipe under the heading of its block.

    `painted` keeps rows from one painting to the next, so that one turn paints one row anew.
    """
    kept = painted if painted is not None else {}
    if state.base is None:
        return []
    rows = [_heading("QUESTION", width)]
    rows += [_question_row(state, path, width, glyphs) for path in reduce.questions(state)]
    heading = "QUESTION"
    for parameter in state.parameters:
        wanted = _HEADINGS.get(parameter.knob.path.split(".", 1)[0], "SETTINGS")
        if wanted != heading:
            heading = wanted
            rows.append(Row((Content(), *_heading(heading, width).lines)))
        path, place = parameter.knob.path, (parameter.knob.path, width, glyphs.name)
        made_of = (reduce.value(state, path), path in state.tried, state.strips.get(path), parameter)
        if place not in kept or kept[place][0] != made_of:
            kept[place] = made_of, _row(state, parameter, width, glyphs)
        rows.append(kept[place][1])
    return rows


def _heading(text: str, width: int) -> Row:
    return Row((Content.styled(f" {text}", "bold $heading").truncate(max(8, width), ellipsis=True),))


def name_of(path: str) -> str:
    """A setting by its own name."""
    return _TITLES.get(path) or path.rsplit(".", 1)[-1]


def shown(state: WhatIfState, path: str, value: Any) -> str:
    """A value in a few cells."""
    if path == CLOCK:
        return "now" if value == reduce.own(state, CLOCK) and CLOCK not in state.tried else date(value)[:10]
    if path == VERSION:
        return f"v{value}"
    if path == SCOPES:
        return ", ".join(map(one_line, value)) if value else own_scopes(state) if value is None else "none"
    if path == CATEGORY:
        return one_line(value) if value else "any"
    if path == OWNER:
        return one_line(value) if value else "main"
    if path == VECTOR:
        return state.as_question or "this question"
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    known = reduce.parameter(state, path)
    if known is None or known.knob.kind not in ("number", "whole") or isinstance(value, str):
        return figure(value)
    return number(float(value), digits(known.knob.step))


def digits(step: float) -> int:
    """Decimals that tell one step of a setting from the next."""
    return 0 if step >= 1 else 1 if step >= 0.1 else 2 if step >= 0.01 else 3


def _head(state: WhatIfState, path: str, width: int, value_cells: int = VALUE) -> Content:
    tried = path in state.tried
    style = "bold $key" if tried else "$foreground"
    text = shown(state, path, reduce.value(state, path))
    each = reduce.parameter(state, path)
    searches = " (searches)" if each is not None and each.needs == "a search" and not each.inert else ""
    name = name_of(path)
    searches = searches if len(name) + len(searches) <= NAME else ""
    return Content.assemble(
        " ",
        (name, style),
        (fit(searches, max(0, NAME - len(name))), "$stale"),
        (right(crop(text, value_cells), value_cells), style),
        " ",
    )


def _question_row(state: WhatIfState, path: str, width: int, glyphs: Glyphs) -> Row:
    if path == CLOCK:
        low, high = reduce.clock_range(state)
        track = slider(reduce.value(state, path), low, high, high, _track(width), glyphs)
        return Row((Content.assemble(_head(state, path, width), track),), path)
    if path == VERSION and state.bounds is not None and len(state.bounds.versions) > 1:
        numbers = [number for number, _ in state.bounds.versions]
        places = {number: place for place, number in enumerate(numbers)}
        at, home = (places.get(each(state, path), 0) for each in (reduce.value, reduce.own))
        track = slider(at, 0, len(numbers) - 1, home, _track(width), glyphs)
        return Row((Content.assemble(_head(state, path, width), track),), path)
    room = max(VALUE, width - NAME - 3)
    text = crop(shown(state, path, reduce.value(state, path)), room, glyphs.ellipsis)
    style = "bold $key" if path in state.tried else "$foreground"
    gap = " " * max(0, VALUE - cell_len(text))
    return Row((Content.assemble(" ", (fit(name_of(path), NAME), style), gap, (text, style)),), path)


def _track(width: int) -> int:
    return max(LEAST_TRACK, min(MOST_TRACK, width - NAME - VALUE - 4))


def _row(state: WhatIfState, each: Parameter, width: int, glyphs: Glyphs) -> Row:
    knob, path = each.knob, each.knob.path
    choosing = knob.kind not in ("number", "whole")
    head = _head(
        state, path, width, 0 if choosing and not (each.inert and path not in state.tried) else VALUE
    )
    if each.inert and path not in state.tried:
        said = Content.assemble(head.stylize("$dim"), (f"no effect: {one_line(each.inert)}", "$dim"))
        return Row((shorten(said, max(8, width - 1), glyphs.ellipsis), *_findings(each, width, glyphs)), path)
    if choosing:
        return Row((_choice(head, state, each, glyphs, width), *_findings(each, width, glyphs)), path)
    now, cells = float(reduce.value(state, path) or 0), _track(width)
    track = slider(now, knob.low, knob.high, float(each.value or 0), cells, glyphs)
    first = Content.assemble(head, track).truncate(max(8, width), ellipsis=True)
    return Row(
        (first, _flips(state, each, head.cell_length, cells, width, glyphs), *_findings(each, width, glyphs)),
        path,
    )


def _choice(head: Content, state: WhatIfState, each: Parameter, glyphs: Glyphs, width: int) -> Content:
    values = (False, True) if each.knob.kind == "switch" else each.knob.choices
    now = reduce.value(state, each.knob.path)
    parts: list[str | tuple[str, str]] = []
    for choice in values:
        here = choice == now
        text = shown(state, each.knob.path, choice)
        parts.append(
            (f"{glyphs.knob if here else glyphs.dot} {text}  ", "bold $foreground" if here else "$dim")
        )
    return shorten(Content.assemble(head, *parts), max(8, width - 1), glyphs.ellipsis)


def _flips(
    state: WhatIfState, each: Parameter, indent: int, cells: int, width: int, glyphs: Glyphs
) -> Content:
    """The flip points under the track, and how far the list stays as it is."""
    strip = state.strips.get(each.knob.path)
    if strip is None:
        return Content()
    if not strip.flips and not strip.unknown:
        return Content.assemble(" " * indent, ("the same everywhere", "$dim"))
    points = [
        (flip.after, glyphs.dot if flip.reordered else glyphs.up, "$dim" if flip.reordered else "$stale")
        for flip in strip.flips
    ]
    unknown = [((a + b) / 2, "?", "$dim") for a, b in strip.unknown]
    line = Content.assemble(" " * indent, marks([*unknown, *points], strip.low, strip.high, cells))
    low, high = strip.safe
    said = f"same {figure(low)} to {figure(high)}"
    room = width - line.cell_length - 2
    return Content.assemble(line, " ", (said if len(said) <= room else "", "$dim"))


def _findings(each: Parameter, width: int, glyphs: Glyphs) -> Sequence[Content]:
    return [
        shorten(
            Content.assemble("   ", (f"{glyphs.warn} ", "bold $stale"), (one_line(finding), "$stale")),
            max(8, width - 1),
            glyphs.ellipsis,
        )
        for finding in each.findings[:1]  # the others are told when the cursor is here
    ]


def about(state: WhatIfState, width: int, glyphs: Glyphs, keys: Keymap) -> list[Content]:
    """What the setting under the cursor means, its range, its own value, its flip points, what is to be known."""
    path = state.key
    each = reduce.parameter(state, path)
    if each is None:
        text = keys.words(_QUESTION_WORDS.get(path, ""))
        return [Content.assemble(" ", line) for line in Content.styled(text, "$dim").wrap(max(12, width - 2))]
    knob = each.knob
    facts = [one_line(knob.meaning)]
    if knob.kind in ("number", "whole"):
        facts.append(f"{figure(knob.low)} to {figure(knob.high)}, step {figure(knob.notch)}")
    facts.append(f"default {shown(state, path, each.value)}")
    if each.needs == "a search":
        facts.append("another search is made where what was found does not suffice")
    lines = Content.styled("; ".join(facts), "$dim").wrap(max(12, width - 2))
    told: list[Content] = [Content.assemble(" ", line) for line in lines]
    for finding in (*each.findings, *((f"no effect here: {each.inert}",) if each.inert else ())):
        for i, line in enumerate(Content.styled(one_line(finding), "$stale").wrap(max(12, width - 4))):
            told.append(Content.assemble((f" {glyphs.warn} " if i == 0 else "   ", "bold $stale"), line))
    strip = state.strips.get(path)
    if strip is not None and strip.flips:
        told.append(Content.assemble(" ", _next_words(state, path, keys)).truncate(width, ellipsis=True))
    return told


def own_scopes(state: WhatIfState) -> str:
    """What is searched where no scope is named: what the recipe's own rules made of the question, or all."""
    asker = state.base.asker if state.base is not None else None
    if asker is None or asker.how != "own-rules":
        return "all"
    if asker.scopes is None:
        return "its own rules"
    return f"{', '.join(map(one_line, asker.scopes))}, its policy's"


_QUESTION_WORDS = {
    CLOCK: "The moment of the recall: what was known, valid and fresh then. {settings.open} types a date.",
    VERSION: "The table at that version, read only. {settings.open} lists them.",
    SCOPES: "Whose memories are searched. {settings.open} chooses an agent or scopes.",
    OWNER: "The agent whose own memories are searched. {settings.open} chooses.",
    CATEGORY: "Only one kind of memory. {settings.open} chooses.",
    VECTOR: "The vector of the question: its own, a memory's, or that of an earlier question. {settings.open} chooses.",
}


def _next_words(state: WhatIfState, path: str, keys: Keymap) -> Content:
    """What happens at the flip points on both sides."""
    strip = state.strips[path]
    parts: list[str | tuple[str, str]] = []
    for by, id in ((-1, "whatif.previous-flip"), (1, "whatif.next-flip")):
        at = reduce.next_flip(state, path, by)
        flip = next((f for f in strip.flips if at in (f.before, f.after)), None)
        if at is None or flip is None:
            continue
        gone, come = (flip.left, flip.entered) if by > 0 else (flip.entered, flip.left)
        what = "another order" if flip.reordered else f"{len(come)} enter, {len(gone)} leave"
        parts += [(f"{keys.cap(id)} ", "bold $key"), (f"at {figure(at)} {what}   ", "$foreground")]
    return Content.assemble(*parts)
