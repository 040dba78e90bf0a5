"""`memtui shot`: the pictures and the recorded demo in screenshots/, made from the demo store with a fixed clock."""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.cli.output import print_json, print_text
from memtui.engine import UsageError

if TYPE_CHECKING:
    from memtui.tui.startup.open_store import Opener


NOW_MS = 1_788_264_000_000
"""2026-09-01T12:00:00Z: the day of every picture."""

TICK_S = 0.0007
"""What each look at the stop-watch adds, so that durations are the same each time."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `memtui shot`."""
    parser.add_argument("screen", nargs="*", metavar="NAME", help="home, browse, recall, ... (default: all)")
    parser.add_argument(
        "--recording",
        action="store_true",
        help="the recorded demo: an animated picture and an asciinema cast",
    )
    parser.add_argument("--size", metavar="WxH", help="only this size, for example 120x36")
    parser.add_argument("--theme", metavar="NAME", help="another theme")
    parser.add_argument(
        "--out", metavar="FOLDER", default="screenshots", help="folder to write to (default: screenshots)"
    )


def run(args: argparse.Namespace) -> int:
    """Make the pictures."""
    out = Path(args.out)
    made = (
        make_recording(out)
        if args.recording
        else make(out, names=args.screen, size=_size(args.size), theme=args.theme)
    )
    if args.json:
        print_json({"files": [str(path) for path in made]})
    else:
        for path in made:
            print_text(str(path))
    return 0


def make(
    out: Path, *, names: list[str], size: tuple[int, int] | None = None, theme: str | None = None
) -> list[Path]:
    """The pictures called `names` (empty: all) in `out`; UsageError for a name that there is none of."""
    from dataclasses import replace

    from memtui.tui.screenshots import SHOTS, take

    known = {shot.name: shot for shot in SHOTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(
            f"There is no picture called {unknown[0]}.", fix=f"Known pictures: {', '.join(known)}."
        )
    out.mkdir(parents=True, exist_ok=True)
    made = []
    with tempfile.TemporaryDirectory() as home:
        environ, before = _stage(Path(home))
        try:
            for shot in [known[name] for name in names] or list(SHOTS):
                chosen = replace(shot, theme=theme or shot.theme)
                for each in (size,) if size else shot.sizes:
                    opener = _opener(environ, Path(home))
                    made.append(
                        asyncio.run(
                            take(chosen, each, out, opener=opener, now=lambda: NOW_MS, environ=environ)
                        )
                    )
        finally:
            os.environ.clear()
            os.environ.update(before)
    return made


RECORDING = "correct-the-port"
"""Name of the recorded demo's two files."""


def make_recording(out: Path) -> list[Path]:
    """The recorded demo in `out`: the animated picture, and the cast."""
    from memtui.tui.recording import SCRIPT, record, write_recording

    out.mkdir(parents=True, exist_ok=True)
    made = [out / f"{RECORDING}.svg", out / f"{RECORDING}.cast"]
    with tempfile.TemporaryDirectory() as home:
        environ, before = _stage(Path(home))
        try:
            opener = _opener(environ, Path(home))
            frames = asyncio.run(record(SCRIPT, opener=opener, now=lambda: NOW_MS, environ=environ))
        finally:
            os.environ.clear()
            os.environ.update(before)
    write_recording(frames, *made)
    return made


class _StopWatch(threading.local):
    """Goes on at every look; what another thread measures meanwhile does not count."""

    looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.looks * TICK_S


def _opener(environ: dict[str, str], home: Path) -> Opener:
    """The app's own opener with a stop-watch that ticks by itself."""
    from memtui.tui.startup.open_store import opener

    return opener(environ, home, timer=_StopWatch())


def _stage(home: Path) -> tuple[dict[str, str], dict[str, str]]:
    """An environment of its own for the pictures (a home without secrets or settings), and the one before."""
    before = dict(os.environ)
    kept = {
        name: value
        for name, value in before.items()
        if not name.startswith(("MEMTUI_", "OPENCLAW_", "CLAWDBOT_"))
    }
    for name in ("NO_COLOR", "TEXTUAL_THEME", "USERPROFILE"):
        kept.pop(name, None)
    environ = {
        **kept,
        "HOME": str(home),
        "MEMTUI_CACHE_DIR": str(home / ".cache" / "memtui"),
        "MEMTUI_STATE_DIR": str(home / ".local" / "state" / "memtui"),
        "MEMTUI_GLYPHS": "unicode",
        "TZ": "UTC",
    }
    os.environ.clear()
    os.environ.update(environ)
    return environ, before


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    width, x, height = text.partition("x")
    if not (
        x and width.isdigit() and height.isdigit() and 20 <= int(width) <= 500 and 10 <= int(height) <= 200
    ):
        raise UsageError(f"--size cannot read {text!r}.", fix="Write columns x rows, for example 120x36.")
    return int(width), int(height)
