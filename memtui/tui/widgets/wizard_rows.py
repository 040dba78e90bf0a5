"""A list of a wizard: rows are chosen with Enter, switched with Space, decided with a letter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from textual.message import Message

from memtui.tui.keys import bindings
from memtui.tui.widgets.built_rows import Build, BuiltRows

Act = Literal[
    "switch",
    "forget",
    "ours",
    "theirs",
    "both",
    "all_ours",
    "all_theirs",
    "all_both",
    "later",
    "earlier",
]
_MOVES = ("down", "up", "page-down", "page-up", "first", "last")


class WizardRows(BuiltRows, inherit_bindings=False):
    """`able` says whether an act makes sense for the row under the cursor; one that does not has no key."""

    BINDINGS = [*bindings("rows", only=_MOVES), *bindings("wizard")]  # noqa: RUF012

    @dataclass
    class Acted(Message):
        """A key was pressed on a row."""

        rows: WizardRows
        act: Act
        key: str

    def __init__(self, build: Build, able: Callable[[str, str], bool], *, id: str | None = None) -> None:
        super().__init__(build, id=id)
        self._able = able

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "open":
            return bool(self.key)
        if hasattr(self, f"action_{action}") and action in _ACTS:
            return self._able(action, self.key)
        return super().check_action(action, parameters)

    def _act(self, act: Act) -> None:
        self.post_message(self.Acted(self, act, self.key))

    def action_switch(self) -> None:
        self._act("switch")

    def action_forget(self) -> None:
        self._act("forget")

    def action_ours(self) -> None:
        self._act("ours")

    def action_theirs(self) -> None:
        self._act("theirs")

    def action_both(self) -> None:
        self._act("both")

    def action_all_ours(self) -> None:
        self._act("all_ours")

    def action_all_theirs(self) -> None:
        self._act("all_theirs")

    def action_all_both(self) -> None:
        self._act("all_both")

    def action_later(self) -> None:
        self._act("later")

    def action_earlier(self) -> None:
        self._act("earlier")


_ACTS = frozenset(Act.__args__)  # type: ignore[attr-defined]
