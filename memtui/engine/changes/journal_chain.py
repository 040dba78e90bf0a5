"""The chain of a journal: each event of an entry is linked to the one before it, so that a changed past is noticed.

A link holds a keyed digest of the entry's contents as they were then. Without the key, which stands beside the journal
for its owner alone, nobody makes a link that fits. Contents that are removed for good leave their digest behind, and
the removal is a link of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted

if TYPE_CHECKING:
    from memtui.engine.changes.blob_store import ImageStore

KEY_FILE = "chain.key"

_TABLES = (
    """CREATE TABLE IF NOT EXISTS chain (
        link INTEGER PRIMARY KEY AUTOINCREMENT,
        entry INTEGER NOT NULL,
        event TEXT NOT NULL,
        key TEXT NOT NULL,
        digest BLOB NOT NULL,
        mac BLOB NOT NULL,
        hash BLOB NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS chain_parts (
        entry INTEGER NOT NULL,
        part TEXT NOT NULL,
        digest BLOB NOT NULL,
        PRIMARY KEY (entry, part)
    ) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS chain_head (one INTEGER PRIMARY KEY, link INTEGER, key TEXT, mac BLOB)",
)

REMOVED, DROPPED = "contents removed", "dropped"

_ROWS = "rows"
"""The part of an entry that is no image: its list of memories."""

_FIELDS = "entry, time_ms, action, title, state, rows, version_before, version_after, undoes, detail"

