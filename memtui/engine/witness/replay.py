"""A session turn by turn: what was asked, what was injected by which evidence, and what became of it since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.progress import CancelToken
from memtui.engine.core.secrets import mask
from memtui.engine.witness.formats import read_session
from memtui.engine.witness.formats.outline import outline_records
from memtui.engine.witness.injections import InjectionEvent
from memtui.engine.witness.matching import Injected, Matcher, use_in
from memtui.engine.witness.prompt_block import OtherLine
from memtui.engine.witness.session import SessionFile, ToolCall
from memtui.engine.witness.turns import STRONGEST, Evidence, Turn, outline_of, turns_of, turns_of_prompts

if TYPE_CHECKING:
    from memtui.engine.store.table import Store


HOOK_MS = 5_000
"""How long after the user's message the plugin's hook may run (autoRecallTimeoutMs)."""

_NOT_HERE = (
    "none of the block's lines is or was in this store: it may have been pasted, or be of another store"
)

_FOREIGN = (
    "the only block in this session's messages is of no memory of this store and may have been pasted, so it does "
    "not prove that a message without one got nothing"
)


@dataclass(slots=True)
class ReplayedTurn:
    """A turn with its memories; `memories` None means that it is not recorded what was injected."""

    turn: Turn
    evidence: Evidence
    memories: list[Injected] | None
    event: InjectionEvent | None = None
    """What the store's own history has of this moment."""
    agrees: bool | None = None
    """Whether the store's history has exactly the block's memories; None where only one of both tells."""

    def as_json(self) -> dict[str, Any]:
        """The turn of the command-line contract; secrets are masked."""
        turn = self.turn
        document: dict[str, Any] = {
            "n": turn.n,
            "time_ms": turn.time_ms,
            "question": mask(turn.question)[0],
            "evidence": self.evidence,
            "block": mask(turn.block)[0] if turn.block else None,
            "memories": None
            if self.memories is None
            else [_masked(memory.as_json()) for memory in self.memories],
            "warnings": list(turn.warnings),
            "mode": turn.mode or None,
            "why": turn.why,
            "quoted_blocks": turn.quoted,
            "inherited_rules": [mask(rule)[0] for rule in turn.rules],
            "derived_focus": [mask(each)[0] for each in turn.focus],
            "tools": [_tool(tool) for tool in turn.tools],
            "active_memory": _other_lines(turn, turn.active),
            "active_memory_note": mask(turn.outcome)[0] or None,
            "standing_intents": _other_lines(turn, turn.intents),
            "sender": turn.sender.as_json() if turn.sender is not None else None,
            "run": turn.run or None,
        }
        if self.event is not None:
            document["last_injected_at"] = self.event.time_ms
            document["store"] = {
                "ids": list(self.event.ids),
                "version": self.event.version,
                "agrees": self.agrees,
            }
        return document


@dataclass(slots=True)
class ReplayedSession:
    """A whole session."""

    file: SessionFile
    turns: list[ReplayedTurn]
    warnings: list[str] = field(default_factory=list)

    @property
    def evidence(self) -> Evidence:
        """The strongest evidence that any of its turns has."""
        return strongest(turn.evidence for turn in self.turns)

    def as_json(self) -> dict[str, Any]:
        """The document of the command-line contract."""
        return {
            "schema": "memtui.replay.v1",
            "session": self.file.id,
            "agent": self.file.agent,
            "evidence": self.evidence,
            "turns": [turn.as_json() for turn in self.turns],
            "warnings": list(self.warnings),
        }


def strongest(kinds: Any) -> Evidence:
    """The strongest kind of evidence among `kinds`; "none" for no kind at all."""
    return min(kinds, key=STRONGEST.index, default="none")


def read_turns(
    file: SessionFile, environ: Mapping[str, str], cancel: CancelToken | None = None
) -> tuple[list[Turn], list[str]]:
    """The turns of a session from its files alone, those that no person began too, and what could not be read."""
    record = read_session(file, environ, cancel)
    turns = turns_of(record)
    if not turns and record.prompts:
        turns = turns_of_prompts(record)
        record.warnings.append("the transcript has no messages: the turns are those of the recorder")
    return turns, record.warnings


def outline_turns(
    files: Sequence[SessionFile], environ: Mapping[str, str], cancel: CancelToken | None = None
) -> Iterator[tuple[SessionFile, list[Turn], list[str]]]:
    """Each session with its turns and what could not be read. A turn says when, who, and by which evidence.

    The texts are only there where a session's files had to be read whole.
    """
    outlined = outline_records(files, environ, cancel)
    for file in files:
        if cancel is not None:
            cancel.check()
        record = outlined.get((file.path, file.id))
        if record is None:
            yield file, *read_turns(file, environ, cancel)
        else:
            yield file, outline_of(record), record.warnings


