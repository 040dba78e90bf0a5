"""An app that obeys a keymap: other keys, sequences of two keys, and a word when a key cannot act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual import events
from textual.binding import ActiveBinding
from textual.dom import DOMNode

from memtui.tui.frame import Frame
from memtui.tui.keys import Keymap
from memtui.tui.keys.sequences import Sequences
from memtui.tui.quick import QuickApp
from memtui.tui.refusal import refusal


class KeyedApp(QuickApp):
    """Gives Textual the keys in force, and handles what Textual has no notion of."""

    def __init__(self, keys: Keymap) -> None:
        super().__init__()
        self.keys = keys
        self.set_keymap(dict(keys.changed))
        self._sequences = Sequences(keys.sequences)
        self._answered = False

    @property
    def frame(self) -> Frame | None:
        """The screen under whatever overlay is open: a mode's own, or one that was opened over it."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, Frame)), None)

    def say(self, text: str, kind: Any = "done") -> None:
        """One line above the key bar of the present screen."""
        if self.frame is not None and self.frame.is_mounted:
            self.frame.flash(text, kind)

    async def on_event(self, event: events.Event) -> None:
        """As Textual does, but keys that make a sequence reach it as one key."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            name = self._heard(event)
            if name != event.key:
                if name:
                    self.simulate_key(name)
                return
        await super().on_event(event)

    def _heard(self, event: events.Key) -> str:
        """The key to act on; a line that is being typed takes its characters itself."""
        focused = self.focused
        if focused is not None and focused.check_consume_key(event.key, event.character):
            return event.key
        begins = self.keys.sequences.get(event.key, {})
        if not self._sequences.first and begins:
            live = self.screen.active_bindings
            if not any(name in live for name in begins.values()):
                return event.key  # here the key is one by itself: the letter of a choice, for one
        name = self._sequences.heard(event.key)
        if self.frame is not None:
            self.frame.begun(self._sequences.first, self._sequences.follow)
        return name

    async def run_action(
        self,
        action: Any,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """As Textual does; whether anybody answered the key that is being pressed is remembered."""
        done = await super().run_action(action, default_namespace, namespaces)
        self._answered = self._answered or done
        return done

    def on_key(self, event: events.Key) -> None:
        """Nobody wanted the key so far: if no binding does either, say why the one that is meant cannot act."""
        self._answered = False
        active = self.screen.active_bindings.get(event.key)
        if active is not None and not active.enabled:
            self.call_next(self._say_refusal, active)

    def _say_refusal(self, active: ActiveBinding) -> None:
        key = self.keys.key(active.binding.id)
        if not self._answered and key is not None:
            self.say(f"{key.title}: {refusal(active.node, key)}", "note")
