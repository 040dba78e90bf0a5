"""Scripts of the world in the lists: columns stay where they are by cells, whatever stands in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.strip import Strip

from memtui.engine import Engine, clean, open_engine
from memtui.patches.textual_emoji import PlainEmoji
from tests.conftest import NOW_MS, thinned
from tests.engine.pro_store import row, write_store
from tests.tui.driving import drawn, lines, make_app, press, running, settle, until
from tests.tui.memory_engine import MemoryEngine

TEXTS = {
    "Chinese": "会议记录：部署窗口在星期二和星期四，十点到十五点，请不要在星期五部署到生产环境，除非有功能开关。",
    "Japanese": "夜間バッチが失敗したら、まずログの最後の二十行を見る。ﾊﾝｶｸもある。",
    "Korean": "배포 시간은 화요일과 목요일 오전 열 시부터 오후 세 시까지입니다.",
    "Thai": "ระบบจะสำรองข้อมูลทุกคืนเวลาตีสองตามเวลากรุงเทพ",
    "Hindi": "हर शुक्रवार को तैनाती नहीं होती, जब तक कि फीचर फ्लैग न हो।",
    "Hebrew": "חלון הפריסה הוא ביום שלישי ובחמישי, בין 10 ל-15",
    "Arabic": "اَلنَّشْرُ يَوْمَ الثُّلَاثَاءِ وَالْخَمِيسِ فَقَطْ، port 8443",
    "combining": "Ze\u0301ro\u0308 a\u0300\u0301\u0302\u0303 cafe\u0301 n\u0303o\u0302 " * 4,
    "emoji": "family 👩\u200d👩\u200d👧\u200d👦 flag 🇩🇪 heart ❤\ufe0f skin 👍🏽 keycap 1\ufe0f\u20e3 " * 3,
    "joiners": "a\u200db क्\u200dष \u200d\u200d x\u200d " * 4,
    "mixed": "deploy 部署 פריסה نشر 배포 déploiement ﷽ " * 4,
}


@pytest.fixture
def world(tmp_path: Path) -> Engine:
    """A store with a memory in each script, in a scope of the same script."""
    rows = [
        row(f"row-{i:05}", text, (1.0, i / 10), timestamp=NOW_MS - i * 86_400_000, scope=f"user:{text[:9]}")
        for i, text in enumerate(TEXTS.values())
    ]
    engine = open_engine(
        write_store(tmp_path / "world", rows, dims=2), now=lambda: NOW_MS, environ={}, cwd=tmp_path
    )
    engine.load_catalog()
    engine.load_metadata()
    return engine


def edges(line: str) -> list[int]:
    """At which cells the frames of panels stand."""
    return [cell_len(line[:i]) for i, char in enumerate(line) if char in "│╭╮╰╯"]


@pytest.mark.parametrize("size", thinned([(80, 24), (200, 50)], 2))
async def test_no_script_moves_a_column(world, size):
    async with running(world, size) as (app, pilot):
        for keys in (("1",), ("2",), ("2", "l"), ("ctrl+p", "at")):
            await press(pilot, *keys)
            if "at" in keys:
                await until(pilot, lambda: any("MEMORIES" in line for line in lines(app)))
            await settle(pilot)
            strips = drawn(app)
            assert {strip.cell_length for strip in strips} == {size[0]}
            assert {cell_len(strip.text) for strip in strips} == {size[0]}, keys
            await press(pilot, *(("escape",) if "at" in keys else ()))


async def test_frames_stand_in_line_beside_every_script(world):
    async with running(world, (120, 36)) as (app, pilot):
        await press(pilot, "2")
        body = [line for line in lines(app) if line.startswith("│")]
        assert len(body) > len(TEXTS)
        assert {tuple(edges(line)) for line in body} == {tuple(edges(body[-1]))}
        for script in ("部署", "חלון", "배포"):
            assert any(script in line for line in body), script


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("👩\u200d", "👩"),
        ("a\u200db", "ab"),
        ("\u200d\u200d", ""),
        ("👩\u200d\u200d👩", "👩\u200d👩"),
    ],
)
def test_only_joiners_that_join_emoji_are_drawn(stored, shown):
    assert clean(stored) == shown
    assert clean(shown) == shown


TMUX_CELLS = {
    "❤\ufe0f": 1,
    "👍🏽": 4,
    "1\ufe0f\u20e3": 1,
    "⚠\ufe0f": 1,
    "🏳\ufe0f\u200d🌈": 1,
    "👩\u200d👩\u200d👧": 2,
    "🇩🇪": 2,
}
"""Emoji of several parts, and the cells by which tmux 3.3 goes on after each; they are laid out with two."""


def by_tmux(text: str) -> int:
    """The cells of a text as tmux counts them: known emoji as measured, everything else as laid out."""
    known = re.compile("|".join(map(re.escape, TMUX_CELLS)))
    return sum(TMUX_CELLS[found] for found in known.findall(text)) + cell_len(known.sub("", text))


def test_in_tmux_an_emoji_is_as_wide_as_it_is_laid_out() -> None:
    line = Strip([Segment(f"│{emoji} x│") for emoji in TMUX_CELLS])
    assert by_tmux(line.text) != line.cell_length
    drawn_as = line.apply_filter(PlainEmoji(), Color(0, 0, 0))
    assert drawn_as.cell_length == line.cell_length
    assert by_tmux(drawn_as.text) == line.cell_length
    for script in ("joiners", "Hindi", "Thai", "mixed"):
        text = clean(TEXTS[script])
        assert Strip([Segment(text)]).apply_filter(PlainEmoji(), Color(0, 0, 0)).text == text


@pytest.mark.parametrize(
    ("environ", "plain"), [({"TMUX": "/tmp/a,1,0"}, True), ({"TERM": "screen-256color"}, True), ({}, False)]
)
def test_only_in_tmux_or_screen(environ: dict[str, str], plain: bool) -> None:
    app = make_app(MemoryEngine(), environ=environ)
    assert any(isinstance(each, PlainEmoji) for each in app.get_line_filters()) is plain