def replay_turns(
    file: SessionFile,
    turns: Sequence[Turn],
    store: Store | None,
    events: Sequence[InjectionEvent],
    *,
    now_ms: int,
    only: int | None = None,
    matcher: Matcher | None = None,
    cancel: CancelToken | None = None,
) -> list[ReplayedTurn]:
    """Turns with their memories. Without a store the lines stay, and no memory is named.

    `events` are the store's own history of injections; `only` matches the lines of one turn. `matcher` is one
    of this store that other sessions used already.
    """
    if matcher is None and store is not None:
        matcher = Matcher(store, now_ms, cancel)
    by_turn = join_events(turns, events)
    doubted = matcher is not None and _only_foreign_blocks(turns, matcher)
    out = []
    for turn in turns:
        event = by_turn.get(turn.n)
        if only is not None and turn.n != only:
            continue
        if doubted and turn.assumed and event is None:
            turn.why = _FOREIGN
            out.append(ReplayedTurn(turn, "none", None))
        elif evidence_of(turn, event) != "store" and turn.evidence != "none":
            memories = _from_lines(turn, matcher, file.agent)
            agrees = None
            if event is not None:
                agrees = {memory.id for memory in memories} == set(event.ids)
            out.append(ReplayedTurn(turn, turn.evidence, memories, event, agrees))
        elif event is not None:
            memories = _from_event(turn, event, matcher)
            turn.warnings.append("this injection is known from the store only: minimum")
            if event.others:
                turn.warnings.append(
                    f"another session asked in the same seconds, so it may be its injection: {event.others[0]}"
                )
            if turn.open_end:
                turn.why = "the message holds no block, but the store has an injection of this moment"
            out.append(ReplayedTurn(turn, "store", memories, event))
        else:
            out.append(ReplayedTurn(turn, "none", None))
    return out


def _only_foreign_blocks(turns: Sequence[Turn], matcher: Matcher) -> bool:
    """Whether messages without a block are judged by one alone, whose block holds no memory of this store."""
    if not any(turn.assumed for turn in turns):
        return False
    held = [turn for turn in turns if turn.evidence in ("transcript", "sqlite") and turn.lines]
    return len(held) == 1 and all(matcher.match(line).state == "unknown" for line in held[0].lines)


def evidence_of(turn: Turn, event: InjectionEvent | None) -> Evidence:
    """The evidence of a turn; that of the store where its files tell nothing, or only that others were silent."""
    return "store" if event is not None and (turn.evidence == "none" or turn.open_end) else turn.evidence


def join_events(turns: Sequence[Turn], events: Sequence[InjectionEvent]) -> dict[int, InjectionEvent]:
    """The event of each turn: the first within the time that the hook may take after the user's message.

    An event belongs to the latest message before it.
    """
    times = [(turn.time_ms, turn.n) for turn in turns if turn.time_ms]
    out: dict[int, InjectionEvent] = {}
    for event in events:
        before = [time for time in times if time[0] <= event.time_ms <= time[0] + HOOK_MS]
        if before:
            out.setdefault(max(before)[1], event)
    return out


def _from_lines(turn: Turn, matcher: Matcher | None, agent: str) -> list[Injected]:
    out = []
    for place, line in enumerate(turn.lines, 1):
        found = (
            matcher.match(line, agent)
            if matcher is not None
            else Injected(line.line, line.id or None, "unknown", line.text, line.scope)
        )
        out.append(replace(found, rank_then=place, used=use_in(turn.answer, line.text, turn.question)))
    if matcher is not None and out and all(injection.state == "unknown" for injection in out):
        turn.warnings.append(_NOT_HERE)
    return out


def _from_event(turn: Turn, event: InjectionEvent, matcher: Matcher | None) -> list[Injected]:
    out = []
    for memory_id in event.ids:
        if matcher is None:
            continue
        try:
            then = matcher.at(memory_id, event.version)
        except MemtuiError:
            then = None
        found = matcher.state_of(memory_id, then)
        out.append(replace(found, used=use_in(turn.answer, found.text, turn.question)))
    return out


def _tool(call: ToolCall) -> dict[str, Any]:
    """A memory tool's call as it is printed; secrets are masked."""
    return {
        "name": call.name,
        "query": mask(call.query)[0],
        "args": _without_secrets(dict(call.args)),
        "ids": list(call.ids),
        "sources": list(call.sources),
        "failed": call.failed,
    }


def _other_lines(turn: Turn, lines: Sequence[OtherLine]) -> list[dict[str, Any]] | None:
    """Lines of a block whose memories are no rows; None where nobody recorded what stood before the question."""
    if not turn.recorded:
        return None
    return [
        {"text": mask(line.text)[0], "source": line.source or None, "line": mask(line.line)[0]}
        for line in lines
    ]


def _without_secrets(value: Any) -> Any:
    """A JSON value with the secrets in its texts masked."""
    if isinstance(value, str):
        return mask(value)[0]
    if isinstance(value, Mapping):
        return {str(key): _without_secrets(item) for key, item in value.items()}
    return [_without_secrets(item) for item in value] if isinstance(value, list) else value


def _masked(document: dict[str, Any]) -> dict[str, Any]:
    for name in ("line", "then", "now"):
        if isinstance(document.get(name), str):
            document[name] = mask(document[name])[0]
    return document
