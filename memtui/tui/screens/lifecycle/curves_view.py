"""The curves panel: the model's three tiers, the chosen memory on them, and what the axis says."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from textual.content import Content

from memtui.engine import counted, one_line
from memtui.engine.lifecycle import LifeRemedy, MemoryLife, StoreHistory
from memtui.tui.paint.bars import calendar_lines, resample, spark, stacked_bar
from memtui.tui.paint.cells import fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.line_plot import DASHED, DOTTED, SOLID, Curve, Level, Plot, PlotPoint, ceiling
from memtui.tui.paint.numbers import DAY, full, score
from memtui.tui.screens.lifecycle.board_view import MEASURES, day, outlook, span
from memtui.tui.screens.lifecycle.state import CHARTS, Chart, LifecycleState
from memtui.tui.theme.tokens import TIER_TOKENS
from memtui.tui.widgets.row_list import Row

TYPICAL = "a memory as it is written by default: importance .70, confidence .70"

SAME = 1e-3
"""A memory that follows its tier's curve as close as this needs no curve of its own."""

PATTERNS = {"core": SOLID, "working": DASHED, "peripheral": DOTTED}


def legend(glyphs: Glyphs, *, short: bool = False) -> Content:
    """`◆ core ━  ◇ working ┅  · peripheral ┈`."""
    parts = []
    for (tier, token), dash in zip(TIER_TOKENS.items(), glyphs.dashes, strict=True):
        name = "" if short else f"{tier} "
        parts.append(Content.styled(f"{glyphs.tier(tier)} {name}{dash}", f"${token}"))
    return Content("  ").join(parts)


def plot_of(state: LifecycleState, now_ms: int, glyphs: Glyphs, *, cloud: bool = False) -> Plot | None:
    """What to draw for the chosen memory, with a `cloud` also the others; None before its life is known."""
    life = state.life
    if life is None:
        return None
    model, measure = life.model, state.measure
    curves = [
        Curve(tier.values, f"${TIER_TOKENS[tier.tier]}", PATTERNS[tier.tier], glyphs.tier(tier.tier))
        for tier in model.tiers
    ]
    begin, end = life.at_ms[0], life.at_ms[-1]
    place = (now_ms - begin) / (end - begin) if end > begin else 0.0
    own_tier = next(tier for tier in model.tiers if tier.tier == life.tier)
    if any(abs(own - of_tier) > SAME for own, of_tier in zip(life.curve, own_tier.values, strict=True)):
        curves.append(Curve(life.curve, "$foreground", SOLID, "*"))
    remedy = next((remedy for remedy in life.remedies if remedy.name == state.remedy), None)
    if remedy is not None:
        later = tuple(
            value if at >= now_ms else float("nan")
            for value, at in zip(remedy.curve, life.at_ms, strict=True)
        )
        curves.append(Curve(later, "$delta-up", SOLID, "+"))
    others = _cloud(state, model.days, glyphs) if cloud else ()
    values = [*(value for curve in curves for value in curve.values), *(spot.value for spot in others)]
    levels = []
    if measure == "composite":
        levels.append(Level(model.stale_line, "$stale", " stale "))
    elif measure == "recency":
        levels.append(Level(0.5, "$dim", " half "))
        levels.append(Level(1 / 2.718281828459045, "$dim", " 1/e "))
    else:
        levels.append(Level(own_tier.floor_boost, "$stale", f" floor {score(own_tier.floor)} "))
    now_value = {"composite": life.composite, "recency": life.recency, "boost": life.boost}[measure]
    upright = [(place, "$faint")] if 0 <= place <= 1 else []
    if state.probe is not None:
        upright.append((state.probe, "$primary"))
    return Plot(
        tuple(curves),
        model.days,
        ceiling(values, model.stale_line * 1.15 if measure == "composite" else 0.0),
        tuple(levels),
        (PlotPoint(place, now_value, glyphs.knob, "bold $foreground"),) if 0 <= place <= 1 else (),
        tuple(upright),
        others,
    )


def _cloud(state: LifecycleState, days: float, glyphs: Glyphs) -> tuple[PlotPoint, ...]:
    """The memories of the board where they stand: days since the last use against the measure, by tier."""
    if state.board is None or days <= 0:
        return ()
    cloud = state.board.cloud
    return tuple(
        PlotPoint(since / days, value, glyphs.tier(tier), f"dim ${TIER_TOKENS[tier]}")
        for tier, since, value in zip(cloud.tiers, cloud.days, getattr(cloud, state.measure), strict=True)
        if since <= days
    )


