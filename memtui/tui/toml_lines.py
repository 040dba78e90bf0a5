"""On which line of a TOML text something is set: messages about a settings file name the place."""

from __future__ import annotations

import re


def line_of(text: str, name: str) -> int:
    """The 1-based line on which `name` (with its tables before it, "browse.undo") is set, 0 when it is not found."""
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        if heading := re.match(r"\s*\[\s*([^\]]+?)\s*\]", line):
            table = heading[1].replace('"', "").replace(" ", "") + "."
            if table == f"{name}.":
                return number
        elif (key := re.match(r"\s*([\w.\-\"' ]+?)\s*=", line)) and (
            table + re.sub(r"[\"' ]", "", key[1]) == name
        ):
            return number
    return 0
