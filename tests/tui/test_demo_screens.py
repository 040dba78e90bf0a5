"""The demo as a person walks it: every view of every screen shows something true, and its dead part is revived."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from memtui.demo_store import agents_environ
from memtui.engine.alive import check_alive
from memtui.engine.demo import demo_folder, demo_home
from memtui.engine.demo_home import build_demo_home
from memtui.tui.app import MemtuiApp
from memtui.tui.appearance import Appearance
from memtui.tui.screenshots import settle
from memtui.tui.startup.open_store import RealOpener
from memtui.tui.widgets.panel import Panel

NOW_MS = 1_795_737_600_000 + 9 * 3_600_000

_NEXT = "right_square_bracket"

_QUESTION = "which port do I use for SSH to the bastion?"

VIEWS: dict[str, tuple[str, ...]] = {
    "home": ("1",), "browse": ("2",), "recall": ("3", "paste", "enter"), "lifecycle": ("4",), "review": ("4", "W"),
    "transfer": ("5",), "journal": ("6",),
    "conversations": ("7",), "inbox": ("7", _NEXT), "funnel": ("7", _NEXT, _NEXT), "jobs": ("7", _NEXT, _NEXT, _NEXT),
    "sessions": ("8",), "access": ("8", _NEXT), "leaks": ("8", _NEXT, _NEXT), "reach": ("8", _NEXT, _NEXT, _NEXT),
    "doctor": ("9",), "indexes": ("9", _NEXT), "versions": ("9", _NEXT, _NEXT), "config": ("9", _NEXT, _NEXT, _NEXT),
    "options": ("9", _NEXT, _NEXT, _NEXT, "v"),
    "live": ("0",), "rights": ("0", _NEXT), "documents": ("0", _NEXT, _NEXT), "to-dos": ("0", _NEXT, _NEXT, _NEXT),
}  # fmt: skip
"""View: the keys that lead to it from Home. `paste` types the question."""

LEAST_LINES = 2
"""A panel with fewer lines than this says that it is empty, and nothing else; a row of a list does not."""

MAY_BE_SHORT = frozenset({"ask", "head", "foot", "line", "views"})
"""Panels that are made for one line."""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A machine of nobody on which the demo was just made."""
    found = {"HOME": str(tmp_path / "home")}
    found |= {f"MEMTUI_{name.upper()}_DIR": str(tmp_path / name) for name in ("config", "state", "cache")}
    build_demo_home(demo_folder(tmp_path / "cache"), now_ms=NOW_MS)
    return found


def app_of(environ: dict[str, str], tmp_path: Path) -> MemtuiApp:
    opener = RealOpener(environ=environ, cwd=tmp_path, options={})
    return MemtuiApp("demo", opener=opener, now=lambda: NOW_MS, environ=environ, look=Appearance())


async def press(pilot: Pilot[None], *keys: str) -> None:
    from textual import events

    for key in keys:
        if key == "paste":
            assert pilot.app.focused is not None
            pilot.app.focused.post_message(events.Paste(_QUESTION))
            await pilot.pause()
        else:
            await pilot.press(key)
        await settle(pilot)


def lines_of(app: MemtuiApp, panel: Panel) -> list[str]:
    """What stands inside a panel's border, without blank lines."""
    region = panel.content_region
    strips = app.screen._compositor.render_strips(app.screen.size)
    rows = strips[region.y : region.bottom]
    texts = ["".join(part.text for part in strip.crop(region.x, region.right)) for strip in rows]
    return [text.strip() for text in texts if text.strip()]


def empty_panels(app: MemtuiApp) -> dict[str, list[str]]:
    """The panels that are seen and show nothing or one sentence, by their id."""
    panels = [panel for panel in app.screen.query(Panel) if panel.display and panel.content_region.height > 1]
    assert panels, "a view without a panel"
    found = {str(panel.id or panel.border_title): lines_of(app, panel) for panel in panels}
    return {
        name: said
        for name, said in found.items()
        if len(said) < LEAST_LINES and not "".join(said).startswith("▌") and name not in MAY_BE_SHORT
    }


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
async def test_every_view_of_every_screen_shows_something_on_the_demo(
    environ: dict[str, str], tmp_path: Path, size: tuple[int, int]
) -> None:
    empty: dict[str, dict[str, list[str]]] = {}
    for view, keys in VIEWS.items():
        app = app_of(environ, tmp_path)
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            await press(pilot, *keys)
            if found := empty_panels(app):
                empty[view] = found
    assert empty == {}


async def test_the_dead_agent_is_revived_from_health_and_that_is_undone(
    environ: dict[str, str], tmp_path: Path
) -> None:
    own = agents_environ("demo", environ)
    file = demo_home(demo_folder(tmp_path / "cache")) / ".openclaw" / "openclaw.json"
    before = file.read_bytes()

    def verdict() -> str:
        return check_alive(own, tmp_path, now_ms=NOW_MS).verdict

    assert verdict() == "dead"
    app = app_of(environ, tmp_path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await press(pilot, "9")
        screen = app.screen
        while screen.state.finding.kind != "D46":
            await press(pilot, "j")
        await press(pilot, "f")
        assert app.screen is not screen, "a preview before anything is written"
        assert file.read_bytes() == before
        await press(pilot, "A")
        assert app.screen is screen
        assert verdict() == "alive"
        await press(pilot, _NEXT, _NEXT, _NEXT, "u")
        assert app.screen is not screen, "a look at what goes back"
        await press(pilot, "A")
        assert file.read_bytes() == before
    assert verdict() == "dead"
