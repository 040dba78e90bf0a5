"""What can be wrong with a filter, and exactly where."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.text import one_line
from memtui.engine.query.ast import TextSpan

LONGEST_QUOTE = 40
"""Characters of the user's text that a message repeats."""


class FilterError(UsageError):
    """The filter `text` is wrong at `span`; `nearest` is what was probably meant there, or empty."""

    def __init__(
        self, message: str, *, text: str, span: TextSpan, fix: str = "", nearest: str = "", details: str = ""
    ) -> None:
        super().__init__(message, fix=fix, details=details)
        self.text = text
        self.span = span
        self.nearest = nearest

    @property
    def corrected(self) -> str | None:
        """The filter with `nearest` in the place of the wrong characters, None without a proposal."""
        if not self.nearest:
            return None
        return self.text[: self.span.start] + self.nearest + self.text[self.span.end :]

    def caret(self) -> str:
        """Two lines of equal indent: the filter as drawn, and carets under the wrong characters."""
        shown = "".join(map(_drawn, self.text))
        before = sum(map(_cells, self.text[: self.span.start]))
        under = sum(map(_cells, self.text[self.span.start : self.span.end]))
        return f"{shown}\n{' ' * before}{'^' * max(1, under)}"


class NotProvidedError(FilterError):
    """The term means something, but this store, or this call, has nothing that could decide it."""


class NotReadyError(MemtuiError):
    """The term at `span` needs a part of the catalog that is still being read: wait, then ask again."""

    def __init__(self, message: str, *, text: str, span: TextSpan, needs: str) -> None:
        super().__init__(message, fix="Try again in a moment.")
        self.text = text
        self.span = span
        self.needs = needs
        """What is missing: "metadata"."""


def quote(text: str) -> str:
    """A piece of the user's text for a message: harmless, on one line, not long."""
    line = one_line(text)
    return line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"


def nearest(word: str, choices: Iterable[str]) -> str:
    """The choice that `word` was probably meant to be, or an empty string."""
    word = word.strip().lower()[:64]
    known = list(dict.fromkeys(choices))
    if not word:
        return ""
    starting = [choice for choice in known if choice.lower().startswith(word)]
    if len(starting) == 1:
        return starting[0]
    lowered = {choice.lower(): choice for choice in reversed(known)}
    close = difflib.get_close_matches(word, list(lowered), n=1, cutoff=0.6)
    return lowered[close[0]] if close else (starting[0] if starting else "")


def _drawn(char: str) -> str:
    return char if char.isprintable() else " "


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
