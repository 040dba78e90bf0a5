"""The panel that tells what differs: who left and came, the settings, and what each did to the selected memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.content import Content

from memtui.engine import one_line
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import date, plural
from memtui.tui.paint.waterfall import number
from memtui.tui.screens.recall.compare import present
from memtui.tui.screens.recall.compare.state import Pair
from memtui.tui.screens.recall.rules import figure
from memtui.tui.widgets.rows import Row

if TYPE_CHECKING:
    from memtui.engine.lab.compare import Effect

VALUE_CELLS, EFFECT_CELLS = 13, 8
LANES = ("vector_ranked", "bm25_ranked", "identifier_ranked")
"""Evidence, not part of the score: their numbers do not add up to it."""
STANDS = ("now_ms", "table_version")
"""Said of each side above the settings, whole."""
MOST_APART = 6
"""Settings of one recipe alone that are listed; the rest is counted."""


def value(name: str, given: Any) -> str:
    """A setting on one line."""
    if given is None:
        return "-"
    if isinstance(given, bool):
        return "on" if given else "off"
    if name.endswith("now_ms") and isinstance(given, int | float):
        return date(given)
    if isinstance(given, int | float):
        return figure(given)
    if isinstance(given, Mapping):
        return ", ".join(f"{one_line(str(k))} {value('', v)}" for k, v in given.items())
    if isinstance(given, list | tuple):
        return ", ".join(value("", each) for each in given) or "none"
    return one_line(str(given))


def rows(pair: Pair, selected: str, width: int, glyphs: Glyphs, *, stages: bool) -> Sequence[Row]:
    """The whole panel for lines of `width` cells; `stages`: with the stages that differ."""
    from memtui.engine.lab.compare import effects

    found = {
        each.stage: _difference(each)
        for each in effects(present.account_of(pair, "a"), present.account_of(pair, "b"), selected)
    }
    lines = [
        Content.assemble(
            (f" {fit(name, 9)}", "$dim"), (crop(text, max(8, width - 11), glyphs.ellipsis), "$foreground")
        )
        for name, text in present.summary(pair)
    ]
    lines += _settings(pair, found, width, glyphs)
    lines += _effects(pair, selected, width, glyphs)
    if stages:
        differing = present.stage_rows(pair, width, glyphs, only=True)
        if differing:
            lines += [Content(), _heading("STAGES THAT DIFFER", present.stage_heading(width).plain, width)]
            lines += [row.lines[0] for row in differing]
    return [Row((line,)) for line in lines]


def _heading(name: str, columns: str, width: int) -> Content:
    return Content.assemble((f" {name}", "bold $heading"), (right(columns, width - len(name) - 2), "$dim"))


def _settings(pair: Pair, found: Mapping[str, float], width: int, glyphs: Glyphs) -> list[Content]:
    differing = [each for each in pair.comparison.differences if each.parameter not in STANDS]
    if not differing:
        return [Content(), Content.styled(" SETTINGS", "bold $heading"), Content.styled(" all alike", "$dim")]
    both = [d for d in differing if (d.a is not None and d.b is not None) or "." not in d.parameter]
    apart = [d for d in differing if d not in both]
    name_cells = max(10, width - 2 * VALUE_CELLS - EFFECT_CELLS - 3)
    columns = f"{'A':>{VALUE_CELLS}}{'B':>{VALUE_CELLS}}{'here':>{EFFECT_CELLS}}"
    lines = [Content(), _heading("SETTINGS", columns, width)]
    for each in [*both, *(apart if len(apart) <= MOST_APART else ())]:
        effect = found.get(each.stage)
        shown = effect is not None and each.stage not in LANES and pair.comparison.one_scale
        lines.append(
            Content.assemble(
                " ",
                (
                    fit(one_line(each.parameter.removeprefix("retrieval.")), name_cells, glyphs.ellipsis),
                    "$foreground",
                ),
                (f"  {right(value(each.parameter, each.a), VALUE_CELLS - 2, glyphs.ellipsis)}", "$dim"),
                (f"  {right(value(each.parameter, each.b), VALUE_CELLS - 2, glyphs.ellipsis)}", "$match"),
                _signed(effect if shown else None, EFFECT_CELLS),
                " ",
            )
        )
    if len(apart) > MOST_APART:
        for name, count in (("A", sum(d.b is None for d in apart)), ("B", sum(d.a is None for d in apart))):
            if count:
                lines.append(Content.styled(f" {plural(count, 'setting')} that only {name} has", "$dim"))
    return lines


def _effects(pair: Pair, selected: str, width: int, glyphs: Glyphs) -> list[Content]:
    """What each stage added to the selected memory's score, in both."""
    from memtui.engine.lab.compare import effects

    accounts = [present.account_of(pair, which) for which in ("a", "b")]
    titles = {stage.name: stage.title for each in accounts for stage in each.stages}
    told = [
        each
        for each in effects(accounts[0], accounts[1], selected)
        if each.stage not in LANES and (each.a or each.b)
    ]
    if not told:
        return []
    name_cells = max(8, width - 2 * VALUE_CELLS - EFFECT_CELLS - 3)
    one_scale = pair.comparison.one_scale
    columns = f"{'A':>{VALUE_CELLS}}{'B':>{VALUE_CELLS}}{'B - A' if one_scale else 'place':>{EFFECT_CELLS}}"
    return [
        Content(),
        _heading("THIS MEMORY", columns, width),
        *(
            Content.assemble(
                " ",
                (
                    fit(one_line(titles.get(each.stage, each.stage)), name_cells, glyphs.ellipsis),
                    "$foreground",
                ),
                _signed(each.printed()[0], VALUE_CELLS),
                _signed(each.printed()[1], VALUE_CELLS),
                _signed(_difference(each), EFFECT_CELLS) if one_scale else _places(each, glyphs),
                " ",
            )
            for each in told
        ),
    ]


def _difference(effect: Effect) -> float:
    """B's effect minus A's, of the numbers as they are printed."""
    a, b = effect.printed()
    return (b or 0.0) - (a or 0.0)


def _places(effect: Effect, glyphs: Glyphs) -> tuple[str, str]:
    """The place after the stage in A and in B, where their scores cannot be subtracted."""
    a, b = (str(each) if each else "-" for each in (effect.rank_a, effect.rank_b))
    return right(f"{a} {glyphs.forth} {b}", EFFECT_CELLS), "$foreground"


def _signed(given: float | None, cells: int) -> tuple[str, str]:
    if given is None:
        return " " * cells, "$dim"
    if round(given, 3) == 0:
        return right("=", cells), "$dim"
    sign = "+" if given > 0 else ""
    return right(f"{sign}{number(given)}", cells), "$delta-up" if given > 0 else "$delta-down"
