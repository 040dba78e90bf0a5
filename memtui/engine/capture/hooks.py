"""An agent host's hooks, one process an event: what each needs of a session is kept beside the journal."""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from memtui.engine.access import scope_of
from memtui.engine.capture.conversation import NoMessageError, read_conversations
from memtui.engine.capture.kept_prompt import drop_old_prompts, drop_prompt, keep_prompt, kept_prompt
from memtui.engine.capture.live import Live
from memtui.engine.capture.recipes.pro.injection import InjectionMemory, Pending
from memtui.engine.capture.recipes.pro.queues import QueuedTurn, Queues
from memtui.engine.capture.recipes.pro.reflection import ErrorSignal, Reflected
from memtui.engine.capture.stable_block import (
    drop_old_orders,
    drop_order,
    keep_order,
    kept_order,
    order_block,
)
from memtui.engine.capture.stages.cleaning import message_texts
from memtui.engine.changes.process_lock import ProcessLock
from memtui.engine.clients.calls import Call, CallJournal, asked_of, masked
from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.core.private_file import make_private_folder, write_private
from memtui.engine.core.secrets import MARK, mask
from memtui.engine.core.text import unbroken
from memtui.engine.documents.store_documents import consult_for
from memtui.engine.explain.prompt_block import skipped_words
from memtui.engine.recall.answer import prompt_gate
from memtui.engine.recall.request import RecallRequest

if TYPE_CHECKING:
    from memtui.engine.capture.chat import Chat
    from memtui.engine.engine import Engine


KEPT = "hooks.json"

WORDS_KEPT_S = 3600.0
"""So long at most the last words of a channel lie in that file, masked; at the end of a session they are removed."""

_PROMPT_TOLD_ONCE = ("UserPromptSubmit",)
"""Events of hosts that do not tell the prompt once more at the end of the turn, as Gemini CLI's `AfterAgent` does."""

_HOOKS = {"session_start": "agent:bootstrap", "tool_end": "after_tool_call"}

_SAID = ("agent_end", "session_end", "pre_compaction")
"""Events that come with what was said."""

_OVER = ("new", "reset", "clear", "logout", "exit")
"""Reasons for which a session ends for good."""

CONTEXT_WINDOW, RESERVE, MARGIN = 200_000, 20_000, 4_000
"""memory-core's defaults, in tokens."""

FORCED_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a host, in OpenClaw's shape (`event`, `ctx`) or flat, as Claude Code gives it."""

    name: str
    agent: str
    session: str
    prompt: str
    messages: Sequence[Mapping[str, Any]]
    reason: str
    given: Mapping[str, Any]
    """Everything that the host told, flat."""
    host: str
    """The host's own name of the event (`Stop`, `AfterAgent`), empty for a host that gives none."""
    session_id: str = ""
    inner: Mapping[str, Any] = field(default_factory=dict)
    """What the event itself holds, without its context."""
    context: Mapping[str, Any] = field(default_factory=dict)
    nested: bool = False
    """Whether the event and its context were told apart, as OpenClaw's hooks get them."""
    answer: str = ""
    """What the agent answered, where the event itself says it."""
    unread: str = ""
    """Why the transcript that the event names cannot be read; empty where it was read, or is not there yet."""


def read_event(name: str, text: str, agent: str = "") -> Event:
    """The event in a JSON text; `agent` overrules the one it names. Raises UsageError for what is none."""
    try:
        given = unbroken(json.loads(text))
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise UsageError(
            "Standard input holds no event.",
            fix='Give one JSON object: {"prompt": "...", "agentId": "main"}.',
        )
    inner, context = given.get("event"), given.get("ctx")
    every = {
        **given,
        **(inner if isinstance(inner, dict) else {}),
        **(context if isinstance(context, dict) else {}),
    }

    def word(*names: str) -> str:
        return next((each for key in names if isinstance(each := every.get(key), str) and each), "")

    who = agent or word("agentId", "agent") or "main"
    session = word("sessionKey") or f"agent:{who}:{word('session_id', 'sessionId') or 'hook'}"
    messages, unread = _messages(
        every.get("messages"), word("sessionFile", "transcript_path") if name in _SAID else ""
    )
    return Event(
        name,
        who,
        session,
        word("submitted_prompt", "prompt"),
        messages,
        word("reason") or ("compaction" if name == "pre_compaction" else "new"),
        every,
        word("hook_event_name", "hookEventName"),
        word("session_id", "sessionId") or "unknown",
        inner if isinstance(inner, dict) else given,
        context if isinstance(context, dict) else {},
        isinstance(inner, dict),
        word("prompt_response", "last_assistant_message"),
        unread,
    )


