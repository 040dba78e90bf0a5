"""What the guided run says and waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textual.app import App

QUESTION = "Which port do I use for SSH to the bastion?"
WRONG = "ssh -p 2222"
"""What the wrong memory says."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the app looks like at this moment, as far as a step may ask."""

    mode: str
    dialog: str
    """Class name of the dialog on top; empty for none."""
    version: int
    """Version of the table."""
    answered: bool
    """Whether the question has been answered."""
    wrong: bool
    """Whether the wrong memory is among the results."""


def look(app: App[Any]) -> Seen:
    """What there is to see; screens are asked for what they show, not for how."""
    stack = app.screen_stack
    frame = stack[0]
    info = app.session.info  # type: ignore[attr-defined]
    trace = getattr(getattr(frame, "state", None), "trace", None) if _mode(frame) == "recall" else None
    mine = trace is not None and getattr(trace, "query", "") == QUESTION
    texts = [trace.memories[each.id].text for each in trace.results] if trace is not None and mine else []
    return Seen(
        mode=_mode(frame),
        dialog=type(stack[-1]).__name__ if len(stack) > 1 else "",
        version=info.version if info is not None else 0,
        answered=mine,
        wrong=any(WRONG in text for text in texts),
    )


def _mode(frame: object) -> str:
    return str(getattr(frame, "MODE", ""))


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: why, which key, and how to see that it was done since the step began."""

    why: str
    do: str
    """`{browse.filter}` stands for the key of that action."""
    done: Callable[[Seen, Seen], bool]
    """Given what there was to see when the step began, and what there is now."""
    fill: bool = False
    """Fill the question in when the step begins."""


STEPS = (
    Step(
        "An agent was asked for the SSH port of the bastion. It said 2222, and nobody could log in.",
        "Press {app.go-recall}: Recall asks the memory what the agent asked.",
        lambda before, now: now.mode == "recall",
    ),
    Step(
        "The question is filled in.",
        "Press {question.run} to ask it.",
        lambda before, now: now.answered,
        fill=True,
    ),
    Step(
        "Number 1 is the wrong answer. Below it stands where its score comes from.",
        "Press {recall.explain} for every stage that brought it there.",
        lambda before, now: now.dialog == "Ledger",
    ),
    Step(
        "It has every word of the question; the right memory has none of them. So mend the wrong one.",
        "Press {ledger.close}, then {recall.browse}: show it in Browse.",
        lambda before, now: now.mode == "browse" and not now.dialog,
    ),
    Step(
        "This is the memory as it is stored. Put it into the archive; nothing is written yet.",
        "Press {browse.change}, choose state, then archived.",
        lambda before, now: now.dialog == "Preview",
    ),
    Step(
        "The preview: each row and field, before and after.",
        "Press {change.apply} to write it.",
        lambda before, now: now.version > before.version and not now.dialog,
    ),
    Step(
        "Did it help?",
        "Press {app.go-recall}, then {recall.again}: ask again.",
        lambda before, now: now.answered and not now.wrong,
    ),
    Step(
        "It is gone from the answer. It was only a try: take it back, exactly this row and these fields.",
        "Press {app.go-browse}, then {browse.undo}, then {change.apply}.",
        lambda before, now: now.version > before.version and not now.dialog,
    ),
)
THE_END = Step(
    "That is the loop: ask, see why, mend, undo.",
    "{app.help} shows the keys, {app.palette} finds every command; with ? in it, how to do a task.",
    lambda before, now: False,
)
