"""Why a key cannot act just now, for the help, the palette, and the moment it is pressed all the same."""

from __future__ import annotations

from textual.dom import DOMNode

from memtui.engine import one_line
from memtui.tui.host import host
from memtui.tui.keys import Key
from memtui.tui.keys.key import WRITES
from memtui.tui.keys.places import place

NOTHING = "nothing to act on"
"""Said where nobody knows better."""
_OPENING = {"looking": "the store is being looked for", "opening": "the store is being opened"}


def refusal(node: DOMNode, key: Key) -> str:
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
