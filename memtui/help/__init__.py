"""Topics of the help: one Markdown file for each task a person comes with, shipped with the package."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from memtui.engine.core.errors import UsageError

ORDER = (
    "find-and-mend",
    "why-not",
    "wrong-answer",
    "what-fades",
    "new-model",
    "filter",
    "recipes",
    "safety",
    "import-export",
    "keys",
    "themes",
    "serve",
    "agents",
)
"""As a newcomer would read them."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic: the name to ask for it by, its heading, and the whole as Markdown.

    `{browse.filter}` in the text stands for the key of that action.
    """

    name: str
    title: str
    text: str

    def about(self, cap: Callable[[str], str]) -> str:
        """The first paragraph of a topic as plain text: what it is about."""
        first = self.with_keys(cap).partition("\n")[2].strip().split("\n\n")[0]
        return first.replace("\n", " ").replace("`", "").replace("**", "")

    def with_keys(self, cap: Callable[[str], str]) -> str:
        """The text with the keys that are in force: `cap` gives what is printed for an action's id."""
        return re.sub(r"\{([a-z]+\.[a-z-]+)\}", lambda found: cap(found[1]), self.text)


@cache
def topics() -> tuple[Topic, ...]:
    """Every topic."""
    return tuple(_read(Path(__file__).parent / f"{name}.md") for name in ORDER)


def topic(name: str) -> Topic:
    """The topic of this name, or one whose name begins so; UsageError when there is none."""
    wanted = name.strip().lower().replace(" ", "-")
    found = [each for each in topics() if each.name == wanted] or [
        each for each in topics() if each.name.startswith(wanted)
    ]
    if len(found) == 1:
        return found[0]
    near = get_close_matches(wanted, ORDER, 1, 0.5)
    hint = f"Did you mean {near[0]}? " if near and not found else ""
    raise UsageError(f"There is no topic {name}.", fix=f"{hint}Topics: {', '.join(ORDER)}.")


def _read(path: Path) -> Topic:
    text = path.read_text(encoding="utf-8")
    return Topic(path.stem, text.partition("\n")[0].removeprefix("#").strip(), text)
