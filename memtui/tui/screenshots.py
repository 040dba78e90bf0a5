"""Pictures of the app, made by driving it: the same demo store, clock and keys give the same picture."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from textual import events
from textual.pilot import Pilot

from memtui.tui.app import MemtuiApp
from memtui.tui.appearance import Appearance
from memtui.tui.bound_panel import BoundPanel
from memtui.tui.screens.browse.memory_list import MemoryList
from memtui.tui.startup.open_store import Opener

# A file of notes that the picture of the import wizard imports: new ones, copies, and some that say
# otherwise.

NAME = "mango-notes.jsonl"

_OTHERWISE = (
    (
        "custom:oncall",
        "On-call rota: Samir, Priya, Tomas, Ines, Leonie for support hours; hand-over Tuesday 11:30 in #red.",
    ),
    (
        "global",
        "Starter plan price: 34 euro a month with 300 parcels; shops from before the change keep 29 for a year.",
    ),
    (
        "global",
        "Scan events are kept for 12 months, then the partition is archived and no longer searchable.",
    ),
    (
        "project:atlas",
        "The idempotency key of POST /v2/scans is kept for 48 hours; after that a resend creates a second scan.",
    ),
    ("agent:main", "Prefers terse commit messages in the imperative mood, subject below 50 characters."),
)

_COPIES = (
    ("global", "Freeze: no deploy between 18 December and 6 January except for incidents."),
    ("global", "Write dates as 14 October or 2025-10-14 in the team's notes, never 10/14."),
)

_NEW = (
    "The {} screen of mango loads in {} ms since the images are cached on the device.",
    "Crash rate goal for {} in build {} is half a percent.",
)

_SCREENS = ("parcel", "map", "inbox", "settings", "returns", "scan", "login", "depot", "history", "label")

_REST = (
    "ok",
    "Hello!",
    "Do you remember what I said?",
    "The api key is sk-proj-abcdefghijklmnopqrstuvwx12345",
)


def write_notes(folder: Path) -> None:
    """Put the file into `folder`."""
    rows = [
        {"text": text, "scope": scope, "created_at": "2026-08-30"} for scope, text in (*_OTHERWISE, *_COPIES)
    ]
    rows += [
        {
            "text": line.format(screen, 180 + 35 * number),
            "scope": "project:mango",
            "created_at": f"2026-08-{number + 10}",
        }
        for number, screen in enumerate(_SCREENS)
        for line in _NEW
    ]
    rows += [{"text": text, "scope": "project:mango", "created_at": "2026-08-30"} for text in _REST]
    (folder / NAME).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


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

_NEXT = "right_square_bracket"

SHOTS = (
    Shot("home", (), (NARROW, NORMAL, WIDE)),
    Shot("browse", ("2",), (NARROW, NORMAL, WIDE)),
    Shot("recall", ("3",), (NARROW, NORMAL, WIDE), text=QUESTION),
    Shot("recall-paper", ("3",), (NORMAL,), theme="paper", text=QUESTION),
    Shot("recall-ansi", ("3",), (NORMAL,), theme="ansi", text=QUESTION),
    Shot("lifecycle", ("4",), (NARROW, NORMAL, WIDE)),
    Shot("lifecycle-review", ("4", "W"), (NARROW, NORMAL)),
    Shot("duplicates", ("2", "f"), (NORMAL,)),
    Shot("help", ("2", "question_mark"), (NORMAL,)),
    Shot("palette", ("2", "ctrl+p"), (NORMAL,)),
    Shot("compare", ("3",), (WIDE,), text=QUESTION, then=("equals_sign", "e", "1", "j", "j")),
    Shot("why-not", ("3",), (NARROW, NORMAL, WIDE), text=WINDOW, then=("c", "r", "1", "v", "G", "W")),
    Shot(
        "what-if",
        ("3",),
        (NARROW, NORMAL, WIDE),
        text=WINDOW,
        then=("c", "r", "1", "p", *"jjjjjj", "shift+right"),
    ),
    Shot("import", ("5", "enter"), (NORMAL,), text=f"~/{NAME}", then=("n", "l", "h")),
    Shot("audit-turn", ("8", "R"), (NARROW, NORMAL, WIDE)),
    Shot("audit-access", ("8", _NEXT, "l", "l"), (NARROW, NORMAL, WIDE)),
    Shot("audit-leak", ("8", _NEXT, _NEXT), (NARROW, NORMAL, WIDE)),
    Shot("audit-reach", ("8", "X"), (NARROW, NORMAL, WIDE)),
    Shot("agents", ("0",), (NARROW, NORMAL, WIDE)),
    Shot("agents-rights", ("0", _NEXT), (NORMAL,)),
    Shot("capture", ("7", "enter"), (NARROW, NORMAL, WIDE)),
    Shot(
        "capture-funnel",
        ("3",),
        (NARROW, NORMAL, WIDE),
        text=QUESTION,
        then=("7", _NEXT, _NEXT, "ctrl+r"),
    ),
    Shot("capture-jobs", ("7", _NEXT, _NEXT, _NEXT, "enter"), (NARROW, NORMAL, WIDE)),
    Shot("health-doctor", ("9",), (NARROW, NORMAL, WIDE)),
    Shot("health-indexes", ("9", _NEXT), (NARROW, NORMAL, WIDE)),
    Shot("health-versions", ("9", _NEXT, _NEXT, "enter"), (NARROW, NORMAL, WIDE)),
    Shot("health-config", ("9", _NEXT, _NEXT, _NEXT, *"jjjj"), (NARROW, NORMAL, WIDE)),
    Shot("health-options", ("9", _NEXT, _NEXT, _NEXT, "v", *"jjj"), (NORMAL,)),
    Shot("cases", ("3", "escape", "T", "d", "equals_sign", "1", "R", "g"), (NORMAL,)),
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
    app = MemtuiApp("demo", opener=opener, now=now, environ=environ, look=Appearance(theme=shot.theme))
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for key in shot.keys:
            await pilot.press(key)
            await settle(pilot)
        if shot.text:
            assert app.focused is not None
            app.focused.post_message(events.Paste(shot.text))
            await pilot.press("enter")
            await settle(pilot)
        for key in shot.then:
            await pilot.press(key)
            await settle(pilot)
        picture = app.export_screenshot(title=f"memtui  {shot.name}  {size[0]}x{size[1]}")
    for place in ("MEMTUI_CACHE_DIR", "MEMTUI_STATE_DIR"):
        shutil.rmtree(environ[place], ignore_errors=True)  # each picture is of a console that nobody has used
    path = folder / file_name(shot, size)
    path.write_text(picture, encoding="utf-8")
    return path


async def settle(pilot: Pilot[None]) -> None:
    """Wait until nothing is at work any more: no engine call, no page on its way, nothing to be painted."""
    app = cast("MemtuiApp", pilot.app)
    async with asyncio.timeout(QUIET_S):
        quiet = 0
        while quiet < LOOKS:
            await pilot.pause()
            screen = app.screen
            listed = all(listing.settled for listing in screen.query(MemoryList))
            resting = getattr(screen, "resting", False) or any(
                panel.resting for panel in screen.query(BoundPanel)
            )
            busy = bool(app.workers) or not listed or resting or app.typed_ahead
            quiet = 0 if busy else quiet + 1
