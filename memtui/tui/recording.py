"""A recorded demo: a script of keys over the demo store, as an animated picture and as an asciinema cast."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from textual import events

from memtui.tui.app import MemtuiApp
from memtui.tui.appearance import Appearance
from memtui.tui.screenshots import QUESTION, settle
from memtui.tui.startup.open_store import Opener
from memtui.tui.widgets.screen_bars import FlashLine

SIZE = (100, 30)
"""Columns and rows of the recording: large enough to read in a README."""


@dataclass(frozen=True, slots=True)
class PressedKeys:
    """Keys to press, or a text to type, and how long the screen after it is shown."""

    keys: tuple[str, ...] = ()
    text: str = ""
    seconds: float = 0.4


@dataclass(frozen=True, slots=True)
class RecordedFrame:
    """A screen of the recording: Textual's SVG of it, and how long it is shown."""

    picture: str
    seconds: float


def _typed(text: str) -> tuple[PressedKeys, ...]:
    """Steps that type `text` two words at a time; a pasted piece would lose the space at its end."""
    words = text.split()
    pairs = [" ".join(words[start : start + 2]) for start in range(0, len(words), 2)]
    return tuple(
        PressedKeys(keys=("space",) if number else (), text=pair, seconds=0.2)
        for number, pair in enumerate(pairs)
    )


SCRIPT = (
    PressedKeys(seconds=1.6),
    PressedKeys(keys=("3",), seconds=0.8),
    *_typed(QUESTION),
    PressedKeys(keys=("enter",), seconds=3.2),
    PressedKeys(keys=("f",), seconds=3.2),
    PressedKeys(keys=("ctrl+s",), seconds=3.2),
    PressedKeys(keys=("enter",), seconds=1.6),
    PressedKeys(keys=("ctrl+r",), seconds=3.6),
)
"""The wrong port is recalled, corrected, and the question is asked again."""


async def record(
    script: Sequence[PressedKeys], *, opener: Opener, now: Callable[[], int], environ: Mapping[str, str]
) -> list[RecordedFrame]:
    """Run the app on the demo store without a terminal, do each step of `script`, and keep the screen after it."""
    app = MemtuiApp("demo", opener=opener, now=now, environ=environ, look=Appearance())
    frames = []
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        for step in script:
            for flash in app.screen.query(FlashLine):
                flash.dismiss()  # by its own clock it would be in a frame or not
            for key in step.keys:
                await pilot.press(key)
                await settle(pilot)
            if step.text:
                assert app.focused is not None
                app.focused.post_message(events.Paste(step.text))
                await pilot.pause()
            frames.append(RecordedFrame(app.export_screenshot(title="memtui"), step.seconds))
    return frames


def write_recording(frames: Sequence[RecordedFrame], picture: Path, cast: Path) -> None:
    """Write the animated picture and the cast of `frames`."""
    picture.write_text(animate(frames), encoding="utf-8")
    cast.write_text(write_cast(frames), encoding="utf-8")


def animate(frames: Sequence[RecordedFrame]) -> str:
    """One SVG that shows the frames one after another, for ever; viewers without animation see the last one.

    Each frame keeps its own classes (Textual names them after the frame's content), and is visible for its part of the
    whole time.
    """
    total = sum(frame.seconds for frame in frames)
    rules, groups, start = [], [], 0.0
    for number, frame in enumerate(frames):
        begin, end = 100 * start / total, 100 * (start + frame.seconds) / total
        start += frame.seconds
        steps = [f"{begin:.2f}%{{visibility:visible}}"]
        if begin > 0:
            steps.insert(0, "0%{visibility:hidden}")
        if end < 100:
            steps.append(f"{end:.2f}%{{visibility:hidden}}")
        rules.append(f"@keyframes frame-{number}{{{''.join(steps)}}}")
        last = number == len(frames) - 1
        style = f"animation:frame-{number} {total:.2f}s step-end infinite"
        groups.append(
            f'<g style="visibility:{"visible" if last else "hidden"};{style}">{_inside(frame.picture)}</g>'
        )
    opening = re.match(r"<svg[^>]*>", frames[0].picture)
    assert opening is not None, "Textual writes an svg element first"
    return f"{opening[0]}<style>{''.join(rules)}</style>{''.join(groups)}</svg>\n"


def _inside(picture: str) -> str:
    """What the svg element holds, without the fonts that Textual would load from the network."""
    inside = picture[picture.index(">") + 1 : picture.rindex("</svg>")]
    inside = re.sub(r"@font-face\s*{[^}]*}", "", inside)
    return re.sub(r"\s*\n\s*", "\n", inside)


def write_cast(frames: Sequence[RecordedFrame]) -> str:
    """The frames as an asciinema cast, version 2 (https://docs.asciinema.org/manual/asciicast/v2/)."""
    header = {"version": 2, "width": SIZE[0], "height": SIZE[1], "title": "memtui: correct a wrong answer"}
    lines, time = [json.dumps(header)], 0.0
    for frame in frames:
        screen = "\x1b[H" + "\r\n".join(_rows(frame.picture)) + "\x1b[0m"
        lines.append(json.dumps([round(time, 2), "o", screen], ensure_ascii=False))
        time += frame.seconds
    lines.append(json.dumps([round(time, 2), "o", ""]))
    return "\n".join(lines) + "\n"


CELL = 12.2
"""Width of a cell in Textual's pictures; a row is 24.4 high."""


def _rows(picture: str) -> list[str]:
    """The rows of a picture as text with ANSI colours."""
    styles: dict[str, str] = dict(re.findall(r"\.(terminal-[\w-]+-r\d+)\s*{([^}]*)}", picture))
    cells = [[(" ", "", "")] * SIZE[0] for _ in range(SIZE[1])]
    for fill, x, y, width in re.findall(
        r'<rect fill="(#[0-9a-f]{6})" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="24[\d.]*"', picture
    ):
        row = round((float(y) - 1.5) / (2 * CELL))
        first = round(float(x) / CELL)
        for column in range(first, min(SIZE[0], first + round(float(width) / CELL))):
            cells[row][column] = (" ", "", fill)
    for style, x, row_name, text in re.findall(
        r'<text class="([\w-]+)" x="([\d.]+)" y="[\d.]+" textLength="[\d.]+"'
        r' clip-path="url\(#[\w-]+-line-(\d+)\)">(.*?)</text>',
        picture,
    ):
        rule, column = styles.get(style, ""), round(float(x) / CELL)
        for character in unescape(text).replace("\xa0", " "):
            if column < SIZE[0]:
                cells[int(row_name)][column] = (character, rule, cells[int(row_name)][column][2])
            column += 1
    return ["".join(_coloured(row)) for row in cells]


def _coloured(row: Sequence[tuple[str, str, str]]) -> list[str]:
    """A row's characters, with an escape sequence where the style changes."""
    parts, style = [], None
    for character, rule, background in row:
        if (rule, background) != style:
            style = (rule, background)
            parts.append(_sequence(rule, background))
        parts.append(character)
    return parts


def _sequence(rule: str, background: str) -> str:
    """The escape sequence of a CSS rule of the picture on a background."""
    codes = ["0"]
    colour = re.search(r"fill:\s*#([0-9a-f]{6})", rule)
    codes += ["1"] if "bold" in rule else []
    codes += ["4"] if "underline" in rule else []
    for kind, value in (("38", colour[1] if colour else ""), ("48", background.lstrip("#"))):
        if value:
            codes.append(f"{kind};2;{';'.join(str(int(value[at : at + 2], 16)) for at in (0, 2, 4))}")
    return f"\x1b[{';'.join(codes)}m"
