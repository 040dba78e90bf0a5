"""The files of a local table: what lies on disk, what its versions name, and what each commit did.

Lance's manifests and transactions are protocol buffers. Only what stands in them as plain bytes is read: names of
data files, the sixteen bytes of an index's UUID, the number of a transaction's operation.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from memtui.engine.store.hindrance import must_be_absent

_DATA_NAME = re.compile(rb"[0-9A-Za-z_-]+\.lance")

_TRANSACTION_NAME = re.compile(rb"\d+-[0-9a-f-]{36}\.txn")

_INVERTED_DIGITS = 20

_SHORTEST_NAME = 36

_MAGIC = b"LANC"

_FOOTER = 8

_LEGACY_2_0 = (0, 3)
"""How files of format 2.0 write their version."""

_OPERATIONS = {
    100: "append",
    101: "delete",
    102: "overwrite",
    103: "index",
    104: "fold",
    105: "merge",
    106: "restore",
    107: "reserve",
    108: "update",
    109: "project",
    110: "settings",
}


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """One version's file."""

    version: int
    path: Path
    size: int
    time_ms: int


@dataclass(frozen=True)
class TableFiles:
    """A listing of one table's folder, sizes in bytes; what the manifests say is read when it is asked for."""

    folder: Path
    manifests: tuple[ManifestFile, ...]
    """Oldest version first."""
    data: Mapping[str, int]
    indices: Mapping[str, int]
    """Folders of indexes, by their UUID."""
    deletions: int
    times: Mapping[str, float] = field(default_factory=dict)
    """Seconds since the epoch when a data file or index folder was written."""

    @property
    def newest(self) -> ManifestFile | None:
        """The newest version's file; None in a folder without versions."""
        return self.manifests[-1] if self.manifests else None

    @property
    def readable(self) -> bool:
        """Whether the newest version's file is whole, so that it can be told what belongs to it."""
        return self.newest is not None and _content(self.newest.path)[-4:] == _MAGIC

    @property
    def versions_bytes(self) -> int:
        """Size of all manifests."""
        return sum(manifest.size for manifest in self.manifests)

    @property
    def data_bytes(self) -> int:
        """Size of all data files."""
        return sum(self.data.values())

    @cached_property
    def named_now(self) -> frozenset[str]:
        """Data files that the newest version needs."""
        return frozenset() if self.newest is None else _named(_manifest(_content(self.newest.path)))

    @property
    def in_order(self) -> tuple[str, ...]:
        """The same in the order of the table's parts."""
        return () if self.newest is None else _names(_manifest(_content(self.newest.path)))

    @cached_property
    def orphans(self) -> tuple[str, ...]:
        """Data files and index folders on disk that no version names, with their path below the table."""
        left = set(self.data)
        folders = {name: each.bytes for name in self.indices if (each := _uuid(name)) is not None}
        for manifest in reversed(self.manifests):
            if not left and not folders:
                break
            content = _content(manifest.path)
            left -= _named(_manifest(content))
            folders = {name: mark for name, mark in folders.items() if mark not in content}
        return (
            *(f"data/{name}" for name in sorted(left)),
            *(f"_indices/{name}" for name in sorted(folders)),
        )

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Data files that the newest version needs and that are not there."""
        return tuple(sorted(self.named_now - set(self.data)))

    def newest_without(self, names: Collection[str]) -> int | None:
        """The newest version that holds data, all of it there, and none of these files; None where none is left."""
        for manifest in reversed(self.manifests):
            content = _content(manifest.path)
            needed = _named(_manifest(content)) if content[-4:] == _MAGIC else frozenset()
            if needed and needed <= set(self.data) and not needed & set(names):
                return manifest.version
        return None

    def cut(self) -> tuple[str, ...]:
        """Data files of the newest version whose end is not there: every whole one ends with Lance's mark."""
        return tuple(name for name in sorted(self.named_now & set(self.data)) if self.format_of(name) is None)

    def format_of(self, name: str) -> tuple[int, int] | None:
        """(major, minor) of a data file's format; None when its end is missing."""
        path = self.folder / "data" / name
        try:
            with path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _FOOTER))
                end = file.read(_FOOTER)
        except OSError as error:
            must_be_absent(path, error)
            return None
        if end[4:] != _MAGIC:
            return None
        found = (int.from_bytes(end[:2], "little"), int.from_bytes(end[2:4], "little"))
        return (2, 0) if found == _LEGACY_2_0 else found

    @cached_property
    def newest_format(self) -> tuple[int, int] | None:
        """The newest format among the data files of the newest version; None without one that can be told."""
        names = sorted(self.named_now & set(self.data))
        sample = names if len(names) <= 64 else [*names[:32], *names[-32:]]
        return max((found for name in sample if (found := self.format_of(name))), default=None)

    def operation(self, version: int) -> str:
        """What the commit of `version` did: append, delete, update, merge, fold, index, restore; "" not known."""
        manifest = next(
            (manifest for manifest in reversed(self.manifests) if manifest.version == version), None
        )
        if manifest is None:
            return ""
        found = _TRANSACTION_NAME.search(_content(manifest.path))
        return "" if found is None else _operation(self.folder / "_transactions" / found[0].decode())


