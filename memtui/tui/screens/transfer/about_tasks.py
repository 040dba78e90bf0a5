"""What each task of Transfer takes, gives and asks, for the start page where it has room."""

from __future__ import annotations

from collections.abc import Sequence

from memtui.engine import one_line
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.screens.transfer.import_source_view import FORMATS_SHOWN
from memtui.tui.screens.transfer.tasks import Facts, TaskEntry
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import blank, fact_row, heading_row

_NAME_CELLS = 15


def _writes() -> Facts:
    from memtui.engine.transfer import EXPORT_FORMATS

    return tuple((export_format.name, export_format.title) for export_format in EXPORT_FORMATS)


def about_task(task: TaskEntry, width: int, glyphs: Glyphs) -> list[Row]:
    """The rows about one task: what it takes or writes, and its steps."""
    parts: list[tuple[str, Facts]] = []
    if task.name == "import":
        parts.append(("IMPORT TAKES", FORMATS_SHOWN))
    elif task.name == "export":
        parts.append(("EXPORT WRITES", _writes()))
    if task.steps:
        parts.append(("HOW IT GOES", task.steps))
    return _told(parts, width, glyphs)


def about_others(tasks: Sequence[TaskEntry], width: int, room: int, glyphs: Glyphs) -> list[Row]:
    """What these tasks take, write or do: as many as fit on `room` lines, each whole."""
    rows: list[Row] = []
    for task in tasks:
        facts = {"import": FORMATS_SHOWN, "export": _writes()}.get(task.name) or task.steps
        more = [blank(), *_told([(task.title.upper(), facts)], width, glyphs)] if facts else []
        if sum(len(row.lines) for row in (*rows, *more)) <= room:
            rows += more
    return rows


def _told(parts: Sequence[tuple[str, Facts]], width: int, glyphs: Glyphs) -> list[Row]:
    rows: list[Row] = []
    for title, facts in parts:
        rows += [*([blank()] if rows else []), heading_row(title)]
        rows += [fact_row(label, one_line(text), width, glyphs, _NAME_CELLS) for label, text in facts]
    return rows
