"""Emoji of several parts as every terminal draws them equally wide: tmux and screen count the parts by themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_BASE = (
    "[0-9#*\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)

_PARTED = re.compile(f"({_BASE})(?:\ufe0f\u20e3?|[\U0001f3fb-\U0001f3ff]|\u200d{_BASE})+")
"""A sign with its form, its skin, or others that it is joined with."""


class PlainEmoji(LineFilter):
    """Draws the first sign of such an emoji alone, and blanks up to the cells that the whole is laid out with."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments, each as wide as before."""
        return [
            segment if segment.text.isascii() else Segment(_PARTED.sub(_first, segment.text), *segment[1:])
            for segment in segments
        ]


def in_multiplexer(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is one of tmux or screen."""
    return bool(environ.get("TMUX") or environ.get("STY")) or environ.get("TERM", "").startswith(
        ("tmux", "screen")
    )


def _first(found: re.Match[str]) -> str:
    sign = found[1]
    return sign + " " * (cell_len(found[0]) - cell_len(sign))
