"""LanceDB's plugin for Hermes: facts and turns of talk, by workspace and user; no importance, no state, no archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from memtui.engine.core.memory import Memory
from memtui.engine.dialects.base import Capabilities, Columns, Dialect

if TYPE_CHECKING:
    import pyarrow as pa

PROTOCOL = 1

NAME = "hermes"

KIND, USER, ABSTRACT, TAGS = "kind", "user_id", "abstract", "tags"

HASH, TURNS_OF, SESSION, TURN, ROLE = (
    "content_hash",
    "provenance_turn_ids",
    "session_id",
    "turn_index",
    "role",
)

FACT, TURN_KIND = "fact", "turn"

CATEGORIES = ("preference", "entity", "event", "case", "pattern", "general")
"""The words that the plugin's own extraction uses; its tool takes any."""

COLUMNS = Columns(text="content", scope="agent_workspace", category="category", timestamp="created_at")

REQUIRED = (*COLUMNS.known(), KIND, SESSION, USER, HASH)

LABELS = (KIND, ROLE, USER, "source", "platform", "agent_identity")

MORE = (ABSTRACT, TAGS, TURNS_OF, SESSION, TURN, "schema_version", HASH)

CAN = Capabilities(
    writable=True,
    visibility="users",
    compares_l2=True,
    row_form="hermes",
    default_recipe=NAME,
)


def text_hash(kind: str, workspace: str, text: str) -> str:
    """By which the plugin knows a text again within a workspace: letters, outer and repeated blanks do not count."""
    plain = " ".join(text.lower().split())
    return sha256(f"{kind}\0{workspace}\0{plain}".encode("utf-8", "surrogatepass")).hexdigest()


class HermesDialect(Dialect):
    """Rows of the plugin; an empty category is none."""

    def fits(self, part: str, kind: pa.DataType) -> bool:
        """As any dialect's, but its time is a timestamp and never a number."""
        import pyarrow as pa

        return bool(pa.types.is_timestamp(kind)) if part == "timestamp" else super().fits(part, kind)

    def to_memory(self, row: Mapping[str, Any], extras: Sequence[str], now_ms: int) -> Memory:
        """One row as a memory; an empty category is none."""
        memory = super().to_memory(row, extras, now_ms)
        return replace(memory, category=memory.category or None)

    def written_with(self, row: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
        """The hash of the text in its workspace."""
        if not changed.keys() & {self.columns.text, self.columns.scope, KIND}:
            return {}
        now = {**row, **changed}
        texts = (str(now.get(name) or "") for name in (KIND, str(self.columns.scope), self.columns.text))
        return {HASH: text_hash(*texts)}


def hermes(names: frozenset[str]) -> HermesDialect:
    """A table with these columns that the plugin made."""
    labels = tuple(each for each in LABELS if each in names)
    return HermesDialect(NAME, "Hermes", COLUMNS, labels, can=CAN, more=MORE, doubled_ids=f"{TURN_KIND}_")


def recognise(schema: pa.Schema) -> Dialect | None:
    """The plugin's dialect, where all its columns are there."""
    return hermes(frozenset(schema.names)) if set(schema.names) >= set(REQUIRED) else None
