"""The flow panel: who is in which tier, and who would move if the tier manager ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from memtui.engine import counted, duration, one_line
from memtui.engine.catalog import Finding
from memtui.engine.lifecycle import KNOBS, Board, DecayKnob, Review
from memtui.tui.actions.action import Action
from memtui.tui.actions.keymap import Keymap
from memtui.tui.paint.bars import progress, slider, spark, stacked_bar
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import DAY, full, short
from memtui.tui.screens.lifecycle.state import PANELS, LifecycleState, value_of
from memtui.tui.theme.tokens import TIER_TOKENS, tier_style
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine.lifecycle import LifeRemedy


# Short words of the Lifecycle screen: horizons, scenarios, measures, tiers, days.

TITLES = {
    "curves": "Decay curves",
    "scores": "Scores",
    "flow": "Tier flow",
    "next": "About to change",
    "whatif": "What if",
    "numbers": "Numbers",
    "history": "History",
    "findings": "Findings",
    "review": "Review",
    "card": "Memory",
}

SHORT = {
    "curves": "curves",
    "scores": "scores",
    "flow": "flow",
    "next": "about to change",
    "whatif": "what-if",
    "numbers": "numbers",
    "history": "history",
    "findings": "findings",
}

MEASURES = {
    "composite": "composite",
    "recency": "recency",
    "boost": "weight in recall",
}

KINDS = {"stale": "goes stale", "rises": "rises", "sinks": "sinks", "expires": "expires"}

IF_MOVED = {
    "nothing": "if swept: dreaming is off, nothing else moves it",
    "unknown": "if swept: the plugin moves tiers only while it dreams",
    "dreaming": "if swept, or if dreaming looks at it (rows of its last two days)",
}
"""By `Mover`: on what a dated move between tiers depends."""

YEAR = 365.25


def span(days: float) -> str:
    """`30 d`, `1 y`, `100 y`."""
    return f"{days / YEAR:.0f} y" if days >= 360 else f"{days:g} d"


def until(at_ms: float, now_ms: float) -> str:
    """How far a moment lies ahead, in at most four cells: `3h`, `12d`, `21w`, `4y`."""
    gap = max(0.0, at_ms - now_ms)
    if gap < DAY:
        return f"{gap / 3_600_000:.0f}h"
    days = gap / DAY
    if days < 100:
        return f"{days:.0f}d"
    return f"{days / 7:.0f}w" if days < 2 * YEAR else f"{days / YEAR:.0f}y"


def day(ms: float) -> str:
    """`21 Nov`, with the year where it is far off; `-` for what is no date."""
    try:
        moment = datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return "-"
    return f"{moment.day} {moment.strftime('%b %Y')}"


def outlook(remedy: LifeRemedy, horizon_days: float) -> str:
    """What a remedy leaves to come, in at most 24 cells: its end, its staleness, a move down, or none of them."""
    stale, ends = remedy.stale_at_ms, remedy.ends_at_ms
    if ends is not None and (stale is None or ends <= stale):
        return f"still ends {day(ends)}"
    if stale is not None:
        return f"stale on {day(stale)}"
    if remedy.sinks_at_ms is not None:
        return f"may sink {day(remedy.sinks_at_ms)}"
    return f"not stale within {span(horizon_days)}"


def crossed(kind: str, to: str, tier: str, mover: str) -> str:
    """A crossing in words: "goes stale"; a move between tiers with what it depends on."""
    if to == tier:
        return KINDS[kind]
    verb = {"rises": "would rise", "sinks": "would sink"}[kind]
    return f"{verb} to {to} {IF_MOVED[mover]}"


def minute(ms: float) -> str:
    """`21 Nov 2026 14:05`."""
    try:
        return f"{day(ms)} {datetime.fromtimestamp(ms / 1000, UTC).strftime('%H:%M')}"
    except (OverflowError, OSError, ValueError):
        return day(ms)


def step(before: str, after: str, glyphs: Glyphs) -> tuple[tuple[str, str], ...]:
    """`◇→·`: from one tier to another, as styled parts."""
    return (
        (glyphs.tier(before), tier_style(before)),
        (glyphs.forth, "$dim"),
        (glyphs.tier(after), tier_style(after)),
    )


NAME = 14

CELL = 8

MOVED = 6

STEP = 3
"""Cells of a count of moves, and of the two tiers with the arrow between them."""


def flow_rows(board: Board, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    """A head, one row a tier, then the moves between them and what a sweep would leave alone."""
    columns = ("now", "in", "out", "after", "stale")
    shown = columns[: max(2, min(len(columns), (width - NAME - 2) // CELL))]
    head = "".join(right(name, CELL) for name in shown)
    rows = [Row((Content.styled(f" {'':{NAME}}{head}", "$dim"),))]
    for facts in board.tiers:
        values = (facts.rows, facts.arriving, facts.leaving, facts.after, facts.stale)
        cells: list[str | tuple[str, str]] = []
        for name, value in zip(shown, values, strict=False):
            sign = {"in": "+", "out": "-"}.get(name, "") if value else ""
            style = {"in": "$delta-up", "out": "$delta-down", "stale": "$stale"}.get(name, "$foreground")
            cells.append((right(f"{sign}{full(value)}", CELL), style if value else "$dim"))
        line = Content.assemble(
            " ", (fit(f"{glyphs.tier(facts.tier)} {facts.tier}", NAME), tier_style(facts.tier)), *cells
        )
        trend = spark(facts.bins, glyphs)
        if trend and width - line.cell_length >= len(trend) + 3:
            line = Content.assemble(line, "   ", (trend, tier_style(facts.tier)))
        rows.append(Row((line,), facts.tier))
    rows.append(Row((Content(),)))
    rows += [Row((line,)) for line in _moves(board, width, glyphs)]
    return rows if len(rows) <= height else [row for row in rows if row.lines[0].plain.strip()]


def _moves(board: Board, width: int, glyphs: Glyphs) -> list[Content]:
    if not board.flows:
        return [Content.styled(" no memory moves: each is where the rules want it", "$dim")]
    lines = [
        Content.assemble(
            (right(full(flow.rows), MOVED), "$foreground"),
            " ",
            *step(flow.before, flow.after, glyphs),
            (f"  {crop(flow.rule, max(1, width - MOVED - STEP - 4), glyphs.ellipsis)}", "$dim"),
        )
        for flow in board.flows
    ]
    return [line.truncate(width, ellipsis=True) for line in lines]


# The findings panel: what the model says and what really happens here; rows lead into Browse.

_STYLES = {"error": "bold $danger", "warning": "$stale", "info": "$dim"}


def finding_rows(findings: Sequence[Finding] | None, width: int, glyphs: Glyphs) -> list[Row]:
    """Each finding with its count, then what it means, wrapped."""
    if findings is None:
        return [Row((Content.styled(" reading how memories were used", "$dim"),))]
    if not findings:
        return [Row((Content.assemble((f" {glyphs.mark} ", "$ok"), "the lifecycle runs as its model says"),))]
    return [
        Row(_lines(finding, width, glyphs), f"filter:{finding.filter}" if finding.filter else "")
        for finding in findings
    ]


def _lines(finding: Finding, width: int, glyphs: Glyphs) -> tuple[Content, ...]:
    room = max(10, width - 4)
    mark = glyphs.dot if finding.severity == "info" else glyphs.warn
    title = f"{full(finding.count)} {one_line(finding.title)}"
    head = Content.styled(title, "$foreground").wrap(room)
    body = Content.styled(one_line(finding.remedy), "$dim").wrap(room)
    lead = (f" {mark} ", _STYLES.get(finding.severity, "$dim"))
    return (
        Content.assemble(lead, head[0] if head else ""),
        *(Content.assemble("   ", line) for line in (*head[1:], *body)),
    )


# The line on top: what is asked, each part with the key that changes it; below it, narrow, the panels.

BAR = 24
"""Cells of the bar of the review, where there is room."""


def _chip(key: Action, text: str, style: str = "$foreground") -> Content:
    press = Style.from_meta({"@click": f"app.simulate_key('{key.press}')"})
    return Content.assemble((key.cap, "bold $key"), " ", (text, style)).stylize(press)


def head_lines(
    state: LifecycleState, keys: Keymap, now_ms: int, width: int, glyphs: Glyphs, *, tabs: bool
) -> list[Content]:
    """One line of what is asked; with `tabs` a second one with the names of the panels.

    In the review it is one line of how far that is.
    """
    ask, key = state.ask, keys.by_id
    if state.reviewing:
        return [_progress(state.review, key["lifecycle.back"], width, glyphs)]
    when = day(now_ms + ask.ahead_days * 86_400_000)
    moved = f" +{span(ask.ahead_days)}" if ask.ahead_days else ""
    scope = "all" if ask.scopes is None else one_line(ask.scopes[0] or "(none)") or '" "'
    chips = [
        _chip(key["lifecycle.later"], f"as of {when}{moved}", "$stale" if moved else "$foreground"),
        _chip(key["lifecycle.longer"], f"next {span(ask.horizon_days)}"),
        _chip(key["lifecycle.scenario"], ask.scenario),
        _chip(key["lifecycle.scope"], f"scope {scope}", "$foreground" if ask.scopes is None else "$stale"),
    ]
    if width >= 100:
        chips.append(_chip(key["lifecycle.measure"], MEASURES[state.measure]))
    line = Content.assemble(" ", Content("   ").join(chips))
    said = _said(state, key["lifecycle.reset"], width)
    gap = width - line.cell_length - said.cell_length - 1
    if said.plain and gap >= 2:
        line = Content.assemble(line, " " * gap, said)
    return [line, _tabs(state)] if tabs else [line]


def _said(state: LifecycleState, reset: Action, width: int) -> Content:
    if state.stale or state.board is None:
        return Content.styled("computing", "$primary")
    if state.trying:
        return Content.styled(f"trying settings, {reset.cap} undoes them", "$stale")
    if width < 140:
        return Content()
    return Content.styled(
        f"{counted(state.board.rows, 'memory', 'memories')} in {duration(state.board.ms)}"
        f"   {state.board.settings.origin}",
        "$dim",
    )


def _progress(review: Review | None, back: Action, width: int, glyphs: Glyphs) -> Content:
    """How many are settled, as a bar and in words, and the way back."""
    name = Content.styled(" weekly review", "bold $primary")
    if review is None:
        return Content.assemble(name, ("   computing", "$primary"))
    whole = review.settled + review.waiting
    strip = progress(review.settled / whole if whole else 1.0, BAR if width >= 100 else BAR // 2, glyphs)
    line = Content.assemble(
        name,
        "   ",
        (strip, "$ok"),
        (f"   {full(review.settled)} settled this week", "bold"),
        (f", {full(review.waiting)} waiting", "$foreground"),
    )
    leave = _chip(back, "to the panels", "$dim")
    gap = width - line.cell_length - leave.cell_length - 1
    return Content.assemble(line, " " * gap, leave) if gap >= 2 else line


def _tabs(state: LifecycleState) -> Content:
    parts = []
    for name in PANELS:
        here = name == (state.zoom or state.panel)
        press = Style.from_meta({"@click": f"screen.panel('{name}')"})
        text = Content.styled(
            f"[{SHORT[name]}]" if here else SHORT[name], "bold $primary" if here else "$dim"
        )
        parts.append(text.stylize(press))
    return Content.assemble(" ", Content("  ").join(parts))


# The scores panel: how many memories have which composite, by tier, with the stale line between them.

LABEL = 9

COUNT = 8

DELTA = 7
"""For the difference, while settings are tried."""

LINE = "line"
"""Key of the row that is the stale line."""


def groups(board: Board, room: int) -> list[tuple[float, float, tuple[int, ...]]]:
    """Ranges of the composite with counts by tier, the highest first: as many as have room."""
    bins = [facts.bins for facts in board.tiers]
    count = len(bins[0]) if bins else 0
    merge = 1 if room > count else 2
    found = []
    for start in range(0, count, merge):
        counts = tuple(sum(each[start : start + merge]) for each in bins)
        found.append((start / count, (start + merge) / count, counts))
    return found[::-1]


def score_rows(board: Board, base: Board | None, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    """One row a range: its bar, how many, and by how many that differs from the untouched settings."""
    ranges = groups(board, height)
    before = {low: sum(counts) for low, _, counts in groups(base, height)} if base is not None else {}
    most = max((sum(counts) for _, _, counts in ranges), default=0)
    strip = max(4, width - LABEL - COUNT - (DELTA if base is not None else 1))
    line = board.settings.values["decay.staleThreshold"]
    rows: list[Row] = []
    drawn = False
    for low, high, counts in ranges:
        if not drawn and line >= high - 1e-9 and line > 0:
            rows.append(_stale_line(board, line, width, glyphs))
            drawn = True
        total = sum(counts)
        bar = stacked_bar(counts, most, strip, glyphs)
        change = total - before.get(low, total)
        style = "$dim" if not total else "$stale" if high <= line + 1e-9 else "$foreground"
        rows.append(
            Row(
                (
                    Content.assemble(
                        " ",
                        (f"{_edge(low)}-{_edge(high)}".ljust(LABEL - 1), "$dim"),
                        bar.extend_right(max(0, strip - bar.cell_length)),
                        (right(full(total), COUNT), style),
                        _delta(change) if change else "",
                    ).truncate(width, ellipsis=True),
                ),
                f"{low:g}",
            )
        )
    return rows


def _stale_line(board: Board, line: float, width: int, glyphs: Glyphs) -> Row:
    said = f" stale below {_edge(line)}: {full(board.stale)} "
    rule = glyphs.skeleton * max(0, width - LABEL - len(said) - 1)
    return Row((Content.styled(" " * LABEL + rule + said, "$stale").truncate(width, ellipsis=True),), LINE)


def _delta(change: int) -> Content:
    return Content.styled(f" {change:+,}", "$delta-up" if change > 0 else "$delta-down")


def _edge(value: float) -> str:
    return f"{value:.2f}".removeprefix("0") if value < 1 else "1.0"


def row_words(board: Board, key: str, height: int, glyphs: Glyphs) -> Content:
    """The numbers of the row under the cursor, by tier."""
    if key == LINE:
        parts = [(facts.tier, facts.stale) for facts in board.tiers]
        lead = "stale"
    else:
        found = next((group for group in groups(board, height) if f"{group[0]:g}" == key), None)
        if found is None:
            return Content()
        parts = [(facts.tier, count) for facts, count in zip(board.tiers, found[2], strict=True)]
        lead = f"{_edge(found[0])}-{_edge(found[1])}"
    marks = [
        Content.styled(f"{glyphs.tier(tier)} {short(count)}", f"${TIER_TOKENS[tier]}")
        for tier, count in parts
    ]
    return Content("  ").join([Content(lead), *marks])


# The what-if panel: every setting as a slider, and what the tried ones do to tiers, plan, forecast and
# cases.

TITLE = 15

VALUE = 8

MOST_TRACK = 40

LEAST_TRACK = 16
"""Cells of a track that are worth more than the words behind it."""

EFFECT_NAME = 19

EFFECT_CELLS = 46
"""Width of the effect beside the sliders; a narrow screen has it below them."""

Measured = Mapping[str, float | None]


def figure(value: float, each: DecayKnob) -> str:
    """A setting's value: `30 d`, `10`; with two digits where it is a share or a shape: `.70`, `1.50`."""
    if each.whole:
        return f"{value:.0f}"
    if each.unit:
        return f"{value:g} {each.unit}"
    return f"{value:.2f}".removeprefix("0") if value < 1 else f"{value:.2f}"


