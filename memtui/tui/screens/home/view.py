"""The lines of the Home panels, from the numbers of the engine: only what was really counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message

from memtui.engine import CancelToken, counted, one_line
from memtui.tui.actions.keymap import Keymap
from memtui.tui.messages import AskRecall, ShowEntry, ShowInBrowse, ShowMemory
from memtui.tui.paint.bars import bar, resample, spark
from memtui.tui.paint.braille import line_chart
from memtui.tui.paint.cells import crop, fit, right, tilde
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import DAY, age, ago, date, full, short, size
from memtui.tui.screens.home.link_list import LinkRow
from memtui.tui.theme.tokens import category_cell, category_style, scope_style, tier_rank, tier_style

if TYPE_CHECKING:
    from memtui.engine import Engine, Memory, StoreInfo
    from memtui.engine.cases import Case, CaseAnswer
    from memtui.engine.catalog import Finding, Stats
    from memtui.engine.changes import JournalEntry
    from memtui.engine.explain import LaterAnswer


LABEL = 11

COUNT = 8


def store_rows(
    info: StoreInfo, stats: Stats | None, width: int, height: int, now_ms: int, glyphs: Glyphs
) -> list[LinkRow]:
    """What the store is and how big; the counts are links."""
    rows = [
        LinkRow(_pair("memories", Content.styled(full(info.rows), "bold"), width), partial(ShowInBrowse, ""))
    ]
    if stats is not None:
        trend = spark(resample(stats.daily[-28:], 14), glyphs)
        week = Content.styled(f"+{full(stats.added_7d)}", "$foreground")
        if any(stats.daily[-28:]):
            week = Content.assemble(week, "  ", (trend, "$primary"))
        rows.append(LinkRow(_pair("this week", week, width), partial(ShowInBrowse, "age<7d")))
        if stats.newest_ms:
            rows.append(LinkRow(_pair("newest", ago(stats.newest_ms, now_ms), width)))
    vectors = f"{info.dims:,} dimensions" if info.dims else "none"
    facts = [
        ("vectors", vectors),
        ("text index", one_line(info.full_text)),
        ("model", one_line(info.embedder)),
        ("on disk", f"{size(info.size_bytes)}, version {info.version}"),
        ("format", one_line(info.dialect_title)),
        ("table", one_line(info.table)),
        ("folder", one_line(tilde(info.uri))),
    ]
    told = [LinkRow(line) for label, text in facts for line in _told(label, text, width)]
    if len(rows) + len(told) > height:
        told = [LinkRow(_pair(label, text, width)) for label, text in facts]
    return [*rows, *told][: max(1, height)]


def _pair(label: str, value: Content | str, width: int) -> Content:
    if isinstance(value, str):
        value = Content.styled(crop(value, max(4, width - LABEL)), "$foreground")
    return Content.assemble((fit(label, LABEL), "$dim"), value)


def _told(label: str, text: str, width: int) -> list[Content]:
    """A labelled value in as many lines as it needs."""
    parts = Content(text).wrap(max(4, width - LABEL)) or [Content()]
    return [_pair(label if i == 0 else "", part.plain, width) for i, part in enumerate(parts)]


def tier_rows(stats: Stats, width: int, height: int, glyphs: Glyphs) -> list[LinkRow]:
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
        rows.append(LinkRow(line, partial(ShowInBrowse, _term("tier", tier))))
    if not rows:
        said = "this kind of store has no tiers" if stats.categories else "no memories yet"
        rows.append(LinkRow(Content.styled(said, "$dim")))
    states = [(state, count) for state, count in stats.states if count]
    if states and height >= len(rows) + 2 + len(states):
        rows += [LinkRow(Content()), LinkRow(Content.styled("STATE", "bold $heading"))]
    for state, count in states:
        line = Content.assemble(
            (fit(f"  {one_line(state)}", 13), "$dim"), (right(full(count), COUNT), "$foreground")
        )
        rows.append(LinkRow(line, partial(ShowInBrowse, _term("state", state))))
    if stats.pending:
        rows.append(LinkRow(Content.styled(crop(one_line(stats.pending), width), "$stale")))
    return rows[: max(1, height)]


def scope_rows(stats: Stats, width: int, height: int, glyphs: Glyphs) -> list[LinkRow]:
    """Scopes by size, the rest of them in one line."""
    if not stats.scopes:
        words = Content("no scopes yet: this store has no memories").wrap(max(8, width))
        return [LinkRow(Content.styled(line.plain, "$dim")) for line in words][: max(1, height)]
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
        rows.append(LinkRow(line, partial(ShowInBrowse, "", (scope,))))
    rest = stats.scopes[len(shown) :]
    if rest:
        text = f"{len(rest):,} more"
        total = full(sum(n for _, n in rest)).rjust(max(1, width - cell_len(text)))
        rows.append(LinkRow(Content.styled(text + total, "$dim"), partial(ShowInBrowse, "")))
    return rows


def category_rows(stats: Stats, width: int, height: int, glyphs: Glyphs) -> list[LinkRow]:
    """Stored categories by size."""
    if not stats.categories:
        return [LinkRow(Content.styled("new memories will be listed here", "$dim"))]
    top = max((count for _, count in stats.categories), default=1) or 1
    strip = max(0, width - 14 - COUNT - 1)
    rows = []
    for category, count in stats.categories[: max(1, height)]:
        style = category_style(category)
        line = Content.assemble(
            (fit(one_line(category or "(none)"), 13), style),
            " ",
            (bar(count / top, strip, glyphs).ljust(strip), f"{style} 60%"),
            " ",
            (right(full(count), COUNT), "$foreground"),
        )
        rows.append(LinkRow(line, partial(ShowInBrowse, _term("cat", category))))
    return rows


_SEVERITY = {"error": "bold $danger", "warning": "$stale", "info": "$dim"}


def attention_rows(
    info: StoreInfo, stats: Stats | None, width: int, height: int, glyphs: Glyphs
) -> list[LinkRow]:
    """Findings with their remedy where there is room, then what the store's opening had to say."""
    if stats is None:
        return [LinkRow(Content.styled("counting", "$dim"))]
    rows = _with_remedies(info, stats, width, glyphs) if width >= TWO_COLUMNS else []
    for wordy in (3, 2, 1, 0):
        if 0 < len(rows) <= height:
            break
        rows = [row for finding in stats.findings for row in _finding(finding, width, wordy, glyphs)]
        rows += [row for warning in info.warnings for row in _warning(warning, width, wordy, glyphs)]
    if not rows:
        return [LinkRow(Content.assemble((f"{glyphs.mark} ", "$ok"), "nothing to fix"))]
    if len(rows) > height:
        rows = [
            *rows[: max(1, height - 1)],
            LinkRow(Content.styled(f"  {len(rows) - height + 1} more", "$dim")),
        ]
    return rows


