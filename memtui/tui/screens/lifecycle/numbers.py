"""The numbers panel: each number of the chosen memory with its formula, the verdict, and what can be done."""

from __future__ import annotations

from textual.content import Content

from memtui.engine import Life, one_line
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import score
from memtui.tui.screens.lifecycle.curves import TYPICAL
from memtui.tui.screens.lifecycle.words import crossed, day, outlook
from memtui.tui.theme.tokens import tier_style
from memtui.tui.widgets.rows import Row

SYMBOL = 2
NAME = 10
VALUE = 7


def number_rows(life: Life | None, width: int, remedy: str, glyphs: Glyphs) -> list[Row]:
    """Formulas, then the verdict of the tier manager, then dates, then remedies as rows to take."""
    if life is None:
        return [Row((Content.styled(" choose a memory in the list", "$dim"),))]
    room = max(12, width - 2)
    who = Content.assemble(
        (f"{glyphs.tier(life.tier)} ", tier_style(life.tier)),
        (crop(one_line(life.title) or life.id[:8] or TYPICAL, room - 2, glyphs.ellipsis), "bold"),
    )
    lines = [who.truncate(room)]
    for line in life.lines:
        lines += _line(line.symbol, line.name, line.value, line.formula, line.note, room)
    lines.append(Content())
    verdict = Content.assemble(
        ("tier ", "$dim"),
        (life.tier, tier_style(life.tier)),
        *((f" {glyphs.forth} ", "$dim"), (life.next_tier, tier_style(life.next_tier)))
        if life.next_tier != life.tier
        else (),
        (f"  {life.verdict}", "$foreground"),
    )
    lines += verdict.wrap(room)
    for crossing in life.crossings:
        what = crossed(crossing.kind, crossing.to, crossing.tier, life.mover)
        when = Content.assemble((f"{day(crossing.at_ms)}  ", "$stale"), (what, "$foreground"))
        first, *rest = when.wrap(room)
        lines += [first, *(Content.assemble("  ", line) for line in rest)]
    rows = [Row((Content.assemble(" ", line),)) for line in lines]
    if not life.id:
        return rows
    if life.remedies:
        rows.append(Row((Content(),)))
    rows += [_remedy(life, each.name, remedy, width, glyphs) for each in life.remedies]
    return rows


def _line(symbol: str, name: str, value: float, formula: str, note: str, room: int) -> list[Content]:
    shown = f"{value:.1f}" if symbol in ("t", "H") else score(value)
    lead = Content.assemble(
        (fit(symbol, SYMBOL), "bold $key"), (fit(name, NAME), "$dim"), (right(shown, VALUE), "bold"), "  "
    )
    first = Content.assemble(lead, (f"= {formula}", "$foreground"))
    indent = " " * lead.cell_length
    if first.cell_length > room:
        first = Content.assemble(lead, (note, "$dim")).truncate(room, ellipsis=True)
        return [first, *(Content.assemble("    ", line) for line in Content(f"= {formula}").wrap(room - 4))]
    if not note:
        return [first]
    if first.cell_length + len(note) + 3 <= room:
        return [Content.assemble(first, "   ", (note, "$dim"))]
    indent = f"{indent}  " if len(indent) + 2 + len(note) <= room else "    "
    return [first, *(Content.assemble(indent, line) for line in Content.styled(note, "$dim").wrap(room - 4))]


def _remedy(life: Life, name: str, chosen: str, width: int, glyphs: Glyphs) -> Row:
    remedy = next(each for each in life.remedies if each.name == name)
    shown = [(field, value) for field, value in remedy.changes if not field.endswith("_at")]
    what = ", ".join(f"{field.replace('_', ' ')} {_word(value)}" for field, value in shown)
    then = outlook(remedy, life.horizon_days)
    line = Content.assemble(
        " ",
        (f"{glyphs.mark if name == chosen else ' '} ", "$delta-up"),
        (fit(remedy.title, 18), "$foreground"),
        (fit(then, 24), "$delta-up"),
        (what, "$dim"),
    )
    return Row((line.truncate(width),), f"remedy:{name}")


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
