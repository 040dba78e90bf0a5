"""Which format a source is in: decided by what is in it, shown with the evidence."""

from __future__ import annotations

from memtui.engine.transfer.sources.text import byte_order_mark

HEAD = 1 << 16


def head_text(head: bytes) -> str:
    """The first characters of a text whose end may be cut."""
    length, encoding = byte_order_mark(head)
    return head[length:].decode(encoding or "utf-8", "replace")
