"""Pages of a list: a bounded cache, and one thread that fills it, newest wish first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memtui.engine import Memory, MemtuiError

PAGE_ROWS = 100
"""Rows fetched at once: a take costs about the same for 20 and for 100 rows, and a screen is never more."""

KEPT_PAGES = 40
"""A few thousand memories with their metadata are some 15 MB; more would show for nothing."""

_AGAIN = "Press {app.reload} to read the store again."

Fetch = Callable[[int, int], Sequence[Memory]]
"""(offset, limit) to rows; called on the loader's thread."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """What the loader delivers: rows, or why there are none. `generation` says for which list."""

    generation: int
    index: int
    rows: tuple[Memory, ...]
    error: MemtuiError | None = None


class PageCache:
    """The pages of one list that are at hand, oldest forgotten first."""

    def __init__(self, kept: int = KEPT_PAGES) -> None:
        self._kept = kept
        self._pages: OrderedDict[int, tuple[Memory, ...]] = OrderedDict()

    def row(self, index: int) -> Memory | None:
        """The memory at this place of the list, None while its page is missing."""
        page = self._pages.get(index // PAGE_ROWS)
        at = index % PAGE_ROWS
        return page[at] if page is not None and at < len(page) else None

    def has(self, page: int) -> bool:
        """Whether the page is at hand; asking keeps it from being forgotten."""
        if page in self._pages:
            self._pages.move_to_end(page)
            return True
        return False

    @property
    def empty(self) -> bool:
        """Whether no page is at hand."""
        return not self._pages

    def put(self, page: int, rows: tuple[Memory, ...]) -> None:
        """Keep a page."""
        self._pages[page] = rows
        self._pages.move_to_end(page)
        while len(self._pages) > self._kept:
            self._pages.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        self._pages.clear()


class PageLoader:
    """One thread that fetches pages for whichever list is current.

    Wishes are served newest first; one that has left the neighbourhood of the view by the time it would be
    served is dropped, so that a held-down key never builds a queue.
    """

    def __init__(self, deliver: Callable[[ListPage], object]) -> None:
        self._deliver = deliver
        self._wake = threading.Condition()
        self._wishes: list[int] = []
        self._near = range(0)
        self._generation = 0
        self._fetch: Fetch | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._working = False

    def show(self, generation: int, fetch: Fetch | None) -> None:
        """Serve another list from now on; wishes for the old one are forgotten."""
        with self._wake:
            self._generation, self._fetch = generation, fetch
            self._wishes.clear()

    def want(self, pages: Sequence[int], near: range) -> None:
        """Ask for pages, the most wanted last; `near` are the pages still worth fetching."""
        with self._wake:
            if self._closed or self._fetch is None:
                return
            self._near = near
            self._wishes = [page for page in self._wishes if page not in pages]
            self._wishes.extend(pages)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="memtui-pages", daemon=True)
                self._thread.start()
            self._wake.notify()

    @property
    def idle(self) -> bool:
        """Whether nothing is wanted and nothing is being fetched."""
        with self._wake:
            return not self._wishes and not self._working

    def close(self) -> None:
        """Let the thread end."""
        with self._wake:
            self._closed = True
            self._wake.notify()

    def _next(self) -> tuple[int, int, Fetch] | None:
        with self._wake:
            self._working = False
            while True:
                while not self._wishes and not self._closed:
                    self._wake.wait()
                if self._closed or self._fetch is None:
                    return None
                page = self._wishes.pop()
                if page in self._near:
                    self._working = True
                    return self._generation, page, self._fetch

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            generation, index, fetch = job
            try:
                page = ListPage(generation, index, tuple(fetch(index * PAGE_ROWS, PAGE_ROWS)))
            except MemtuiError as error:
                page = ListPage(generation, index, (), error)
            except Exception as error:
                words = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
                page = ListPage(generation, index, (), MemtuiError(words, fix=_AGAIN))
            self._deliver(page)
