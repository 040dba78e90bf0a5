"""The demo as a person walks it: every view of every screen shows something true, and its dead part is revived."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.demo_store import agents_environ
from memtui.engine.alive import check_alive
from memtui.engine.demo import demo_folder, demo_home
from memtui.tui.app import MemtuiApp
from memtui.tui.screenshots import settle
from memtui.tui.startup.preload import GO, MODES
from memtui.tui.widgets.panel import Panel
from tests.tui.driving import screen_text, walk
from tests.tui.screen_walk import NOW_MS, SIZES, VIEWS, app_of, make_home, press, walk_demo

LEAST_LINES = 2
"""A panel with fewer lines than this says that it is empty, and nothing else; a row of a list does not."""

MAY_BE_SHORT = frozenset({"ask", "head", "foot", "line", "views"})
"""Panels that are made for one line."""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return make_home(tmp_path)


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
@pytest.mark.parametrize("size", SIZES)
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


async def test_the_tabs_use_a_narrow_line_for_names(environ: dict[str, str], tmp_path: Path) -> None:
    """At 80 cells the open screen, most others and the store's name are whole; a screen's place never moves."""
    app = app_of(environ, tmp_path)
    async with app.run_test(size=SIZES[0]) as pilot:
        await settle(pilot)
        for digit, mode in zip("1234567890", MODES, strict=True):
            await press(pilot, digit)
            bar = screen_text(app).split("\n", 1)[0]
            titles = [app.keys.by_id[GO + name].title for name in MODES]
            assert f"[{digit} {app.keys.by_id[GO + mode].title}]" in bar
            assert sum(title in bar for title in titles) >= 7, bar
            assert [digit for digit in "1234567890" if f" {digit}" in bar or f"[{digit}" in bar] == list(
                "1234567890"
            )
            assert " demo " in bar


async def test_the_configuration_offers_plans_and_edits_what_is_wrong(
    environ: dict[str, str], tmp_path: Path
) -> None:
    """Without a plan the view lists the plans and what the file sets; the key that edits works on a problem's row."""
    app = app_of(environ, tmp_path)
    async with app.run_test(size=SIZES[1]) as pilot:
        await settle(pilot)
        await press(pilot, *VIEWS["config"])
        screen = app.screen
        config = screen.state.config
        shown = screen_text(app)
        assert all(f"  {letter}  {title[:20]}" in shown for letter, title, _ in config.offered)
        assert f"SET IN THE FILE  {sum(line.is_set for line in config.lines)} of" in shown
        assert config.line(screen.state.cursor).option.path == "retrieval.candidatePoolSize"
        await press(pilot, "e")
        assert app.screen is not screen, "the option that is wrong can be edited at once"
        await press(pilot, "escape")
        await walk(pilot, lambda: screen.state.cursor == "plan:A", lambda: "j")
        await press(pilot, "enter")
        assert screen.state.config.plan == "A"
        assert len(screen.state.config.changes) == next(n for name, _, n in config.offered if name == "A")


async def test_what_a_client_did_is_told_by_tool_and_by_what_refused_it(
    environ: dict[str, str], tmp_path: Path
) -> None:
    app = app_of(environ, tmp_path)
    async with app.run_test(size=SIZES[1]) as pilot:
        await settle(pilot)
        await press(pilot, *VIEWS["rights"])
        shown = screen_text(app)
        assert "6 calls: recall 3" in shown
        assert "2 refused, by scope 2" in shown


def test_the_words_report_walks_the_painted_demo() -> None:
    """`.ci/words --screens` reads what this yields: whole screens, each with its place."""
    walked = dict(walk_demo(SIZES[:1], {"doctor": ("9",), "palette": ("ctrl+p",)}))
    assert list(walked) == ["doctor at 80x24", "palette at 80x24"]
    assert "[9 Health]" in walked["doctor at 80x24"]
    assert all(len(text.split("\n")) == 24 for text in walked.values())


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
        await press(pilot, *["right_square_bracket"] * 3, "u")
        assert app.screen is not screen, "a look at what goes back"
        await press(pilot, "A")
        assert file.read_bytes() == before
    assert verdict() == "dead"
