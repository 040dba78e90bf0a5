"""Tag tokens in a question: `proj:atlas` sends the plugin down its tag route."""

from __future__ import annotations

import re
from collections.abc import Sequence

TAG_PREFIXES = ("proj", "env", "team", "scope")


def tag_tokens(query: str, prefixes: Sequence[str] = TAG_PREFIXES) -> list[str]:
    """The tag tokens of `query` as written: a prefix, a colon, ASCII word characters or hyphens.

    There is no word boundary on the left, so `http://myproj:8080` has the token `proj:8080`, as in the
    plugin.
    """
    if not prefixes:
        return []
    alternatives = "|".join(map(re.escape, prefixes))
    return re.findall(rf"(?:{alternatives}):[\w-]+", query, re.ASCII | re.IGNORECASE)
