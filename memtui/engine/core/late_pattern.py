"""Regular expressions that are compiled when they are first asked: most runs of the program need few of them."""

from __future__ import annotations

import re
from typing import Any, cast

_ASKED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split")


class _LatePattern:
    """Stands for a compiled pattern; from its first use on it answers as fast as that."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._made = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._made)
        vars(self).update({each: getattr(compiled, each) for each in _ASKED})
        return getattr(compiled, name)


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile`, put off until the pattern is used. An invalid pattern raises then, not before."""
    return cast("re.Pattern[str]", _LatePattern(pattern, int(flags)))
