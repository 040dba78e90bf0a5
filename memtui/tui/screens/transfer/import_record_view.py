"""One record of the plan: beside the memory that it is compared with, and what a choice does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from memtui.engine import Memory, clean, counted, mask, one_line
from memtui.tui.paint.bars import bar
from memtui.tui.paint.cells import crop, fit, right
from memtui.tui.paint.difference import difference
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import date, score
from memtui.tui.theme.tokens import scope_style, tier_style
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import blank, fact_row, heading_row, text_rows

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        PlannedRecord,
        SourceLines,
    )


LABEL = 12


def record_rows(
    item: PlannedRecord | None,
    here: Mapping[str, Memory],
    width: int,
    height: int,
    glyphs: Glyphs,
    *,
    versioned: bool,
) -> list[Row]:
    """The record under the cursor. `versioned`: the store's program supersedes preferences and entities."""
    if item is None:
        return text_rows("No record is chosen.", width, "$dim")
    match = item.match
    if match is None:
        return _alone(item, width, glyphs)
    memory = here.get(match.id)
    if width < 76 or height < 9:
        return _stacked(item, memory, width, glyphs, versioned=versioned)
    half = (width - 3) // 2
    left, right_side = _here(item, memory, half, glyphs), _file(item, memory, half, glyphs)
    rows = []
    for number in range(max(len(left), len(right_side))):
        a = left[number] if number < len(left) else Content()
        b = right_side[number] if number < len(right_side) else Content()
        gap = max(0, half - a.cell_length)
        rows.append(Row((Content.assemble(a, " " * gap, (f" {glyphs.axis} ", "$frame"), b),)))
    if item.text != match.text:
        rows.append(
            Row((Content.styled(f" {glyphs.rule * 2} differs {glyphs.rule * max(0, width - 14)}", "$frame"),))
        )
        rows += [Row((line,)) for line in diff_lines(match.text, item.text, width, glyphs)]
    words = choice_words(item, memory, versioned=versioned)
    return [*rows, *(text_rows(words, width, "$match") if words else [])]


def diff_lines(before: str, after: str, width: int, glyphs: Glyphs) -> list[Content]:
    """Both texts in one, what is gone and what is new marked by more than colour."""
    told = difference(one_line(before), one_line(after), glyphs)
    return [Content.assemble(" ", line) for line in told.wrap(max(10, width - 2))]


def _alone(item: PlannedRecord, width: int, glyphs: Glyphs) -> list[Row]:
    rows = [
        Row((Content.styled(f" {line.plain}", "$foreground"),))
        for line in Content(one_line(item.text)).wrap(max(10, width - 2))
    ]
    rows += [
        Row((Content.assemble((f" {glyphs.warn} ", "bold $stale"), (flag, "$stale")),)) for flag in item.flags
    ]
    return [*rows, *[fact_row(name, value, width, glyphs, LABEL) for name, value in _facts(item, glyphs)]]


def _facts(item: PlannedRecord, glyphs: Glyphs) -> list[tuple[str, Content | str]]:
    return [
        ("from", item.where),
        (
            "scope",
            Content.styled(
                one_line(item.scope or "(none)"), scope_style(item.scope) if item.scope else "$dim"
            ),
        ),
        ("category", item.category or "-"),
        ("importance", _importance(item.importance, glyphs)),
        ("written", date(item.timestamp_ms)),
        ("id", item.id),
    ]


def _importance(value: float | None, glyphs: Glyphs) -> Content:
    return Content.assemble((f"{score(value):<5}", "$foreground"), (bar(value or 0, 8, glyphs), "$bar-mid"))


def _here(item: PlannedRecord, memory: Memory | None, width: int, glyphs: Glyphs) -> list[Content]:
    match = item.match
    assert match is not None
    head = Content.assemble(
        (" HERE", "bold $heading"), "  ", (one_line(match.where) or one_line(match.id)[:8], "$dim")
    )
    if memory is not None:
        head = Content.assemble(
            head, "   ", (f"{glyphs.tier(memory.tier)} {one_line(memory.tier or '')}", tier_style(memory.tier)),
            (f"   used {counted(memory.access_count or 0, 'time')}", "$dim"),
        )  # fmt: skip
    lines = [head.truncate(width, ellipsis=True), *_text(match.text, width), Content()]
    if memory is None:
        said = "an earlier record of the same source" if match.where else ""
        return [*lines, Content.styled(f" {said}", "$dim")]
    facts = [
        ("scope", Content.styled(one_line(memory.scope or "(none)"), scope_style(memory.scope))),
        ("category", Content(one_line(memory.category or "-"))),
        ("importance", _importance(memory.importance, glyphs)),
        ("written", Content(date(memory.timestamp_ms))),
    ]
    return [*lines, *(_pair(name, value, width) for name, value in facts)]


def _file(item: PlannedRecord, memory: Memory | None, width: int, glyphs: Glyphs) -> list[Content]:
    head = Content.assemble(
        (" FILE", "bold $heading"),
        "  ",
        (crop(one_line(item.where), max(4, width - 10), glyphs.ellipsis), "$dim"),
    )
    later = memory is not None and item.timestamp_ms is not None and item.timestamp_ms > memory.timestamp_ms
    facts = [
        (
            "scope",
            Content.styled(
                one_line(item.scope or "(none)"), scope_style(item.scope) if item.scope else "$dim"
            ),
        ),
        ("category", Content(one_line(item.category or "-"))),
        ("importance", _importance(item.importance, glyphs)),
        ("written", Content(date(item.timestamp_ms) + ("   newer" if later else ""))),
    ]
    return [head, *_text(item.text, width), Content(), *(_pair(name, value, width) for name, value in facts)]


