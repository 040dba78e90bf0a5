"""Signs of states differ without colour: in each table, in both sets of characters, no sign means two states."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from memtui.engine import Memory
from memtui.tui.paint.glyphs import ASCII, UNICODE, Glyphs
from memtui.tui.screens.audit import view as audit
from memtui.tui.screens.browse.memory_row import columns, columns_of, flag
from memtui.tui.screens.health.view import signs
from memtui.tui.screens.transfer.import_review_view import SIGNS as OF_IMPORT
from tests.conftest import NOW_MS


def memory(**more: object) -> Memory:
    text = "Ines has the rota."
    return Memory(id="a", text=text, raw_text=text, dialect="memory-lancedb-pro", timestamp_ms=NOW_MS, **more)


STATES: Mapping[str, Mapping[str, object]] = {
    "in force": {},
    "replaced": {"superseded_by": "b"},
    "expired": {"expired": True},
    "archived": {"state": "archived"},
    "pending": {"state": "pending"},
    "suppressed": {"suppressed": True},
    "unreadable": {"metadata_valid": False},
}


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_no_sign_means_two_states(glyphs: Glyphs) -> None:
    tiers = {tier: glyphs.tier(tier) for tier in ("core", "working", "peripheral")}
    tables: dict[str, Mapping[str, str]] = {
        "a memory": {name: flag(memory(**more), glyphs)[0] for name, more in STATES.items()},
        "tiers": tiers,
        "health": {name: sign for name, (sign, _) in signs(glyphs).items()},
        "import": {**OF_IMPORT, "rejected": glyphs.cross},
        "journal": {
            "undone": glyphs.back,
            "interrupted": glyphs.warn,
            "for good": glyphs.cross,
            "applied": " ",
        },
        "at work": {"busy": glyphs.busy, "idle": glyphs.idle},
        "of a memory, marked": {
            "marked": glyphs.mark,
            "under the cursor": glyphs.cursor,
            "core": glyphs.core,
        },
    }
    for name, table in tables.items():
        said = list(table.values())
        assert sorted(set(said)) == sorted(said), f"{name}: {table}"
        assert all(len(sign) == 1 for sign in said), name


def test_the_signs_of_a_turn_differ_in_both_sets_of_characters() -> None:
    said = [sign for sign, _ in audit.SIGNS.values()]
    assert len(set(said)) == len(said)
    assert all(sign.isascii() for sign in (each.translate(audit.ASCII_SIGNS) for each in said))
    assert len({each.translate(audit.ASCII_SIGNS) for each in said}) == len(said)


def test_a_column_that_no_memory_here_has_is_not_shown() -> None:
    shown = {each.name for each in columns(150, "-timestamp", absent=columns_of(("tier", "importance")))}
    assert not shown & {"tier", "imp"}
    assert {"tier", "imp"} <= {each.name for each in columns(150, "-timestamp")}