TWO_COLUMNS = 84
"""Cells from which a remedy stands beside its finding."""


def _with_remedies(info: StoreInfo, stats: Stats, width: int, glyphs: Glyphs) -> list[LinkRow]:
    """Findings with what to do beside them, each in as many lines as it needs."""
    titles = [f"{full(finding.count)} {one_line(finding.title)}" for finding in stats.findings]
    room = min(width * 9 // 20, max(map(cell_len, titles), default=0) + 4)
    rows = []
    for finding, title in zip(stats.findings, titles, strict=True):
        info_only = finding.severity == "info"
        mark, style = (glyphs.dot, "$dim") if info_only else (glyphs.warn, "$foreground")
        said = _hanging(mark, _SEVERITY.get(finding.severity, "$dim"), title, style, room - 2, 1)
        to_do = Content(one_line(finding.remedy)).wrap(width - room) if finding.remedy else []
        for i in range(max(len(said), len(to_do))):
            name = said[i] if i < len(said) else Content()
            gap = " " * (room - name.cell_length)
            line = Content.assemble(name, gap, (to_do[i].plain if i < len(to_do) else "", "$dim"))
            go = partial(ShowInBrowse, finding.filter) if finding.filter and not i else None
            rows.append(LinkRow(line, go))
    return rows + [row for warning in info.warnings for row in _warning(warning, width, 1, glyphs)]


def _finding(finding: Finding, width: int, wordy: int, glyphs: Glyphs) -> list[LinkRow]:
    """A finding in one line (0) or as many as it needs (1); its remedy below: if it is to be mended (2), always (3)."""
    mark = glyphs.dot if finding.severity == "info" else glyphs.warn
    style = "$dim" if finding.severity == "info" else "$foreground"
    go = partial(ShowInBrowse, finding.filter) if finding.filter else None
    text = f"{full(finding.count)} {one_line(finding.title)}"
    lines = _hanging(mark, _SEVERITY.get(finding.severity, "$dim"), text, style, width, wordy)
    if finding.remedy and wordy >= (3 if finding.severity == "info" else 2):
        lines += _hanging(" ", "", one_line(finding.remedy), "$dim", width, wordy)
    return [LinkRow(line, go if i == 0 else None) for i, line in enumerate(lines)]


def _warning(warning: str, width: int, wordy: int, glyphs: Glyphs) -> list[LinkRow]:
    lines = _hanging(glyphs.warn, "$stale", one_line(warning), "$stale", width, wordy)
    return [LinkRow(line) for line in lines]


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
) -> list[LinkRow]:
    """The newest memories, one a line."""
    if not memories:
        ways = "nothing yet: Transfer brings memories in, Capture reads a conversation, Agents says who is connected"
        return [
            LinkRow(line) for line in Content.styled(ways, "$dim").wrap(max(12, width - 1))[: max(1, height)]
        ]
    scope_width = 16 if width >= 70 else 0
    rows = []
    for memory in memories[: max(1, height)]:
        text_width = max(8, width - 4 - 1 - 1 - 1 - 4 - 1 - (scope_width + 1 if scope_width else 0) - 1)
        parts: list[tuple[str, str]] = [
            (right(age(memory.timestamp_ms, now_ms), 4), "$dim"),
            (" ", ""),
            (glyphs.tier(memory.tier), tier_style(memory.tier)),
            (" ", ""),
            category_cell(memory.category),
            (" ", ""),
        ]
        if scope_width:
            parts += [(fit(one_line(memory.scope or "-"), scope_width), scope_style(memory.scope)), (" ", "")]
        parts.append((crop(memory.title, text_width, glyphs.ellipsis), "$foreground"))
        rows.append(LinkRow(Content.assemble(*parts), partial(ShowMemory, memory.id)))
    return rows


