"""Where the keys of each context work: what the place is called, and what stands around it."""

from __future__ import annotations

from dataclasses import dataclass

_EVERYWHERE = ("app",)
ANY_SCREEN = "*"
"""Stands for every context that is a whole screen."""


@dataclass(frozen=True, slots=True)
class Place:
    """A context of keys: its name for people, and the contexts whose keys work there too.

    Nothing works around a dialog: it has the whole keyboard.
    """

    title: str
    inside: tuple[str, ...] = _EVERYWHERE
    needs: str = ""
    """What its keys need, where the key does not say it itself."""


PLACES: dict[str, Place] = {
    "app": Place("Everywhere", ()),
    "home": Place("Home", needs="a store"),
    "links": Place("Home, a list", ("home", "app")),
    "state": Place("Where there is nothing to list", (ANY_SCREEN, "app")),
    "browse": Place("Browse", needs="a memory in the list"),
    "filter": Place("Browse, the filter", ("browse", "app")),
    "list": Place("Browse, memory list", ("browse", "app")),
    "scopes": Place("Browse, scopes", ("browse", "app")),
    "detail": Place("Browse, one memory", ("browse", "app")),
    "near": Place("Browse, the nearest memories", ("rows", "browse", "app")),
    "mend": Place("Mend", needs="something to mend under the cursor"),
    "finds": Place("Mend, a list", ("mend", "app")),
    "recall": Place("Recall", needs="a question that was answered"),
    "question": Place("Recall, the question", ("recall", "app")),
    "options": Place("Recall, the options", ("recall", "app")),
    "rows": Place("A list", (ANY_SCREEN, "ledger", "app")),
    "ledger": Place("Recall, every stage of one memory", ()),
    "compare": Place("Recall, compare", needs="two answers to compare"),
    "cases": Place("Recall, saved cases", needs="a saved case"),
    "bisect": Place("Recall, bisect", needs="a finished search"),
    "injected": Place("Recall, what the agent sees", ("rows",)),
    "lifecycle": Place("Lifecycle", needs="a memory under the cursor"),
    "knobs": Place("Lifecycle, what if", ("rows", "lifecycle", "app")),
    "plot": Place("Lifecycle, the curves", ("lifecycle", "app")),
    "review": Place("Lifecycle, weekly review", ("rows", "lifecycle", "app")),
    "choice": Place("Dialog: choose several", ("rows",)),
    "pick": Place("Dialog: choose one", ()),
    "preview": Place("Dialog: a change before it is made", ("change",)),
    "change": Place("Dialog: apply or leave", (), needs="a change that can be written like this"),
    "staged": Place("Dialog: staged changes", ("preview", "change")),
    "find": Place("Dialog: choose one of many", ("rows",)),
    "ask": Place("Dialog: one line of text", ()),
    "jump": Place("Jump", ()),
    "overlay": Place("Help and other overlays", ("rows",)),
    "help": Place("Help", ("overlay", "rows")),
    "topic": Place("Help, a topic", ("overlay",)),
    "palette": Place("Palette", ()),
    "whynot": Place("Why not", needs="a verdict"),
    "changes": Place("Why not, the changes", ("whynot", "rows", "app")),
    "whatif": Place("What if", needs="a question that was answered"),
    "settings": Place("What if, the sliders", ("knobs", "rows", "whatif", "app")),
    "memories": Place("Dialog: choose a memory", ()),
    "edit": Place("Dialog: edit a memory", ()),
    "paste": Place("Dialog: paste a text", ()),
    "transfer": Place("Transfer", needs="a step that is ready for it"),
    "wizard": Place("Transfer, a list", ("rows", "transfer", "app")),
    "path": Place("Transfer, a path", ("transfer", "app")),
    "journal": Place("Journal", needs="an entry under the cursor that allows it"),
    "health": Place("Health", needs="a finding under the cursor"),
    "audit": Place("Audit", needs="a turn under the cursor"),
    "cells": Place("Audit, the rights", ("rows", "audit", "app")),
    "capture": Place("Capture", needs="a conversation that was read"),
    "said": Place("Capture, a list", ("rows", "capture", "app")),
    "timeline": Place("Journal, the entries", ("rows", "journal", "app")),
}


def place(context: str) -> Place:
    """The place of a context."""
    return PLACES.get(context) or Place(context.capitalize())


def together(a: str, b: str) -> bool:
    """Whether keys of both contexts can be live at the same moment."""
    return a == b or _around(a, b) or _around(b, a)


def is_screen(context: str) -> bool:
    """Whether the context is a whole screen, with nothing but the app around it."""
    return place(context).inside == _EVERYWHERE


def _around(outer: str, inner: str) -> bool:
    inside = place(inner).inside
    return outer in inside or (ANY_SCREEN in inside and is_screen(outer))