def knob_rows(state: LifecycleState, width: int, glyphs: Glyphs) -> list[Row]:
    """One row a setting: name, value, track, and its meaning where there is room."""
    meaning = max(len(knob.meaning) for knob in KNOBS) + 2
    left = width - TITLE - VALUE - 2
    track = max(8, min(MOST_TRACK, left - meaning if left - meaning >= LEAST_TRACK else left - 1))
    rows = []
    for knob in KNOBS:
        value = value_of(state, knob)
        own = state.settings.values.get(knob.key, knob.default) if state.settings else knob.default
        tried = knob.key in state.ask.changes
        line = Content.assemble(
            " ",
            (fit(knob.title, TITLE), "bold $key" if tried else "$foreground"),
            (right(figure(value, knob), VALUE), "bold $key" if tried else "$foreground"),
            " ",
            slider(value, knob.low, knob.high, own, track, glyphs),
            (f"  {knob.meaning}" if left - track >= meaning else "", "$dim"),
        )
        rows.append(Row((line.truncate(width, ellipsis=True),), knob.key))
    return rows


def effect_lines(
    board: Board | None,
    base: Board | None,
    cases: tuple[Measured, Measured] | None,
    said: str,
    width: int,
    glyphs: Glyphs,
) -> list[Content]:
    """What the tried settings change: tiers once swept, stale memories, the plan, the forecast, the cases."""
    if board is None:
        return []
    old = base or board
    lines = []
    for facts, before in zip(board.tiers, old.tiers, strict=True):
        name = f"{glyphs.tier(facts.tier)} {facts.tier} swept"
        lines.append(_row(name, before.after, facts.after, glyphs, tier_style(facts.tier)))
    lines.append(_row("stale", old.stale, board.stale, glyphs, "$stale"))
    lines.append(
        _row("moves due", old.promotions + old.demotions, board.promotions + board.demotions, glyphs, "$dim")
    )
    ahead = span(board.ask.horizon_days)
    lines.append(
        _row(f"lines in {ahead}", sum(old.counts.values()), sum(board.counts.values()), glyphs, "$dim")
    )
    lines.append(_cases(cases, said, bool(board.ask.changes), glyphs))
    return [line.truncate(max(1, width), ellipsis=True) for line in lines]


