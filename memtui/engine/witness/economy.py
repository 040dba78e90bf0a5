"""What injections cost and whether they were worth it: by day, silent turns, the dearest memories never used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.progress import CancelToken
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import DAY_MS
from memtui.engine.explain.prompt_block import estimated_tokens
from memtui.engine.witness.askers import read_askers
from memtui.engine.witness.audit import injection_history
from memtui.engine.witness.find import find_sessions
from memtui.engine.witness.matching import Matcher
from memtui.engine.witness.replay import read_turns, replay_turns

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


DAYS = 14

DEAREST = 10

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
class InjectionEconomy:
    """The sum of the recorded turns and of the store's own history."""

    by_day: tuple[int, ...]
    """Injections that the store tells of on each of the last days, today last: at least these."""
    turns: int
    silent: int
    """Turns in which nothing was injected, by evidence."""
    unknown: int
    """Turns of which it is not recorded."""
    dearest: tuple[DearMemory, ...]
    """The dearest memories without a trace of use, the dearest first."""


def read_economy(
    engine: Engine, environ: Mapping[str, str], cwd: Path, cancel: CancelToken | None = None
) -> InjectionEconomy:
    """What all sessions and the store's history tell.

    Use is a guess by words; where the answer is gone, there is no trace of it.
    """
    now_ms = engine.now_ms
    events = injection_history(engine, cancel=cancel).events()
    days = [0] * DAYS
    for event in events:
        ago = now_ms // DAY_MS - event.time_ms // DAY_MS
        if 0 <= ago < DAYS:
            days[DAYS - 1 - ago] += 1
    matcher = Matcher(engine.store, now_ms, cancel)
    cost: dict[str, list[int]] = {}
    used: set[str] = set()
    texts: dict[str, str] = {}
    turns = silent = unknown = 0
    files = find_sessions(environ, cwd)
    askers = read_askers(files, environ, events, cancel)
    for file in files:
        read, _ = read_turns(file, environ, cancel)
        for turn in replay_turns(
            file, read, engine.store, askers.of(file), now_ms=now_ms, matcher=matcher, cancel=cancel
        ):
            turns += 1
            silent += turn.memories == []
            unknown += turn.memories is None
            for memory in turn.memories or ():
                if memory.id is None:
                    continue
                cost.setdefault(memory.id, []).append(estimated_tokens(memory.line or memory.text))
                texts[memory.id] = memory.text
                if memory.used is not None and memory.used >= LIKELY:
                    used.add(memory.id)
    dear = [
        DearMemory(each, len(tokens), sum(tokens), " ".join(mask(texts[each])[0].split())[:_SHOWN])
        for each, tokens in cost.items()
        if each not in used
    ]
    dear.sort(key=lambda each: (-each.tokens, each.id))
    return InjectionEconomy(tuple(days), turns, silent, unknown, tuple(dear[:DEAREST]))
