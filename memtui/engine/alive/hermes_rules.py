"""What silently dies in Hermes with LanceDB's plugin: seen in the settings of a home and in the rows of its store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memtui.engine.alive.model import Cause, CauseEvidence
from memtui.engine.core.text import counted, one_line, quoted
from memtui.engine.dialects.hermes import FACT, KIND, REQUIRED, ROLE, SESSION, TURN

if TYPE_CHECKING:
    from pathlib import Path

    from memtui.engine.discovery.hermes_config import HermesConfig
    from memtui.engine.store.table import Store

DRAWN = ("session_end", "pre_compress")
"""Sources of facts that a model drew out of talk."""

ENOUGH = 3
"""So many sessions that are long enough, and no fact of any: then it is no chance."""

SHOWN = 3

COLUMNS = ("id", KIND, ROLE, SESSION, TURN, "source", "created_at")


@dataclass(slots=True)
class TurnsOfSession:
    """The turns of one session in the table: the places of questions and answers, and when it began."""

    id: str
    began: Any = None
    asked: set[int] = field(default_factory=set)
    answered: dict[int, str] = field(default_factory=dict)
    """Place to id."""


@dataclass(frozen=True, slots=True)
class StoredTalk:
    """What the rows tell of the plugin's writing."""

    sessions: tuple[TurnsOfSession, ...]
    """The oldest first."""
    facts: int
    drawn_last: Any
    """When the newest fact was drawn out of talk; None where none was."""

    def undrawn(self, least: int) -> list[TurnsOfSession]:
        """Sessions of `least` questions or more that began after the last fact was drawn."""
        since = self.drawn_last
        return [
            session
            for session in self.sessions
            if len(session.asked) >= least and (since is None or session.began > since)
        ]

    @property
    def lone_answers(self) -> list[str]:
        """Ids of answers whose question was never written: it stood just before them."""
        return [
            row
            for session in self.sessions
            for place, row in session.answered.items()
            if place > 0 and place - 1 not in session.asked and place - 1 not in session.answered
        ]

    @property
    def gaps(self) -> list[tuple[TurnsOfSession, int]]:
        """Whole turns, question and answer, that are missing between others of their session."""
        out = []
        for session in self.sessions:
            there = session.asked | session.answered.keys()
            out += [
                (session, place)
                for place in range(0, max(there, default=0), 2)
                if place not in there and place + 1 not in there
            ]
        return out


def read_talk(store: Store) -> StoredTalk:
    """One pass over small columns of a store of the plugin."""
    sessions: dict[str, TurnsOfSession] = {}
    facts, drawn = 0, None
    for batch in store.pin().scan(list(COLUMNS)):
        for row in batch.select(list(COLUMNS)).to_pylist():
            made = row["created_at"]
            if row[KIND] == FACT:
                facts += 1
                if row["source"] in DRAWN and made is not None and (drawn is None or made > drawn):
                    drawn = made
                continue
            if row[TURN] is None or made is None:
                continue
            each = sessions.setdefault(row[SESSION] or "", TurnsOfSession(row[SESSION] or "", made))
            each.began = min(each.began, made)
            if row[ROLE] == "user":
                each.asked.add(row[TURN])
            else:
                each.answered[row[TURN]] = row["id"]
    ordered = sorted(sessions.values(), key=lambda each: each.began)
    return StoredTalk(tuple(ordered), facts, drawn)


def never_null(store: Store) -> list[str]:
    """Columns that another program added and that may not be null: the plugin's rows do not have them."""
    own = {*REQUIRED, *store.dialect.known_columns, "vector"}
    return [column.name for column in store.pin().schema if not column.nullable and column.name not in own]


def causes(home: Path, config: HermesConfig, store: Store, dims: int | None) -> Iterator[Cause]:
    """Everything that is wrong with the memory of one home; `dims`: what its model gives, where that is known."""
    table = str(home / "lancedb" / f"{store.table_name}.lance")
    said = config.path or table
    if config.problem:
        yield Cause(
            "H6", ("recall", "capture", "embedding"), "weak",
            f"{config.path} cannot be read ({one_line(config.problem)}): the plugin goes on with its defaults.",
            (CauseEvidence(config.path, "plugins.lancedb"),), "Correct the file.",
        )  # fmt: skip
    stored = store.pin().dims
    if dims is not None and stored is not None and dims != stored:
        yield Cause(
            "H5", ("recall", "capture", "tools", "embedding"), "dead",
            f"The configured model gives vectors of {dims} dimensions, the table holds {stored}: the provider does not "
            "start, and Hermes goes on without memory.",
            (CauseEvidence(said, "plugins.lancedb.embedding"), CauseEvidence(table, "vector")),
            f"memtui reembed --store {quoted(home / 'lancedb')}, or set the model back that made the store.",
        )  # fmt: skip
    if added := never_null(store):
        names = ", ".join(map(one_line, added))
        yield Cause(
            "H4", ("capture", "tools"), "dead",
            f"Another program added the column {names}, which may not be null: every write of the plugin fails.",
            (CauseEvidence(table, names),),
            f"Let it be null: table.alter_columns({{'path': {added[0]!r}, 'nullable': True}}) in LanceDB.",
        )  # fmt: skip
    yield from _of_talk(config, read_talk(store), table, said)


def _of_talk(config: HermesConfig, talk: StoredTalk, table: str, said: str) -> Iterator[Cause]:
    extraction = config.settings.get("extraction")
    block = extraction if isinstance(extraction, dict) else {}
    least = block.get("min_turns", 3)
    least = least if isinstance(least, int) and least > 0 else 3
    undrawn = talk.undrawn(least) if block.get("enabled", True) else []
    if len(undrawn) >= ENOUGH:
        sessions = counted(len(undrawn), "session")
        when = "" if talk.drawn_last is None else f" since {talk.drawn_last:%Y-%m-%d}"
        yield Cause(
            "H1", ("capture",), "dead",
            f"{sessions} of {least} or more questions{when}, and no fact was drawn from any: the plugin asks the model "
            "with response_format, which the call of Hermes 0.19.0 does not take, and says nothing.",
            (CauseEvidence(table, f"session_id {undrawn[-1].id}"), CauseEvidence(said, "plugins.lancedb.extraction")),
            "Update the plugin or Hermes, whichever has the newer call; until then tell the agent what to remember: "
            "lancedb_remember works.",
        )  # fmt: skip
    if gaps := talk.gaps:
        session, place = gaps[-1]
        yield Cause(
            "H2", ("capture", "embedding"), "weak",
            f"{counted(len(gaps), 'turn is', 'turns are')} missing between others of a session: one embedding that "
            "fails ends the plugin's writer, that turn is lost and later ones wait until Hermes shuts down.",
            (CauseEvidence(table, f"session_id {session.id}, turn_index {place}"),),
            "memtui alive --try asks the embedding service; then start Hermes anew, which starts the writer.",
        )  # fmt: skip
    if lone := talk.lone_answers:
        yield Cause(
            "H3", ("capture",), "weak",
            f"{counted(len(lone), 'answer')} without a question: a turn that ends just before Hermes shuts down loses "
            "its question.",
            tuple(CauseEvidence(table, f"id {each}") for each in lone[-SHOWN:]),
            "Wait a second after the last answer before you leave Hermes.",
        )  # fmt: skip
