"""Pictures of the app, made by driving it: the same demo store, clock and keys give the same picture."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot

from memtui.tui.app import MemtuiApp
from memtui.tui.look import Look
from memtui.tui.opening import Opener
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.shot_notes import NAME, write_notes

QUIET_S = 60.0
"""A picture that takes longer than this never will be made."""
LOOKS = 4
"""So many looks in a row, 20 ms or more apart, must find nothing at work: an answer may begin the next search."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: the keys that lead to it, and the sizes to take it at."""

    name: str
    keys: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    theme: str = "deep-sea"
    text: str = ""
    """What to type into the line that the keys have opened."""
    then: tuple[str, ...] = ()
    """Keys to press after that."""


NARROW, NORMAL, WIDE = (80, 24), (120, 36), (200, 50)
QUESTION = "Which port do I use for SSH to the bastion?"
WINDOW = "what is the deploy window on friday"
SHOTS = (
    Shot("home", (), (NARROW, NORMAL, WIDE)),
    Shot("browse", ("2",), (NARROW, NORMAL, WIDE)),
    Shot("recall", ("3",), (NARROW, NORMAL, WIDE), text=QUESTION),
    Shot("recall-paper", ("3",), (NORMAL,), theme="paper", text=QUESTION),
    Shot("recall-ansi", ("3",), (NORMAL,), theme="ansi", text=QUESTION),
    Shot("lifecycle", ("4",), (NARROW, NORMAL, WIDE)),
    Shot("lifecycle-review", ("4", "W"), (NARROW, NORMAL)),
    Shot("duplicates", ("2", "m", "d"), (NORMAL,)),
    Shot("help", ("2", "question_mark"), (NORMAL,)),
    Shot("palette", ("2", "ctrl+p"), (NORMAL,)),
    Shot("compare", ("3",), (WIDE,), text=QUESTION, then=("C", "e", "1", "j", "j")),
    Shot("why-not", ("3",), (NARROW, NORMAL, WIDE), text=WINDOW, then=("e", "1", "m", "G", "n")),
    Shot("what-if", ("3",), (NARROW, NORMAL, WIDE), text=WINDOW, then=("e", "1", "w", *"jjjjjj", "L")),
    Shot("import", ("5", "enter"), (NORMAL,), text=f"~/{NAME}", then=("n", "t", "o")),
    Shot("cases", ("3", "escape", "T", "d", "C", "1", "R", "g"), (NORMAL,)),
)


def file_name(shot: Shot, size: tuple[int, int]) -> str:
    """The picture's file."""
    return f"{shot.name}-{size[0]}x{size[1]}.svg"


async def take(
    shot: Shot,
    size: tuple[int, int],
    folder: Path,
    *,
    opener: Opener,
    now: Callable[[], int],
    environ: Mapping[str, str],
) -> Path:
    """Run the app without a terminal at `size`, press the keys, write the picture into `folder`."""
    write_notes(Path(environ["HOME"]))
    app = MemtuiApp("demo", opener=opener, now=now, environ=environ, look=Look(theme=shot.theme))
    async with app.run_test(size=size) as pilot:
        await _settle(pilot)
        for key in shot.keys:
            await pilot.press(key)
            await _settle(pilot)
        if shot.text:
            assert app.focused is not None
            app.focused.post_message(events.Paste(shot.text))
            await pilot.press("enter")
            await _settle(pilot)
        for key in shot.then:
            await pilot.press(key)
            await _settle(pilot)
        picture = app.export_screenshot(title=f"memtui  {shot.name}  {size[0]}x{size[1]}")
    path = folder / file_name(shot, size)
    path.write_text(picture, encoding="utf-8")
    return path


async def _settle(pilot: Pilot[Any]) -> None:
    """Wait until nothing is at work any more: no engine call, no page on its way, nothing to be painted."""
    app = pilot.app
    async with asyncio.timeout(QUIET_S):
        quiet = 0
        while quiet < LOOKS:
            await pilot.pause()
            screen = app.screen
            listed = all(listing.settled for listing in screen.query(MemoryList))
            busy = bool(app.workers) or not listed or getattr(screen, "resting", False)
            quiet = 0 if busy else quiet + 1
