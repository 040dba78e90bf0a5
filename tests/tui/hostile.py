"""Rows that try to break a screen: markup, escape sequences, directions, widths, lengths."""

from __future__ import annotations

from typing import Any

NASTY_ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("kafka [/oops] [red]x[/red] [@click=app.quit()]y[/]", {"category": "[/x]", "scope": "[bold]scope"}),
    ("kafka \x1b]0;owned\x07\x1b[2J\x1b[31mred \x9b31m", {"scope": "sc\x1b[2Jope", "category": "c\x07t"}),
    ("kafka \u202eright-to-left\u202c \u2066isolate\u2069", {"metadata": {"tier": "core\x1b[2J"}}),
    ("kafka line\r\nline\rline\u2028line\tend", {"metadata": "not json"}),
    ("kafka 会议记录：部署窗口在星期二和星期四 👩‍👩‍👧‍👦 é́́́ ﷽", {"scope": "用户:美惠"}),
    ("kafka " + "x" * 9_000, {"scope": "s" * 500}),
    ("kafka", {"metadata": {"tier": "core", "access_count": 10**12, "last_accessed_at": -5}}),
    ("kafka plain", {"importance": float("nan")}),
)
