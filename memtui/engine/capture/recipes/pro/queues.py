"""The hooks of capture: which texts are new, when they are extracted, and what waits for later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtui.engine.access import agent_of_session, is_bypass
from memtui.engine.capture.recipes.pro.extraction import extract
from memtui.engine.capture.recipes.pro.extraction_call import ExtractionCall, ExtractionStats
from memtui.engine.capture.recipes.pro.regex_capture import regex_capture
from memtui.engine.capture.recipes.pro.world import World
from memtui.engine.capture.stages.cleaning import message_texts, normalize_capture_text, strip_envelope
from memtui.engine.capture.stages.session_value import (
    LOW_VALUE,
    compress_texts,
    conversation_value,
    score_text,
)
from memtui.engine.capture.stages.similarity import NOISE_AT, bank_reads
from memtui.engine.capture.stages.transcript import TranscriptTurn
from memtui.engine.capture.stages.turns import (
    conversation_turns,
    ingress_conversation_key,
    invalid_agent_id,
    is_explicit_remember,
    memory_subsession,
    retained_text_cap,
    session_conversation_key,
)
from memtui.engine.capture.trace import CaptureText, Fate
from memtui.engine.core.content_rules import is_frustration
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.javascript import utf16_len

LONGEST_MESSAGE = 5000

RECENT = 6

MOST_KEYS = 2000

HOUR_MS = 3_600_000

UNKNOWN = "unknown"

_TERMINAL = ("new", "reset", "deleted", "shutdown", "restart")

_CONTINUING = ("idle", "daily", "compaction")


@dataclass(frozen=True, slots=True)
class QueuedTurn:
    """A turn with the id of the message that it is a part of."""

    role: str
    text: str
    message: str | None = None

    @property
    def turn(self) -> TranscriptTurn:
        """Who said what."""
        return TranscriptTurn(self.role, self.text)

    def as_json(self) -> dict[str, str]:
        """As the queues show it."""
        return {"role": self.role, "text": self.text}


@dataclass(slots=True)
class Queues:
    """What the hooks keep between turns."""

    ingress: dict[str, list[str]] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    recent: dict[str, list[QueuedTurn]] = field(default_factory=dict)
    deferred: dict[str, list[QueuedTurn]] = field(default_factory=dict)
    charges: list[int] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)

    def as_json(self, now_ms: int) -> dict[str, Any]:
        """The state under the recordings' own names."""
        return {
            "pending_ingress": {key: list(each) for key, each in self.ingress.items() if each},
            "counted_pending": dict(self.counted),
            "seen_count": dict(self.seen),
            "recent_turns": {key: [turn.as_json() for turn in each] for key, each in self.recent.items()},
            "deferred": {key: [turn.as_json() for turn in each] for key, each in self.deferred.items()},
            "extractions_last_hour": self.last_hour(now_ms),
        }

    def last_hour(self, now_ms: int) -> int:
        """Extractions that were charged within the last hour."""
        self.charges = [at for at in self.charges if now_ms - at < HOUR_MS]
        return len(self.charges)

    def prune(self) -> None:
        """Forget the oldest keys of each map."""
        for each in (self.ingress, self.counted, self.seen, self.recent, self.deferred, self.aliases):
            while len(each) > MOST_KEYS:
                each.pop(next(iter(each)))


@dataclass(slots=True)
class _Run:
    """One capture run: a turn of the agent, or the end of a session."""

    agent: str
    key: str
    event_key: str | None
    new: list[QueuedTurn]
    eligible_count: int
    cumulative: int
    before: int
    ingress_key: str | None
    ingress: list[str]
    terminal: bool = False
    protected: int = 0
    own: list[QueuedTurn] = field(default_factory=list)

    @property
    def by_ingress(self) -> bool:
        return bool(self.ingress)


