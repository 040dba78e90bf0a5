"""Hostile text: whatever a store holds, nothing but printable cells reaches the terminal, and nothing crashes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from memtui.engine import Memory, MemtuiError, clean
from memtui.engine.catalog import Facets, Finding
from memtui.tui.paint.glyphs import ASCII, UNICODE
from memtui.tui.screens.browse.detail_view import detail_lines, summary, title
from memtui.tui.screens.browse.memory_row import columns, row
from memtui.tui.screens.browse.scope_pane import outline
from memtui.tui.screens.home.view import attention_rows, newest_rows
from memtui.tui.widgets.state_panel import failed
from tests.conftest import NOW_MS, thinned
from tests.engine.tables import pro_row, write_table
from tests.tui.driving import press, running, screen_text, type_text
from tests.tui.memory_engine import MemoryEngine
from tests.tui.test_changing import browsing

NASTY = (
    "[/oops]",
    "[red]x[/red] [link=http://x]y[/link]",
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred",
    "\x9b31m\x90q\x9c",
    "a\x00b\x07c\x08d\x7fe",
    "\u202eright-to-left\u202c \u2066isolate\u2069",
    "line\r\nline\rline\u2028line\tend",
    "👩‍👩‍👧‍👦 é́́́ ﷽ 会议" * 3,
    "\ud800 lone",
    "$(rm -rf /) `x` {y} %s %(z)s @click=app.quit()",
    "x" * 9_000,
    " ",
    "",
)

hostile = st.one_of(
    st.sampled_from(NASTY), st.text(max_size=40), st.text(alphabet=st.characters(max_codepoint=0xA0))
)


def hostile_memory(text: str, other: str, number: float) -> Memory:
    """As the engine hands rows over: the text and the parsed metadata are cleaned, everything else is as stored."""
    return Memory(
        id=other,
        text=clean(text),
        raw_text=text,
        dialect="pro",
        scope=other,
        category=text,
        memory_category=other,
        tier=text,
        importance=number,
        confidence=number,
        access_count=3,
        timestamp_ms=int(max(-1e15, min(1e15, number * 1e12))) if number == number else 0,
        state=other,
        layer=text,
        source=other,
        l0_abstract=clean(other),
        l1_overview=clean(text),
        supersedes=other,
        superseded_by=text,
        fact_key=text,
        source_session=other,
        metadata=text,
        metadata_valid=len(text) % 2 == 0,
        metadata_values={clean(text): clean(other), "n": [number, {clean(other): None}]},
        extra={other: text},
    )


def assert_harmless(text: str, where: str) -> None:
    """No control, bidi or line-breaking character; a surrogate could not even be written."""
    for char in text:
        kind = unicodedata.category(char)
        assert kind not in ("Cc", "Cs", "Zl", "Zp"), f"{where}: U+{ord(char):04X}"
        assert not 0x202A <= ord(char) <= 0x202E, where
        assert not 0x2066 <= ord(char) <= 0x2069, where


numbers = st.floats(allow_nan=False, allow_infinity=False, min_value=-2, max_value=2)


@settings(max_examples=150, deadline=None)
@given(hostile, hostile, numbers, st.integers(20, 160), st.sampled_from([UNICODE, ASCII]))
def test_no_painter_lets_a_control_character_through(text, other, number, width, glyphs):
    memory = hostile_memory(text, other, number)
    shown = columns(width, "-timestamp")
    pieces = row(memory, shown, now_ms=NOW_MS, glyphs=glyphs)
    for piece, _ in pieces:
        assert_harmless(piece, "row")
    assert sum(cell_len(piece) for piece, _ in pieces) <= width
    for line in detail_lines(memory, width, now_ms=NOW_MS, glyphs=glyphs):
        assert_harmless(line.plain, "detail")
    assert_harmless(title(memory), "title")
    assert_harmless(summary(memory, NOW_MS, glyphs).plain, "summary")
    for found in newest_rows([memory], width, 5, NOW_MS, glyphs):
        assert_harmless(found.content.plain, "newest")


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.none() | hostile, st.integers(1, 9)), max_size=6))
def test_no_scope_or_category_breaks_the_side_panel(counts):
    facets = Facets(
        scopes=tuple(counts), categories=tuple(counts), states=tuple((s or "", n) for s, n in counts)
    )
    for line in outline(facets, counts, 10, frozenset()):
        assert_harmless(line.label, "outline")


@settings(max_examples=60, deadline=None)
@given(hostile, hostile)
def test_findings_and_errors_are_harmless(text, other):
    from dataclasses import replace

    engine = MemoryEngine(3)
    stats = replace(engine.stats(), findings=(Finding("error", text, 1, "", other),))
    info = replace(engine.info, warnings=(text,))
    for found in attention_rows(info, stats, 40, 20, UNICODE):
        assert_harmless(found.content.plain, "attention")
    state = failed("it broke", MemtuiError(text, fix=other))
    for _, words in state.facts:
        assert_harmless(words, "error")


@pytest.mark.parametrize("size", thinned([(80, 24), (120, 36)], 2))
async def test_a_store_of_hostile_rows_can_be_browsed(size):
    memories = [hostile_memory(text, other, 0.5) for text in NASTY for other in NASTY]
    async with running(MemoryEngine(memories, name="[/x]\x1b]0;y\x07"), size) as (app, pilot):
        for keys in (
            ("2",),
            ("j",) * 12,
            ("G",),
            ("h", "j", "j"),
            ("l", "l"),
            ("pagedown",),
            ("h",),
            ("y",),
            ("escape",),
        ):
            await press(pilot, *keys)
            for line in screen_text(app).split("\n"):
                assert_harmless(line, "screen")
                assert cell_len(line) <= size[0]
        await press(pilot, "1")
        for line in screen_text(app).split("\n"):
            assert_harmless(line, "home")


@pytest.mark.slow
async def test_markup_in_a_filter_is_just_text():
    async with running(MemoryEngine(50)) as (app, pilot):
        await press(pilot, "2", "slash")
        await pilot.press("left_square_bracket", "slash", "x", "right_square_bracket")
        await type_text(pilot, "nothing")
        await press(pilot, "enter")
        assert "[/x]nothing" in screen_text(app)


async def test_a_flash_is_plain_text_on_one_line():
    async with running(MemoryEngine(50)) as (app, pilot):
        app.say("[/oops] two\nlines \x1b[2J", "error")
        await pilot.pause()
        assert "[/oops] two lines" in screen_text(app)
        assert "\x1b" not in screen_text(app)


@pytest.mark.slow
async def test_metadata_nested_a_thousand_deep_is_read_in_browse(tmp_path):
    deep = '{"tier":"core","deep":' + "[" * 1_000 + "]" * 1_000 + "}"
    deeper = '{"deep":' + '{"a":' * 20_000 + "1" + "}" * 20_000 + "}"
    write_table(
        tmp_path / "store",
        [pro_row(n, text=f"a deep row {n}", metadata=each) for n, each in enumerate((deep, deeper))],
    )
    async with browsing(tmp_path / "store") as (app, pilot):
        for key in ("j", "k", "enter", "G", "escape", "m", "escape", "y", "escape", "e", "escape"):
            await press(pilot, key)
        assert "a deep row" in screen_text(app)
