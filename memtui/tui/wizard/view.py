"""Lines that the steps of Transfer have in common: settings, facts, paragraphs, ledgers, progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from memtui.engine import Progress, one_line, time_span
from memtui.tui.paint.bars import progress as progress_bar
from memtui.tui.paint.cells import crop, crop_start, fit, right
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import full, short, size
from memtui.tui.widgets.row_list import Row

if TYPE_CHECKING:
    from memtui.engine.transfer import (
        FieldLoss,
    )


# How fast a run goes and how long it will take: pure arithmetic over the progress that was heard.


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The phases of one run in order, each with its progress and when it began; times in milliseconds."""

    phases: tuple[tuple[Progress, int, int], ...] = ()
    """(progress, began, heard last)."""
    began_ms: int = 0
    now_ms: int = 0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return max(0, self.now_ms - self.began_ms) / 1000


def heard(pace: RunProgress, progress: Progress, now_ms: int) -> RunProgress:
    """Another report: of the phase that goes on, or of a new one."""
    began = pace.began_ms or now_ms
    if pace.phases and pace.phases[-1][0].what == progress.what:
        _, phase_began, _ = pace.phases[-1]
        phases = (*pace.phases[:-1], (progress, phase_began, now_ms))
    else:
        phases = (*pace.phases, (progress, now_ms, now_ms))
    return RunProgress(phases, began, now_ms)


def ticked(pace: RunProgress, now_ms: int) -> RunProgress:
    """Time went on without a report."""
    return replace(pace, now_ms=now_ms)


def rate(phase: tuple[Progress, int, int]) -> float | None:
    """Units a second in a phase; None before it can be told."""
    progress, began, last = phase
    return progress.done * 1000 / (last - began) if last - began >= 200 and progress.done else None


def left_s(phase: tuple[Progress, int, int]) -> float | None:
    """Seconds until a phase is done; None before it can be told."""
    speed, progress = rate(phase), phase[0]
    return (progress.total - progress.done) / speed if speed and progress.total else None


LABEL = 13


@dataclass(frozen=True, slots=True)
class FormRow:
    """Something that can be decided. `on` is None for what has a value, else whether it is switched on.

    `path`: the value is one, of which the end matters most.
    """

    key: str
    label: str
    value: str = ""
    meaning: str = ""
    changed: bool = False
    on: bool | None = None
    path: bool = False


def setting_row(setting: FormRow, width: int, glyphs: Glyphs, label: int = LABEL) -> Row:
    """Name and value; the meaning where there is room."""
    mark = " " if setting.on is None else glyphs.mark if setting.on else glyphs.dot
    value = one_line(setting.value) if setting.on is None else ("on" if setting.on else "off")
    style = "bold $match" if setting.changed else "$foreground"
    room = max(4, width - label - 4)
    shown = (crop_start if setting.path else crop)(value, room, glyphs.ellipsis)
    line = Content.assemble(
        " ",
        (mark, "bold $ok" if setting.on else "$dim"),
        " ",
        (fit(setting.label, label, glyphs.ellipsis), "$dim"),
        (shown, style),
    )
    if setting.meaning and len(setting.meaning) <= width - line.cell_length - 3:  # a part of it says little
        line = Content.assemble(line, "  ", (setting.meaning, "$dim"))
    return Row((line,), setting.key)


def heading_row(text: str) -> Row:
    """A heading among rows."""
    return Row((Content.styled(f" {text}", "bold $heading"),))


def blank() -> Row:
    """An empty line."""
    return Row((Content(),))


def fact_row(label: str, value: Content | str, width: int, glyphs: Glyphs, cells: int = LABEL) -> Row:
    """A name and a value, in as many lines as the value needs."""
    content = Content.styled(one_line(value), "$foreground") if isinstance(value, str) else value
    parts = content.wrap(max(8, width - cells - 2)) or [Content()]
    lines = [
        Content.assemble(" ", (fit(label if i == 0 else "", cells, glyphs.ellipsis), "$dim"), part)
        for i, part in enumerate(parts)
    ]
    return Row(tuple(lines))


def text_rows(text: str, width: int, style: str = "$foreground", lead: str = " ") -> list[Row]:
    """A paragraph."""
    lines = Content.styled(one_line(text), style).wrap(max(8, width - len(lead) - 1))
    return [Row((Content.assemble(lead, line),)) for line in lines]


def warning_rows(text: str, width: int, glyphs: Glyphs) -> list[Row]:
    """A paragraph with a mark before it."""
    lines = Content.styled(one_line(text), "$foreground").wrap(max(8, width - 4))
    return [
        Row((Content.assemble((f" {glyphs.warn} " if i == 0 else "   ", "bold $stale"), line),))
        for i, line in enumerate(lines)
    ]


def ledger_rows(losses: Sequence[FieldLoss], width: int, glyphs: Glyphs) -> list[Row]:
    """The ledger by causes: what becomes of a field, said once beside all those that it happens to, with their rows."""
    if not losses:
        return text_rows("Nothing is changed or lost: every field comes through as it is.", width, "$ok")
    name = min(20, max(len(loss.field) for loss in losses) + 2)
    head = f" {fit('FIELD', name)}{right('ROWS', 8)}  WHAT CHANGES OR IS LOST"
    rows = [Row((Content.styled(crop(head, width, glyphs.ellipsis), "bold $heading"),))]
    causes: dict[str, list[FieldLoss]] = {}
    for loss in losses:
        causes.setdefault(one_line(loss.what), []).append(loss)
    room = max(10, width - name - 12)
    for number, (what, fields) in enumerate(causes.items()):
        said = list(Content.styled(what, "$foreground").wrap(room))
        first = fields[0].example
        if first and width >= 60:
            said.append(Content.styled(crop(f"first at {one_line(first)}", room, glyphs.ellipsis), "$dim"))
        shown = [
            Content.assemble(
                " ",
                (fit(one_line(each.field) if each else "", name, glyphs.ellipsis), "$match"),
                (right(full(each.rows) if each else "", 8), "$foreground"),
                "  ",
                line or Content(),
            )
            for each, line in zip_longest(fields, said)
        ]
        rows.append(Row(tuple(shown), f"loss:{number}"))
    return rows


