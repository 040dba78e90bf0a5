"""The demo as a person walks it: every view of every screen, and the dialogs that open there, as painted text."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from textual import events
from textual.pilot import Pilot

from memtui.engine.demo import demo_folder
from memtui.engine.demo_home import build_demo_home
from memtui.tui.app import MemtuiApp
from memtui.tui.appearance import Appearance
from memtui.tui.screenshots import settle
from memtui.tui.startup.open_store import RealOpener

NOW_MS = 1_795_737_600_000 + 9 * 3_600_000

SIZES = ((80, 24), (120, 36), (200, 50))

_NEXT = "right_square_bracket"

_QUESTION = "which port do I use for SSH to the bastion?"

_ASKED = ("3", "paste", "enter")

VIEWS: dict[str, tuple[str, ...]] = {
    "home": ("1",), "browse": ("2",), "recall": _ASKED, "lifecycle": ("4",), "review": ("4", "W"),
    "transfer": ("5",), "journal": ("6",),
    "conversations": ("7",), "inbox": ("7", _NEXT), "funnel": ("7", _NEXT, _NEXT), "jobs": ("7", _NEXT, _NEXT, _NEXT),
    "sessions": ("8",), "access": ("8", _NEXT), "leaks": ("8", _NEXT, _NEXT), "reach": ("8", _NEXT, _NEXT, _NEXT),
    "doctor": ("9",), "indexes": ("9", _NEXT), "versions": ("9", _NEXT, _NEXT), "config": ("9", _NEXT, _NEXT, _NEXT),
    "options": ("9", _NEXT, _NEXT, _NEXT, "v"),
    "live": ("0",), "rights": ("0", _NEXT), "documents": ("0", _NEXT, _NEXT), "to-dos": ("0", _NEXT, _NEXT, _NEXT),
}  # fmt: skip
"""View: the keys that lead to it from Home. `paste` types the question."""

OVER: dict[str, tuple[str, ...]] = {
    "a memory": ("2", "enter"), "change": ("2", "c"), "edit": ("2", "e"), "add": ("2", "i"), "forget": ("2", "D"),
    "export": ("2", "x"), "views": ("2", "apostrophe"), "sort": ("2", "s"),
    "duplicates": ("2", "f"), "noise": ("2", "f", _NEXT), "secrets": ("2", "f", _NEXT, _NEXT),
    "trash": ("2", "f", _NEXT, _NEXT, _NEXT),
    "dropped": (*_ASKED, "v"), "why not": (*_ASKED, "v", "W"), "explain": (*_ASKED, "w"), "what if": (*_ASKED, "p"),
    "injected": (*_ASKED, "I"), "compare": (*_ASKED, "equals_sign"), "bisect": (*_ASKED, "B"), "cases": (*_ASKED, "T"),
    "receipts": (*_ASKED, "x"), "history": (*_ASKED, "H"), "correct": (*_ASKED, "f"),
    "scores": ("4", _NEXT), "flow": ("4", _NEXT, _NEXT), "sweep": ("4", "A"),
    "import": ("5", "enter"), "export task": ("5", "j", "enter"), "migrate": ("5", "j", "j", "enter"),
    "upgrade": ("5", "j", "j", "j", "enter"), "repair": ("5", "j", "j", "j", "j", "enter"),
    "vectors": ("5", "j", "j", "j", "j", "j", "enter"), "re-embed": ("5", "G", "enter"),
    "conversation": ("7", "enter"), "finding": ("9", "f"), "client": ("0", "i"),
    "palette": ("ctrl+p",), "topics": ("question_mark", "t"),
    **{f"help of {digit}": (digit, "escape", "question_mark") for digit in "1234567890"},
}  # fmt: skip
"""What opens over a view or in its place: the keys that lead to it from Home. Nothing of it is applied."""


def make_home(root: Path) -> dict[str, str]:
    """A machine of nobody below `root` on which the demo was just made: its environment."""
    environ = {"HOME": str(root / "home")}
    environ |= {f"MEMTUI_{name.upper()}_DIR": str(root / name) for name in ("config", "state", "cache")}
    build_demo_home(demo_folder(root / "cache"), now_ms=NOW_MS)
    return environ


def app_of(environ: Mapping[str, str], cwd: Path) -> MemtuiApp:
    """The app as `memtui demo` makes it."""
    opener = RealOpener(environ=environ, cwd=cwd, options={})
    return MemtuiApp("demo", opener=opener, now=lambda: NOW_MS, environ=environ, look=Appearance())


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one after the other, each when the one before has had its effect."""
    for key in keys:
        if key == "paste":
            assert pilot.app.focused is not None
            pilot.app.focused.post_message(events.Paste(_QUESTION))
            await pilot.pause()
        else:
            await pilot.press(key)
        await settle(pilot)


def walk_demo(
    sizes: Sequence[tuple[int, int]] = SIZES, places: Mapping[str, Sequence[str]] | None = None
) -> Iterator[tuple[str, str]]:
    """(place and size, the whole screen as text) of every view and of what opens over it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        environ = make_home(root)
        for size in sizes:
            for name, keys in ({**VIEWS, **OVER} if places is None else places).items():
                yield f"{name} at {size[0]}x{size[1]}", asyncio.run(_text_of(environ, root, size, keys))


async def _text_of(environ: Mapping[str, str], root: Path, size: tuple[int, int], keys: Sequence[str]) -> str:
    app = app_of(environ, root)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, *keys)
        strips = app.screen._compositor.render_strips(app.screen.size)
        return "\n".join("".join(part.text for part in strip).rstrip() for strip in strips)
