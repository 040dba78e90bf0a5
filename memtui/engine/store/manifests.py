"""What each version of a local table consists of, read from its manifest files without opening a version.

A manifest lists the fragments of its version (numbered files of rows). Rows are never changed in place: an
update deletes rows of one fragment and adds a new one, so the rows that a version wrote are those of the
fragments that the version before does not have.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memtui.engine.core.errors import MemtuiError

_MAGIC = b"LANC"

_TAIL = 16

FRAGMENT_BITS = 32
"""A row id is the fragment's number, then the row's place in it in this many bits."""

_STABLE_ROW_IDS = 2
"""Reader flag: row ids are no addresses of fragments."""

_CLEANUP = "lance.auto_cleanup."

_REWRITE = 104
"""The operation of a transaction that moves rows into other fragments and changes none."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """One file of rows as a version sees it; `deletions` names the rows that are gone (empty: none)."""

    rows: int
    """Rows that were written into it, deleted ones included."""
    deletions: bytes
    files: tuple[bytes, ...] = ()
    """Its data files as the manifest names them; others, where a column was written anew in place."""


@dataclass(frozen=True, slots=True)
class VersionManifest:
    """One version: its number, time in ms, and fragments by number."""

    version: int
    time_ms: int
    fragments: Mapping[int, Fragment]
    rewrite: bool
    """Whether this version only moved rows (a fold): nothing in it is new."""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What a table is set to do with its older versions by itself; empty where it does nothing."""

    older_than: str = ""
    """As it is written: `14days`."""
    interval: str = ""
    """Every how many versions it is done."""


def cleanup_of(table: Path) -> Cleanup | None:
    """The clean-up that the newest version's manifest asks for; None where no manifest can be read.

    Tables of Node's engine up to 0.27 have one (spec/storage 1.3), tables of Python's engine none.
    """
    try:
        newest = max((table / "_versions").glob("*.manifest"), key=_version, default=None)
        message = None if newest is None else _message(newest.read_bytes())
        settings = {} if message is None else _settings(message)
    except (OSError, ValueError, IndexError, struct.error):
        return None
    if message is None:
        return None
    return Cleanup(settings.get(f"{_CLEANUP}older_than", ""), settings.get(f"{_CLEANUP}interval", ""))


def newest_number(table: Path) -> int | None:
    """The number of the newest version below a table's folder, from the names of its files; None where none is."""
    return max(map(_version, (table / "_versions").glob("*.manifest")), default=None)


def _version(file: Path) -> int:
    """The version in a manifest's name, which counts down in the newer layout of names."""
    number = int(file.stem) if file.stem.isdigit() else -1
    return 2**64 - 1 - number if number > 2**63 else number


def _settings(message: bytes) -> dict[str, str]:
    """The table's settings, a map in field 16 of a manifest."""
    pairs = (
        dict(_fields(value)) for field, value in _fields(message) if field == 16 and isinstance(value, bytes)
    )
    return {_word(pair.get(1)): _word(pair.get(2)) for pair in pairs}


