"""Whose injection a moment of the store's history was: several sessions may have asked within the same seconds.

The store marks its rows with a moment and no session. An event belongs to the last message before it, of all
sessions; where others asked within the time that the hook may take, that is said.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.progress import CancelToken
from memtui.engine.witness.injections import InjectionEvent
from memtui.engine.witness.replay import HOOK_MS, outline_turns

if TYPE_CHECKING:
    from memtui.engine.witness.session import SessionFile


_CLOCK_MS = 2_000
"""How far the time of a file may lie before that of its last entry."""


@dataclass(slots=True)
class EventAskers:
    """Which messages of which sessions come shortly before each event."""

    events: Sequence[InjectionEvent]
    asked: dict[int, list[tuple[int, Path, str]]] = field(default_factory=dict)
    """By the event's moment: (time of the message, file, session)."""
    near: dict[tuple[Path, str], list[InjectionEvent]] = field(default_factory=dict)
    """By file and session, the events that one of its messages comes shortly before, in order."""
    looked_at: set[tuple[Path, str]] = field(default_factory=set)

    def of(self, file: SessionFile) -> list[InjectionEvent]:
        """The events that may be of this session: without those that another session's later message comes before.

        An event that an earlier message of another session may have caused names that session.
        """
        out = []
        key = (file.path, file.id)
        events = self.events if key not in self.looked_at else self.near.get(key, ())
        for event in events:
            near = self.asked.get(event.time_ms, ())
            mine = [time for time, path, session in near if (path, session) == (file.path, file.id)]
            theirs = [
                (time, session) for time, path, session in near if (path, session) != (file.path, file.id)
            ]
            if mine and theirs and max(theirs)[0] > max(mine):
                continue
            others = tuple(dict.fromkeys(session for _, session in theirs)) if mine else ()
            out.append(replace(event, others=others) if others else event)
        return out


def read_askers(
    files: Sequence[SessionFile],
    environ: Mapping[str, str],
    events: Sequence[InjectionEvent],
    cancel: CancelToken | None = None,
) -> EventAskers:
    """Read the times of the messages of every session that may have been there at one of `events` (in order)."""
    found = EventAskers(events)
    if not events or len(files) < 2:
        return found
    moments = [event.time_ms for event in events]
    late = [file for file in files if file.form != "jsonl" or file.modified_ms + _CLOCK_MS >= moments[0]]
    for file, turns, _ in outline_turns(late, environ, cancel):
        key = (file.path, file.id)
        found.looked_at.add(key)
        near: set[int] = set()
        for turn in turns:
            first, last = bisect_left(moments, turn.time_ms), bisect_right(moments, turn.time_ms + HOOK_MS)
            for at in range(first, last) if turn.time_ms else ():
                near.add(at)
                found.asked.setdefault(moments[at], []).append((turn.time_ms, file.path, file.id))
        found.near[key] = [events[at] for at in sorted(near)]
    return found
