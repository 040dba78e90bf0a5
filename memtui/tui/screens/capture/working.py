"""What Capture asks of the engine, in a thread: sessions, what waits, a capture with or without a model."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.tui.screens.capture.state import Talk

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine
    from memtui.engine.capture import (
        CaptureRequest,
        CaptureTrace,
        Item,
    )
    from memtui.engine.transfer import (
        ChatSettings,
    )


MOST_SESSIONS = 50

RECIPE = "memtui"


def found() -> list[Talk]:
    """The agents' own sessions, the newest first."""
    from memtui.engine.witness import (
        find_sessions,
    )

    sessions = [each for each in find_sessions(os.environ, Path.cwd()) if each.form == "jsonl"]
    sessions.sort(key=lambda each: -each.modified_ms)
    return [
        Talk(str(each.path), f"{each.agent} {each.id[:8]}", str(each.path), each.modified_ms)
        for each in sessions[:MOST_SESSIONS]
    ]


def waiting(engine: Engine) -> tuple[tuple[Item, ...], int]:
    """What waits in the inbox, and how many were worked off in a day."""
    from memtui.engine.capture import (
        Inbox,
    )

    inbox = Inbox(engine)
    return inbox.items(), len(inbox.done(engine.now_ms - 86_400_000))


def captured(
    engine: Engine,
    talk: Talk,
    settings: ChatSettings | None,
    token: CancelToken,
    report: Callable[[Any], None],
) -> tuple[Talk, CaptureRequest, CaptureTrace]:
    """Read a conversation and capture it; nothing is written."""
    from memtui.engine.capture import (
        CaptureRequest,
        capture,
        read_conversations,
    )

    conversation = talk.conversation or read_conversations(Path(talk.path))[0]
    request = CaptureRequest(conversation.messages, RECIPE, session=conversation.session)
    done = replace(talk, conversation=conversation)
    if settings is None:
        return done, request, capture(request, engine.capture_context())
    from memtui.engine.capture import (
        ModelChat,
    )
    from memtui.engine.transfer import (
        ChatClient,
        HourBudget,
    )

    place = engine.state_place
    budget = HourBudget(settings.calls_per_hour, None if place is None else place / "chat-calls.json")
    with ChatClient(settings, now=lambda: engine.now_ms, budget=budget) as client:
        chat = ModelChat(
            client,
            on_text=lambda purpose, text: report((purpose, text)),
            on_wait=lambda attempt, why, seconds: report((f"{why}, asked again in {seconds:g} s", "")),
            cancel=token,
        )
        return done, request, capture(request, engine.capture_context(chat))


def configured() -> ChatSettings | None:
    """The language model of the settings, None without one."""
    from memtui.paths import settings_file
    from memtui.settings import load_settings

    return load_settings(settings_file(), os.environ).chat(os.environ)