def _text(text: str, width: int) -> list[Content]:
    lines = Content(one_line(text)).wrap(max(8, width - 2))[:4]
    lines += [Content()] * (2 - len(lines))
    return [Content.assemble(" ", line.stylize_before("$foreground")) for line in lines]


def _pair(name: str, value: Content, width: int) -> Content:
    return Content.assemble((f" {fit(name, LABEL)}", "$dim"), value).truncate(width, ellipsis=True)


def _stacked(
    item: PlannedRecord, memory: Memory | None, width: int, glyphs: Glyphs, *, versioned: bool
) -> list[Row]:
    match = item.match
    assert match is not None
    rows = []
    if item.text == match.text:
        rows += [
            Row(
                (
                    Content.assemble(
                        ("  = ", "$dim"),
                        (crop(one_line(item.text), width - 5, glyphs.ellipsis), "$foreground"),
                    ),
                )
            )
        ]
    else:
        for sign, text, style in (("-", match.text, "$diff-del"), ("+", item.text, "$diff-add")):
            line = crop(one_line(text), max(8, width - 5), glyphs.ellipsis)
            rows.append(Row((Content.assemble((f" {sign} ", f"bold {style}"), (line, style)),)))
    if words := choice_words(item, memory, versioned=versioned):
        rows += text_rows(words, width, "$match")
    tier = (
        f"{glyphs.tier(memory.tier)} {memory.tier}, used {counted(memory.access_count or 0, 'time')}, "
        if memory
        else ""
    )
    return [
        *rows,
        *text_rows(
            f"here: {tier}{one_line(match.where) or one_line(match.id)[:8]}; file: {one_line(item.where)}",
            width,
            "$dim",
        ),
    ]


def choice_words(item: PlannedRecord, memory: Memory | None, *, versioned: bool) -> str:
    """What the decision about a conflict does to history, uses and tier."""
    if item.group != "conflict":
        return ""
    if item.choice is None:
        return "Open: keep ours, take theirs, or have both."
    if item.choice == "keep":
        return "ours: nothing is written; the record of the file is left out."
    if item.choice == "both":
        return "both: theirs is added beside ours, with an id of its own; recall may then find two answers."
    if memory is None:
        return "theirs: this record is taken in place of the earlier one of the source."
    uses = f"its {counted(memory.access_count or 0, 'use')} and {one_line(memory.tier or 'its')} tier"
    if versioned and memory.memory_category in ("preferences", "entities"):
        return f"theirs: {memory.id[:8]} is replaced and keeps {uses}; theirs becomes the current version."
    return (
        f"theirs: {memory.id[:8]} gets the text of the file and keeps {uses}; undo brings the old text back."
    )


def source_rows(
    item: PlannedRecord | None, source: tuple[int, SourceLines | None] | None, width: int, glyphs: Glyphs
) -> list[Row]:
    """The lines of the record in its source, what was read of them lit; then what is stored with its metadata."""
    if item is None:
        return []
    rows = _lines(item, source, width, glyphs)
    return [*rows, blank(), heading_row("AS IT WILL BE STORED"), *_stored(item, width, glyphs)]


def _lines(
    item: PlannedRecord, source: tuple[int, SourceLines | None] | None, width: int, glyphs: Glyphs
) -> list[Row]:
    if source is None or source[0] != item.number:
        return text_rows(f"reading {item.where}", width, "$dim")
    found = source[1]
    if found is None:
        return text_rows(f"{item.where}: the source has no lines that could be shown.", width, "$dim")
    digits = len(str(found.first + len(found.lines)))
    rows = []
    for number, line in enumerate(found.lines, found.first):
        parts = _lit(line, item).wrap(max(8, width - digits - 4)) or [Content()]
        lines = tuple(
            Content.assemble((f" {right(str(number) if at == 0 else '', digits)}  ", "$dim"), part)
            for at, part in enumerate(parts)
        )
        rows.append(Row(lines))
    return [*rows, *(text_rows("there is more of it", width, "$dim") if found.cut else [])]


def _lit(line: str, item: PlannedRecord) -> Content:
    """A line of the source, harmless, with the values that were read from it lit."""
    plain = clean(mask(line)[0]).expandtabs(4)
    content = Content.styled(plain, "$dim")
    for value, style in (
        (mask(item.text)[0], "$match"),
        *((each, "$foreground") for each in (item.id, item.scope, item.category)),
    ):
        if not value:
            continue
        for form in (value, json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]):
            at = plain.find(clean(form))
            if at >= 0:
                content = content.stylize(style, at, at + len(clean(form)))
                break
    return content


def _stored(item: PlannedRecord, width: int, glyphs: Glyphs) -> list[Row]:
    rows = [fact_row("id", item.id, width, glyphs, LABEL)]
    try:
        values = json.loads(item.metadata or "{}")
    except (ValueError, RecursionError):
        values = {"metadata": item.metadata}
    if isinstance(values, dict) and values:
        rows.append(Row((Content.styled(" metadata", "bold $heading"),)))
        for name, value in values.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            line = Content.assemble(
                (f" {fit(one_line(str(name)), 20, glyphs.ellipsis)} ", "$dim"),
                (crop(one_line(clean(text)), max(4, width - 23), glyphs.ellipsis), "$foreground"),
            )
            rows.append(Row((line,)))
    return rows
