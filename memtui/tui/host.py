"""What a widget may ask of the app it lives in, without knowing the app."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import Protocol, cast

from textual.message_pump import MessagePump

from memtui.tui.actions.keymap import Keymap
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.session import Session
from memtui.ui_state import UiState


class Host(Protocol):
    """The app, as its parts see it."""

    session: Session
    glyphs: Glyphs
    keys: Keymap
    """The keys in force: what to print for an action, and what to press for it."""
    environ: Mapping[str, str]
    """Where the agents' files are looked for while no store says it."""
    zone: tzinfo | None
    """How times are shown; None is local time."""
    themes: tuple[str, ...]
    """Names of the themes that were read from files and can be chosen."""

    def now_ms(self) -> int:
        """The clock, in milliseconds since the epoch."""
        ...

    def ui_state(self, uri: str) -> UiState:
        """What is kept of how the store at `uri` was looked at."""
        ...

    def unsaved_edits(self, uri: str) -> UiState:
        """Where edits of the store at `uri` are kept until they are applied."""
        ...

    def copy(self, text: str, what: str) -> None:
        """Copy `text` and say so; `what` names it: "id", "text"."""
        ...

    def in_editor(self, text: str) -> str:
        """`text` as the person left it in $EDITOR, meanwhile the screen is the editor's; MemtuiError when not."""
        ...

    def take(self, name: str, value: object = None) -> None:
        """What a part may want: "demo", "open", "store" (its name), "retry", "changed", "staged" (count), "unlock"."""
        ...


def host(node: MessagePump) -> Host:
    """The app of this widget or screen."""
    return cast(Host, node.app)
