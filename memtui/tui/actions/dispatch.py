"""An app that obeys a keymap: other keys, sequences of two keys, and a word when a key cannot act."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual import events
from textual.binding import ActiveBinding
from textual.dom import DOMNode

from memtui.engine import one_line
from memtui.patches.textual_painting import QuickApp
from memtui.tui.actions.action import WRITES, Action
from memtui.tui.actions.conflicts import place
from memtui.tui.actions.keymap import Keymap
from memtui.tui.base_screen import BaseScreen
from memtui.tui.host import host

# Keys that are pressed one after the other: "g g" is heard as one key.


class Sequences:
    """Remembers the first key of a sequence until the next one arrives."""

    def __init__(self, known: Mapping[str, Mapping[str, str]]) -> None:
        self._known = known
        self.first = ""
        """The key that has been pressed, where more must follow."""

    @property
    def follow(self) -> Mapping[str, str]:
        """What can follow now: second key to the name of the sequence."""
        return self._known.get(self.first, {})

    def heard(self, key: str) -> str:
        """The name to act on: the sequence that `key` ends, nothing while more must follow, else `key` itself.

        A key that ends no sequence is heard alone, and the first one forgotten; Escape only forgets.
        """
        if self.first:
            name, self.first = self.follow.get(key), ""
            if name is not None or key == "escape":
                return name or ""
        if key in self._known:
            self.first = key
            return ""
        return key


# Why a key cannot act just now, for the help, the palette, and the moment it is pressed all the same.

NOTHING = "nothing to act on"
"""Said where nobody knows better."""

_OPENING = {"looking": "the store is being looked for", "opening": "the store is being opened"}


def refusal(node: DOMNode, key: Action) -> str:
    """Why the action of `key`, which `node` does not allow now, is refused: half a sentence.

    A node may know best itself (`why_disabled(action)`); else the store is not open, or the table or the place of
    the key says what it needs.
    """
    own = getattr(node, "why_disabled", None)
    if own is not None and (said := own(key.action)):
        return str(said)
    session = host(node).session
    if not session.open and key.context not in ("app", "state"):
        return _OPENING.get(session.phase, "no store is open")
    if key.needs == WRITES and (why := getattr(getattr(node, "staging", None), "forbidden", "")):
        return one_line(why)
    needs = key.needs or place(key.context).needs
    return f"needs {needs}" if needs else NOTHING


class KeymapApp(QuickApp):
    """Gives Textual the keys in force, and handles what Textual has no notion of."""

    def __init__(self, keys: Keymap) -> None:
        super().__init__()
        self.keys = keys
        self.set_keymap(dict(keys.changed))
        self._sequences = Sequences(keys.sequences)
        self._answered = False
        self.performed: list[str] = []
        """Ids of actions that were taken from the palette, the last one first."""

    @property
    def frame(self) -> BaseScreen | None:
        """The screen under whatever overlay is open: a mode's own, or one that was opened over it."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, BaseScreen)), None)

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
