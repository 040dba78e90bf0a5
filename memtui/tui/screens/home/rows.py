"""The lines of the Home panels, from the numbers of the engine: only what was really counted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from memtui.engine import one_line
from memtui.tui.messages import ShowInBrowse, ShowMemory
from memtui.tui.paint.bars import bar, resample, spark
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import age, ago, full, short, size
from memtui.tui.paint.places import tilde
from memtui.tui.screens.home.links import Row
from memtui.tui.theme.tokens import category_code, category_style, scope_style, tier_rank, tier_style

if TYPE_CHECKING:
    from memtui.engine import Finding, Memory, Stats, StoreInfo

LABEL = 11
COUNT = 8


def store_rows(
    info: StoreInfo, stats: Stats | None, width: int, height: int, now_ms: int, glyphs: Glyphs
) -> list[Row]:
    """What the store is and how big; the counts are links."""
    rows = [Row(_pair("memories", Content.styled(full(info.rows), "bold"), width), partial(ShowInBrowse, ""))]
    if stats is not None:
        trend = spark(resample(stats.daily[-28:], 14), glyphs)
        week = Content.styled(f"+{full(stats.added_7d)}", "$foreground")
        if any(stats.daily[-28:]):
            week = Content.assemble(week, "  ", (trend, "$primary"))
        rows.append(Row(_pair("this week", week, width), partial(ShowInBrowse, "age<7d")))
        if stats.newest_ms:
            rows.append(Row(_pair("newest", ago(stats.newest_ms, now_ms), width)))
    vectors = f"{info.dims:,} dimensions" if info.dims else "none"
    facts = [
        ("vectors", vectors),
        ("full text", one_line(info.fts)),
        ("questions", one_line(info.embedder)),
        ("on disk", f"{size(info.size_bytes)}, version {info.version}"),
        ("kind", one_line(info.dialect_title)),
        ("table", one_line(info.table)),
        ("place", one_line(tilde(info.uri))),
    ]
    told = [Row(line) for label, text in facts for line in _told(label, text, width)]
    if len(rows) + len(told) > height:
        told = [Row(_pair(label, text, width)) for label, text in facts]
    return [*rows, *told][: max(1, height)]


def _pair(label: str, value: Content | str, width: int) -> Content:
    if isinstance(value, str):
        value = Content.styled(crop(value, max(4, width - LABEL)), "$foreground")
    return Content.assemble((fit(label, LABEL), "$dim"), value)


def _told(label: str, text: str, width: int) -> list[Content]:
    """A labelled value in as many lines as it needs."""
    parts = Content(text).wrap(max(4, width - LABEL)) or [Content()]
    return [_pair(label if i == 0 else "", part.plain, width) for i, part in enumerate(parts)]


def tier_rows(stats: Stats, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    """Tiers with their share, what the last week added to each, then the states that are not the usual one."""
    total = max(1, stats.rows)
    weekly = {tier: sum(daily[-7:]) for tier, daily in stats.daily_by_tier}
    rows = []
    for tier, count in sorted(stats.tiers, key=lambda pair: tier_rank(pair[0])):
        added = f"+{short(weekly.get(tier, 0))}"
        name = f"{glyphs.tier(tier)} {one_line(tier)}"
        strip = max(0, width - 13 - COUNT - 2 - 7)
        line = Content.assemble(
            (fit(name, 13), tier_style(tier)),
            (right(full(count), COUNT), "$foreground"),
            "  ",
            (bar(count / total, strip, glyphs).ljust(strip), f"{tier_style(tier)} 70%"),
            (right(added, 7), "$dim"),
        )
        rows.append(Row(line, partial(ShowInBrowse, _term("tier", tier))))
    if not rows:
        rows.append(Row(Content.styled("this kind of store has no tiers", "$dim")))
    states = [(state, count) for state, count in stats.states if count]
    if states and height >= len(rows) + 2 + len(states):
        rows += [Row(Content()), Row(Content.styled("STATE", "bold $heading"))]
    for state, count in states:
        line = Content.assemble(
            (fit(f"  {one_line(state)}", 13), "$dim"), (right(full(count), COUNT), "$foreground")
        )
        rows.append(Row(line, partial(ShowInBrowse, _term("state", state))))
    if stats.pending:
        rows.append(Row(Content.styled(crop(one_line(stats.pending), width), "$stale")))
    return rows[: max(1, height)]


def scope_rows(stats: Stats, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    """Scopes by size, the rest of them in one line."""
    top = max((count for _, count in stats.scopes), default=1) or 1
    shown = stats.scopes if len(stats.scopes) <= height else stats.scopes[: max(1, height - 1)]
    name_width = min(24, max(10, width * 19 // 40))
    strip = max(0, width - name_width - COUNT - 1)
    rows = []
    for scope, count in shown:
        style = scope_style(scope)
        line = Content.assemble(
            (fit(one_line(scope or "(none)") or '" "', name_width - 1), style),
            " ",
            (bar(count / top, strip, glyphs).ljust(strip), f"{style} 60%"),
            " ",
            (right(full(count), COUNT), "$foreground"),
        )
        rows.append(Row(line, partial(ShowInBrowse, "", (scope,))))
    rest = stats.scopes[len(shown) :]
    if rest:
        text = f"{len(rest):,} more"
        total = full(sum(n for _, n in rest)).rjust(max(1, width - cell_len(text)))
        rows.append(Row(Content.styled(text + total, "$dim"), partial(ShowInBrowse, "")))
    return rows


def category_rows(stats: Stats, width: int, height: int, glyphs: Glyphs) -> list[Row]:
    """Stored categories by size."""
    top = max((count for _, count in stats.categories), default=1) or 1
    strip = max(0, width - 14 - COUNT - 1)
    rows = []
    for category, count in stats.categories[: max(1, height)]:
        style = category_style(category)
        line = Content.assemble(
            (fit(one_line(category or "(none)"), 14), style),
            (bar(count / top, strip, glyphs).ljust(strip), f"{style} 60%"),
            " ",
            (right(full(count), COUNT), "$foreground"),
        )
        rows.append(Row(line, partial(ShowInBrowse, _term("cat", category))))
    return rows


_SEVERITY = {"error": "bold $danger", "warning": "$stale", "info": "$dim"}


def attention_rows(
    info: StoreInfo, stats: Stats | None, width: int, height: int, glyphs: Glyphs
) -> list[Row]:
    """Findings with their remedy where there is room, then what the store's opening had to say."""
    if stats is None:
        return [Row(Content.styled("counting", "$dim"))]
    rows: list[Row] = []
    for wordy in (2, 1, 0):
        rows = [row for finding in stats.findings for row in _finding(finding, width, wordy, glyphs)]
        rows += [row for warning in info.warnings for row in _warning(warning, width, wordy, glyphs)]
        if len(rows) <= height:
            break
    if not rows:
        return [Row(Content.assemble((f"{glyphs.mark} ", "$ok"), "nothing to mend"))]
    if len(rows) > height:
        rows = [*rows[: max(1, height - 1)], Row(Content.styled(f"  {len(rows) - height + 1} more", "$dim"))]
    return rows


