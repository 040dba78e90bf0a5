"""No text ends in an ellipsis while more than three tenths of its line, or of the second line of its row, are empty."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App
from textual.geometry import Region
from textual.pilot import Pilot

from memtui.engine import changes
from memtui.engine.catalog import select_ids
from memtui.engine.demo import build_demo, content, demo_folder
from memtui.tui.app import MemtuiApp
from memtui.tui.startup.open_store import opener
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import RowList
from tests.conftest import NOW_MS
from tests.tui.driving import EACH_SIZE as SMALLEST_QUICK
from tests.tui.driving import SIZES, drawn, lines, press, settle
from tests.tui.test_every_list import ASKED, DIALOGS, NEXT, PLACES
from tests.tui.test_locked import locked, play

CUT = re.compile(r"…(?=\W|$)")
EMPTY = re.compile(r"[ ─]{3,}")
"""Room: between two columns stand two cells; in a frame, its rule."""
MOST_EMPTY = 0.3

SCREENS = {
    "Recall": {
        "asked": ASKED,
        "dropped": f"{ASKED} v",
        "every stage": f"{ASKED} w",
        "another question": "3 slash ctrl+u text:restore enter",
        "a correction": f"{ASKED} escape f",
    },
    "Cases": {
        "run": "3 E d R",
        "one of them": "3 E j j",
        "with another setup": "3 E equals_sign enter R",
    },
    "Journal": {"entries": "6", "an older one": "6 j j"},
    "Audit": {
        **{f"view {views}": "8" + NEXT * views for views in (0, 1, 2, 4)},
        **{f"view {views}, tab": "8" + NEXT * views + " j tab j tab" for views in (0, 1, 2)},
        "reach": "8 ctrl+u tab tab j j j X",
        "reach of a leak": "8 right_square_bracket right_square_bracket X",
    },
    "Mend": {f"view {views}": "2 f" + NEXT * views for views in range(4)},
}
"""The lists whose texts are what a person reads them for."""

OTHERS = {
    "Home": "1",
    "Browse": "2",
    "the forget menu": "2 D",
    "the views": "2 w",
    "the export": "2 x",
    "the fields": "2 c",
    "copying": "2 y",
    "a memory in its form": "2 e",
    "what is staged": "2 D a s C",
    "the palette": "ctrl+p",
    "the palette, a word": "ctrl+p text:forget",
    "receipts": "3 x",
    "Capture": "7 talk",
    **PLACES,
    **DIALOGS,
}

MORE = (
    "This was agreed in the weekly call with everyone on the rota, and holds until the platform group writes a page.",
    "Ask before you change it, because three jobs of the night and the report for the accountants read the same value.",
    "The reason is in the long thread of last spring, where two alternatives were measured on the staging cluster.",
)
"""What makes a text longer than any line that shows it."""

CUT_AT_THE_END = re.compile(r"… {4,}(?=[│|]|$)")
"""Cut, and four cells free up to the frame: a margin and a scroll bar are fewer."""


def cuts(app: App[None]) -> Iterator[str]:
    """Each line that is cut beside free room, with the panel that it stands in."""
    strips = drawn(app)

    def text(region: Region, y: int) -> str:
        return strips[y].crop(region.x, region.right).text if 0 <= y < len(strips) else ""

    def empty(line: str) -> float:
        return sum(map(len, EMPTY.findall(line))) / max(1, len(line))

    for panel in app.screen.query(Panel):
        region = panel.region
        if not (panel.display and region.area and panel.is_on_screen):
            continue
        for y in range(region.y, region.bottom):
            line = text(region, y).strip("│")
            if CUT.search(line) and empty(line) > MOST_EMPTY:
                yield f"{panel.id or type(panel).__name__}: {line}"
    for rows in app.screen.query(RowList):
        if not (rows.display and rows.region.area and rows.is_on_screen):
            continue
        for row, top in zip(rows._rows, rows._tops, strict=True):
            said = [line.plain.ljust(rows.size.width) for line in row.lines]
            seen = 0 <= top - rows.scroll_offset.y < rows.size.height
            for n, line in enumerate(said):
                if seen and CUT.search(line) and any(empty(other) > MOST_EMPTY for other in said[n + 1 :]):
                    yield f"{type(rows).__name__}: " + " / ".join(each.rstrip() for each in said)


@asynccontextmanager
async def demo(
    store: Path, home: Path, size: tuple[int, int]
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None]]]:
    """The app on the demo as `memtui demo` opens it, two memories edited and the newer edit undone."""
    environ = {
        "HOME": str(home / "home"),
        **{f"MEMTUI_{name.upper()}_DIR": str(home / name) for name in ("config", "state", "cache")},
        "MEMTUI_GLYPHS": "unicode",
    }
    shutil.copytree(store, demo_folder(home / "cache"))
    app = MemtuiApp("demo", opener=opener(environ, home), now=lambda: NOW_MS, environ=environ)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        engine = app.session.engine
        assert engine is not None
        engine.unlock()
        for id in select_ids(engine.view, "tier:core")[:2]:
            changes.apply(engine, changes.plan_edit(engine, [id], {"importance": 0.5}))
        changes.apply(engine, changes.plan_undo(engine))
        await press(pilot, "r")
        yield app, pilot


async def closed(app: MemtuiApp, pilot: Pilot[None]) -> None:
    """Every dialog away, nothing staged."""
    while len(app.screen_stack) > 1:
        app.screen.dismiss(None)
        await settle(pilot)
    engine = app.session.engine
    assert engine is not None
    engine.write_state.staged.clear()
    app.take("staged", 0)
    await press(pilot, "escape", "escape")


EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=[f"{width}x{height}" for width, height in SIZES])


@pytest.mark.slow
@EACH_SIZE
@pytest.mark.parametrize("screen", SCREENS)
async def test_no_text_is_cut_while_its_line_or_the_next_one_has_room(
    screen: str, size: tuple[int, int], demo_store: Path, tmp_path: Path
) -> None:
    found: list[str] = []
    async with demo(demo_store, tmp_path, size) as (app, pilot):
        for name, keys in SCREENS[screen].items():
            await play(pilot, keys)
            found += [f"{name}: {line}" for line in cuts(app)]
            await closed(app, pilot)
    assert not found, "\n".join(found)


@pytest.fixture(scope="module")
def long_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, each of its texts some three hundred characters longer."""
    longer = tuple(
        replace(record, text=f"{record.text} {MORE[n % 3]} {MORE[(n + 1) % 3]}") if record.text else record
        for n, record in enumerate(content.records())
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "records", lambda: longer)
        return build_demo(tmp_path_factory.mktemp("long") / "store", now_ms=NOW_MS)


@pytest.mark.parametrize("size", SMALLEST_QUICK)
@pytest.mark.parametrize("screen", SCREENS)
async def test_no_long_text_is_cut_while_its_line_or_the_next_one_has_room(
    screen: str, size: tuple[int, int], long_store: Path, tmp_path: Path
) -> None:
    found: list[str] = []
    async with demo(long_store, tmp_path, size) as (app, pilot):
        for name, keys in SCREENS[screen].items():
            await play(pilot, keys)
            found += [f"{name}: {line}" for line in cuts(app)]
            await closed(app, pilot)
    assert not found, "\n".join(found)


@pytest.mark.slow
@EACH_SIZE
async def test_nothing_is_cut_where_there_is_room(
    size: tuple[int, int], demo_store: Path, tmp_path: Path
) -> None:
    found: list[str] = []
    async with locked(demo_store, tmp_path, size) as (app, pilot):
        for name, keys in OTHERS.items():
            await play(pilot, keys)
            found += [f"{name}: {line}" for line in lines(app) if CUT_AT_THE_END.search(line)]
            await closed(app, pilot)
    assert not found, "\n".join(found)
