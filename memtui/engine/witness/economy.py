"""What injections cost and whether they were worth it: by day, silent turns, the dearest memories never used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import DAY_MS
from memtui.engine.recall.prompt_block import estimated_tokens
from memtui.engine.witness.askers import read_askers
from memtui.engine.witness.audit import injection_history
from memtui.engine.witness.find import find_sessions
from memtui.engine.witness.matching import Matcher
from memtui.engine.witness.replay import read_turns, replay_turns

if TYPE_CHECKING:
    from memtui.engine.engine import Engine
    from memtui.engine.witness.turns import Turn


DAYS = 14

DEAREST = 10

MOST = 20

LIKELY = 0.3

_SHOWN = 120


@dataclass(frozen=True, slots=True)
class DearMemory:
    """A memory that was injected, and of whose use no answer has a trace."""

    id: str
    times: int
    """Turns that got it, as far as there is evidence."""
    tokens: int
    """Estimated, of all these turns together."""
    preview: str
    """Its text, masked and cut."""


@dataclass(frozen=True, slots=True)
class OftenInjected:
    """A memory of today that the store's own history tells was injected."""

    id: str
    times: int
    """At least so often in the last days."""
    preview: str
    """Its text, masked and cut."""


@dataclass(frozen=True, slots=True)
class InjectionEconomy:
    """The sum of the recorded turns and of the store's own history."""

    by_day: tuple[int, ...]
    """Injections that the store tells of on each of the last days, today last: at least these."""
    turns: int
    silent: int
    """Turns that got no memory by any way, by evidence."""
    unknown: int
    """Turns of which it is not recorded."""
    dearest: tuple[DearMemory, ...]
    """The dearest memories without a trace of use, the dearest first."""
    most: tuple[OftenInjected, ...] = ()
    """The memories that were injected most often in these days, as the store tells, the most often first."""
    active: int = 0
    """Turns that got lines of active memory."""
    intents: int = 0
    """Turns that got standing intents."""
    tools: int = 0
    """Turns in which a tool showed memories to the agent."""

    def other_ways(self) -> tuple[str, ...]:
        """How many turns got memories otherwise than by an injected block, in words; empty where none did."""
        told = (
            (self.active, "by active memory"),
            (self.intents, "by standing intents"),
            (self.tools, "by a tool"),
        )
        return tuple(f"{count:,} {words}" for count, words in told if count)


def read_economy(
    engine: Engine, environ: Mapping[str, str], cwd: Path, cancel: CancelToken | None = None
) -> InjectionEconomy:
    """What all sessions and the store's history tell.

    Use is a guess by words; where the answer is gone, there is no trace of it.
    """
    now_ms = engine.now_ms
    events = injection_history(engine, cancel=cancel).events()
    days = [0] * DAYS
    times: Counter[str] = Counter()
    for event in events:
        ago = now_ms // DAY_MS - event.time_ms // DAY_MS
        if 0 <= ago < DAYS:
            days[DAYS - 1 - ago] += 1
            times.update(event.ids)
    matcher = Matcher(engine.store, now_ms, cancel)
    cost: dict[str, list[int]] = {}
    used: set[str] = set()
    texts: dict[str, str] = {}
    turns = silent = unknown = active = intents = tools = 0
    files = find_sessions(environ, cwd)
    askers = read_askers(files, environ, events, cancel)
    for file in files:
        read, _ = read_turns(file, environ, cancel)
        for turn in replay_turns(
            file, read, engine.store, askers.of(file), now_ms=now_ms, matcher=matcher, cancel=cancel
        ):
            if not turn.turn.machine:  # the host's own turns cost as much, and are no questions
                seen = _ways(turn.turn)
                turns += 1
                silent += turn.memories == [] and not any(seen)
                unknown += turn.memories is None and not any(seen)
                active += seen.active
                intents += seen.intents
                tools += seen.tools
            for memory in turn.memories or ():
                if memory.id is None:
                    continue
                cost.setdefault(memory.id, []).append(estimated_tokens(memory.line or memory.text))
                texts[memory.id] = memory.text
                if memory.used is not None and memory.used >= LIKELY:
                    used.add(memory.id)
    dear = [
        DearMemory(each, len(tokens), sum(tokens), _preview(texts[each]))
        for each, tokens in cost.items()
        if each not in used
    ]
    dear.sort(key=lambda each: (-each.tokens, each.id))
    ranked = sorted(times, key=lambda each: (-times[each], each))[:MOST]
    there = engine.memories(ranked) if ranked else {}
    most = [OftenInjected(each, times[each], _preview(there[each].text)) for each in ranked if each in there]
    return InjectionEconomy(
        tuple(days), turns, silent, unknown, tuple(dear[:DEAREST]), tuple(most), active, intents, tools
    )


class _Seen(NamedTuple):
    """By which ways beside an injected block a turn got memories."""

    active: bool
    intents: bool
    tools: bool


def _ways(turn: Turn) -> _Seen:
    gave = any((call.gave or call.sources) and not call.failed for call in turn.tools)
    return _Seen(bool(turn.active), bool(turn.intents), gave)


def _preview(text: str) -> str:
    return " ".join(mask(text)[0].split())[:_SHOWN]