def probe_words(state: LifecycleState, glyphs: Glyphs) -> Content:
    """The values under the probe; without one, the legend's own."""
    life = state.life
    if life is None or state.probe is None:
        return Content()
    at = state.probe * (len(life.at_ms) - 1)
    index = min(len(life.at_ms) - 1, round(at))
    days = (life.at_ms[index] - life.at_ms[0]) / DAY
    parts: list[Content | str] = [Content.styled(f"{days:.0f} d, {day(life.at_ms[index])}", "$foreground")]
    for tier in life.model.tiers:
        mark = f"{glyphs.tier(tier.tier)} {score(tier.values[index])}"
        parts.append(Content.styled(mark, f"${TIER_TOKENS[tier.tier]}"))
    parts.append(Content.styled(f"it {score(life.curve[index])}", "$foreground"))
    return Content("  ").join(parts)


def below(state: LifecycleState, now_ms: int, glyphs: Glyphs, *, others: int = 0) -> tuple[Content, ...]:
    """Words under the plot: which memory, what half-life means, what will happen to it; how many `others` there are."""
    life = state.life
    if life is None:
        return ()
    own = next(tier for tier in life.model.tiers if tier.tier == life.tier)
    remedy = next((remedy for remedy in life.remedies if remedy.name == state.remedy), None)
    who = Content.assemble(
        " ",
        (glyphs.knob, "bold $foreground"),
        " ",
        (one_line(life.title) or life.id[:8] or TYPICAL, "$foreground"),
    )
    what = Content.assemble(
        (f" {MEASURES[state.measure]} now ", "$dim"),
        (
            score({"composite": life.composite, "recency": life.recency, "boost": life.boost}[state.measure]),
            "bold",
        ),
        "   ",
        _fate(life),
    )
    if remedy is not None:
        what = _with(remedy, life, now_ms)
    meant = Content.styled(
        f" half-life {_d(own.half_days)}; 1/e (half-life in the article) after {_d(own.fold_days)}", "$dim"
    )
    if not others or state.board is None:
        return (who, what, meant)
    marks = " ".join(glyphs.tier(tier) for tier in TIER_TOKENS)
    rows = counted(state.board.rows, "memory", "memories")
    drawn = f" {marks}  {full(others)} of {rows} at the days since their last use"
    return (who, what, meant, Content.styled(drawn, "$dim"))


def axis_words(life: MemoryLife | None) -> str:
    """What the axis counts, and where the half-life lies on it in both meanings."""
    if life is None:
        return "days since the last use"
    since = "the last use" if life.used else "written, never used"
    own = next(tier for tier in life.model.tiers if tier.tier == life.tier)
    return f"days since {since}: half {_d(own.half_days)}, 1/e {_d(own.fold_days)}"


def _with(remedy: LifeRemedy, life: MemoryLife, now_ms: int) -> Content:
    """What a remedy would do, and what happens without it."""
    then = outlook(remedy, life.horizon_days)
    return Content.assemble(
        (f" + {remedy.title}: ", "bold $delta-up"),
        (f"{score(_value_at(remedy.curve, life, now_ms))} now, {then}", "$delta-up"),
        ("   without: ", "$dim"),
        _fate(life),
    )


def _value_at(values: tuple[float, ...], life: MemoryLife, now_ms: float) -> float:
    """The value of a curve of this life at a moment."""
    begin, end = life.at_ms[0], life.at_ms[-1]
    share = (now_ms - begin) / (end - begin) if end > begin else 0.0
    return values[min(len(values) - 1, max(0, round(share * (len(values) - 1))))]


def _fate(life: MemoryLife) -> Content:
    """What comes first within the horizon: its end, going stale, or a move down; else that nothing does."""
    if life.stale:
        return Content.styled("stale already", "$stale")
    first = {crossing.kind: crossing.at_ms for crossing in reversed(life.crossings)}
    stale, ends = first.get("stale"), first.get("expires")
    if ends is not None and (stale is None or ends <= stale):
        return Content.styled(f"ends on {day(ends)}", "$stale")
    if stale is not None:
        return Content.styled(f"goes stale on {day(stale)}", "$stale")
    within = f"not stale within {span(life.horizon_days)}"
    sinks = first.get("sinks")
    if sinks is None:
        return Content.styled(within, "$dim")
    return Content.assemble((within, "$dim"), (f", may sink {day(sinks)}", "$delta-down"))


