"""What Capture asks of the engine, in a thread: sessions, what waits, a capture with or without a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from memtui.engine import MemtuiError, UsageError, counted, one_line
from memtui.tui.screens.capture.state import Talk

if TYPE_CHECKING:
    from memtui.engine import CancelToken, ChangeSet, Engine
    from memtui.engine.capture import (
        CaptureContext,
        CaptureRequest,
        CaptureTrace,
        CaptureVerdict,
        Chat,
        Day,
        Funnel,
        Item,
        Otherwise,
        Remedy,
        Run,
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
    with asking(engine, settings, token, report) as chat:
        return done, request, capture(request, engine.capture_context(chat))


@contextmanager
def asking(
    engine: Engine,
    settings: ChatSettings | None,
    token: CancelToken,
    report: Callable[[Any], None],
    *,
    plugin: bool = False,
) -> Iterator[Chat | None]:
    """The model of the settings within a `with` block, within its budget; None without one."""
    if settings is None:
        yield None
        return
    from memtui.engine.capture import (
        OWN,
        PRO,
        ModelChat,
    )
    from memtui.engine.transfer import (
        ChatClient,
        HourBudget,
    )

    place = engine.state_place
    budget = HourBudget(settings.calls_per_hour, None if place is None else place / "chat-calls.json")
    with ChatClient(settings, now=lambda: engine.now_ms, budget=budget) as client:
        yield ModelChat(
            client,
            PRO if plugin else OWN,
            on_text=lambda purpose, text: report((purpose, text)),
            on_wait=lambda attempt, why, seconds: report((f"{why}, asked again in {seconds:g} s", "")),
            cancel=token,
        )


def every(
    engine: Engine, talks: Sequence[Talk], token: CancelToken, report: Callable[[Any], None]
) -> tuple[tuple[Talk, CaptureRequest, CaptureTrace], ...]:
    """Capture each conversation by rules; one that cannot be read is left out, and nothing is written."""
    made = []
    for number, talk in enumerate(talks, 1):
        token.check()
        report((f"reading conversation {number} of {len(talks)}", ""))
        try:
            made.append(captured(engine, talk, None, token, report))
        except MemtuiError:
            continue
    return tuple(made)


def explained(engine: Engine, place: int, trace: CaptureTrace, request: CaptureRequest) -> CaptureVerdict:
    """Why a text became no memory, replayed with the answers that a model gave: it is asked nothing new."""
    from memtui.engine.capture import Again, why_not

    def fresh() -> CaptureContext:
        return engine.capture_context(Again(trace.calls) if trace.calls else None)

    return why_not(place, trace, request, fresh)


def changed(
    engine: Engine, talk: Talk, remedy: Remedy, place: int, trace: CaptureTrace, request: CaptureRequest
) -> tuple[Talk, CaptureRequest, CaptureTrace]:
    """The conversation again with the smallest change; a model's answers are those that it gave."""
    from memtui.engine.capture import Again, capture, with_remedy

    asked = with_remedy(remedy, place, trace, request)
    answers = Again(trace.calls) if trace.calls else None
    return talk, asked, capture(asked, engine.capture_context(answers))


def losses_counted(
    engine: Engine, runs: Sequence[Run], span: int, token: CancelToken
) -> tuple[Funnel, tuple[Day, ...], tuple[Otherwise, ...]]:
    """The funnel of what was captured here, the last days, and what other settings would have left."""
    from memtui.engine.capture import days, funnel_of, otherwise

    return funnel_of([trace for _, trace in runs]), days(engine, span), otherwise(runs, engine, cancel=token)


def pasted(text: str, number: int, now_ms: int) -> list[Talk]:
    """Conversations of a text that was pasted. Raises UsageError for what is none."""
    from memtui.engine.capture import parse_conversations

    found = parse_conversations(text.encode("utf-8", "replace"), "auto", "the pasted text")
    return [
        Talk(f"paste {at}", f"pasted, {counted(len(each.messages), 'text')}", conversation=each, at_ms=now_ms)
        for at, each in enumerate(found, number)
    ]


def in_file(name: str) -> list[Talk]:
    """Conversations of a file. Raises MemtuiError for what cannot be read."""
    from memtui.engine.capture import read_conversations

    path = Path(name).expanduser()
    return [
        Talk(f"{path} {at}", one_line(each.title or path.name), str(path), conversation=each)
        for at, each in enumerate(read_conversations(path))
    ]


def reflected(
    engine: Engine,
    talk: Talk | None,
    settings: ChatSettings | None,
    token: CancelToken,
    report: Callable[[Any], None],
) -> tuple[ChangeSet, str]:
    """What a reflection on a conversation would write, and the model's report."""
    from memtui.engine.capture import plan_reflection, read_conversations

    if talk is None:
        raise UsageError("No conversation is chosen.", fix="Open one in the view of conversations first.")
    conversation = talk.conversation or read_conversations(Path(talk.path))[0]
    with (
        TemporaryDirectory(prefix="memtui-reflect-") as nowhere,
        asking(engine, settings, token, report, plugin=True) as chat,
    ):
        made = plan_reflection(
            engine.capture_context(chat),
            conversation.messages,
            Path(nowhere),
            session=conversation.session,
        )
    return made.change_set, made.report


def configured() -> ChatSettings | None:
    """The language model of the settings, None without one."""
    from memtui.paths import settings_file
    from memtui.settings import load_settings

    return load_settings(settings_file(), os.environ).chat(os.environ)