def message_received(world: World, queues: Queues, step: Mapping[str, Any]) -> None:
    """Queue a message that a channel received."""
    key = ingress_conversation_key(step.get("channelId"), step.get("conversationId"))
    content = step.get("content")
    text = normalize_capture_text("user", content) if isinstance(content, str) else None
    if key is None or text is None or utf16_len(text) > LONGEST_MESSAGE:
        return
    waiting = [*queues.ingress.get(key, []), text]
    queues.ingress[key] = waiting[-retained_text_cap(world.settings.min_messages) :]
    queues.prune()


def agent_end(world: World, queues: Queues, event: Mapping[str, Any], context: Mapping[str, Any]) -> None:
    """Capture what is new in the messages of a turn."""
    settings = world.settings
    messages = event.get("messages")
    if not settings.auto_capture or event.get("success") is False or not messages:
        return
    agent = context.get("agentId") or agent_of_session(event.get("sessionKey"))
    key = _key_of(event, context) or UNKNOWN
    if _is_internal(key) or not isinstance(agent, str):
        return
    if invalid_agent_id(agent, () if is_bypass(agent) else world.declared):
        return
    if _is_limited(world, queues):
        return
    run = _new_texts(world, queues, messages, agent, key, event)
    _run(world, queues, run)
    queues.prune()


def session_end(world: World, queues: Queues, event: Mapping[str, Any], context: Mapping[str, Any]) -> None:
    """Extract what still waits when a session ends, and forget its counters."""
    named, session = _key_of(event, context, ids=False), _session_of(event, context)
    key = named or queues.aliases.get(session) or session
    if not world.settings.auto_capture or not key or _is_internal(key):
        return
    if _is_limited(world, queues):
        return
    reason = event.get("reason")
    announced = bool(event.get("nextSessionId") or event.get("nextSessionKey"))
    terminal = reason in _TERMINAL or (reason not in _CONTINUING and not announced)
    agent = context.get("agentId") or agent_of_session(key)
    if isinstance(agent, str) and not invalid_agent_id(agent, () if is_bypass(agent) else world.declared):
        _flush(world, queues, agent, key, terminal)
    if terminal:
        for name in [each for each in queues.recent if each.partition("|")[2] == key]:
            del queues.recent[name]


def _is_limited(world: World, queues: Queues) -> bool:
    """Whether the hour's extractions are used up: then a run ends before anything moves."""
    settings = world.settings
    return settings.smart_extraction and queues.last_hour(world.now_ms) >= settings.per_hour


def _key_of(event: Mapping[str, Any], context: Mapping[str, Any], *, ids: bool = True) -> str:
    """The session key of an event, empty for none; with `ids` the session's id stands in for it."""
    names = ("sessionKey", "sessionId") if ids else ("sessionKey",)
    found = (each.get(name) for name in names for each in (context, event))
    return next((each for each in found if isinstance(each, str) and each), "")