def _d(days: float) -> str:
    return f"{days:.0f} d" if isfinite(days) and days < 1e6 else "ages"


# The history panel: a calendar, ages, use, and growth, one chart at a time; what is there, not what could
# be.

LABEL = 10

COUNT = 8

TITLES: dict[Chart, str] = {
    "written": "written, by day",
    "used": "last used, by day",
    "ages": "age since creation",
    "uses": "how often used",
    "scopes": "growth by scope, 52 weeks",
    "categories": "growth by category, 52 weeks",
}


def history_rows(
    history: StoreHistory | None, chart: Chart, now_ms: int, width: int, height: int, glyphs: Glyphs
) -> list[Row]:
    """The rows of one chart; ranges are keyed by their filter, which Browse understands."""
    if history is None:
        return [Row((Content.styled(" counting", "$dim"),))]
    if chart in ("written", "used"):
        lines = _calendars(history, chart, now_ms, width, height, glyphs)
        return [Row((line,)) for line in lines]
    if chart in ("ages", "uses"):
        buckets = history.ages if chart == "ages" else history.uses
        most = max((sum(counts) for counts in buckets.counts), default=0)
        strip = max(4, width - LABEL - COUNT - 2)
        rows = []
        for name, counts, text in zip(buckets.names, buckets.counts, buckets.filters, strict=True):
            bar = stacked_bar(counts, most, strip, glyphs)
            line = Content.assemble(
                " ",
                (fit(name, LABEL - 1), "$dim"),
                bar.extend_right(max(0, strip - bar.cell_length)),
                (right(full(sum(counts)), COUNT), "$foreground"),
            )
            rows.append(Row((line.truncate(width, ellipsis=True),), f"filter:{text}"))
        return rows
    series = history.by_scope if chart == "scopes" else history.by_category
    return [
        _grown(name, values, width, glyphs) for name, values in zip(series.names, series.values, strict=True)
    ]


def _grown(name: str, values: Sequence[int], width: int, glyphs: Glyphs) -> Row:
    label = min(22, max(10, width // 3))
    strip = max(0, min(53, width - label - 2 * COUNT - 2))
    trend = spark(_thinned(values, strip), glyphs)
    year = values[-1] - values[0] if values else 0
    line = Content.assemble(
        " ",
        (fit(one_line(name) or '" "', label - 1), "$foreground"),
        (trend.ljust(strip), "$primary"),
        (right(full(values[-1] if values else 0), COUNT), "bold"),
        (right(f"+{full(year)}", COUNT), "$dim"),
    )
    return Row((line.truncate(width, ellipsis=True),))


def _thinned(values: Sequence[int], count: int) -> list[float]:
    """Every so many-th value, the last one included."""
    if count <= 0 or not values:
        return []
    if len(values) <= count:
        return [float(value) for value in values]
    return (
        [float(values[round(i * (len(values) - 1) / (count - 1))]) for i in range(count)] if count > 1 else []
    )


def _calendars(
    history: StoreHistory, chart: Chart, now_ms: int, width: int, height: int, glyphs: Glyphs
) -> list[Content]:
    """The calendar that is asked for; the other one too, beside or below it, where there is room."""
    both = [(history.written, "written"), (history.used, "last used")]
    if chart == "used":
        both.reverse()
    lines: list[Content] = []
    for days, name in both:
        block = [Content.assemble(" ", line) for line in calendar_lines(days, now_ms, width - 2, glyphs)]
        told = Content.styled(_sum(days, name), "$dim").wrap(max(8, width - 1))
        block += [Content.assemble(" ", line) for line in told]
        if lines and len(lines) + len(block) > height:
            break
        lines += block
    return lines


def _sum(days: Sequence[int], name: str) -> str:
    weeks = resample(list(days), len(days) // 7)
    busiest = int(max(weeks, default=0.0))
    lately = sum(days[-30:])
    return (
        f"{name}: {full(sum(days))} in a year, {full(lately)} in 30 days, {full(busiest)} in the busiest week"
    )


def other(chart: Chart) -> Chart:
    """The chart after this one."""
    return CHARTS[(CHARTS.index(chart) + 1) % len(CHARTS)]