def pace_rows(pace: RunProgress, width: int, glyphs: Glyphs, *, running: bool) -> list[Row]:
    """Every phase of a run: bar, counts, rate, time left."""
    rows: list[Row] = []
    for at, phase in enumerate(pace.phases):
        progress = phase[0]
        last = at == len(pace.phases) - 1
        done = not (last and running)
        rows.append(Row((Content.assemble(" ", (one_line(progress.what), "bold" if last else "$dim")),)))
        rows.append(Row((_bar(progress, width, glyphs, done=done and progress.done >= progress.total),)))
        speed, left = rate(phase), left_s(phase)
        said = _count(progress)
        if speed is not None:
            said += f"   {_speed(progress, speed)}"
        if left is not None and last and running and left >= 0.5:
            said += f"   {time_span(left)} left"
        rows += [Row((Content.assemble("   ", (crop(said, width - 4, glyphs.ellipsis), "$dim")),)), blank()]
    if pace.phases and pace.elapsed_s >= 0.05:
        rows.append(
            Row(
                (
                    Content.styled(
                        f" {time_span(pace.elapsed_s)} so far"
                        if running
                        else f" {time_span(pace.elapsed_s)} in all",
                        "$dim",
                    ),
                )
            )
        )
    return rows


def _bar(progress: Progress, width: int, glyphs: Glyphs, *, done: bool) -> Content:
    strip = max(8, min(60, width - 12))
    share = 1.0 if done and progress.total else progress.fraction
    percent = f"{share * 100:3.0f} %" if progress.total else ""
    return Content.assemble(
        "   ",
        (progress_bar(share, strip, glyphs), "$ok" if done else "$primary"),
        "  ",
        (percent, "$foreground"),
    )


def _count(progress: Progress) -> str:
    if progress.unit == "bytes":
        return f"{size(progress.done)} of {size(progress.total)}" if progress.total else size(progress.done)
    of = f" of {full(progress.total)}" if progress.total else ""
    return f"{full(progress.done)}{of} {one_line(progress.unit)}"


def _speed(progress: Progress, speed: float) -> str:
    return f"{size(round(speed))}/s" if progress.unit == "bytes" else f"{short(speed)} {progress.unit}/s"


def rows_of(lines: Iterable[Content]) -> list[Row]:
    """Lines as rows without a cursor."""
    return [Row((line,)) for line in lines]


# The stepper on top, and the two lines at the bottom: what to know, and what stands in the way.


def head_line(title: str, steps: Sequence[str], step: str, about: str, width: int, glyphs: Glyphs) -> Content:
    """The name, the steps with the one that is on, and what it is about."""
    narrow = width < 100
    at = steps.index(step) if step in steps else -1
    parts = []
    for number, name in enumerate(steps):
        if number < at:
            part = Content.assemble((f"{glyphs.mark} ", "$ok"), (name, "$dim"))
            part = part.stylize(Style.from_meta({"@click": f"screen.step_to('{name}')"}))
        elif number == at:
            part = Content.assemble((f"{glyphs.idle} ", "$primary"), (name, "bold $foreground"))
        else:
            part = Content.assemble((f"{glyphs.busy} ", "$dim"), (name, "$dim"))
        parts.append(part)
    rule = Content.styled(f" {glyphs.rule * (1 if narrow else 4)} ", "$frame")
    lead = Content() if narrow and steps else Content.assemble((title, "bold $heading"), "   ")
    line = Content.assemble(" ", lead, rule.join(parts))
    room = width - line.cell_length - 3
    if about and room >= 8:
        said = _shortened(one_line(about), room, glyphs)
        gap = width - line.cell_length - Content(said).cell_length - 1
        line = Content.assemble(line, " " * gap, (said, "$dim"))
    return line


def _shortened(about: str, room: int, glyphs: Glyphs) -> str:
    """`about` in `room` cells: the name that it begins with is cut before the numbers behind it."""
    name, comma, rest = about.partition(", ")
    left = room - Content(comma + rest).cell_length
    if Content(about).cell_length <= room or left < 8:
        return crop(about, room, glyphs.ellipsis)
    return crop(name, left, glyphs.ellipsis) + comma + rest


def foot_lines(advice: str, missing: str, width: int, rows: int, glyphs: Glyphs) -> list[Content]:
    """Advice above what is missing, wrapped where there is room; what is missing comes before advice."""
    lines = []
    if missing:
        lead = (f" {glyphs.warn} ", "bold $stale")
        lines = _wrapped(lead, missing, "$foreground", width, rows, glyphs)
    if advice and len(lines) < rows:
        lines = _wrapped(" ", advice, "$dim", width, rows - len(lines), glyphs) + lines
    return lines


def _wrapped(
    lead: str | tuple[str, str], text: str, style: str, width: int, rows: int, glyphs: Glyphs
) -> list[Content]:
    """`text` behind `lead`, in at most `rows` lines."""
    first = Content.assemble(lead)
    room = max(8, width - first.cell_length - 1)
    wrapped = [line.plain for line in Content(one_line(text)).wrap(room)]
    shown = [*wrapped[: rows - 1], crop(" ".join(wrapped[rows - 1 :]), room, glyphs.ellipsis)]
    return [
        Content.assemble(first if at == 0 else " " * first.cell_length, (line, style))
        for at, line in enumerate(shown)
        if line
    ]
