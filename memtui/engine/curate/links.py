"""How memories hang together: older versions, and rows that were merged into another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memtui.engine.metadata import parse_object
from memtui.engine.store import sql

if TYPE_CHECKING:
    from memtui.engine.store.table import Store

OLDER, MERGED = "older version", "merged into it"
_KEYS = ("supersedes", "superseded_by", "canonical_id")


@dataclass(frozen=True, slots=True)
class Links:
    """Who stands behind whom: ids of older versions and of merged rows by the id of what took their place."""

    older: dict[str, set[str]] = field(default_factory=dict)
    merged: dict[str, set[str]] = field(default_factory=dict)
    newer: dict[str, str] = field(default_factory=dict)
    """What took a memory's place."""

    def behind(self, ids: Iterable[str]) -> dict[str, str]:
        """Everything that stands behind these memories, at any distance, with the word for it."""
        wanted = list(ids)
        seen, found = set(wanted), {}
        while wanted:
            each = wanted.pop()
            for group, word in ((self.merged, MERGED), (self.older, OLDER)):
                for other in sorted(group.get(each, ())):
                    if other not in seen:
                        seen.add(other)
                        found[other] = word
                        wanted.append(other)
        return found


def read_links(store: Store) -> Links:
    """The links between all memories of a store at its pinned version; one pass over those that have any.

    A link may lead to a memory that is no longer there.
    """
    columns, links = store.dialect.columns, Links()
    if columns.metadata is None:
        return links
    linked = " OR ".join(sql.contains(columns.metadata, f'"{key}"') for key in _KEYS)
    for batch in store.scan([columns.id, columns.metadata], where=linked, batch_size=8_192):
        ids, texts = batch.column(columns.id).to_pylist(), batch.column(columns.metadata).to_pylist()
        for each, text in zip(ids, texts, strict=True):
            if each is not None:
                _link(links, each, parse_object(text)[0])
    return links


def _link(links: Links, each: str, metadata: dict[str, object]) -> None:
    older, newer, canonical = (metadata.get(key) for key in _KEYS)
    if isinstance(older, str) and older != each:
        links.older.setdefault(each, set()).add(older)
        links.newer[older] = each
    if isinstance(canonical, str) and canonical != each:
        links.merged.setdefault(canonical, set()).add(each)
    elif isinstance(newer, str) and newer != each:
        links.older.setdefault(newer, set()).add(each)
        links.newer.setdefault(each, newer)
