"""The page loader: newest wish first, far wishes dropped, errors delivered."""

from __future__ import annotations

import queue
import threading

from memtui.engine import MemtuiError
from memtui.tui.screens.browse.list_pages import PAGE_ROWS, PageCache, PageLoader
from tests.tui.memory_engine import memory


def rows(offset: int, limit: int):
    return [memory(offset + i) for i in range(limit)]


def test_the_cache_forgets_the_page_that_was_asked_for_least_recently():
    cache = PageCache(kept=2)
    for page in (0, 1):
        cache.put(page, tuple(rows(page * PAGE_ROWS, PAGE_ROWS)))
    assert cache.has(0)
    cache.put(2, tuple(rows(200, 3)))
    assert cache.row(5) == memory(5)
    assert cache.row(PAGE_ROWS) is None
    assert cache.row(2 * PAGE_ROWS + 2) == memory(202)
    assert cache.row(2 * PAGE_ROWS + 3) is None


def test_the_newest_wish_is_served_first_and_far_ones_are_dropped():
    arrived: queue.Queue = queue.Queue()
    gate, asked = threading.Event(), []

    def fetch(offset, limit):
        asked.append(offset // PAGE_ROWS)
        gate.wait(120)
        return rows(offset, 1)

    loader = PageLoader(arrived.put)
    loader.show(1, fetch)
    loader.want([0], range(0, 2))
    while not asked:
        pass
    loader.want([50], range(49, 52))
    loader.want([900], range(899, 902))
    loader.want([899, 901], range(899, 902))
    gate.set()
    pages = [arrived.get(timeout=120).index for _ in range(4)]
    assert pages == [0, 901, 899, 900]
    assert asked == [0, 901, 899, 900]
    loader.close()


def test_another_list_forgets_the_wishes_of_the_old_one():
    arrived: queue.Queue = queue.Queue()
    gate, started = threading.Event(), threading.Event()

    def slow(offset, limit):
        started.set()
        gate.wait(120)
        return rows(offset, 1)

    loader = PageLoader(arrived.put)
    loader.show(1, slow)
    loader.want([0, 1], range(0, 3))
    assert started.wait(120)
    loader.show(2, rows)
    loader.want([0], range(0, 3))
    gate.set()
    first, second = arrived.get(timeout=120), arrived.get(timeout=120)
    assert (first.generation, second.generation) == (1, 2)
    assert arrived.empty()
    loader.close()


def test_a_page_that_cannot_be_read_is_delivered_with_its_reason():
    arrived: queue.Queue = queue.Queue()

    def broken(offset, limit):
        raise MemtuiError("data file is missing") if offset == 0 else RuntimeError("lance error:\n  what")

    loader = PageLoader(arrived.put)
    loader.show(1, broken)
    loader.want([1, 0], range(0, 3))
    assert arrived.get(timeout=120).error.message == "data file is missing"
    assert arrived.get(timeout=120).error.message == "RuntimeError: lance error: what"
    loader.close()