def _term(field: str, value: str | None) -> str:
    """The filter term for one stored value."""
    from memtui.engine.query import (
        literal,  # not before the first frame
    )

    return f"{field}:{literal(value or '')}"


# The growth chart: how many of today's memories there were on each of the last days, by tier.

AXIS = 1
"""Rows below the chart: the time axis."""

MARKED_LABEL, NAMED_LABEL = 9, 16
"""Cells at the right for the last value of each line, behind the mark or the name of its tier."""

ROOM_FOR_NAMES = 56
"""Cells of a chart from which its lines are named."""

_STYLES = {
    "all": "$foreground",
    "core": "$tier-core",
    "working": "$tier-working",
    "peripheral": "$tier-peripheral",
}


def running(total: int, daily: Sequence[int]) -> list[int]:
    """Daily additions as a running count that ends at `total`."""
    return list(accumulate(daily, initial=total - sum(daily)))[1:]


def series(stats: Stats) -> list[tuple[str, list[int]]]:
    """The lines to draw, by name: all memories, then each tier that has any."""
    lines = [("all", running(stats.rows, stats.daily))]
    counts = dict(stats.tiers)
    for tier, daily in stats.daily_by_tier:
        if counts.get(tier):
            lines.append((tier, running(counts[tier], daily)))
    return lines


def growth_lines(stats: Stats, width: int, height: int, now_ms: int, glyphs: Glyphs) -> list[Content]:
    """The chart with its axis and the last values at the right, `height` lines of `width` cells."""
    lines = series(stats)
    label_width = NAMED_LABEL if width >= ROOM_FOR_NAMES else MARKED_LABEL
    chart_width, chart_height = width - label_width, height - AXIS
    if chart_width < 8 or chart_height < 2:
        return [Content.styled(counted(stats.rows, "memory", "memories"), "$dim")]
    canvas = line_chart([counts for _, counts in lines], chart_width, chart_height, braille=glyphs.braille)
    top = max((max(counts, default=0) for _, counts in lines), default=0)
    ends = [(name, counts[-1] if counts else 0) for name, counts in lines]
    labels = _labels(ends, top, chart_height)
    rows: list[Content] = []
    for text, owners, label in zip(canvas.rows(), canvas.owners(), labels, strict=True):
        content = Content(text)
        for x, owner in enumerate(owners):
            if owner >= 0:
                content = content.stylize(_STYLES[lines[owner][0]], x, x + 1)
        rows.append(Content.assemble(content, _label(label, label_width, glyphs)))
    return [*rows, _axis(len(stats.daily), chart_width, now_ms, glyphs)]


