"""Asking for the sentence that was wrong, from wherever a person is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.tui.dialogs.text_prompt import TextPrompt

if TYPE_CHECKING:
    from memtui.tui.base_screen import BaseScreen


HINT = "Paste what the agent said, or its wrong part. Its turn is looked for in the sessions."

OF_A_TURN = "The answer of the turn under the cursor; shorten it to its wrong part."


def ask_sentence(screen: BaseScreen, answer: str = "", session: str = "", turn: int = 0) -> None:
    """Ask for the sentence, `answer` filled in, and show its cause; `session` and `turn` say where it was said."""

    def taken(sentence: str | None) -> None:
        if sentence:
            open_cause(screen, sentence, session, turn)

    screen.app.push_screen(TextPrompt("Wrong answer", OF_A_TURN if answer else HINT, answer), taken)


def open_cause(screen: BaseScreen, sentence: str, session: str = "", turn: int = 0) -> None:
    """Show the cause of a sentence over `screen`; a word where no store is open."""
    engine = screen.session.engine
    if engine is None or not screen.session.open:
        screen.flash("The store is not open yet.", "note")
        return
    from memtui.tui.screens.blame.screen import BlameScreen

    screen.app.push_screen(BlameScreen(engine, sentence, session, turn, mode=screen.MODE))