def _row(name: str, before: int, after: int, glyphs: Glyphs, style: str) -> Content:
    change = after - before
    moved: list[tuple[str, str]] = []
    if change:
        moved = [
            (f" {glyphs.forth} ", "$dim"),
            (right(full(after), 7), "bold $foreground"),
            (right(f"{change:+,}", 9), "$delta-up" if change > 0 else "$delta-down"),
        ]
    return Content.assemble(
        " ", (fit(name, EFFECT_NAME), style), (right(full(before), 7), "$foreground"), *moved
    )


def _cases(cases: tuple[Measured, Measured] | None, said: str, tried: bool, glyphs: Glyphs) -> Content:
    if cases is None:
        return Content.styled(f" {said}", "$dim")
    before, after = (case.get("ndcg") for case in cases)
    if before is None or after is None:
        return Content.styled(" no saved case names a memory that is there", "$dim")
    change = after - before
    same = abs(change) < 5e-4
    return Content.assemble(
        (f" {'cases, nDCG':<{EFFECT_NAME}}", "$foreground"),
        (f"{before:7.3f}", "$foreground"),
        (f" {glyphs.forth} ", "$dim") if not same else "",
        (f"{after:7.3f}", "bold") if not same else ("   unchanged" if tried else "", "$dim"),
        ("" if same else f"{change:+9.3f}", "$delta-up" if change > 0 else "$delta-down"),
    )


def compact(lines: list[Content]) -> list[Content]:
    """The same in two lines for a narrow screen: tiers, then the rest."""
    if not lines:
        return []
    body = [" ".join(line.plain.split()).replace(" swept", "") for line in lines]
    return [
        Content.styled(f" swept: {'   '.join(body[:3])}", "$foreground"),
        Content.styled(f" {'   '.join([*body[3:5], body[6].removeprefix('cases, ')])}", "$dim"),
    ]