def _finding(finding: Finding, width: int, wordy: int, glyphs: Glyphs) -> list[Row]:
    """A finding in one line (0), in as many as it needs (1), with its remedy below (2)."""
    mark = glyphs.dot if finding.severity == "info" else glyphs.warn
    style = "$dim" if finding.severity == "info" else "$foreground"
    go = partial(ShowInBrowse, finding.filter) if finding.filter else None
    text = f"{full(finding.count)} {one_line(finding.title)}"
    lines = _hanging(mark, _SEVERITY.get(finding.severity, "$dim"), text, style, width, wordy)
    if wordy == 2 and finding.remedy:
        lines += _hanging(" ", "", one_line(finding.remedy), "$dim", width, wordy)
    return [Row(line, go if i == 0 else None) for i, line in enumerate(lines)]


def _warning(warning: str, width: int, wordy: int, glyphs: Glyphs) -> list[Row]:
    lines = _hanging(glyphs.warn, "$stale", one_line(warning), "$stale", width, wordy)
    return [Row(line) for line in lines]


def _hanging(mark: str, mark_style: str, text: str, style: str, width: int, wordy: int) -> list[Content]:
    """A mark, and text that goes on under itself, or is cropped to one line."""
    room = max(4, width - 2)
    parts = Content(text).wrap(room) if wordy else [Content(crop(text, room))]
    return [
        Content.assemble((f"{mark if i == 0 else ' '} ", mark_style), (part.plain, style))
        for i, part in enumerate(parts)
    ]


def newest_rows(
    memories: Sequence[Memory], width: int, height: int, now_ms: int, glyphs: Glyphs
) -> list[Row]:
    """The newest memories, one a line."""
    if not memories:
        return [Row(Content.styled("nothing yet", "$dim"))]
    scope_width = 16 if width >= 70 else 0
    rows = []
    for memory in memories[: max(1, height)]:
        text_width = max(8, width - 4 - 1 - 1 - 1 - 4 - 1 - (scope_width + 1 if scope_width else 0) - 1)
        parts: list[tuple[str, str]] = [
            (right(age(memory.timestamp_ms, now_ms), 4), "$dim"),
            (" ", ""),
            (glyphs.tier(memory.tier), tier_style(memory.tier)),
            (" ", ""),
            (fit(category_code(memory.category), 4, ""), category_style(memory.category)),
            (" ", ""),
        ]
        if scope_width:
            parts += [(fit(one_line(memory.scope or "-"), scope_width), scope_style(memory.scope)), (" ", "")]
        parts.append((crop(memory.title, text_width, glyphs.ellipsis), "$foreground"))
        rows.append(Row(Content.assemble(*parts), partial(ShowMemory, memory.id)))
    return rows


def _term(field: str, value: str | None) -> str:
    """The filter term for one stored value."""
    from memtui.engine.query.render import literal  # not before the first frame

    return f"{field}:{literal(value or '')}"
