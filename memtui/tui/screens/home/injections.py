"""What agents got, on Home: injections a day, silent turns, the dearest memories of whose use there is no trace."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import CancelToken, counted, one_line
from memtui.tui.messages import ShowReach
from memtui.tui.paint.bars import spark
from memtui.tui.paint.cells import crop, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full
from memtui.tui.screens.home.link_list import LinkRow

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.witness import (
        InjectionEconomy,
    )


_NAME_CELLS = 9


def read(engine: Engine, cancel: CancelToken) -> InjectionEconomy | None:
    """What is known; None where neither the store nor a session tells of a turn. For a worker."""
    from memtui.engine.witness import (
        read_economy,  # not before the first frame
    )

    found = read_economy(engine, engine.environ, Path.cwd(), cancel)
    return found if found.turns or any(found.by_day) else None


def injection_rows(found: InjectionEconomy, width: int, height: int, glyphs: Glyphs) -> list[LinkRow]:
    """The counts, then what was injected most often and the dearest, each of which leads to its reach in Audit."""
    days = f"{full(sum(found.by_day))} in {counted(len(found.by_day), 'day')}, minimum"
    trend = spark(found.by_day, glyphs)
    wide = len(days) + len(trend) + _NAME_CELLS + 2 <= width
    told: list[tuple[str, str, str]] = (
        [("injected", days, f"  {trend}")] if wide else [("injected", days, ""), ("by day", "", trend)]
    )
    if found.turns:
        silent = f"{full(found.silent)} of {full(found.turns)} without memory"
        others = [*found.other_ways(), *([f"{full(found.unknown)} not recorded"] if found.unknown else [])]
        parts = [silent]
        for other in others:  # as many on a line as it holds
            together = f"{parts[-1]}, {other}"
            parts[-1:] = [together] if len(together) + _NAME_CELLS <= width else [parts[-1], other]
        told += [("turns" if at == 0 else "", part, "") for at, part in enumerate(parts)]
    rows = [
        LinkRow(Content.assemble((f"{name:<{_NAME_CELLS}}", "$dim"), words, (bars, "$primary")))
        for name, words, bars in told
    ]
    room = max(0, height - len(rows))
    dear = found.dearest[: max(0, room - 1) if not found.most else max(0, room // 2 - 1)]
    most = found.most[: max(0, room - (len(dear) + 1 if dear else 0) - 1)]
    if dear:
        rows.append(LinkRow(Content.styled(crop("unused (tokens, times)", width), "bold $heading")))
    for each in dear:
        line = Content.assemble(
            (right(full(each.tokens), 6), "$stale"),
            (right(f"{each.times}x", 5), "$dim"),
            f"  {crop(one_line(each.preview), max(4, width - 13), glyphs.ellipsis)}",
        )
        rows.append(LinkRow(line, partial(ShowReach, each.id)))
    if most:
        rows.append(LinkRow(Content.styled(crop("injected most often", width), "bold $heading")))
    for often in most:
        line = Content.assemble(
            (right(f"{often.times}x", 6), "$dim"),
            f"  {crop(one_line(often.preview), max(4, width - 8), glyphs.ellipsis)}",
        )
        rows.append(LinkRow(line, partial(ShowReach, often.id)))
    return [LinkRow(row.content.truncate(width, ellipsis=True), row.go) for row in rows[: max(1, height)]]
