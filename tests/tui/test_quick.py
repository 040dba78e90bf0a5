"""Painting in parts: the same picture, and Textual's own way where Textual is not as it was."""

from __future__ import annotations

import inspect
import re
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

import pytest
from textual import _compositor
from textual.app import ComposeResult
from textual.color import Color
from textual.content import Content
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import Screen
from textual.widgets import Static

from memtui.patches.textual_painting import painted
from tests.tui import idle
from tests.tui.driving import until

SPEC = find_spec("memtui.patches.textual_painting")
assert SPEC is not None
assert SPEC.loader is not None
quick: Any = module_from_spec(SPEC)
"""A copy of its own: other tests draw nothing between two looks, and what is drawn is the matter here."""
SPEC.loader.exec_module(quick)


class Two(quick.PartwisePainting, Screen[None]):  # type: ignore[misc]
    def compose(self) -> ComposeResult:
        for name in ("one", "two"):
            yield Static(Content(name), id=name)


class Over(quick.QuickModal):  # type: ignore[misc]
    def compose(self) -> ComposeResult:
        yield Static(Content("over it"))


class Small(quick.QuickApp):  # type: ignore[misc]
    def on_mount(self) -> None:
        self.in_parts = True


def shown(screen: Screen[Any]) -> list[str]:
    """The lines of `screen`, from what its compositor drew."""
    return ["".join(segment.text for segment in line).rstrip() for line in screen._compositor.render_strips()]


def other_names(*names: str) -> type[_compositor.Compositor]:
    """Textual's compositor, as it would be if it called these parts of itself otherwise."""
    source = inspect.getsource(_compositor)
    for name in names:
        source = re.sub(rf"\b{name}\b", f"{name}_now", source)
    module = ModuleType("renamed")
    exec(compile(source, "renamed", "exec"), module.__dict__)
    found: type[_compositor.Compositor] = module.Compositor
    return found


@pytest.mark.parametrize(
    ("names", "parts"), [((), True), (("_get_renders",), False), (("cuts",), False)], ids=str
)
async def test_a_screen_is_painted_whatever_textual_calls_its_parts(
    names: tuple[str, ...], parts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Screen, "_compositor_refresh", idle._drawn)
    monkeypatch.setattr(quick, "LONG_S", 0.0)  # every part has a turn of its own
    app, screen, over = Small(), Two(), Over()
    frames: list[Screen[Any]] = []
    if names:
        compositor = other_names(*names)
        screen._compositor, over._compositor = compositor(), compositor()
    monkeypatch.setattr(app, "_display", lambda screen, _: frames.append(screen))
    async with app.run_test(size=(40, 6)) as pilot:
        await app.push_screen(screen)
        await until(pilot, lambda: painted(screen))
        frames.clear()
        screen.query_one("#two", Static).update(Content("changed"))
        await until(pilot, lambda: bool(frames) and painted(screen))
        assert shown(screen)[:2] == ["one", "changed"]
        await app.push_screen(over)
        await until(pilot, lambda: over in frames and painted(over))
        assert shown(over)[0] == "over it"
        assert app.in_parts is parts


async def test_what_changes_between_two_looks_is_painted_with_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Screen, "_compositor_refresh", idle._drawn)
    app, screen = Small(), Two()
    frames: list[str] = []
    monkeypatch.setattr(
        app,
        "_display",
        lambda _, update: frames.append(update.render_segments(app.console) if update else ""),
    )
    async with app.run_test(size=(40, 6)) as pilot:
        await app.push_screen(screen)
        await until(pilot, lambda: painted(screen))
        frames.clear()
        one, two = (screen.query_one(name, Static) for name in ("#one", "#two"))
        one.update(Content("first"))
        screen._compositor.update_widgets({one})  # what begins the painting
        two.update(Content("second"))
        screen._dirty_widgets.add(two)  # told of before it is over
        screen._compositor_refresh()
        assert "first" in "".join(frames)
        assert "second" in "".join(frames)


def test_a_screen_under_a_dialog_has_the_colours_that_textual_gives_it() -> None:
    from rich.segment import Segment
    from rich.style import Style

    styles = [None, Style(), Style(color="red"), Style(color="#123456", bgcolor="#abcdef", bold=True)]
    styles += [style + Style.from_meta({"offset": (1, 2)}) for style in styles if style is not None]
    pieces = [Segment(text, style) for style in styles for text in ("a", "日本")]
    for color in (Color(10, 20, 30, 0.6), Color(0, 0, 0, 0)):
        ours = list(quick._Tinted.process_segments(pieces, color))
        theirs = list(BackgroundScreen.process_segments(pieces, color))
        assert [piece.text for piece in ours] == [piece.text for piece in theirs]
        assert [piece.style or Style() for piece in ours] == [piece.style for piece in theirs]
