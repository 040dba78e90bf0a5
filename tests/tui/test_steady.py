"""The garbage collector: never in the way of a key, and nothing stays for ever."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from textual.screen import Screen

from memtui.patches.textual_painting import QuickApp
from memtui.tui.startup.preload import MOST, NEVER, ROUNDS, SETTLED, UNTOUCHED_S, GcTuning


class Ring:
    """Something that only the collector can clear away."""

    def __init__(self) -> None:
        self.me = self
        self.rows: list[list[int]] = []


def grown_up() -> tuple[Ring, weakref.ref[Ring]]:
    """A ring that the collector's smaller rounds no longer look at."""
    ring = Ring()
    gc.collect(1)
    return ring, weakref.ref(ring)


def until_due() -> None:
    """Make objects that stay, until the collector's own rounds say that there is something to look at."""
    kept: list[list[object]] = []
    while gc.get_count()[2] < ROUNDS:
        kept.append([kept])
    kept.clear()


@pytest.fixture
def thresholds() -> Iterator[tuple[int, int, int]]:
    """The collector as a user's program has it, with nothing to clear away of the tests before; then as it was."""
    before = gc.get_threshold()
    gc.unfreeze()
    gc.collect()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*before)
    gc.freeze()


@pytest.mark.slow
async def test_the_collector_works_between_keys_and_leaves_nothing_behind(
    thresholds: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.tui.startup.preload.LOOK_S", 3600)  # the test looks
    app = QuickApp()
    steady = GcTuning(app)
    steady._stop.set()  # nothing is loaded ahead meanwhile
    async with app.run_test(size=(20, 5)):
        steady.begin()
        assert gc.get_threshold() == (*thresholds[:2], NEVER)

        ring, gone = grown_up()
        del ring
        until_due()
        assert gone() is not None, "a whole round came by itself"
        steady.tidy()
        assert gone() is None

        held, left = grown_up()
        held.rows = [[] for _ in range(MOST - 2_000)]  # whatever else goes meanwhile, more than SETTLED came
        until_due()
        steady.tidy()
        assert not any(each is held for each in gc.get_objects()), "what came to stay is looked at again"
        frozen = gc.get_freeze_count()
        shown: list[list[int]] = [[] for _ in range(SETTLED + SETTLED // 5)]
        await app.push_screen(Screen[None]())
        until_due()
        steady.tidy()
        assert gc.get_freeze_count() <= frozen, "what a dialog made is left alone"
        await app.pop_screen()
        shown.clear()

        del held
        steady.loaded()
        steady.tidy()
        assert left() is not None, "everything was looked through while somebody was there"
        app.touched -= UNTOUCHED_S + 1
        steady.tidy()
        assert left() is None
    steady.end()
    assert gc.get_threshold() == thresholds
    assert not gc.get_freeze_count()
