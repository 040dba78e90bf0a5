"""The order of equal scores in LanceDB 0.26: that of the binary heap which its search keeps its best rows in.

The engine orders by score alone, so which of two equal rows comes first, and which of them stays at a cut, follows
from how the heap of Rust's standard library moves its entries. The steps here are the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable

Entry = tuple[float, int]


def best_first(scored: Iterable[Entry], limit: int) -> list[Entry]:
    """The `limit` best of (score, row), which come in storage order, best first."""
    heap: list[Entry] = []  # the worst one on top
    for entry in scored:
        if len(heap) < limit:
            heap.append(entry)
            _up(heap, 0, len(heap) - 1)
        elif entry[0] > heap[0][0]:
            last = heap.pop()
            if heap:
                heap[0] = last
                _down_to_bottom(heap)
            heap.append(entry)
            _up(heap, 0, len(heap) - 1)
    for end in range(len(heap) - 1, 0, -1):
        heap[0], heap[end] = heap[end], heap[0]
        _down(heap, end)
    return heap


def _up(heap: list[Entry], start: int, at: int) -> None:
    entry = heap[at]
    while at > start:
        parent = (at - 1) // 2
        if entry[0] >= heap[parent][0]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = entry


def _worse_child(heap: list[Entry], child: int) -> int:
    """The child that stands higher; of equal ones the right one."""
    return child + 1 if heap[child][0] >= heap[child + 1][0] else child


def _down(heap: list[Entry], end: int) -> None:
    entry, at, child = heap[0], 0, 1
    while child < end - 1:
        child = _worse_child(heap, child)
        if entry[0] <= heap[child][0]:
            heap[at] = entry
            return
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    if child == end - 1 and entry[0] > heap[child][0]:
        heap[at] = heap[child]
        at = child
    heap[at] = entry


def _down_to_bottom(heap: list[Entry]) -> None:
    end, entry, at, child = len(heap), heap[0], 0, 1
    while child < end - 1:
        child = _worse_child(heap, child)
        heap[at] = heap[child]
        at, child = child, 2 * child + 1
    if child == end - 1:
        heap[at] = heap[child]
        at = child
    heap[at] = entry
    _up(heap, 0, at)