def _messages(given: Any, path: str) -> tuple[Sequence[Mapping[str, Any]], str]:
    """The messages of an event, and why its transcript cannot be read.

    A transcript that is not there yet holds nothing: hosts tell of a session before they write its first line.
    """
    if given is None and path:
        try:
            place = _transcript(path)
            told = () if place is None else read_conversations(place, "session")
        except NoMessageError:
            return [], ""
        except MemtuiError as error:
            return [], f"{error.message} {error.fix or ''}".rstrip()
        return [message.as_json() for conversation in told for message in conversation.messages], ""
    if given is None:
        return [], ""
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise UsageError("messages is no list of messages.", fix='Give [{"role": "user", "content": "..."}].')
    return given, ""


def _transcript(path: str) -> Path | None:
    """The file of a transcript; None where it is not there yet. MemtuiError for what is no file or out of reach.

    A device or a pipe is never opened: it may have no end, or wait for one.
    """
    place = Path(os.path.expanduser(path))
    try:
        kind = place.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise MemtuiError(f"The transcript {place} cannot be read: {why}.") from error
    if not stat.S_ISREG(kind):
        raise MemtuiError(f"The transcript {place} is no file.")
    return place


def _with_own_words(event: Event, kept: str) -> Event:
    """The end of a turn with what was said: by the transcript where it has the turn, else by the event itself.

    `kept` is the session's prompt where only an event before told it.
    """
    prompt = event.prompt or kept
    if event.name != "agent_end" or event.given.get("messages") is not None or not prompt:
        return event
    if event.messages and (prompt.startswith("/") or _holds(event.messages, prompt)):
        return event
    said = [("user", prompt), ("assistant", event.answer)]
    messages = [{"role": role, "content": text} for role, text in said if text]
    return replace(event, messages=messages, unread="")


_TURN_CHARS = 200
"""So many first characters of a prompt tell whether a transcript has it: hosts put notes of their own behind it."""


def _holds(messages: Sequence[Mapping[str, Any]], prompt: str) -> bool:
    """Whether a person's message of the transcript begins with, or contains, this prompt (as it is kept: masked)."""
    wanted = " ".join(mask(prompt)[0].split())[:_TURN_CHARS]
    for message in reversed(messages):
        if message.get("role") == "user":
            text = "\n".join(text for _, text in message_texts(message, ("user",)))
            if wanted in " ".join(mask(text)[0].split()):
                return True
    return False


@dataclass(frozen=True, slots=True)
class Flush:
    """Whether memory-core would have notes written before the host compacts a session. Source: spec B11."""

    due: bool
    threshold: int
    """Tokens from which it would: the window without the reserve and the margin; 0 or less: never."""
    tokens: int
    """Tokens of the session; 0 where they are not known, or are from before the last answer."""
    why: str


def flush_due(given: Mapping[str, Any]) -> Flush:
    """The calculator. `given` in the host's words: `entry` or flat, windows and counts in tokens, a size in bytes."""
    inner = given.get("entry")
    entry: Mapping[str, Any] = inner if isinstance(inner, Mapping) else given

    def number(value: Any, default: int) -> int:
        known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return int(value) if known else default

    window = number(given.get("contextWindowTokens"), CONTEXT_WINDOW)
    threshold = (
        window
        - number(given.get("reserveTokensFloor"), RESERVE)
        - number(given.get("softThresholdTokens"), MARGIN)
    )
    stored = 0 if entry.get("totalTokensFresh") is False else number(entry.get("totalTokens"), 0)
    tokens = number(given.get("tokenCount"), 0) or stored
    size = number(given.get("transcriptBytes"), 0)
    forced = size >= number(given.get("forceFlushTranscriptBytes"), FORCED_BYTES)
    done = number(entry.get("memoryFlushCompactionCount"), -1) == number(entry.get("compactionCount"), 0)
    if threshold <= 0:
        return Flush(False, threshold, tokens, "the window has no room left for it")
    if done:
        return Flush(False, threshold, tokens, "flushed before this compaction already")
    if forced:
        return Flush(True, threshold, tokens, f"the transcript has {size:,} bytes")
    if not tokens:
        return Flush(False, threshold, tokens, "the tokens of the session are not known")
    due = tokens >= threshold
    return Flush(due, threshold, tokens, f"{tokens:,} of {threshold:,} tokens")


