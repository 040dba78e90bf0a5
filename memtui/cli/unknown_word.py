"""A first word that is no command: the name of a store, or a mistake, for which the nearest commands are named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from memtui.engine import StoreNotFoundError, UsageError
from memtui.engine.discovery import resolve_target

_MOST = 3

_OTHERWISE_CALLED = {
    "ask": ("recall",), "backup": ("versions", "export"), "chat": ("recall",), "check": ("doctor",),
    "connect": ("mcp",), "create": ("new", "add"), "delete": ("forget",), "diff": ("versions",), "fix": ("doctor",),
    "find": ("ls", "recall"), "get": ("show",), "info": ("stats",), "init": ("new",), "insert": ("add",),
    "list": ("ls",), "mend": ("doctor",), "open": ("stores",), "query": ("recall", "ls"), "remember": ("add",),
    "remove": ("forget",), "rm": ("forget",), "rollback": ("undo", "versions"), "search": ("recall", "ls"),
    "server": ("mcp",), "snapshot": ("versions",), "status": ("stats", "doctor"), "trace": ("recall",),
    "update": ("edit",), "users": ("clients",), "view": ("show",), "web": ("serve",), "why": ("why-not",),
}  # fmt: skip
"""Words of other programs, and the commands that do the same here."""


def refuse_unless_store(word: str, commands: Mapping[str, str]) -> None:
    """Raise UsageError where no store is called `word`; `commands` are those that there are, with their purpose."""
    try:
        resolve_target(word, None, os.environ, Path.cwd())
    except StoreNotFoundError as failure:
        if os.sep in word or word.startswith("~"):
            raise
        near = nearest_commands(word, commands)
        store = failure.fix if failure.fix.startswith("Did you mean") and not near else ""
        meant = f"Did you mean {', '.join(f'memtui {each}' for each in near)}?" if near else store
        raise UsageError(
            f"There is no command, store or folder named {word}.",
            fix=f"{meant} memtui --help lists all commands.".strip(),
        ) from failure


def nearest_commands(word: str, commands: Mapping[str, str]) -> list[str]:
    """Return at most three commands: those spelled nearly so, else those whose purpose has the word."""
    low = word.casefold().replace("_", "-")
    if low in _OTHERWISE_CALLED:
        return list(_OTHERWISE_CALLED[low])
    near = get_close_matches(low, commands, _MOST, 0.6)
    begins = [
        command for command in commands if len(low) > 2 and command.startswith(low) and command not in near
    ]
    told = [
        each
        for each, purpose in commands.items()
        if low in purpose.casefold().replace(",", " ").replace(":", " ").split()
    ]
    return [*near, *begins][:_MOST] or told[:_MOST]
