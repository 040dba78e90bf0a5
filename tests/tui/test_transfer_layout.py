"""Transfer at three sizes as text, the arrangement of its panels, and its arithmetic."""

from __future__ import annotations

import json
import re

import pytest

from memtui.engine import Progress
from memtui.engine.transfer import FieldLoss
from memtui.tui.layouts import Shape, transfer
from memtui.tui.paint.glyphs import ASCII, UNICODE
from memtui.tui.screens.transfer.import_calls import show
from memtui.tui.screens.transfer.import_record_view import diff_lines
from memtui.tui.widgets.screen_bars import FlashLine
from memtui.tui.wizard.view import (
    RunProgress,
    foot_lines,
    head_line,
    heard,
    ledger_rows,
    left_s,
    rate,
    ticked,
)
from tests.tui.driving import SIZES, check_golden, press, screen_text, settle
from tests.tui.recalling import panels
from tests.tui.transferring import HERE, importing, notes, steps, store, transferring

__all__ = ["store"]

SHAPES = (
    Shape(),
    Shape("one", said=True),
    Shape("two", line=True, side_rows=3),
    Shape("two", said=True, mirrored=True),
    Shape("review"),
    Shape("review", record=False),
)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "size", [(60, 15), (80, 22), (99, 30), (100, 22), (120, 34), (160, 30), (200, 48), (300, 90)]
)
def test_panels_fill_the_body_without_overlapping(size: tuple[int, int], shape: Shape):
    width, height = size
    cells: set[tuple[int, int]] = set()
    for name, box in transfer(width, height, shape).items():
        assert box.width >= 10, name
        assert box.height >= (1 if name in ("head", "foot", "line") else 3), name
        own = {(x, y) for x in range(box.x, box.x + box.width) for y in range(box.y, box.y + box.height)}
        assert not own & cells, name
        cells |= own
    assert cells == {(x, y) for x in range(width) for y in range(height)}


def test_the_wide_review_has_the_stored_form_as_a_third_column():
    assert "d" in transfer(200, 48, Shape("review"))
    assert "d" not in transfer(120, 34, Shape("review"))
    assert "a" not in transfer(80, 22, Shape("review"))


def test_rate_and_time_left():
    pace = heard(RunProgress(), Progress("embedding", 0, 100, "texts"), 1_000)
    assert rate(pace.phases[-1]) is None
    pace = heard(pace, Progress("embedding", 50, 100, "texts"), 6_000)
    assert rate(pace.phases[-1]) == 10
    assert left_s(pace.phases[-1]) == 5
    pace = heard(pace, Progress("writing", 0, 100), 7_000)
    assert [phase[0].what for phase in pace.phases] == ["embedding", "writing"]
    assert ticked(pace, 9_000).elapsed_s == 8
    assert left_s((Progress("x", 5, 0), 0, 9_000)) is None


def test_the_stepper_marks_what_is_done_and_cuts_the_rest():
    line = head_line("Import", ("source", "map", "run"), "map", "x" * 200, 100, UNICODE)
    assert line.cell_length <= 100
    assert "✓ source" in line.plain
    assert "● map" in line.plain
    assert [each.plain for each in foot_lines("advice", "missing", 40, 1, UNICODE)] == [" ! missing"]
    assert [each.plain for each in foot_lines("advice", "missing", 40, 2, UNICODE)] == [
        " advice",
        " ! missing",
    ]


def test_differences_are_marked_by_more_than_colour():
    (line,) = diff_lines("Ships on Android", "Ships on iOS", 60, UNICODE)
    assert line.plain == " Ships on Android iOS"
    styles = {line.plain[span.start : span.end].strip(): str(span.style) for span in line.spans}
    assert "strike" in styles["Android"]
    assert "underline" in styles["iOS"]
    (line,) = diff_lines("Ships on Android", "Ships on iOS", 60, ASCII)
    assert line.plain == " Ships on [-Android-]{+iOS+}"


