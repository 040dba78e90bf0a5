"""What Capture asks of the engine, in a thread: sessions, what waits, a capture with or without a model."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from memtui.engine import MemtuiError, UsageError, counted, one_line
from memtui.tui.screens.capture.state import CaptureState, Talk

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine
    from memtui.engine.capture import (
        CaptureCase,
        CaptureCaseBook,
        CaptureContext,
        CaptureRequest,
        CaptureTrace,
        CaptureVerdict,
        Chat,
        Conversation,
        Funnel,
        FunnelDay,
        Item,
        Otherwise,
        Remedy,
        Run,
    )
    from memtui.engine.changes import ChangeSet, RecallEffect
    from memtui.engine.transfer import ChatSettings


MOST_SESSIONS = 50

MOST_HELD = 200
"""Messages that are shown of a conversation before it is captured."""

RECIPE = "memtui"


def found(environ: Mapping[str, str]) -> list[Talk]:
    """The agents' own sessions, the newest first."""
    from memtui.engine.witness import find_sessions

    files = find_sessions(environ, Path.cwd())
    sessions = [file for file in files if not file.machine and not file.listed_only]
    sessions.sort(key=lambda file: -file.modified_ms)
    heads = Counter(file.id[:8] for file in sessions)
    return [
        Talk(
            str(file.path) if file.form == "jsonl" else f"{file.path}#{file.id}",
            f"{file.agent} {file.id[:8] if heads[file.id[:8]] == 1 else f'{file.id[:4]}…{file.id[-4:]}'}",
            str(file.path),
            file.modified_ms,
            session=file,
        )
        for file in sessions[:MOST_SESSIONS]
    ]


def conversation_of(talk: Talk) -> Conversation:
    """The talk's conversation, read from its file or out of its agent's database. Raises MemtuiError."""
    from memtui.engine.capture import read_conversations, read_session

    if talk.conversation is not None:
        return talk.conversation
    return read_session(talk.session) if talk.session is not None else read_conversations(Path(talk.path))[0]


def waiting(engine: Engine, written: Mapping[int, int]) -> tuple[tuple[Item, ...], int, frozenset[int]]:
    """What waits in the inbox, how many were worked off in a day, and the entries that were taken back.

    `written` are the entries of what was applied here; without any the journal is not read for it.
    """
    from memtui.engine.capture import Inbox

    inbox = Inbox(engine)
    back = engine.write_state.journal.taken_back() if written else frozenset()
    return inbox.items(), len(inbox.done(engine.now_ms - 86_400_000)), back


def with_messages(talk: Talk) -> Talk:
    """The conversation with its messages, read from its file; where that fails, with the reason. Nothing is decided.

    Secrets in what is shown of it are masked.
    """
    from memtui.engine.capture import without_secrets

    try:
        conversation = conversation_of(talk)
    except MemtuiError as error:
        return replace(talk, fault=str(error))
    messages = conversation.messages[:MOST_HELD]
    held = tuple((message.role, without_secrets(message.said)[0]) for message in messages)
    return replace(talk, conversation=conversation, held=held)


def looked_at(engine: Engine, talk: Talk) -> tuple[Talk, CaptureTrace | None]:
    """The conversation with its messages, and what rules decide about them where that asks no service.

    None where it would, or the conversation is longer than what is shown of it. Nothing is written.
    """
    from memtui.engine.capture import capture

    read = with_messages(talk)
    conversation = read.conversation
    if conversation is None or len(conversation.messages) > MOST_HELD or not engine.embeds_here:
        return read, None
    request = _request(talk, conversation)
    try:
        return read, capture(request, engine.capture_context())
    except MemtuiError:
        return read, None  # opening it says why


def _request(talk: Talk, conversation: Conversation) -> CaptureRequest:
    """What is captured: by the talk's recipe, for the agent whose session it is; a file is the main agent's."""
    from memtui.engine.capture import CaptureRequest

    owner = {"agent": talk.session.agent} if talk.session is not None and talk.session.agent else {}
    return CaptureRequest(
        conversation.messages, talk.recipe or RECIPE, talk.config, session=conversation.session, **owner
    )


