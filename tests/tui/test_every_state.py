"""Every list without anything in it, and every place whose store cannot be read: what is said, and what to do next.

The stores are real: one without a memory, one whose newest manifest or whose data files are damaged, a link that leads
to itself, a service that nobody runs, and one that takes its time to open.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from memtui.engine.discovery import create_empty
from memtui.engine.transfer import BUNDLED_DIMS
from memtui.tui.app import MemtuiApp
from memtui.tui.startup.open_store import opener
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import RowList
from memtui.tui.widgets.state_panel import StatePanel
from tests.conftest import thinned
from tests.tui.driving import EACH_SIZE, SIZES, press, screen_text, settle, until
from tests.tui.test_every_list import DIALOGS, PLACES, every_kind
from tests.tui.test_locked import play

DIGITS = "1234567890"
"""The ten places."""

NEVER_EMPTY = {
    "ChangeRows": "a change has rows, or there is no preview",
    "ConfigRows": "a plan has settings, or there is no preview",
    "DifferenceRows": "a file that is to be written has lines that differ, or there is no preview",
    "EffectRows": "what a change does to the answers, in words where it does nothing",
    "EntryRows": "the commands of the program",
    "ItemRows": "a menu",
    "KnobRows": "the settings of a recipe or of the decay",
    "LedgerRows": "the stages of an answer",
    "ListRows": "the scopes that an agent's list may name",
    "PersonRows": "who is forgotten has memories, or nothing is asked",
    "PlaceRows": "the stores that were found, and the ways to another",
    "PreviewRows": "a change has rows, or there is no preview",
    "RepairRows": "a remedy has steps, or there is no preview",
    "SettingRows": "the settings of a recipe",
    "UnlockRows": "what unlocking means",
}
"""Lists that hold something on every store, or are not there, by what that is."""

WORDS_INSTEAD = {
    "DroppedList": "Recall says what can be asked",
    "Finds": "Mend says what it looked for",
    "MemoryText": "Browse says that no memory is under the cursor",
    "NearRows": "it stands beside a memory alone",
    "RemedyRows": "Why not asks for a memory first",
    "ResultList": "Recall says what can be asked",
    "ReviewRows": "Lifecycle says that there is nothing to weigh",
    "ScopeRows": "Browse shows no scopes where there are none",
    "StageTable": "Recall shows the recipe",
    "TimelineRows": "the Journal says that nothing was changed",
}
"""Lists in whose place a panel of words stands, by what it says."""

NEXT = {
    "1": "brings memories in",
    "2": "bring memories in",
    "3": "bring memories in",
    "4": "bring memories in",
    "5": "memories from files",
    "6": "go to Browse",
    "7": "paste",
    "8": "who may read what",
    "9": "refresh reads them",
    "0": "memtui connect",
}
"""Words of each place that say what to do, where the store has no memory yet."""

OF_AN_ANSWER = {("what if", "why")}
"""Panels that are about a memory of an answer, on a screen that says beside them that nothing comes back."""

RAW = re.compile(
    r"Traceback|lance error|LanceError|OSError|Errno|RuntimeError|PanicException|object_store|\.rs:\d"
)
"""What a person must never be told."""


@asynccontextmanager
async def opened(
    target: str, home: Path, size: tuple[int, int], environ: dict[str, str] | None = None, held: Any = None
) -> AsyncIterator[tuple[MemtuiApp, Pilot[None]]]:
    """The app as `memtui TARGET --rw` makes it; with `held` it opens once that is set."""
    around = {"HOME": str(home), "MEMTUI_STATE_DIR": str(home / "state"), "MEMTUI_GLYPHS": "unicode"}
    around |= environ or {}
    at_once = opener(around, home, writable=True)

    def later(*given: Any) -> Any:
        assert held is None or held.wait(120)
        return at_once(*given)

    app = MemtuiApp(target, opener=later, environ=around)  # on the clock that writes the stores
    async with app.run_test(size=size) as pilot:
        if held is None:
            await settle(pilot)
        yield app, pilot


def inside(app: MemtuiApp, panel: Panel) -> str:
    """What stands within the frame of a panel."""
    box, lines = panel.region, screen_text(app).split("\n")
    return "\n".join(line[box.x + 1 : box.right - 1] for line in lines[box.y + 1 : box.bottom - 1])


def blank(app: MemtuiApp) -> list[str]:
    """The panels in sight without a word in them."""
    seen = [each for each in app.screen.query(Panel) if each.region.area and each.region.height > 3]
    return [str(each.id) for each in seen if not inside(app, each).strip(" │\n")]


def words_in_sight(app: MemtuiApp) -> list[StatePanel]:
    return [each for each in app.screen.query(StatePanel) if each.region.area]


async def leave(app: MemtuiApp, pilot: Pilot[None]) -> None:
    """Close what lies over the screen."""
    while len(app.screen_stack) > 1:
        app.screen.dismiss(None)
        await settle(pilot)
    await press(pilot, "escape", "escape")


@pytest.mark.slow
@pytest.mark.parametrize("size", EACH_SIZE)
async def test_each_place_of_a_store_without_a_memory_says_what_to_do(
    size: tuple[int, int], tmp_path: Path
) -> None:
    create_empty(tmp_path / "store", BUNDLED_DIMS)
    async with opened(str(tmp_path / "store"), tmp_path, size) as (app, pilot):
        for place in DIGITS:
            await press(pilot, "escape", place)
            text = screen_text(app)
            assert NEXT[place].lower() in text.lower(), f"{place}\n{text}"
            assert not blank(app), f"{place}: {blank(app)}\n{text}"
            for panel in words_in_sight(app):
                assert panel.state.choices, f"{place}: {panel.state}"


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_every_list_without_a_row_has_words_in_its_place(size: tuple[int, int], tmp_path: Path) -> None:
    create_empty(tmp_path / "store", BUNDLED_DIMS)
    met: set[str] = set()
    async with opened(str(tmp_path / "store"), tmp_path, size) as (app, pilot):
        for name, keys in {**PLACES, **DIALOGS}.items():
            await play(pilot, keys)
            void = [each for each in blank(app) if (name, each) not in OF_AN_ANSWER]
            assert not void, f"{name}: {void}\n{screen_text(app)}"
            for rows in app.screen.query(RowList):
                if rows.region.area and not rows._keys():
                    met.add(type(rows).__name__)
            await leave(app, pilot)
    kinds = {each.__name__ for each in every_kind()}
    assert not set(NEVER_EMPTY) & set(WORDS_INSTEAD)
    assert not met & set(NEVER_EMPTY), "it can be empty"
    assert kinds - met - set(NEVER_EMPTY) - set(WORDS_INSTEAD) == set(), (
        "a new list: what does it say without a row?"
    )


def link_to_itself(store: Path, demo: Path) -> str:
    store.symlink_to(store)
    return "a link that leads to nothing"


def no_folder(store: Path, demo: Path) -> str:
    store.write_text("a letter")
    return str(store)


def no_manifest(store: Path, demo: Path) -> str:
    shutil.copytree(demo, store)
    for each in store.rglob("*.manifest"):
        each.write_bytes(bytes(40))
    return "manifest is damaged"


def no_data(store: Path, demo: Path) -> str:
    shutil.copytree(demo, store)
    for each in store.glob("*.lance/data/*"):
        each.unlink()
    return "is missing"


def cut_data(store: Path, demo: Path) -> str:
    shutil.copytree(demo, store)
    for each in store.glob("*.lance/data/*"):
        each.write_bytes(each.read_bytes()[: each.stat().st_size // 2])
    return "damaged"


CAUSES: tuple[Callable[[Path, Path], str], ...] = (link_to_itself, no_folder, no_manifest, no_data, cut_data)


def solid(text: str) -> str:
    """The text without frames and spaces: lines break anywhere."""
    return "".join(text.replace("│", " ").split())


async def tells_the_failure(app: MemtuiApp, pilot: Pilot[None], reason: str) -> None:
    """Each place says why there is nothing to see, whole, and names a way out."""
    for place in DIGITS:
        await press(pilot, "escape", place)
        text = screen_text(app)
        (panel, *_) = words_in_sight(app)
        assert panel.state.kind == "error", f"{place}\n{text}"
        facts = dict(panel.state.facts)
        assert reason in facts["reason"], f"{place}\n{text}"
        for each in facts.values():
            assert solid(each) in solid(text), f"{place}: {each}\n{text}"
        assert panel.state.choices, place
        assert len(facts["fix"]) > 20, facts
        assert not RAW.search(text), f"{place}\n{text}"


@pytest.mark.parametrize("size", EACH_SIZE)
@pytest.mark.parametrize("cause", thinned(CAUSES, 3), ids=[each.__name__ for each in CAUSES])
async def test_each_place_of_a_store_that_cannot_be_read_says_why(
    cause: Callable[[Path, Path], str], size: tuple[int, int], demo_store: Path, tmp_path: Path
) -> None:
    reason = cause(tmp_path / "store", demo_store)
    async with opened(str(tmp_path / "store"), tmp_path, size) as (app, pilot):
        await tells_the_failure(app, pilot, reason)


@pytest.mark.slow
@pytest.mark.parametrize("size", EACH_SIZE)
async def test_each_place_of_a_store_whose_service_is_not_there_says_why(
    size: tuple[int, int], tmp_path: Path
) -> None:
    environ = {"AWS_ENDPOINT": "http://127.0.0.1:1", "AWS_REGION": "eu-west-1"}
    environ |= {"AWS_ACCESS_KEY_ID": "here", "AWS_SECRET_ACCESS_KEY": "too", "AWS_ALLOW_HTTP": "true"}
    async with opened("s3://shelf/store", tmp_path, size, environ) as (app, pilot):
        await tells_the_failure(app, pilot, "s3://shelf/store")


@pytest.mark.slow
@pytest.mark.parametrize("size", EACH_SIZE)
async def test_each_place_says_what_it_waits_for_and_then_shows_it(
    size: tuple[int, int], demo_store: Path, tmp_path: Path
) -> None:
    shutil.copytree(demo_store, tmp_path / "store")
    held = threading.Event()
    async with opened(str(tmp_path / "store"), tmp_path, size, held=held) as (app, pilot):
        for place in DIGITS:
            await pilot.press("escape", place)
            await until(pilot, lambda: bool(words_in_sight(app)))
            (panel, *_) = words_in_sight(app)
            assert panel.state.kind == "loading", f"{place}\n{screen_text(app)}"
            assert panel.state.headline
        held.set()
        await settle(pilot)
        for place in DIGITS:
            await press(pilot, "escape", place)
            assert not any(each.state.kind == "loading" for each in words_in_sight(app)), place
            assert not blank(app), f"{place}: {blank(app)}\n{screen_text(app)}"