def _gate(engine: Engine, config: Mapping[str, Any]) -> Callable[[str], str]:
    """The gate before a prompt of the store's own recall, under the block that the hook was given."""
    known = engine.recall_context()
    context = replace(known, auto_recall={**known.auto_recall, **config})

    def gate(message: str) -> str:
        return prompt_gate(RecallRequest(message, recipe=engine.default_recipe), context)

    return gate


def play(
    engine: Engine,
    event: Event,
    config: Mapping[str, Any],
    workspace: Path,
    chat: Chat | None = None,
    agents: Sequence[Mapping[str, Any]] = (),
    *,
    keep_texts: bool = False,
    stable: bool = False,
) -> dict[str, Any]:
    """Play an event and answer it: a block for the prompt, files for a start, or how many rows were written.

    A host that calls the hook wants what it does, so recall and capture are on unless the block turns them off; they
    are words alone without a model, and no reflection is written then. A store opened for reading injects, and keeps
    nothing. The event is one line of the journal of calls. `agents` are the host's, with `id` and `workspace`.
    `keep_texts` keeps the words in that line, too, secrets masked. `stable` keeps the memories of a block in the order
    of the session's block before, so that a prompt cache stays.
    """
    began = monotonic()
    block = {"autoRecall": True, "autoCapture": True, **config}
    if chat is None:
        block["smartExtraction"] = False
    kept = None if engine.state_place is None else engine.state_place / KEPT
    skip = _gate(engine, config)
    live = Live(engine, block, workspace, chat, agents=agents, skip=skip)
    before = {} if kept is None else read_kept(kept, live)
    written = engine.write_state.writable
    place = engine.state_place
    if place is not None:
        drop_old_prompts(place)
        drop_old_orders(place)
        event = _with_own_words(event, kept_prompt(place, event.session) if written else "")
    answer: dict[str, Any] = {"event": event.name, "agent": event.agent}
    ids: list[str] = []
    failed: list[str] = []
    chars = 0
    if event.name == "prompt_build":
        played = live.step(_step(event, "prompt_build", event={"prompt": event.prompt}))
        found = [each["result"].get("prependContext", "") for each in played["answer"]]
        if stable:
            found = _stable(event, found, played["injected"], answer, place if written else None)
        home = scope_of("agent", event.agent)
        hot = len(played["injected"])
        rule = skip(event.prompt)
        asked = (
            None
            if rule
            else consult_for(engine, event.prompt, hot=hot, home=home, config=config, veiled=True)
        )
        if rule:
            answer["why_nothing"] = skipped_words(rule)
        if asked is not None:
            answer["documents"] = asked.receipt
            found.append(asked.block)
        failed += played.get("failed", ())
        if "uncounted" in played:
            answer["note"] = played["uncounted"]
        text = "\n\n".join(each for each in found if each)
        answer["prependContext"] = text
        ids, chars = played["injected"], len(text)
        if written and place is not None and event.host in _PROMPT_TOLD_ONCE and event.prompt.strip():
            with contextlib.suppress(OSError):  # the turn is then captured from its transcript, or not
                keep_prompt(place, event.session, event.prompt)
    elif written:
        count = 0
        for step in _steps(_without_secrets(event), chat is not None):
            played = live.step(step)
            count += played["writes"]
            ids += played["added"]
            failed += [each for each in played.get("failed", ()) if each not in failed]
            if step.get("name") == "agent:bootstrap":
                answer["files"] = played["answer"]
        answer["written"] = count
    else:
        answer |= {"written": 0, "note": "The store is open for reading: start the hook with --rw."}
    if event.unread and not event.messages:
        answer["failed"] = f"What was said is not captured. {event.unread}"
    if failed:
        missed = (
            "The memories could not be searched"
            if event.name == "prompt_build"
            else "What needs a vector is not stored"
        )
        answer["failed"] = f"{missed}. {' '.join(failed)}"
    if event.name == "pre_compaction":
        day = datetime.fromtimestamp(engine.now_ms / 1000).astimezone().date()
        answer["flush"] = {**asdict(flush_due(event.given)), "file": f"memory/{day.isoformat()}.md"}
    if event.name in ("agent_end", "session_end", "session_reset"):
        live.injected.messages.clear()
        if place is not None:
            drop_prompt(place, event.session)
            if event.name != "agent_end":
                drop_order(place, event.session)
    if event.name == "session_end":
        live.injected.pending.pop(event.session, None)
    if written and kept is not None:
        try:
            write_kept(kept, live, before)
        except (OSError, RefusedError) as error:  # the prompt gets its block all the same
            answer.setdefault("note", f"The next event knows nothing of this: {error}")
    if engine.state_place is not None:
        said = {"prompt": event.prompt, "messages": list(event.messages)}
        outcome = "injected" if chars else "stored" if ids else "failed" if "failed" in answer else "silent"
        took = round((monotonic() - began) * 1000, 1)
        CallJournal(engine.state_place).add(
            Call(
                engine.now_ms,
                f"hook:{event.agent}",
                event.agent,
                event.name,
                outcome,
                tuple(ids),
                took,
                asked_of(said),
                masked(said) if keep_texts else None,
                via="hook",
                chars=chars,
            )
        )
    return answer