def captured(
    engine: Engine,
    talk: Talk,
    settings: ChatSettings | None,
    token: CancelToken,
    report: Callable[[Any], None],
) -> tuple[Talk, CaptureRequest, CaptureTrace]:
    """Read a conversation and capture it; nothing is written, and without a model's settings nothing is sent."""
    from memtui.engine.capture import capture

    conversation = conversation_of(talk)
    request = _request(talk, conversation)
    done = replace(talk, conversation=conversation)
    with asking(engine, settings, token, report) as chat, _held(engine, settings is not None):
        return done, request, capture(request, engine.capture_context(chat))


def _held(engine: Engine, agreed: bool) -> AbstractContextManager[None]:
    """A block in which nothing is sent, unless a person has chosen a model, which is sent the texts anyway."""
    return nullcontext() if agreed else engine.sending_nothing()


def heard_so_far(engine: Engine, talk: Talk, heard: str) -> tuple[Talk, CaptureRequest, CaptureTrace]:
    """A conversation whose model was stopped: what it had said whole is decided, the rest waits. Nothing is asked."""
    from memtui.engine.capture import stopped
    from memtui.engine.transfer import whole_items

    conversation = conversation_of(talk)
    request = _request(talk, conversation)
    trace = stopped(request, engine.capture_context(), whole_items(heard, "memories"))
    return replace(talk, conversation=conversation), request, trace


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
    from memtui.engine.capture import OWN, PRO, ModelChat
    from memtui.engine.transfer import ChatClient, HourBudget

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

    with _held(engine, bool(trace.calls)):
        return why_not(place, trace, request, fresh)


def changed(
    engine: Engine, talk: Talk, remedy: Remedy, place: int, trace: CaptureTrace, request: CaptureRequest
) -> tuple[Talk, CaptureRequest, CaptureTrace]:
    """The conversation again with the smallest change; a model's answers are those that it gave."""
    from memtui.engine.capture import Again, capture, with_remedy

    asked = with_remedy(remedy, place, trace, request)
    answers = Again(trace.calls) if trace.calls else None
    with _held(engine, bool(trace.calls)):
        return talk, asked, capture(asked, engine.capture_context(answers))


def losses_counted(
    engine: Engine, runs: Sequence[Run], span: int, turned: Mapping[str, Any], token: CancelToken
) -> tuple[Funnel, tuple[FunnelDay, ...], tuple[Otherwise, ...], int]:
    """The funnel of what was captured here under the settings that are turned, the last days, and what other
    settings would leave; at the end how many questions a model would have to be asked anew."""
    from memtui.engine.capture import days, funnel_of, otherwise, under_settings

    unknown = 0
    if turned:
        with engine.sending_nothing():
            runs, unknown = under_settings(runs, engine, turned, token)
    traces = [trace for _, trace in runs]
    with engine.sending_nothing():
        others = otherwise(runs, engine, cancel=token)
    return funnel_of(traces), days(engine, span), others, unknown


def answers(
    engine: Engine,
    runs: Sequence[Run],
    turned: Mapping[str, Any],
    token: CancelToken,
    report: Callable[[Any], None],
) -> dict[str, RecallEffect]:
    """What the rows of these conversations would do to the saved cases and the last questions: as it is turned (""),
    and under each other setting that needs no new answer of a model. Nothing is written."""
    from memtui.engine.capture import together, under_settings
    from memtui.tui.change_request import effect_on_recall

    found = {}
    for name, value in (("", None), *turns()):
        if name in turned:
            continue
        settings = {**turned, **({name: value} if name else {})}
        with engine.sending_nothing():
            left, unknown = under_settings(runs, engine, settings, token) if settings else (runs, 0)
        if not unknown:
            planned = together([trace for _, trace in left], engine.store)
            found[name] = effect_on_recall(engine, planned, token, report)
    return found


def turns() -> tuple[tuple[str, Any], ...]:
    """The settings of our own recipe that can be turned, with the value that they are turned to."""
    from memtui.engine.capture import SETTINGS

    return SETTINGS


def turned(
    engine: Engine, talk: Talk, settings: Mapping[str, Any], trace: CaptureTrace, request: CaptureRequest
) -> tuple[Talk, CaptureRequest, CaptureTrace]:
    """A conversation again under settings that were turned, with the answers that a model gave before."""
    from memtui.engine.capture import Again, capture

    asked = replace(request, config={**talk.config, **settings})
    answers = Again(trace.calls) if trace.calls else None
    with _held(engine, bool(trace.calls)):
        return talk, asked, capture(asked, engine.capture_context(answers))


