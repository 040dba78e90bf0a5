"""An app that obeys a keymap: other keys, sequences of two keys, and a word when a key cannot act."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from textual import events
from textual.binding import ActiveBinding
from textual.dom import DOMNode

from memtui.engine import one_line
from memtui.patches.textual_painting import QuickApp
from memtui.tui.actions.action import FIND, Action, cap
from memtui.tui.actions.conflicts import place
from memtui.tui.actions.keymap import Keymap
from memtui.tui.base_screen import BaseScreen
from memtui.tui.calls import reads
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

_ANYWAY = ("app", "state", "home", "links")
"""What these do, they do without a store; what is typed ahead for the others waits until it is open."""

_OPENING = {"looking": "looking for stores", "opening": "opening the store"}


def no_store(node: DOMNode) -> str:
    """Why there is no open store: half a sentence."""
    return _OPENING.get(host(node).session.phase, "no store is open")


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
        return no_store(node)
    if key.writes and (why := getattr(getattr(node, "staging", None), "forbidden", "")):
        return one_line(why)
    needs = key.needs or place(key.context).needs
    return f"needs {needs}" if needs else NOTHING


HOLD_S = 0.01
"""How often to see whether a key that waits can be handled."""

ROUNDS = 4
"""A key has had its effect after so many ways through the queues: its action, the message that it posts, what a panel
makes of that, and what the screen makes of that."""

LOST_S = 1.0
"""A widget that goes while a key is on its way takes it along: the next key waits no longer than this."""

LOST_LOOKS = 20
"""So often within that time it must have been seen standing still: while the machine stands still nobody looks."""

PERFORM = "perform"
"""The group of the worker that takes the steps of what was chosen in the palette."""

_OF_ROWS = ("enter", "up", "down", "pageup", "pagedown")
"""What a line of text above a list hands to the list."""

_NOW = ("escape", "ctrl+q", "ctrl+c")
"""Never wait for anything: they stop what the others wait for."""

TOLD_LOOKS = 30
"""So often a key must have waited for the store before it is said: most stores are open by then."""


class KeymapApp(QuickApp):
    """Gives Textual the keys in force, and handles what Textual has no notion of."""

    def __init__(self, keys: Keymap) -> None:
        super().__init__()
        self.keys = keys
        self.set_keymap(dict(keys.changed))
        self._sequences = Sequences(keys.sequences)
        self._answered = False
        self._ahead: deque[events.Key] = deque()
        self._handling = False
        self._holding = False
        self._looks = 0
        """How often it was seen that the next key has to wait."""
        self._waiting = 0
        """How many keys were said to wait for the store."""
        self._said_waiting = ""
        """The line that says so, until they need not wait any more."""
        self._unready = 0
        """How often of these only because what has the keyboard was not laid out, which may be for good."""
        self._serial = 0
        self._steps = 0
        """How many steps the keys so far have gone on their ways."""
        self._told: set[str] = set()
        """Ids of actions that were said to have moved."""
        self.knew_before = False
        """Whether this person worked with the keys of before: nobody else is told where one has gone."""
        self.begun = True
        """Whether the store has been asked for: keys that are there before the first frame wait for that."""
        self.performed: list[str] = []
        """Ids of actions that were taken from the palette, the last one first."""

    @property
    def frame(self) -> BaseScreen | None:
        """The screen under whatever overlay is open: a mode's own, or one that was opened over it."""
        return next(
            (screen for screen in reversed(self.screen_stack) if isinstance(screen, BaseScreen)), None
        )

    def say(self, text: str, kind: Any = "done") -> None:
        """One line above the key bar of the present screen."""
        if self.frame is not None and self.frame.is_mounted:
            self.frame.flash(text, kind)

    async def on_event(self, event: events.Event) -> None:
        """As Textual does, but one key after the other, and keys that make a sequence reach it as one key."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
            return
        if (
            event.key == "ctrl+j"
        ):  # an Enter that was pressed before the terminal was ours arrives as a line feed
            event = events.Key("enter", "\r")
        palette = self._opens_palette(event) and host(self).session.phase in _OPENING
        if self._holding and (event.key in _NOW or palette):
            if palette and self._ahead:
                keys = " ".join(cap(each.key) for each in self._ahead)
                self.say(f"{no_store(self)}; keys discarded: {keys}", "note")
            self._ahead.clear()  # what waits is given up, and so is what was to come after it
            self._holding = self._handling = False
            self._looks = self._unready = 0
            self._unsay_waiting()
        self._ahead.append(event)
        if not self._handling:
            await self._next_key()

    def simulate_key(self, key: str) -> None:
        """Press a key, as a person does: it comes from the app, whoever asks for it.

        A key that a panel sends would end at that panel, on its way up from the list that takes it.
        """
        self.post_message(events.Key(key, None).set_sender(self))

    # Keys that are typed ahead: each is handled by what has the keyboard when the one before has had its effect.

    @property
    def typed_ahead(self) -> bool:
        """Whether keys wait for the ones before them."""
        return self._handling or bool(self._ahead)

    async def _next_key(self) -> None:
        self._handling = bool(self._ahead)
        if not self._ahead:
            return
        if self._must_wait(self._ahead[0]):
            self._holding = True
            self._looks += 1
            self._say_waiting()
            self.set_timer(HOLD_S, self._look_again)
            return
        self._holding, self._looks, self._unready = False, 0, 0
        self._unsay_waiting()
        event = self._ahead.popleft()
        self._serial += 1
        taker = self.focused or self.screen
        name = self._heard(event)
        if name == event.key:
            await super().on_event(event)
        elif name:
            await super().on_event(events.Key(name, None))
        way = [ancestor for ancestor in taker.ancestors_with_self if ancestor is not self]
        self._see_lost(self._serial, self._steps, 0)
        self._follow(self._serial, way, 0)

    def _opens_palette(self, event: events.Key) -> bool:
        """Whether a key opens the palette wherever it is pressed."""
        return event.key in self.keys.by_id["app.palette"].each and not event.is_printable

    def _say_waiting(self) -> None:
        """Tell that keys wait for the store, and which, once each."""
        waits = len(self._ahead)
        if self._looks < TOLD_LOOKS or waits == self._waiting or host(self).session.phase not in _OPENING:
            return
        self._waiting = waits
        keys = " ".join(cap(each.key) for each in self._ahead)
        text = f"{no_store(self)}; keys waiting: {keys}; {cap('escape')} discards them"
        self.say(text, "note")
        self._said_waiting = text

    def _unsay_waiting(self) -> None:
        """Take the line away that said that keys wait: none does any more."""
        if self._said_waiting and self.frame is not None:
            self.frame.unsay(self._said_waiting)
        self._said_waiting, self._waiting = "", 0

    async def _look_for_lost(self, serial: int, steps: int, looks: int) -> None:
        if serial == self._serial and looks >= LOST_LOOKS:
            await self._handled(serial)
        else:
            self._see_lost(serial, steps, looks)

    def _see_lost(self, serial: int, steps: int, looks: int) -> None:
        """Give a key up for lost that stands still; by looks, as a clock also runs while the loop is held up."""
        if serial == self._serial:
            looks = looks + 1 if steps == self._steps else 0
            look = partial(self._look_for_lost, serial, self._steps, looks)
            self.set_timer(LOST_S / LOST_LOOKS, look)

    async def _look_again(self) -> None:
        if self._holding and self.screen_stack:  # none any more while the program ends
            await self._next_key()

    def _must_wait(self, event: events.Key) -> bool:
        """Whether what is to take the key is not there yet: a screen that is being opened, a list being read."""
        screen, taker = self.screen, self.focused
        if not screen.is_mounted or (not self.begun and event.key not in _NOW):
            return True
        active = screen.active_bindings.get(event.key)
        key = self.keys.key(active.binding.id) if active is not None else None
        writes = (
            key is not None and key.writes
        )  # of the keys that work everywhere, too: it waits for the store
        if event.key in _NOW or (key is not None and key.context == "app" and not writes):
            return False
        if any(worker.group == PERFORM and not worker.is_finished for worker in self.workers):
            return True  # what a sentence of the palette asks for is on its way: the key is for where it ends
        based = isinstance(screen, BaseScreen)
        unready = based if taker is None else not taker.size or getattr(taker, "due", False)
        if unready and self._unready < LOST_S / HOLD_S:
            self._unready += 1
            return (
                True  # it has the keyboard, or gets it, and is laid out or painted next: it has no rows yet
            )
        if isinstance(screen, BaseScreen) and screen.handing_over:
            return True  # the keyboard goes elsewhere next: it is not for the line that still has it
        if taker is not None and taker.check_consume_key(event.key, event.character):
            return False  # a letter of what is being typed
        typing = taker is not None and taker.check_consume_key("a", "a")
        if not isinstance(screen, BaseScreen):
            holds = getattr(screen, "holds", None)
            about_rows = not typing or event.key in _OF_ROWS
            return about_rows and (holds(event.key) if holds is not None else reads(screen))
        if typing and getattr(active, "node", taker) is taker:
            return False  # a key of the line of text itself
        opening = host(self).session.phase in _OPENING
        if opening and (key is None or writes or key.context not in _ANYWAY or key.group == FIND):
            return True
        return screen.holds(key, active is None or active.enabled)

    def _follow(self, serial: int, way: Sequence[DOMNode], at: int) -> None:
        """Go the way that the key and what it set going go, from the widget to the app, through every queue."""
        if serial != self._serial:
            return
        self._steps += 1
        while at < ROUNDS * (len(way) + 1):
            round_at = at % (len(way) + 1)
            node: DOMNode = way[round_at] if round_at < len(way) else self
            at += 1
            if node.is_attached and node.call_later(self._follow, serial, way, at):
                return
        self.call_later(self._handled, serial)

    async def _handled(self, serial: int) -> None:
        if serial == self._serial and not self._holding and self.screen_stack:
            self._serial += 1
            await self._next_key()

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
        """Say why the action that a key means cannot act, where no widget and no binding took the key."""
        self._answered = False
        self._say_moved(event.key)
        active = self.screen.active_bindings.get(event.key)
        if active is not None and not active.enabled:
            self.call_next(self._say_refusal, active)

    def _say_moved(self, pressed: str) -> None:
        """Tell, once for each, where what this letter did before has gone."""
        if not self.knew_before:
            return
        live = [self.keys.key(active.binding.id) for active in self.screen.active_bindings.values()]
        gone = [key for key in live if key is not None and pressed in key.moved and key.id not in self._told]
        if not gone or pressed in gone[0].each:
            return
        self._told.add(gone[0].id)
        taken = next((key for key in live if key is not None and pressed in key.each), None)
        now = (
            f"{cap(pressed)} is {taken.title} now, {gone[0].title} is" if taken else f"{gone[0].title} is now"
        )
        self.call_next(self.say, f"{now} {gone[0].cap}", "note")

    def _say_refusal(self, active: ActiveBinding) -> None:
        key = self.keys.key(active.binding.id)
        if not self._answered and key is not None:
            self.say(f"{key.title}: {refusal(active.node, key)}", "note")