def _stable(
    event: Event, blocks: list[str], ids: Sequence[str], answer: dict[str, Any], place: Path | None
) -> list[str]:
    """The blocks of a prompt with their memories in the order of the session's last block, which is then this one.

    Without a `place` to keep it nothing is known of the last block.
    """
    if place is None:
        answer["note"] = "The order of the block is not kept: start the hook with --rw."
        return blocks
    if not ids or len(blocks) != 1:
        return blocks
    from memtui.engine.cost import split_block

    block = split_block(blocks[0])
    if block is None or len(block.lines) != len(ids):
        return blocks
    made = order_block(blocks[0], list(zip(ids, block.lines, strict=True)), kept_order(place, event.session))
    try:
        keep_order(place, event.session, made.ids)
    except (OSError, RefusedError) as error:  # the prompt gets its block all the same
        answer["note"] = f"The order of the block is not kept: {error}"
    return [made.text]


def note_failed(place: Path, event: Event, now_ms: int) -> None:
    """Put an event that could not be played into the journal of calls at `place`."""
    asked = asked_of({"prompt": event.prompt, "messages": list(event.messages)})
    who = f"hook:{event.agent}"
    CallJournal(place).add(Call(now_ms, who, event.agent, event.name, "failed", (), 0.0, asked, via="hook"))


def _without_secrets(event: Event) -> Event:
    """The event without the lines of its messages that tell a secret: no way of storing may store one.

    What a tool ended with becomes no memory; of its errors a signal is kept, which the plugin redacts by its own rule.
    """
    if event.name == "tool_end":
        return event
    inner = {key: _told(value) for key, value in event.inner.items()}
    return replace(event, messages=[_told(message) for message in event.messages], inner=inner)


def _told(value: Any) -> Any:
    """What was said, without the lines that tell a secret; everything else as it is."""
    if isinstance(value, str):
        masked, count = mask(value)
        return "\n".join(line for line in masked.split("\n") if MARK not in line) if count else value
    if isinstance(value, Mapping):
        return {key: _told(item) for key, item in value.items()}
    return [_told(item) for item in value] if isinstance(value, list | tuple) else value


def _steps(event: Event, can_reflect: bool) -> Iterator[dict[str, Any]]:
    """What the plugin is told of an event that puts nothing into a prompt."""
    if event.name in _HOOKS:
        yield _step(event, "hook", name=_HOOKS[event.name], event=dict(event.inner))
        return
    if event.name == "message_received":
        yield {**event.inner, **_step(event, "message_received")}
        return
    if event.name in ("gateway_start", "dream"):
        yield _step(event, event.name)
        return
    if event.name == "session_reset":
        action = "reset" if "reset" in (event.reason, event.given.get("action")) else "new"
        if event.nested and "context" not in event.inner:
            yield _step(event, "hook", name="before_reset", event={"reason": action, **event.inner})
        elif event.nested:
            told = {"action": action, "sessionKey": event.session, **event.inner}
            yield _step(event, "hook", name=f"command:{action}", event=told)
        else:
            yield from _looked_back(event, action, can_reflect)
        return
    if event.messages:
        yield _step(event, "agent_end", messages=list(event.messages))
    if event.name == "agent_end":
        return
    yield _step(event, "session_end", event={"reason": event.reason})
    if event.name == "session_end" and event.messages and (event.reason in _OVER or event.host):
        # a host without /new: the end of its session is the moment to look back
        yield from _looked_back(event, "new", can_reflect)