_PART = 1 << 20


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What a look along a chain found."""

    links: int = 0
    first_entry: int | None = None
    """The first entry that the chain covers; None where there is no chain yet."""
    covered: int = 0
    before: int = 0
    """Entries of before the chain began."""
    removed: tuple[int, ...] = ()
    """Entries whose contents were removed for good, as the chain tells."""
    foreign: int = 0
    """Entries whose last link was made with a key of another machine: only their order can be checked here."""
    broken: int | None = None
    """The first entry that is not as it was written; None where all are."""
    why: str = ""

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        if self.broken is not None:
            return f"Entry {self.broken} of the journal was changed outside memtui: {self.why}."
        if self.first_entry is None:
            return "The journal has no chain yet: it begins with the next entry."
        said = f"The journal is whole: {counted(self.covered, 'entry', 'entries')} checked"
        if self.before:
            said += f", {self.before} of before the chain"
        if self.removed:
            said += f", contents of {len(self.removed)} removed with their history"
        return f"{said}."

    def as_json(self) -> dict[str, Any]:
        """The document of `memtui journal --verify --json`."""
        return {
            "schema": "memtui.journal-chain.v1",
            "whole": self.broken is None,
            "broken": None if self.broken is None else {"entry": self.broken, "why": self.why},
            "first_entry": self.first_entry,
            "covered": self.covered,
            "before": self.before,
            "links": self.links,
            "contents_removed": list(self.removed),
            "of_other_machines": self.foreign,
        }


class JournalChain:
    """Adds links to the chain of one journal, inside the transaction that makes what they tell of."""

    def __init__(self, journal: Path) -> None:
        self._place = journal.with_name(KEY_FILE)
        self._key = b""

    def add(
        self, db: sqlite3.Connection, shelf: ImageStore, entry: int, event: str, *, anew: bool = False
    ) -> None:
        """Link an event of an entry. `anew`: its rows or images are others now, and are read again."""
        for statement in _TABLES:
            db.execute(statement)
        key = self._key = self._key or _make_key(self._place)
        if event == DROPPED:
            db.execute("DELETE FROM chain_parts WHERE entry = ?", (entry,))
            digest = b""
        else:
            digest = _entry_digest(db, entry, self._parts(db, shelf, entry, key, anew=anew), key)
        name = _name_of(key)
        last = db.execute("SELECT hash FROM chain ORDER BY link DESC LIMIT 1").fetchone()
        before = b"" if last is None else last[0]
        mac = _mac(key, before, entry, event, digest)
        link = db.execute(
            "INSERT INTO chain (entry, event, key, digest, mac, hash) VALUES (?, ?, ?, ?, ?, ?)",
            (entry, event, name, digest, mac, _hash(before, entry, event, name, digest, mac)),
        ).lastrowid
        head = _mac(key, b"head", link or 0, "", b"")
        db.execute("INSERT OR REPLACE INTO chain_head VALUES (1, ?, ?, ?)", (link, name, head))

    def _parts(
        self, db: sqlite3.Connection, shelf: ImageStore, entry: int, key: bytes, *, anew: bool
    ) -> dict[str, bytes]:
        if not anew:
            found = dict(db.execute("SELECT part, digest FROM chain_parts WHERE entry = ?", (entry,)))
            if found:
                return found
        found = _digests(db, shelf, entry, key)
        db.execute("DELETE FROM chain_parts WHERE entry = ?", (entry,))
        db.executemany(
            "INSERT INTO chain_parts VALUES (?, ?, ?)", ((entry, part, each) for part, each in found.items())
        )
        return found


def verify(
    db: sqlite3.Connection | None, shelf: ImageStore, journal: Path, *, shared: bool = False
) -> ChainReport:
    """Look along the chain of a journal, from its first link to what stands in the journal now. Nothing is written.

    `shared`: several machines write it, each with a key of its own.
    """
    if db is None or not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'chain'").fetchone():
        entries = 0 if db is None else db.execute("SELECT COUNT(*) FROM entries").fetchone()[0]
        return ChainReport(before=entries)
    key = _read_key(journal.with_name(KEY_FILE))
    walk = _Walk(db, shelf, key, shared=shared)
    return walk.report()


class _Walk:
    """One look along a chain."""

    def __init__(self, db: sqlite3.Connection, shelf: ImageStore, key: bytes | None, *, shared: bool) -> None:
        self._db, self._shelf, self._key, self._shared = db, shelf, key, shared
        self._name = "" if key is None else _name_of(key)
        self._last: dict[int, tuple[str, str, bytes]] = {}
        self._removed: dict[int, None] = {}
        self._links = 0

    def report(self) -> ChainReport:
        first = self._db.execute("SELECT entry FROM chain ORDER BY link LIMIT 1").fetchone()
        broken = min(self._faults(), default=None, key=lambda fault: fault[0])
        there = [row[0] for row in self._db.execute("SELECT entry FROM entries ORDER BY entry")]
        covered = [each for each in there if each in self._last]
        foreign = sum(self._last[each][1] != self._name for each in covered)
        return ChainReport(
            links=self._links,
            first_entry=None if first is None else first[0],
            covered=len(covered),
            before=len(there) - len(covered),
            removed=tuple(sorted(self._removed)),
            foreign=foreign,
            broken=None if broken is None else broken[0],
            why="" if broken is None else broken[1],
        )

    def _faults(self) -> Iterator[tuple[int, str]]:
        """(entry, why) of everything that does not fit."""
        began: int | None = None
        before, number = b"", 0
        links = self._db.execute("SELECT link, entry, event, key, digest, mac, hash FROM chain ORDER BY link")
        for link, entry, event, name, digest, mac, made in links:
            began = entry if began is None else began
            number += 1
            if not all(isinstance(each, bytes) for each in (digest, mac, made)):
                yield entry, "its link cannot be read"
                return
            if link != number:
                yield entry, "a link before it is missing"
            if made != _hash(before, entry, event, name, digest, mac):
                yield entry, "its link does not follow from the one before it"
            if name == self._name and self._key is not None:
                if not hmac.compare_digest(mac, _mac(self._key, before, entry, event, digest)):
                    yield entry, "its link was not made with the journal's key"
            elif not self._shared:
                yield entry, f"its link was made with a key that is not here ({KEY_FILE})"
            self._last[entry] = event, name, digest
            if event == REMOVED:
                self._removed[entry] = None
            before, self._links = made, number
        yield from self._head(number)
        yield from self._entries(began)

    def _head(self, links: int) -> Iterator[tuple[int, str]]:
        """Whether the end of the chain was cut off."""
        head = self._db.execute("SELECT link, key, mac FROM chain_head").fetchone()
        last = self._db.execute("SELECT entry FROM chain ORDER BY link DESC LIMIT 1").fetchone()
        entry = 0 if last is None else last[0]
        if (
            head is None
            or head[0] != links
            or (
                head[1] == self._name
                and self._key is not None
                and not hmac.compare_digest(head[2], _mac(self._key, b"head", links, "", b""))
            )
        ):
            yield entry, "links behind it are missing"

    def _entries(self, began: int | None) -> Iterator[tuple[int, str]]:
        """Whether each entry is what its last link says."""
        there = {row[0] for row in self._db.execute("SELECT entry FROM entries")}
        made = self._linked_when_made()
        for entry in sorted({*self._last, *there}):
            if entry not in self._last:
                if began is not None and entry > min(made, default=began):
                    yield entry, "it has no link"
                continue
            event, name, digest = self._last[entry]
            if event == DROPPED:
                if entry in there:
                    yield entry, "it was dropped, and is there"
            elif entry not in there:
                yield entry, "it is missing"
            elif name == self._name and self._key is not None:
                try:
                    parts = _digests(self._db, self._shelf, entry, self._key)
                except (OSError, MemtuiError):
                    yield entry, "rows of it are missing"
                    continue
                if not hmac.compare_digest(digest, _entry_digest(self._db, entry, parts, self._key)):
                    yield entry, "its contents are others than were written"

    def _linked_when_made(self) -> list[int]:
        return [
            row[0] for row in self._db.execute("SELECT MIN(entry) FROM chain WHERE event = 'made'") if row[0]
        ]


def _digests(db: sqlite3.Connection, shelf: ImageStore, entry: int, key: bytes) -> dict[str, bytes]:
    """The keyed digest of each part of an entry that is not one of its fields: its rows, each image."""
    found: dict[str, bytes] = {}
    rows = _digest(key)
    for row in db.execute("SELECT place, id, op FROM rows WHERE entry = ? ORDER BY place", (entry,)):
        rows.update(json.dumps(row, default=repr).encode("ascii") + b"\n")
    found[_ROWS] = rows.digest()
    for (side,) in db.execute("SELECT side FROM images WHERE entry = ? ORDER BY side", (entry,)).fetchall():
        source = shelf.source(db, entry, side)
        made = _digest(key)
        if isinstance(source, Path):
            with source.open("rb") as file:
                while part := file.read(_PART):
                    made.update(part)
        else:
            made.update(source or b"")
        found[f"image {side}"] = made.digest()
    return found


def _entry_digest(db: sqlite3.Connection, entry: int, parts: dict[str, bytes], key: bytes) -> bytes:
    fields = db.execute(f"SELECT {_FIELDS} FROM entries WHERE entry = ?", (entry,)).fetchone()
    made = _digest(key)
    listed = sorted((part, each.hex()) for part, each in parts.items())
    made.update(json.dumps([fields, listed], default=repr).encode("ascii"))
    digest: bytes = made.digest()
    return digest


def _digest(key: bytes) -> Any:
    return hashlib.blake2b(key=key, digest_size=32)


def _mac(key: bytes, before: bytes, entry: int, event: str, digest: bytes) -> bytes:
    made = _digest(key)
    made.update(json.dumps([before.hex(), entry, event, digest.hex()]).encode("ascii"))
    mac: bytes = made.digest()
    return mac


def _hash(before: bytes, entry: int, event: str, key: str, digest: bytes, mac: bytes) -> bytes:
    told = json.dumps([before.hex(), entry, event, key, digest.hex(), mac.hex()])
    return hashlib.blake2b(told.encode("ascii"), digest_size=32).digest()


def _name_of(key: bytes) -> str:
    """What a link calls its key by: tells nothing of it."""
    return hashlib.blake2b(key, digest_size=8, person=b"chain key").hexdigest()


def _read_key(place: Path) -> bytes | None:
    try:
        key = place.read_bytes()
    except OSError:
        return None
    return key if len(key) == 32 else None


def _make_key(place: Path) -> bytes:
    """The key beside the journal (0600), made where there is none; of two programs that make one, one wins."""
    if (key := _read_key(place)) is not None:
        return key
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, beside = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(32))
            file.flush()
            os.fsync(file.fileno())
        if place.exists():  # not a key: cut off, or somebody's own
            place.unlink()
        with suppress(FileExistsError):
            os.link(beside, place)
    finally:
        os.unlink(beside)
    return place.read_bytes()
