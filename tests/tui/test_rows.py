"""The list of painted rows: its cursor, its headings, its scrolling."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import walk_packages

from textual.app import App, ComposeResult
from textual.content import Content

import memtui.tui
from memtui.tui.paint.glyphs import ASCII, UNICODE
from memtui.tui.widgets.row_list import KnobRows, Row, RowList, RowMessage


class Words(RowList):
    """Ten rows of two lines, each third one with a heading before it."""

    painted = 0

    def paint(self, width: int) -> Sequence[Row]:
        self.painted += 1
        rows: list[Row] = []
        for i in range(10):
            if i % 3 == 0:
                rows.append(Row((Content(f" HEAD {i}"),)))
            rows.append(Row((Content(f" row {i}"), Content("  below")), f"k{i}"))
        return rows


class Bare(App[None]):
    """A host with the glyphs that rows need."""

    glyphs = UNICODE

    def __init__(self) -> None:
        super().__init__()
        self.said: list[tuple[str, str]] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        from memtui.tui.theme.tokens import defaults

        return defaults(True)

    def compose(self) -> ComposeResult:
        yield Words()

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        self.said.append(("highlighted", event.key))

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        self.said.append(("opened", event.key))


def shown(rows: RowList) -> list[str]:
    return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]


async def test_the_keyboard_puts_the_cursor_on_the_first_row_and_shows_its_heading() -> None:
    app = Bare()
    async with app.run_test(size=(40, 8)) as pilot:
        rows = app.query_one(Words)
        rows.repaint()
        rows.focus()
        await pilot.pause()
        assert rows.key == "k0"
        assert shown(rows)[:3] == [" HEAD 0", "▌row 0", "  below"]
        assert app.said == [("highlighted", "k0")]


async def test_the_cursor_steps_over_headings_keeps_in_sight_and_stops_at_the_ends() -> None:
    app = Bare()
    async with app.run_test(size=(40, 8)) as pilot:
        rows = app.query_one(Words)
        rows.repaint()
        rows.focus()
        await pilot.press("up", "j", "j", "j")
        assert rows.key == "k3"
        assert "▌row 3" in shown(rows)
        await pilot.press("G")
        assert rows.key == "k9"
        assert shown(rows)[-2:] == ["▌row 9", "  below"]
        await pilot.press("j", "enter")
        assert app.said[-1] == ("opened", "k9")
        assert rows.place == (10, 10)
        await pilot.press("g")
        assert shown(rows)[0] == " HEAD 0"


async def test_moving_the_cursor_paints_nothing_anew() -> None:
    app = Bare()
    async with app.run_test(size=(40, 30)) as pilot:
        rows = app.query_one(Words)
        rows.repaint()
        rows.focus()
        await pilot.pause()
        before = rows.painted
        await pilot.press(*["j"] * 8, *["k"] * 8, "pagedown", "pageup")
        assert rows.painted == before


async def test_a_key_that_is_not_there_takes_the_cursor_away() -> None:
    app = Bare()
    async with app.run_test(size=(40, 30)) as pilot:
        rows = app.query_one(Words)
        app.set_focus(None)
        rows.repaint("k4")
        assert rows.key == "k4"
        rows.choose("elsewhere")
        await pilot.pause()
        assert rows.key == ""
        assert not any("▌" in line for line in shown(rows))


async def test_a_click_moves_and_a_second_click_opens() -> None:
    app = Bare()
    async with app.run_test(size=(40, 30)) as pilot:
        rows = app.query_one(Words)
        rows.repaint("k0")
        await pilot.click(Words, offset=(4, 4))
        assert rows.key == "k1"
        await pilot.click(Words, offset=(4, 3))
        await pilot.pause()
        assert app.said[-1] == ("opened", "k1")
        await pilot.click(Words, offset=(4, 0))
        assert rows.key == "k1"


async def test_the_bar_of_a_list_is_ascii_where_the_terminal_is() -> None:
    app = Bare()
    app.glyphs = ASCII
    async with app.run_test(size=(40, 8)) as pilot:
        rows = app.query_one(Words)
        rows.focus()
        await pilot.press("down", "down", "down", "down")
        bar = rows.vertical_scrollbar
        assert bar.position > 0
        lines = bar.render_lines(bar.size.region)
        assert "".join(segment.text for line in lines for segment in line).isascii()


class Halves(Words):
    """The first five rows or the last five, as two views in one list have it."""

    last = False

    def paint(self, width: int) -> Sequence[Row]:
        rows = [row for row in super().paint(width) if row.key]
        return rows[5:] if self.last else rows[:5]


class TwoViews(Bare):
    """A host that shows the other view while the message of a row is still on its way."""

    def compose(self) -> ComposeResult:
        yield Halves()


def every_row_message(base: type[RowMessage] = RowMessage) -> list[type[RowMessage]]:
    """The messages of rows in the whole program, each with what it takes beside the list and the key."""
    below = [each for kind in base.__subclasses__() for each in every_row_message(kind)]
    return [*base.__subclasses__(), *below]


async def test_nobody_hears_of_a_row_that_its_list_no_longer_holds() -> None:
    app = TwoViews()
    async with app.run_test(size=(40, 8)) as pilot:
        rows = app.query_one(Halves)
        rows.focus()
        await pilot.pause()
        app.said.clear()
        rows.action_down()  # posts that the second row is under the cursor
        rows.action_open()
        rows.last = True
        rows.repaint("k7")  # before the message is read
        await pilot.pause()
        assert app.said == []
        rows.action_open()
        await pilot.pause()
        assert app.said == [("opened", "k7")]


async def test_every_message_of_a_row_is_kept_back_once_the_row_is_gone() -> None:
    for name in (module.name for module in walk_packages(memtui.tui.__path__, "memtui.tui.")):
        import_module(name)
    kinds = every_row_message()
    assert {RowList.Highlighted, RowList.Opened, KnobRows.Turned} < set(kinds)
    app = TwoViews()
    async with app.run_test(size=(40, 8)) as pilot:
        rows = app.query_one(Halves)
        await pilot.pause()
        for kind in kinds:
            there, gone = kind.__new__(kind), kind.__new__(kind)
            RowMessage.__init__(there, rows, "k1")
            RowMessage.__init__(gone, rows, "k9")
            assert (there.no_dispatch, gone.no_dispatch) == (False, True), kind.__qualname__


async def test_the_first_row_is_not_told_once_the_screen_has_put_the_cursor_elsewhere() -> None:
    app = Bare()
    async with app.run_test(size=(40, 8)) as pilot:
        rows = app.query_one(Words)
        rows.focus()
        await pilot.pause()
        app.said.clear()
        rows.repaint("")  # some row must be under the cursor: posts that the first one is
        assert rows.key == "k0"
        rows.repaint("k4")  # where the screen wants it, before the message is read
        await pilot.pause()
        assert (rows.key, app.said) == ("k4", [])
        rows.action_down()  # what a person chose is told, wherever the cursor was put meanwhile
        rows.repaint("k4")
        await pilot.pause()
        assert app.said == [("highlighted", "k5")]
