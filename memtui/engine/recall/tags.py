"""Tag tokens in a question: `proj:atlas` sends the plugin down its tag route."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache


@lru_cache(maxsize=16)
def _pattern(prefixes: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(map(re.escape, prefixes))}):[\w-]+", re.ASCII | re.IGNORECASE)


def tag_tokens(query: str, prefixes: Sequence[str]) -> list[str]:
    """The tag tokens of `query` as written: a prefix, a colon, ASCII word characters or hyphens.

    There is no word boundary on the left, so `http://myproj:8080` has the token `proj:8080`, as in the peer.
    """
    return _pattern(tuple(prefixes)).findall(query) if prefixes else []
