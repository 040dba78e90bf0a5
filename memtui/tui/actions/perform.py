"""Do an action from anywhere: go to the screen that has it, open what it stands in there, and call it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from textual.dom import DOMNode
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from memtui.tui.actions.action import Action
from memtui.tui.actions.conflicts import place
from memtui.tui.actions.dispatch import KeymapApp, refusal
from memtui.tui.base_screen import BaseScreen
from memtui.tui.bound_panel import Bound
from memtui.tui.host import host

LOOK_S = 0.02
"""How often to see whether a screen has what it waits for."""

TURN_S = 1.0
"""A turn takes no longer than this."""

PATIENCE_S = 60.0
"""A screen that reads longer than this is left alone, with the action not done."""


async def perform(app: KeymapApp, steps: Sequence[str | Message]) -> bool:
    """Do one step after the other, each when what the one before asked for is there; False where one cannot be done.

    A step is the id of an action, perhaps with arguments, `browse.forget('delete')`, or a message for the app: go to
    Browse with this filter. Where an action cannot be done, the reason stands above the key bar.
    """
    for step in steps:
        if isinstance(step, Message):
            await getattr(app, step.handler_name)(step)
            await _at_rest(app)
        elif not await _act(app, *_parsed(app, step)):
            return False
    return True


def owner(screen: Screen[object], key: Action) -> DOMNode | None:
    """What on this screen has the action: the widget with the keyboard, else one that is seen, else any."""
    found = [node for node in (screen, *screen.walk_children(Widget)) if _has(node, key)]
    focused = [
        node for node in found if screen.focused is not None and node in screen.focused.ancestors_with_self
    ]
    seen = [node for node in found if not isinstance(node, Widget) or (node.display and node.region.area)]
    return next(iter((*focused, *seen, *found)), None)


def _has(node: DOMNode, key: Action) -> bool:
    return any(
        getattr(binding, "id", None) == key.id
        for kind in type(node).__mro__
        for binding in vars(kind).get("BINDINGS", ())
    )


def _parsed(app: KeymapApp, step: str) -> tuple[Action, str]:
    """The action of a step, and what is called."""
    id, bracket, arguments = step.partition("(")
    key = app.keys.by_id[id]
    return key, f"{key.action}{bracket}{arguments}" if bracket else key.action


async def _act(app: KeymapApp, key: Action, call: str) -> bool:
    if key.context == "app":
        return await app.run_action(call, app)
    node = await _reached(app, key)
    if node is None:
        return False
    name = call.partition("(")[0]
    callee = next(
        ancestor for ancestor in (*node.ancestors_with_self, app) if hasattr(ancestor, f"action_{name}")
    )
    await _until(app, lambda: callee.check_action(name, ()) is True, 10 * LOOK_S)
    if callee.check_action(name, ()) is not True:
        app.say(f"{key.title}: {refusal(node, key)}", "note")
        return False
    if isinstance(node, Widget) and not isinstance(node, Screen) and node.can_focus:
        node.focus()
    done = await app.run_action(call, callee)
    await _at_rest(app)
    return done


async def _reached(app: KeymapApp, key: Action) -> DOMNode | None:
    """What has the action, on the screen that is shown in the end."""
    where = place(key.context)
    if (node := owner(app.screen, key)) is not None:
        await _at_rest(app)
        return owner(app.screen, key) or node
    if where.by:
        if not await _act(app, *_parsed(app, where.by)):
            return None
        await _until(app, lambda: owner(app.screen, key) is not None, PATIENCE_S)
    elif where.on:
        await app.switch_mode(where.on)
        while owner(app.screen, key) is None and len(app.screen_stack) > 1:
            await app.pop_screen()
        await _until(app, lambda: owner(app.screen, key) is not None, 1.0)
    await _at_rest(app)
    return owner(app.screen, key)


async def _at_rest(app: KeymapApp) -> None:
    """Wait until the store is open, the calls of the screen have answered, and its pages are there."""

    def rested() -> bool:
        screen = app.screen
        if host(app).session.phase in ("looking", "opening"):
            return False
        if isinstance(screen, BaseScreen) and not screen.runner.idle:
            return False
        nodes = list(screen.walk_children(Widget))
        if any(isinstance(node, Bound) and not node.runner.idle for node in nodes):
            return False
        return all(getattr(node, "settled", True) for node in nodes)

    await _turn(app)  # what was mounted now asks for its first answer
    await _until(app, rested, PATIENCE_S)
    await _turn(app)  # what its last answer set going
    await _until(app, rested, PATIENCE_S)


async def _until(app: KeymapApp, true: Callable[[], bool], patience_s: float) -> None:
    """Wait until it is true; patience is over when as many looks have been taken as fit into it, however long each."""
    looks = round(patience_s / LOOK_S)
    while app.is_running and looks > 0 and not true():
        looks -= 1
        await _turn(app)


async def _turn(app: KeymapApp) -> None:
    """Let everything have its turn: a busy machine may need far longer for it than `LOOK_S`."""
    done = asyncio.Event()
    await asyncio.sleep(LOOK_S)
    app.screen.call_after_refresh(done.set)
    with suppress(TimeoutError):  # a screen that goes calls nobody
        await asyncio.wait_for(done.wait(), TURN_S)
