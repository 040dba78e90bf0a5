"""What becomes of one row of a reach: chosen from a list, with what the choice takes asked for behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.engine import UsageError
from memtui.tui.dialogs.choose_memory import MemoryPick
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.text_prompt import TextPrompt

if TYPE_CHECKING:
    from textual.app import App

    from memtui.engine import Engine
    from memtui.engine.witness import Mend


_LABELS = (
    ("leave", "leave it", "l"),
    ("archive", "archive it", "a"),
    ("delete", "delete it", "d"),
    ("mask", "mask its secrets", "m"),
    ("replace", "replace words", "r"),
    ("text", "rewrite it", "t"),
    ("by", "let another take its place", "b"),
    ("scope", "move it", "s"),
)

_HINTS = {
    "replace": "The words that go, =>, the words that come: 2222=>48022",
    "text": "The whole new text. It replaces the old one in place; older versions of the table keep that.",
    "scope": "The scope that it belongs to: agent:ops, user:ines, global",
}


def ask_mend(
    app: App[None],
    engine: Engine,
    row: str,
    now: Mend | None,
    then: Callable[[Mend], None],
    wrong: Callable[[str], None],
) -> None:
    """Let a person choose; `then` gets the choice, `wrong` a sentence on one that makes no sense."""
    from memtui.engine.witness import VERBS, read_mend

    def made(words: str) -> None:
        try:
            then(read_mend(words))
        except UsageError as error:
            wrong(error.message)

    def taken(verb: str | None) -> None:
        if verb is None:
            return
        if verb == "by":
            app.push_screen(
                MemoryPick(engine, "What takes its place"), lambda by: made(f"by:{by}") if by else None
            )
        elif verb in _HINTS:
            held = now.value if now is not None and now.verb == verb else ""
            app.push_screen(
                TextPrompt(VERBS[verb].capitalize(), _HINTS[verb], held),  # type: ignore[index]
                lambda value: made(f"{verb}:{value}") if value else None,
            )
        else:
            made(verb)

    options = [Option(verb, label, VERBS[verb], letter) for verb, label, letter in _LABELS]  # type: ignore[index]
    app.push_screen(ChooseOne(f"What becomes of {row[:8]}", options, now.verb if now else ""), taken)
