"""The curves panel: the model's three tiers, the chosen memory on them, and what the axis says."""

from __future__ import annotations

from math import isfinite

from textual.content import Content

from memtui.engine import Life, Remedy, one_line
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import DAY, full, score
from memtui.tui.paint.plot import DASHED, DOTTED, SOLID, Curve, Level, Plot, Spot, ceiling
from memtui.tui.screens.lifecycle.state import LifecycleState
from memtui.tui.screens.lifecycle.words import MEASURES, day, outlook, span
from memtui.tui.theme.tokens import TIER_TOKENS

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
    remedy = next((each for each in life.remedies if each.name == state.remedy), None)
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
        (Spot(place, now_value, glyphs.knob, "bold $foreground"),) if 0 <= place <= 1 else (),
        tuple(upright),
        others,
    )


def _cloud(state: LifecycleState, days: float, glyphs: Glyphs) -> tuple[Spot, ...]:
    """The memories of the board where they stand: days since the last use against the measure, by tier."""
    if state.board is None or days <= 0:
        return ()
    cloud = state.board.cloud
    return tuple(
        Spot(since / days, value, glyphs.tier(tier), f"dim ${TIER_TOKENS[tier]}")
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
    remedy = next((each for each in life.remedies if each.name == state.remedy), None)
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
        f" half after {_d(own.half_days)}; 1/e, the article's half-life, after {_d(own.fold_days)}", "$dim"
    )
    if not others or state.board is None:
        return (who, what, meant)
    marks = " ".join(glyphs.tier(tier) for tier in TIER_TOKENS)
    drawn = f" {marks}  {full(others)} of {full(state.board.rows)} memories at the days since their last use"
    return (who, what, meant, Content.styled(drawn, "$dim"))


def axis_words(life: Life | None) -> str:
    """What the axis counts, and where the half-life lies on it in both meanings."""
    if life is None:
        return "days since the last use"
    since = "the last use" if life.used else "written, never used"
    own = next(tier for tier in life.model.tiers if tier.tier == life.tier)
    return f"days since {since}: half {_d(own.half_days)}, 1/e {_d(own.fold_days)}"


def _with(remedy: Remedy, life: Life, now_ms: int) -> Content:
    """What a remedy would do, and what happens without it."""
    then = outlook(remedy, life.horizon_days)
    return Content.assemble(
        (f" + {remedy.title}: ", "bold $delta-up"),
        (f"{score(_value_at(remedy.curve, life, now_ms))} now, {then}", "$delta-up"),
        ("   without: ", "$dim"),
        _fate(life),
    )


def _value_at(values: tuple[float, ...], life: Life, now_ms: float) -> float:
    """The value of a curve of this life at a moment."""
    begin, end = life.at_ms[0], life.at_ms[-1]
    share = (now_ms - begin) / (end - begin) if end > begin else 0.0
    return values[min(len(values) - 1, max(0, round(share * (len(values) - 1))))]


def _fate(life: Life) -> Content:
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