def _word(value: int | bytes | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def read_manifests(table: Path) -> list[VersionManifest] | None:
    """Every version below the table's folder, oldest first.

    None where the manifests are of a kind that does not tell (stable row ids, an unknown layout): rows must
    then be compared version by version.
    """
    out = []
    known: dict[bytes, tuple[int, Fragment]] = {}
    try:
        files = [path for path in (table / "_versions").iterdir() if path.suffix == ".manifest"]
        for file in files:
            manifest = _manifest(file, table, known)
            if manifest is None:
                return None
            out.append(manifest)
    except FileNotFoundError:  # another program cleans up right now
        return None
    except OSError as error:
        raise MemtuiError(
            f"The versions of {table} cannot be read.",
            fix="Check the permissions of the folder.",
            details=str(error),
        ) from None
    return sorted(out, key=lambda each: each.version)


def data_files(table: Path, version: int) -> Mapping[int, tuple[bytes, ...]]:
    """The data files of each fragment at a version, as its manifest names them: never the same for other rows.

    Empty where the manifest cannot be read, or row ids are no addresses of fragments.
    """
    for name in manifest_names(version):
        try:
            read = _manifest(table / "_versions" / name, table, {})
        except OSError:
            continue
        if read is not None and read.version == version:
            return {number: fragment.files for number, fragment in read.fragments.items()}
    return {}


def manifest_names(version: int) -> tuple[str, str]:
    """What the manifest of a version is called, in the newer layout of names and in the older."""
    return f"{2**64 - 1 - version}.manifest", f"{version}.manifest"


def files_in(manifest: bytes, version: int, *, by_address: bool = False) -> Mapping[int, tuple[bytes, ...]]:
    """`data_files` out of the content of a manifest that is not a file of this machine.

    `by_address`: rows are known by their addresses, so that row ids may be whatever they are.
    """
    try:
        message = _message(manifest)
        read = None if message is None else _parsed(message, None, {}, by_address)
    except (ValueError, IndexError, struct.error):
        return {}
    if read is None or read.version != version:
        return {}
    return {number: fragment.files for number, fragment in read.fragments.items()}


@dataclass(frozen=True, slots=True)
class TableSketch:
    """What the newest manifest tells of a table without opening it."""

    version: int
    time_ms: int
    """When the newest version was written, in ms."""
    columns: Mapping[str, str]
    """Logical type of each column of the root, "fixed_size_list:float:64" for vectors."""
    rows: int

    @property
    def dims(self) -> int | None:
        """Length of the vectors; None without exactly one column of them."""
        sizes = [
            kind.rsplit(":", 1)[-1] for kind in self.columns.values() if kind.startswith("fixed_size_list")
        ]
        return int(sizes[0]) if len(sizes) == 1 and sizes[0].isdecimal() else None


def sketch_table(table: Path) -> TableSketch | None:
    """Columns, rows and time of the newest version of `NAME.lance`, without LanceDB; None where it cannot be told."""
    try:
        newest = max((table / "_versions").glob("*.manifest"), key=_version, default=None)
        message = None if newest is None else _message(newest.read_bytes())
        read = None if message is None else _parsed(message, None, {}, by_address=True)
        if message is None or read is None:
            return None
        columns: dict[str, str] = {}
        for field, value in _fields(message):
            if field == 1 and isinstance(value, bytes):
                parts = dict(_fields(value))
                parent = parts.get(4, 0)  # -1 as an unsigned number: a column of the root
                if isinstance(parent, int) and parent >= 2**31:
                    columns[_word(parts.get(2))] = _word(parts.get(5))
        rows = sum(fragment.rows - _deleted(fragment.deletions) for fragment in read.fragments.values())
    except (OSError, ValueError, IndexError, struct.error):
        return None
    return TableSketch(read.version, read.time_ms, columns, max(0, rows))


def _deleted(deletions: bytes) -> int:
    """Rows that a fragment's deletion file takes out."""
    count = dict(_fields(deletions)).get(4, 0) if deletions else 0
    return count if isinstance(count, int) else 0


def _manifest(file: Path, table: Path, known: dict[bytes, tuple[int, Fragment]]) -> VersionManifest | None:
    try:
        message = _message(file.read_bytes())
        return None if message is None else _parsed(message, table, known)
    except (ValueError, IndexError, struct.error):
        return None


def _message(raw: bytes) -> bytes | None:
    """The manifest's message in the bytes of its file; None where that is no manifest."""
    if raw[-4:] != _MAGIC or len(raw) < _TAIL + 4:
        return None
    start = struct.unpack("<Q", raw[-_TAIL:-8])[0]
    size = struct.unpack("<I", raw[start : start + 4])[0]
    return raw[start + 4 : start + 4 + size]


def _parsed(
    message: bytes, table: Path | None, known: dict[bytes, tuple[int, Fragment]], by_address: bool = False
) -> VersionManifest | None:
    """A manifest out of its message; `known` holds fragments by their bytes, which most versions share."""
    version, time_ms, transaction, flags = 0, 0, "", 0
    fragments: dict[int, Fragment] = {}
    for field, value in _fields(message):
        if field == 2 and isinstance(value, bytes):
            read = known.get(value) or _fragment(value)
            if read is None:
                return None
            known[value] = read
            fragments[read[0]] = read[1]
        elif field == 3 and isinstance(value, int):
            version = value
        elif field == 7 and isinstance(value, bytes):
            stamp = dict(_fields(value))
            seconds, nanos = stamp.get(1, 0), stamp.get(2, 0)
            if isinstance(seconds, int) and isinstance(nanos, int):
                time_ms = seconds * 1000 + nanos // 1_000_000
        elif field == 9 and isinstance(value, int):
            flags = value
        elif field == 12 and isinstance(value, bytes):
            transaction = value.decode("utf-8", "replace")
    if not version or (flags & _STABLE_ROW_IDS and not by_address):
        return None
    return VersionManifest(version, time_ms, fragments, _is_rewrite(table, transaction))


def _fragment(message: bytes) -> tuple[int, Fragment] | None:
    """A fragment's number and what a version sees of it."""
    read = list(_fields(message))
    parts = dict(read)
    number, deletions, rows = parts.get(1, 0), parts.get(3, b""), parts.get(4, 0)
    if not isinstance(number, int) or not isinstance(rows, int) or not isinstance(deletions, bytes):
        return None
    files = tuple(value for field, value in read if field == 2 and isinstance(value, bytes))
    return number, Fragment(rows, deletions, files)


def _is_rewrite(table: Path | None, transaction: str) -> bool:
    if table is None or not transaction or "/" in transaction:
        return False
    try:
        fields = {field for field, _ in _fields((table / "_transactions" / transaction).read_bytes())}
    except (OSError, ValueError, IndexError):
        return False
    return _REWRITE in fields


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protocol-buffer message: numbers as int, everything else as bytes.

    Raises ValueError or IndexError for what is no such message.
    """
    at, end = 0, len(message)
    while at < end:
        key = message[at]
        at += 1
        if key >= 0x80:
            key, at = _number(message, at - 1)
        field, kind = key >> 3, key & 7
        if kind == 0:
            number, at = _number(message, at)
            yield field, number
            continue
        if kind == 2:
            size = message[at]
            at += 1
            if size >= 0x80:
                size, at = _number(message, at - 1)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if at + size > end:
            raise IndexError(at)
        yield field, message[at : at + size]
        at += size


def _number(message: bytes, at: int) -> tuple[int, int]:
    shift = result = 0
    while True:
        byte = message[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7
        if shift > 63:
            raise ValueError("a number too long")