def _labels(ends: Sequence[tuple[str, int]], top: int, height: int) -> list[tuple[str, int] | None]:
    """The line and its last value that each row tells of, as near to the end of the line as the others allow."""
    rows: list[tuple[str, int] | None] = [None] * height
    for name, value in ends:
        wanted = round((1 - (value / top if top else 0)) * (height - 1))
        free = sorted((row for row in range(height) if rows[row] is None), key=lambda row: abs(row - wanted))
        if free and not any(told and short(told[1]) == short(value) for told in rows):
            rows[free[0]] = (name, value)
    return rows


def _label(told: tuple[str, int] | None, width: int, glyphs: Glyphs) -> tuple[str, str]:
    """The last value of a line, named in full or by the mark of its tier."""
    if told is None:
        return " " * width, ""
    name, value = told
    if width < NAMED_LABEL:
        name = name if name == "all" else glyphs.tier(name)
    return f" {name} {short(value).rjust(width - cell_len(name) - 2)}", _STYLES[told[0]]


def _axis(days: int, width: int, now_ms: int, glyphs: Glyphs) -> Content:
    start = date(now_ms - (days - 1) * DAY)[5:10]
    middle = date(now_ms - days // 2 * DAY)[5:10]
    end = "today"
    if width < len(start) + len(middle) + len(end) + 4:
        middle = ""
    room = width - len(start) - len(middle) - len(end)
    line = f"{start} {glyphs.rule * (room // 2 - 2)} {middle} " if middle else f"{start} "
    line += glyphs.rule * max(0, width - len(line) - len(end) - 1) + f" {end}"
    return Content.styled(line, "$dim")


# What the widest Home tells besides: the last changes made through memtui, and how the saved questions
# stand.

ENTRIES = 60
"""More than the tallest panel shows."""

ACTION, LATELY_COUNT = 9, 5


class CasesWanted(Message):
    """The saved questions are to be asked: never done unasked, for a provider may be paid for it."""


@dataclass(frozen=True, slots=True)
class Lately:
    """The journal and the cases as they were read, and what came back when the cases were last asked here."""

    entries: Sequence[JournalEntry] = ()
    cases: Sequence[Case] = ()
    answers: Mapping[str, CaseAnswer] = field(default_factory=dict)
    """By the id of the case; empty before they are asked."""
    later: Sequence[LaterAnswer] = ()
    """The questions asked last, asked again of the store as it is now."""


def ask(engine: Engine, cases: Sequence[Case], cancel: CancelToken) -> Mapping[str, CaseAnswer]:
    """Ask every case as the store's own recipe answers it; for a worker."""
    from memtui.engine.cases import CaseSetup, run_cases

    report = run_cases(
        cases,
        CaseSetup("home"),
        lambda asked: engine.recall(asked, None, cancel),
        engine.memories,
        cancel=cancel,
    )
    return {answer.case.id: answer for answer in report.answers}


def later_answers(engine: Engine, cancel: CancelToken) -> Sequence[LaterAnswer]:
    """The questions asked last, asked again without a service; for a worker."""
    from memtui.engine.explain import History, asked_again
    from memtui.paths import questions_file

    history = History(questions_file())
    return asked_again(engine, history, cancel=cancel) if history.path.exists() else ()


def later_rows(later: Sequence[LaterAnswer], width: int, glyphs: Glyphs) -> list[LinkRow]:
    """The questions whose first answer is no longer the first, the worst first: its place then and now."""
    if not later:
        return []
    worse = [each for each in later if each.place != 1]
    asked = f"the last {counted(len(later), 'question')}" if len(later) > 1 else "the last question"
    said = f"{len(worse)} of {asked} answered worse" if worse else f"{asked} answered as before"
    rows = [LinkRow(Content.styled(crop(said, width), "bold $heading" if worse else "$dim"))]
    for each in sorted(worse, key=lambda each: -(each.place or 1_000)):
        place = "gone" if each.place is None else str(each.place)
        text = crop(one_line(each.question.query), max(4, width - 9), glyphs.ellipsis)
        line = Content.assemble((f"1 {glyphs.forth} {place:<4} ", "$stale"), (text, "$foreground"))
        rows.append(LinkRow(line, partial(AskRecall, each.question.query)))
    return rows


def journal_rows(
    entries: Sequence[JournalEntry], width: int, height: int, now_ms: int, glyphs: Glyphs
) -> list[LinkRow]:
    """The newest changes: when, what, how many memories; each leads to its entry."""
    if not entries:
        return [LinkRow(Content.styled(crop("changes will be listed here", width), "$dim"))]
    rows = []
    for entry in entries[: max(1, height)]:
        mark, style = {"undone": (glyphs.back, "$dim"), "interrupted": (glyphs.warn, "bold $danger")}.get(
            entry.state, (" ", "")
        )
        shown = counted(entry.rows, "memory", "memories")
        title = one_line(entry.title).removeprefix(f"{shown}: ").removeprefix(f"{shown} ")
        gone = entry.state == "undone"
        line = Content.assemble(
            (right(age(entry.time_ms, now_ms), 4), "$dim"),
            (f" {mark} ", style),
            (fit(one_line(entry.action), ACTION, glyphs.ellipsis), "$dim" if gone else "bold $foreground"),
            (right(short(entry.rows), LATELY_COUNT), "$foreground"),
            "  ",
            (
                crop(title, max(4, width - 7 - ACTION - LATELY_COUNT - 2), glyphs.ellipsis),
                "$dim" if gone else "",
            ),
        )
        rows.append(LinkRow(line, partial(ShowEntry, entry.entry)))
    return rows


def case_rows(
    lately: Lately, width: int, height: int, glyphs: Glyphs, keys: Keymap, *, asking: bool
) -> list[LinkRow]:
    """Every saved question with a mark for whether it is answered as it should be; each leads to Recall."""
    cases, answers = lately.cases, lately.answers
    later = later_rows(lately.later, width, glyphs)
    if not cases:
        caps = f"{keys.cap('recall.raise')} or {keys.cap('recall.lower')}"
        said = f"{caps} on an answer of Recall grades it and saves its question"
        lines = Content.styled(said, "$dim").wrap(max(12, width))
        hint = [
            LinkRow(line, partial(AskRecall, "", False) if not i else None) for i, line in enumerate(lines)
        ]
        return [*later, *hint][: max(1, height)]
    right_ones = sum(1 for case in cases if good(answers.get(case.id)))
    said = (
        "asking"
        if asking
        else f"{right_ones} of {len(cases)} right, ask again"
        if answers
        else "ask them all"
    )
    rows = [
        LinkRow(Content.styled(crop(said, width), "$primary" if asking else "bold $foreground"), CasesWanted)
    ]
    worst_first = sorted(cases, key=lambda case: good(answers.get(case.id)) is not False)
    for case in worst_first[: max(1, height - 1)]:
        fine = good(answers.get(case.id))
        mark, style = {True: (glyphs.mark, "$ok"), False: (glyphs.cross, "bold $danger")}.get(
            fine,  # type: ignore[arg-type]
            (glyphs.dot, "$dim"),
        )
        text = crop(one_line(case.query), max(4, width - 2), glyphs.ellipsis)
        rows.append(
            LinkRow(
                Content.assemble((f"{mark} ", style), (text, "$foreground")),
                partial(AskRecall, case.query),
            )
        )
    return [*later, *rows][: max(1, height)]


def good(answer: CaseAnswer | None) -> bool | None:
    """Whether a case is answered as it should be; None where it was not asked, or could not be.

    What is expected is among the first, nothing rejected is, and where nothing is wanted nothing came.
    """
    if answer is None or answer.measures is None:
        return None
    found = answer.measures
    return found.hit != 0 and found.silence != 0 and not found.rejected