def list_table(folder: Path) -> TableFiles:
    """List the table's folder `NAME.lance`; what another program removes meanwhile is left out.

    What is there and cannot be read is never taken for absent: that raises MemtuiError, here and where a file's content
    is asked for.
    """
    data: dict[str, int] = {}
    times: dict[str, float] = {}
    for entry in _entries(folder / "data"):
        if entry.name.endswith(".lance"):
            found = _stat(entry)
            data[entry.name], times[f"data/{entry.name}"] = found.st_size, found.st_mtime
    indices = {}
    for entry in _entries(folder / "_indices"):
        if _is_folder(entry) and _entries(Path(entry.path)):  # a clean-up leaves empty folders behind
            indices[entry.name] = sum(_stat(each).st_size for each in _entries(Path(entry.path)))
            times[f"_indices/{entry.name}"] = _stat(entry).st_mtime
    manifests = []
    for entry in _entries(folder / "_versions"):
        stem, dot, ending = entry.name.partition(".")
        if dot and ending == "manifest" and stem.isdigit():
            number = 2**64 - 1 - int(stem) if len(stem) == _INVERTED_DIGITS else int(stem)
            found = _stat(entry)
            manifests.append(
                ManifestFile(number, Path(entry.path), found.st_size, int(found.st_mtime * 1000))
            )
    manifests.sort(key=lambda each: each.version)
    deletions = sum(1 for _ in _entries(folder / "_deletions"))
    return TableFiles(folder, tuple(manifests), data, indices, deletions, times)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError as error:
        must_be_absent(folder, error)
        return []


def _stat(entry: os.DirEntry[str]) -> os.stat_result:
    try:
        return entry.stat()
    except OSError:
        return os.stat_result((0,) * 10)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        must_be_absent(path, error)
        return b""


def _manifest(content: bytes) -> bytes:
    """The manifest itself, without the sections on indexes and on the last commit that stand before it.

    The end of the file tells where it begins: eight bytes, then the format and the mark.
    """
    start = int.from_bytes(content[-16:-8], "little")
    length = int.from_bytes(content[start : start + 4], "little")
    return content[start + 4 : start + 4 + length]


def _named(content: bytes) -> frozenset[str]:
    return frozenset(_names(content))


def _names(content: bytes) -> tuple[str, ...]:
    """Names of data files in a manifest: each stands behind one byte that tells its length."""
    out: dict[str, None] = {}
    for match in _DATA_NAME.finditer(content):
        name, before = match[0], content[match.start() - 1] if match.start() else 0
        if len(name) < _SHORTEST_NAME:
            continue  # a file inside an index
        if before == len(name):
            out[name.decode()] = None
        elif name[0] == len(name) - 1:  # the byte of the length reads like a character of a name
            out[name[1:].decode()] = None
    return tuple(out)


def _uuid(name: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(name)
    except ValueError:
        return None


def _operation(path: Path) -> str:
    """The operation of a transaction: the first field of its message with a number from 100 on."""
    content, at = _content(path), 0
    while at < len(content):
        key, at = _varint(content, at)
        number, wire = key >> 3, key & 7
        if number >= min(_OPERATIONS):
            return _OPERATIONS.get(number, "")
        if wire == 0:
            _, at = _varint(content, at)
        elif wire == 2:
            length, at = _varint(content, at)
            at += length
        else:
            return ""
    return ""


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(content):
        byte = content[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    return value, at
