"""What every preview of a write must tell: the answers that come of it, or why none are known; no ids, no objects."""

from __future__ import annotations

import re
from typing import Any

from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.answer_effect_view import EFFECT
from memtui.tui.dialogs.change_preview import ChangePreview
from memtui.tui.dialogs.config_preview import ConfigPreview
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import RowList
from tests.tui.driving import drawn, screen_text

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

RAW = re.compile(r"""\{"|\[\{|\["|\{'""")

ANSWERS = re.compile(
    r"answers? changes?|no answer changes|nothing to ask|not known|asking"
    r"|the expected memory is|What it read before|nothing comes back|Not known"
    r"|reads? more|reads? less|would read|no longer read"
)
"""What stands below the heading: the answers, or the reason why there is none to show."""

HEADS = (EFFECT, "WHAT WOULD BE ANSWERED, AND KEPT", "WHO READS MORE OR LESS")

WIDTHS = (78, 104, 138)


def painted(app: MemtuiApp, width: int) -> str:
    """Everything that the lists of the screen on top say at this width, below their last visible line too."""
    lists = app.screen.query(RowList)
    return "\n".join(line.plain for each in lists for row in each.paint(width) for line in row.lines)


def shown(app: MemtuiApp) -> str:
    """The screen as text; of a dialog its own rectangle, without what stands around it."""
    if len(app.screen_stack) == 1:
        return screen_text(app)
    region = app.screen.query_one(Panel).region
    strips = drawn(app)[region.y : region.bottom]
    return "\n".join(strip.crop(region.x, region.right).text for strip in strips)


def tells_consequences(app: MemtuiApp, name: str = "") -> None:
    """Fail where the preview on the screen shows no consequence and no reason, a whole id, or an object as stored."""
    screen: Any = app.screen
    assert isinstance(screen, ChangePreview | ConfigPreview), f"{name}: {type(screen).__name__}"
    in_words(app, name)
    for width in WIDTHS:
        text = painted(app, width)
        conflicts = getattr(getattr(screen, "plan", None), "conflicts", ())
        if conflicts:
            assert "this cannot be applied" in text, f"{name}\n{text}"
            continue
        head = next((each for each in HEADS if each in text), "")
        assert head, f"{name}: nothing about the answers\n{text}"
        below = text.partition(head)[2]
        assert ANSWERS.search(below), f"{name}: neither answers nor a reason\n{text}"


def in_words(app: MemtuiApp, name: str = "") -> None:
    """Fail where a whole id or an object as it is stored stands in the lists of the screen on top."""
    for text in (shown(app), *(painted(app, width) for width in WIDTHS)):
        assert not UUID.search(text), f"{name}: {UUID.search(text)}\n{text}"
        assert not RAW.search(text), f"{name}: {RAW.search(text)}\n{text}"