def _session_of(event: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    found = (each.get("sessionId") for each in (context, event))
    return next((each for each in found if isinstance(each, str) and each), "")


def learn_alias(queues: Queues, context: Mapping[str, Any]) -> None:
    """Keep which key a session id belongs to: the end of a session may name the id alone."""
    session, key = context.get("sessionId"), context.get("sessionKey")
    if isinstance(session, str) and isinstance(key, str) and session and key:
        queues.aliases[session] = key


def _is_internal(key: str) -> bool:
    return key.startswith("temp:memory-reflection") or memory_subsession(key)


def _roles(world: World) -> tuple[str, ...]:
    return ("user", "assistant") if world.settings.capture_assistant else ("user",)


def _eligible(world: World, messages: Sequence[Any]) -> list[QueuedTurn]:
    found = []
    for at, message in enumerate(messages):
        name = message.get("id") if isinstance(message, Mapping) else None
        for role, raw in message_texts(message, _roles(world)):
            text = normalize_capture_text(role, raw)
            if text is not None:
                found.append(QueuedTurn(role, text, str(name) if name is not None else f"#{at}"))
    return found


def _new_texts(
    world: World,
    queues: Queues,
    messages: Sequence[Any],
    agent: str,
    key: str,
    event: Mapping[str, Any],
) -> _Run:
    eligible = _eligible(world, messages)
    texts = [turn.text for turn in eligible]
    seen = queues.seen.get(key, 0)
    conversation = session_conversation_key(key)
    waiting = queues.ingress.get(conversation, []) if conversation else []
    recent_key = f"{agent}|{key}"
    recent = queues.recent.get(recent_key, [])
    if waiting and conversation:
        counted = queues.counted.get(conversation, 0)
        newly = max(0, len(waiting) - counted)
        queues.ingress.pop(conversation, None)
        queues.counted.pop(conversation, None)
        new_texts = list(waiting)
    else:
        waiting = []
        if 0 < seen < len(texts):
            new_texts = texts[seen:]
        elif seen > 0 and seen == len(texts) and _same_snapshot(recent, texts):
            new_texts = []
        else:
            new_texts = texts
        newly = len(new_texts)
    turns = conversation_turns([turn.turn for turn in eligible], texts, new_texts)
    tail = eligible[len(eligible) - len(new_texts) :] if new_texts else []
    same = [turn.turn for turn in tail] == turns
    new = list(tail) if same else [QueuedTurn(turn.role, turn.text) for turn in turns]
    queues.seen[key] = seen + newly
    event_key = event.get("sessionKey")
    run = _Run(
        agent,
        key,
        event_key if isinstance(event_key, str) else None,
        new,
        len(texts),
        seen + newly,
        seen,
        conversation,
        waiting,
    )
    run.own = list(new)
    _remember(queues, run, recent)
    queues.recent[recent_key] = _window(recent, run.own)
    return run


def _same_snapshot(recent: Sequence[QueuedTurn], texts: Sequence[str]) -> bool:
    count = min(len(recent), len(texts), RECENT)
    if not count:
        return False
    return [turn.text for turn in recent[-count:]] == list(texts[-count:])


def _remember(queues: Queues, run: _Run, recent: list[QueuedTurn]) -> None:
    users = [turn for turn in run.new if turn.role == "user"]
    if not users or not is_explicit_remember(users[-1].text):
        return
    if len(users) > 1:
        known = {turn.text for turn in queues.deferred.get(run.key, [])}
        run.new = [turn for turn in run.new if turn.text not in known]
        run.own = list(run.new)
        users = [turn for turn in run.new if turn.role == "user"]
    if len(users) != 1:
        return
    if run.key == UNKNOWN or not recent:
        return
    at = _newest_substantive(recent)
    referent = recent[-1:] if at is None else recent[at:]
    whole = next((at for at, turn in enumerate(referent) if not _substantive(turn)), len(referent))
    run.protected = max(1, whole)
    run.new = [*referent, *run.new]


def _newest_substantive(recent: Sequence[QueuedTurn]) -> int | None:
    """Where the newest turn of the user with something in it begins, with its message's other parts."""
    at = next((i for i in reversed(range(len(recent))) if _substantive(recent[i])), None)
    if at is None:
        return None
    while at > 0 and _joined(recent[at - 1], recent[at]):
        at -= 1
    return at


def _joined(left: QueuedTurn, right: QueuedTurn) -> bool:
    """Whether a turn of the user is an earlier part of the message that `right` ends; a command never is."""
    return (
        left.role == "user"
        and right.message is not None
        and left.message == right.message
        and not is_explicit_remember(left.text)
    )


def _substantive(said: QueuedTurn) -> bool:
    return said.role == "user" and not is_explicit_remember(said.text) and bool(strip_envelope(said.text))


def _window(recent: Sequence[QueuedTurn], own: Sequence[QueuedTurn]) -> list[QueuedTurn]:
    whole = [*recent, *own]
    kept = whole[-RECENT:]
    if any(_substantive(turn) for turn in kept):
        return kept
    older = whole[: len(whole) - len(kept)]
    at = _newest_substantive(older)
    if at is None:
        return kept
    end = at
    while end + 1 < len(older) and _joined(older[end], older[end + 1]):
        end += 1
    pinned = older[at : end + 1][-RECENT:]
    return [*pinned, *whole[len(whole) - (RECENT - len(pinned)) :]]


# ---------------------------------------------------------------- a run


def _flush(world: World, queues: Queues, agent: str, key: str, terminal: bool) -> None:
    conversation = session_conversation_key(key)
    waiting = queues.ingress.pop(conversation, []) if conversation else []
    if conversation:
        queues.counted.pop(conversation, None)
    deferred = queues.deferred.pop(key, [])
    queues.seen.pop(key, None)
    turns: dict[str, QueuedTurn] = {}
    for turn in (*(QueuedTurn("user", text) for text in waiting), *deferred):
        turns.setdefault(turn.text, turn)
    if not turns:
        return
    recent_key = f"{agent}|{key}"
    new = list(turns.values())
    run = _Run(agent, key, None, new, 0, len(new), 0, conversation, list(waiting), terminal=True)
    run.own = list(new)
    recent = queues.recent.get(recent_key, [])
    _remember(queues, run, recent)
    queues.recent[recent_key] = _window(recent, new)
    _run(world, queues, run)


def _run(world: World, queues: Queues, run: _Run) -> None:
    settings = world.settings
    unfiltered = [turn.text for turn in run.new]
    said = list(run.new)
    if settings.skip_low_value and said and (value := conversation_value(unfiltered)) < LOW_VALUE:
        _tell(
            world, said, "dropped", "low value", value, LOW_VALUE, "the turn as a whole is worth too little"
        )
        return
    if settings.compression and said:
        kept = compress_texts(unfiltered, settings.max_chars, settings.compression_score).kept
        chars = sum(map(utf16_len, unfiltered))
        for at in sorted(set(range(len(said))) - set(kept)):
            why = "the turn is too long, and this text scores {:g} ({})".format(*score_text(unfiltered[at]))
            _tell(world, [said[at]], "dropped", "compression", chars, settings.max_chars, why)
        run.protected = sum(1 for at in kept if at < run.protected)
        said = [said[at] for at in kept]
    fitting = [turn.text for turn in said]
    if settings.smart_extraction:
        said, run.protected = _without_noise(world, said, run.protected)
    if not said:
        return
    if not settings.smart_extraction:
        _regex(world, run, [turn.text for turn in said])
        return
    texts = [turn.text for turn in said]
    commanded = any(map(is_explicit_remember, texts)) and not all(map(is_explicit_remember, texts))
    enough = run.cumulative >= settings.min_messages or run.terminal
    if not enough and not commanded:
        few = "the plugin waits for more texts, or for the end of the session"
        _tell(world, said, "deferred", "too few texts", run.cumulative, settings.min_messages, few)
        _defer_below(world, queues, run)
        return
    stats = extract(
        world,
        ExtractionCall(
            session=run.key,
            agent=run.agent,
            scope=world.write_scope(run.agent),
            scopes=world.policy.store_filter(run.agent),
            conversation="\n".join(texts),
            turns=[turn.turn for turn in said],
            protected=run.protected,
        ),
    )
    if not stats.failed:
        queues.charges.append(world.now_ms)
    _settle(world, queues, run, stats, fitting, only_commanded=not enough)


def _tell(
    world: World,
    said: Sequence[QueuedTurn],
    fate: Fate,
    gate: str,
    value: float | None = None,
    limit: float | None = None,
    reason: str = "",
) -> None:
    world.fates += [CaptureText(turn.text, turn.role, fate, gate, value, limit, reason) for turn in said]


def _without_noise(world: World, said: list[QueuedTurn], protected: int) -> tuple[list[QueuedTurn], int]:
    flags = [is_frustration(turn.text) for turn in said]
    complaints = [turn for turn, flag in zip(said, flags, strict=True) if flag]
    _tell(world, complaints, "dropped", "noise", reason="it complains about the memory itself")
    at_all = [at for at, turn in enumerate(said) if not flags[at] and bank_reads(turn.text)]
    if at_all and world.noise.working:
        try:
            vectors = world.embed_all([said[at].text for at in at_all])
        except EmbeddingError:
            vectors = None
        if vectors is not None:
            for at, vector in zip(at_all, vectors, strict=True):
                near = world.noise.nearest(vector)
                flags[at] = near >= NOISE_AT
                if flags[at]:
                    why = "it is like a sentence of the noise bank"
                    _tell(world, [said[at]], "dropped", "noise", near, NOISE_AT, why)
    kept = [at for at in range(len(said)) if not flags[at]]
    return [said[at] for at in kept], sum(1 for at in kept if at < protected)


def _defer_below(world: World, queues: Queues, run: _Run) -> None:
    if run.by_ingress:
        _restore_ingress(world, queues, run)
        return
    queues.seen[run.key] = run.before
    _defer(world, queues, run)


def _defer(world: World, queues: Queues, run: _Run) -> None:
    cap = retained_text_cap(world.settings.min_messages)
    waiting = [*queues.deferred.get(run.key, []), *run.own][-cap:]
    if waiting:
        queues.deferred[run.key] = waiting


def _restore_ingress(world: World, queues: Queues, run: _Run) -> None:
    if not run.ingress_key:
        return
    cap = retained_text_cap(world.settings.min_messages)
    waiting = [*run.ingress, *queues.ingress.get(run.ingress_key, [])]
    pushed_out = max(0, len(waiting) - cap)  # the oldest, which were counted
    queues.ingress[run.ingress_key] = waiting[-cap:]
    queues.counted[run.ingress_key] = max(0, len(run.ingress) - pushed_out)


def _settle(
    world: World,
    queues: Queues,
    run: _Run,
    stats: ExtractionStats,
    fitting: Sequence[str],
    *,
    only_commanded: bool,
) -> None:
    """Move the counters as the run came out; `fitting` are its texts before the filter of noise."""
    if stats.failed and not stats.no_input:
        why = "the model failed or gave no list: the next turn reads the texts again"
        _tell(world, run.new, "deferred", "model failed", reason=why)
    if stats.failed:
        if run.by_ingress and not run.terminal:
            _restore_ingress(world, queues, run)
            return
        if run.terminal:
            _defer(world, queues, run)
        else:
            queues.seen[run.key] = run.before
        return
    stored = stats.created + stats.merged > 0
    if stored or not only_commanded:
        _retire(queues, run.key, fitting)
    if not stored and stats.boundary_skipped:
        _regex(world, run, fitting)
    elif stored or (stats.settled and not only_commanded):
        queues.seen[run.key] = 0 if run.by_ingress else run.eligible_count
    elif run.by_ingress and not run.terminal:
        _restore_ingress(world, queues, run)
    elif not run.terminal:
        _defer(world, queues, run)


def _retire(queues: Queues, key: str, handed: Sequence[str]) -> None:
    """Take what was handed to the model out of what waits: a fruitless run puts its own turns back after that."""
    left = [turn for turn in queues.deferred.get(key, []) if turn.text not in handed]
    if left:
        queues.deferred[key] = left
    else:
        queues.deferred.pop(key, None)


def _regex(world: World, run: _Run, texts: Sequence[str]) -> None:
    regex_capture(
        world,
        texts,
        agent=run.agent,
        scope=world.write_scope(run.agent),
        scopes=world.policy.store_filter(run.agent),
        session=run.event_key or UNKNOWN,
        key=run.key,
    )