def test_hostile_texts_are_harmless():
    (line,) = diff_lines("\x1b[31m[red]a\u202e", "[/red]b", 60, UNICODE)
    assert "\x1b" not in line.plain
    assert "\u202e" not in line.plain


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_step_of_an_import(size, store):
    name = f"{size[0]}x{size[1]}"
    path = notes(store.parent)
    async with transferring(store, size=size) as (app, pilot, screen):
        check_golden(f"transfer-start-{name}", panels(app))
        await press(pilot, "enter")
        screen.put_line(path.name)
        await settle(pilot)
        check_golden(f"transfer-source-{name}", panels(app))
        await press(pilot, "enter")
        check_golden(f"transfer-map-{name}", panels(app))
        await press(pilot, "n")
        check_golden(f"transfer-review-{name}", panels(app))
        await press(pilot, "d")
        check_golden(f"transfer-ledger-{name}", panels(app))
        show(screen.run, "conflict")
        await settle(pilot)
        screen.focus_list("b")
        await steps(pilot, ["l", "asterisk", "o", "n"])
        check_golden(f"transfer-run-{name}", panels(app))
        await press(pilot, "y")
        screen.query_one(FlashLine).dismiss()  # it goes by itself, after some seconds
        await settle(pilot)
        check_golden(f"transfer-report-{name}", panels(app))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_export_and_a_model_at_every_size(size, store):
    name = f"{size[0]}x{size[1]}"
    async with transferring(store, size=size, task="export") as (app, pilot, screen):
        check_golden(f"transfer-export-{name}", panels(app))
        await press(pilot, "enter")
        check_golden(f"transfer-form-{name}", panels(app))
        await press(pilot, "n")
        check_golden(f"transfer-place-{name}", panels(app))
        await steps(pilot, ["escape", "y"])
        screen.query_one(FlashLine).dismiss()
        await settle(pilot)
        check_golden(f"transfer-exported-{name}", panels(app))
        for task in ("migrate", "reembed"):
            screen.begin("")
            await settle(pilot)
            screen.run.opened("a", f"task:{task}")
            await settle(pilot)
            timeless = re.sub(r"about [\d.]+ s, measured on a sample *", "about S, measured", panels(app))
            check_golden(f"transfer-{task}-{name}", timeless)
        screen.begin("")
        await settle(pilot)
        screen.run.opened("a", "task:repair")
        await settle(pilot)
        check_golden(f"transfer-repair-{name}", panels(app))


async def test_a_broken_file_and_what_cannot_be_planned(store):
    path = store.parent / "broken.json"
    path.write_text('{"memories": [\n  {"text": "x",}\n]}', "utf-8")
    async with importing(store, path, size=(80, 24)) as (app, pilot, _):
        await settle(pilot)
        check_golden("transfer-broken-80x24", panels(app))


async def test_without_box_characters(store):
    async with importing(store, notes(store.parent), size=(80, 24), glyphs="ascii") as (app, pilot, _):
        await press(pilot, "n")
        text = screen_text(app)
        assert text.isascii(), [line for line in text.split("\n") if not line.isascii()]
        assert "- The bastion listens on port 2222." in screen_text(app)


async def test_a_hostile_source_is_text_and_nothing_else(store):
    evil = "Evil \x1b]0;owned\x07 \x1b[31m [red]bold[/] \u202edrow \u200b 会议记录"
    rows = [{"text": evil, "scope": "[b]x\x1b[2J", "no\x1b[1mte": evil}]
    rows.append({"id": HERE[0]["id"], "text": evil + " other", "scope": "global"})
    path = store.parent / "evil [red] [b].jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    async with importing(store, path) as (app, pilot, screen):
        seen = [screen_text(app)]
        await press(pilot, "n")
        seen.append(screen_text(app))
        for _ in range(8):
            await press(pilot, "right_square_bracket")
            seen.append(screen_text(app))
        screen.begin("")
        await settle(pilot)
        screen.run.opened("a", "task:import")
        await settle(pilot)
        seen.append(screen_text(app))
    for text in seen:
        assert not set(text) & set("\x1b\x07\u202e\u200b")
    assert any("[red]bold[/]" in text for text in seen)


def test_a_cause_is_said_once_beside_every_field_that_it_takes() -> None:
    no_place = "the form has no place for it: lost"
    losses = [
        FieldLoss("id", 114, no_place, "5c82d225"),
        FieldLoss("timestamp", 114, "the day is kept, the time of day is lost"),
        FieldLoss("tier", 80, no_place, "4cf78490"),
        FieldLoss("scope", 114, no_place, "5c82d225"),
    ]
    rows = ledger_rows(losses, 90, UNICODE)
    lines = [line.plain for row in rows for line in row.lines]
    assert sum(no_place in line for line in lines) == 1
    assert [row.key for row in rows] == ["", "loss:0", "loss:1"]
    assert [line.split()[:2] for line in lines[1:]] == [
        ["id", "114"],
        ["tier", "80"],
        ["scope", "114"],
        ["timestamp", "114"],
    ]
