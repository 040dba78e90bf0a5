"""What each task of Transfer takes, gives and asks, for the start page where it has room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtui.engine import one_line
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.screens.transfer.import_source_view import FORMATS_SHOWN
from memtui.tui.widgets.row_list import Row
from memtui.tui.wizard.view import blank, fact_row, heading_row

_NAME_CELLS = 15

Facts = tuple[tuple[str, str], ...]

_STEPS: Mapping[str, Facts] = {
    "import": (
        ("source", "a path, or a text that is pasted; what it is, is told by what is in it"),
        ("mapping", "whose memories they are, and which fields become what"),
        ("review", "each record: new, a copy, near one that is there; keep it or leave it out"),
        ("run", "one entry of the Journal: stopped, resumed, taken back whole"),
    ),
    "migrate": (
        ("check", "what the new form cannot hold, field by field, before anything is written"),
        ("run", "a new store beside this one, each row read back and compared"),
        ("this store", "is only read"),
    ),
    "upgrade": (
        ("what", "rows that have no summary, category or tier of their own"),
        ("review", "what each row would become"),
        ("run", "one entry of the Journal"),
    ),
    "repair": (
        ("what", "scopes, summaries, times and metadata that mislead"),
        ("review", "the rows of each kind, before and after"),
        ("run", "one entry of the Journal"),
    ),
    "vectors": (
        ("what", "rows that were stored without a vector"),
        ("review", "how many there are, and what is sent where"),
        ("run", "one entry of the Journal; rows with a vector stay as they are"),
    ),
    "reembed": (
        ("model", "bundled, local or of a service; what is sent where is said before"),
        ("rehearse", "a sample under both models: your questions, answered side by side"),
        ("make", "the new table beside the old one; it goes on where it was stopped"),
        ("switch", "with the agent stopped; the way back stays here"),
    ),
}


def _writes() -> Facts:
    from memtui.engine.transfer import EXPORT_TITLES

    return tuple(EXPORT_TITLES.items())


def about_task(name: str, width: int, glyphs: Glyphs) -> list[Row]:
    """The rows about one task: what it takes or writes, and its steps."""
    parts: list[tuple[str, Facts]] = []
    if name == "import":
        parts.append(("IMPORT TAKES", FORMATS_SHOWN))
    elif name == "export":
        parts.append(("EXPORT WRITES", _writes()))
        parts.append(
            (
                "HOW IT GOES",
                (
                    ("which", "all, or those of a filter; marked ones from Browse"),
                    ("form", "what each form cannot hold is listed, and the first rows as they would be"),
                    ("secrets", "are masked unless you say otherwise"),
                    ("this store", "is only read"),
                ),
            )
        )
    if name in _STEPS:
        parts.append(("HOW IT GOES", _STEPS[name]))
    return _told(parts, width, glyphs)


def about_others(names: Mapping[str, str], width: int, room: int, glyphs: Glyphs) -> list[Row]:
    """What the tasks of these names, with their titles, take or write: as many as fit on `room` lines, each whole."""
    rows: list[Row] = []
    for name, title in names.items():
        facts = {"import": FORMATS_SHOWN, "export": _writes()}.get(name) or _STEPS[name]
        more = [blank(), *_told([(title.upper(), facts)], width, glyphs)]
        if sum(len(each.lines) for each in (*rows, *more)) <= room:
            rows += more
    return rows


def _told(parts: Sequence[tuple[str, Facts]], width: int, glyphs: Glyphs) -> list[Row]:
    rows: list[Row] = []
    for title, facts in parts:
        rows += [*([blank()] if rows else []), heading_row(title)]
        rows += [fact_row(label, one_line(text), width, glyphs, _NAME_CELLS) for label, text in facts]
    return rows