def tried(engine: Engine, settings: Mapping[str, Any], token: CancelToken) -> tuple[str, ...]:
    """The saved conversations now and under `settings`, in sentences; without any, under each that can be turned."""
    from memtui.engine.capture import trial_words, try_settings
    from memtui.tui.screens.capture.funnel import words_of

    cases = kept_talks(engine).cases()
    if settings or not cases:
        return trial_words(try_settings(cases, settings, token))
    said: list[str] = []
    for name, value in turns():
        said += [
            f"{words_of(name, value)}: {word}"
            for word in trial_words(try_settings(cases, {name: value}, token))
        ]
    return tuple(said)


def kept_talks(engine: Engine) -> CaptureCaseBook:
    """The conversations that are kept as cases of the store."""
    from memtui.engine.capture import CaptureCaseBook
    from memtui.paths import cases_file

    return CaptureCaseBook.beside(cases_file(engine.info.uri))


def kept_as_case(
    engine: Engine, name: str, request: CaptureRequest, trace: CaptureTrace, refused: Sequence[str]
) -> CaptureCase:
    """Keep a conversation with the memories that it should leave."""
    from memtui.engine.capture import case_of

    case = case_of(name, request, trace, engine.capture_context(), refused)
    kept_talks(engine).put(case)
    return case


def export_funnel(name: str, state: CaptureState) -> str:
    """Write what the funnel shows as JSON. Raises MemtuiError for a file that is there, or cannot be written."""
    path = Path(name).expanduser()
    told = {
        "schema": "memtui.capture.funnel.v1",
        "settings": dict(state.turned),
        "conversations": len(state.runs),
        "funnel": asdict(state.funnel) if state.funnel is not None else None,
        "days": [asdict(day) for day in state.days],
        "otherwise": [asdict(each) for each in state.otherwise or ()],
    }
    text = json.dumps(told, ensure_ascii=False, indent=2)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise MemtuiError(f"{path} is there already.", fix="Name another file.") from None
    except OSError as error:
        raise MemtuiError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}.", fix="Name another file."
        ) from error
    return str(path)


def kept_talk(case: CaptureCase) -> Talk:
    """A case as a conversation of the list, to be captured under its own settings."""
    from memtui.engine.capture import Conversation, messages_of

    recording = case.recording
    messages = tuple(messages_of(recording))
    conversation = Conversation(messages, case.name, str(recording["session"]))
    return Talk(
        f"case {case.id}", one_line(case.name), conversation=conversation, at_ms=int(recording["now"]),
        recipe=recording["recipe"], config=recording["config"],
    )  # fmt: skip


def pasted(text: str, number: int, now_ms: int) -> list[Talk]:
    """Conversations of a text that was pasted. Raises UsageError for what is none."""
    from memtui.engine.capture import parse_conversations

    found = parse_conversations(text.encode("utf-8", "replace"), "auto", "the pasted text")
    return [
        Talk(
            f"paste {at}",
            f"pasted, {counted(len(conversation.messages), 'text')}",
            conversation=conversation,
            at_ms=now_ms,
        )
        for at, conversation in enumerate(found, number)
    ]


def in_file(name: str) -> list[Talk]:
    """Conversations of a file. Raises MemtuiError for what cannot be read."""
    from memtui.engine.capture import read_conversations

    path = Path(name).expanduser()
    return [
        Talk(f"{path} {at}", one_line(conversation.title or path.name), str(path), conversation=conversation)
        for at, conversation in enumerate(read_conversations(path))
    ]


def reflected(
    engine: Engine,
    talk: Talk | None,
    settings: ChatSettings | None,
    token: CancelToken,
    report: Callable[[Any], None],
) -> tuple[ChangeSet, str]:
    """What a reflection on a conversation would write, and the model's report."""
    from memtui.engine.capture import plan_reflection

    if talk is None:
        raise UsageError("No conversation is chosen.", fix="Open one in the view of conversations first.")
    conversation = conversation_of(talk)
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