def _looked_back(event: Event, action: str, can_reflect: bool) -> Iterator[dict[str, Any]]:
    """The reflection on a session that ends, and its summary: what of the two is on, the settings say."""
    said = {"messages": list(event.messages)}
    if can_reflect:
        context = {"cfg": {}, "sessionEntry": {"sessionId": event.session_id}}
        told = {"action": action, "sessionKey": event.session, "context": context, **said}
        yield _step(event, "hook", name=f"command:{action}", event=told)
    yield _step(event, "hook", name="before_reset", event={"reason": action, **said})


def _step(of: Event, do: str, **more: Any) -> dict[str, Any]:
    context = {"sessionId": of.session_id, **of.context}
    return {"do": do, **more, "ctx": {**context, "agentId": of.agent, "sessionKey": of.session}}


def read_kept(path: Path, live: Live) -> dict[str, Any]:
    """Give the plugin what the last event left; nothing where there is nothing, or nothing that can be read.

    Returns the state as it was given, which `write_kept` wants.
    """
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        old = time() - path.stat().st_mtime > WORDS_KEPT_S
        queues = Queues(**given["queues"])
        for turns in (queues.recent, queues.deferred):
            for key, each in turns.items():
                turns[key] = [QueuedTurn(**turn) for turn in each]  # type: ignore[arg-type]
        injected = InjectionMemory(**given["injected"])
        injected.pending = {key: Pending(**each) for key, each in injected.pending.items()}  # type: ignore[arg-type]
        reflected = Reflected(**given.get("reflected", {}))
        reflected.events = set(reflected.events)
        reflected.errors = {
            key: [ErrorSignal(**one) for one in each]  # type: ignore[arg-type]
            for key, each in reflected.errors.items()
        }
        reminders = {str(each) for each in given.get("reminders", ())}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return _state(live)
    if old:
        injected.messages = {}
        for pending in injected.pending.values():
            pending.answer = ""
    injected.prompts = {}  # the same words in a later prompt are a new prompt: each process is called once for one
    live.queues, live.injected, live.reflected, live.reminders = queues, injected, reflected, reminders
    return _state(live)


def _state(live: Live) -> dict[str, Any]:
    """What is kept between events, as JSON holds it."""
    reflected = {**asdict(live.reflected), "events": sorted(live.reflected.events)}
    state = {
        "queues": asdict(live.queues),
        "injected": asdict(live.injected),
        "reflected": reflected,
        "reminders": sorted(live.reminders),
    }
    state["injected"] = {**asdict(live.injected), "prompts": {}}  # the same words later are a new prompt
    held: dict[str, Any] = json.loads(json.dumps(state))
    veiled: dict[str, Any] = _veiled(held)
    return veiled


def _veiled(value: Any) -> Any:
    """The state with the secrets in its texts masked: it lies in a file between two events."""
    if isinstance(value, str):
        return mask(value)[0]
    if isinstance(value, dict):
        return {key: _veiled(item) for key, item in value.items()}
    return [_veiled(item) for item in value] if isinstance(value, list) else value


def together(before: Any, ours: Any, theirs: Any) -> Any:
    """The state after two events that were under way beside each other: what each of them changed of `before`.

    A host runs the hooks of its sessions at the same time, and the one that ends last would take back the other's.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        was = before if isinstance(before, dict) else {}
        names = [*theirs, *(each for each in ours if each not in theirs)]
        found = {name: together(was.get(name), ours.get(name), theirs.get(name)) for name in names}
        return {name: value for name, value in found.items() if value is not None}
    if ours == before:
        return theirs
    if isinstance(ours, list) and isinstance(theirs, list) and theirs != before:
        known = [*theirs, *(before if isinstance(before, list) else ())]
        return [*theirs, *(each for each in ours if each not in known)]
    return ours


def write_kept(path: Path, live: Live, before: Mapping[str, Any]) -> None:
    """Keep the state whole or not at all, for this user alone: turns that wait are in it.

    `before` is what `read_kept` gave: what another event has written since stays.
    """
    make_private_folder(path.parent)
    state = _state(live)
    with ProcessLock(path.with_suffix(".lock")):
        with contextlib.suppress(OSError, ValueError):
            state = together(before, state, json.loads(path.read_text(encoding="utf-8")))
        _replace(path, state)


def _replace(path: Path, state: Mapping[str, Any]) -> None:
    write_private(path, json.dumps(state, ensure_ascii=True))
