"""The memory of every Hermes home whose store is one of LanceDB's plugin, judged from its settings and its rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memtui.engine.alive.hermes_rules import causes, read_talk
from memtui.engine.alive.model import AgentMemory, State, parts_of
from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted
from memtui.engine.discovery.hermes_config import read_config
from memtui.engine.discovery.types import FoundStore
from memtui.engine.store.open import open_store

HOST = "Hermes"

_NOT_SAID = (
    "config.yaml of this home does not choose a memory provider: whether Hermes uses this store is not known."
)

_NOT_ASKED = "Nothing on disk tells whether the embedding service answers."

_NONE = "The plugin has no such part."


def judge_hermes(stores: Iterable[FoundStore]) -> tuple[list[AgentMemory], list[str]]:
    """The memory of each home that does not use another provider, and what could not be read, in sentences."""
    out: list[AgentMemory] = []
    remarks: list[str] = []
    for found in stores:
        if found.enabled:
            try:
                out.append(_judge(found))
            except MemtuiError as error:
                remarks.append(f"{found.path} cannot be read: {error.message}")
    return out, remarks


def _judge(found: FoundStore) -> AgentMemory:
    folder = Path(found.path)
    config = read_config(folder.parent)
    store = open_store(found.path)
    talk = read_talk(store)
    known: tuple[State, str] = ("ok", "") if found.configured else ("unknown", _NOT_SAID)
    rows = counted(store.pin().rows, "memory", "memories")
    turns = sum(len(session.asked) for session in talk.sessions)
    sessions = counted(len(talk.sessions), "session")
    captured = f"{counted(turns, 'turn')} of {sessions} and {counted(talk.facts, 'fact')}."
    base: dict[str, tuple[State, str]] = {
        "recall": known,
        "capture": (known[0], captured if found.configured else known[1]),
        "tools": known,
        "embedding": ("unknown", _NOT_ASKED),
        "index": ("ok", f"{rows}."),
        "workspace": ("ok", ""),
        "dreaming": ("ok", _NONE),
    }
    wrong = causes(folder.parent, config, store, found.config_dims)
    return AgentMemory(found.name, found.path, found.plugin, parts_of(base, wrong))
