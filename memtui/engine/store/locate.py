"""Finding the table on disk, before the engine is asked: its connect would create a missing folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from memtui.engine.core.errors import DamagedStoreError, StoreNotFoundError, UnknownDialectError
from memtui.engine.store.hindrance import hindrance, must_be_absent, unreadable

TABLE = "memories"
"""The table's name in every program's store."""

_SUFFIX = ".lance"

_INVERTED_DIGITS = 20

_FOOTER = 16

RESTORE = "Restore the folder from a backup, or go back to an earlier version: memtui doctor says which and does it."


@dataclass(frozen=True, slots=True)
class TableLocation:
    """What to connect to, and which table to open there. `folder` is None for a remote place."""

    uri: str
    table: str
    folder: Path | None

    @property
    def name(self) -> str:
        """The last part of the path: what a person calls the store."""
        return self.uri.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or self.uri

    def newest_version_file(self) -> str:
        """Name of the newest manifest of a local table, empty for a remote one.

        Manifests carry their version, or in later tables 2^64 - 1 minus it, so that the newest sorts first.
        """
        if self.folder is None:
            return ""
        versions = self.folder / f"{self.table}{_SUFFIX}" / "_versions"
        numbers = [path.stem for path in versions.glob("*.manifest") if path.stem.isdigit()]
        inverted = [number for number in numbers if len(number) == _INVERTED_DIGITS]
        newest = min(inverted) if inverted else max(numbers, key=int, default="")
        return f"{newest}.manifest" if newest else ""


def find_place(target: str | Path, table: str | None = None) -> TableLocation:
    """Resolve a folder, a `.lance` folder, a `file://` URL or a remote URI; touches nothing.

    Raises `StoreNotFoundError`, `UnknownDialectError` (other tables are there) or `DamagedStoreError`
    (a table folder without a version).
    """
    scheme = urlsplit(str(target)).scheme if isinstance(target, str) else ""
    if scheme == "file":
        target = unquote(urlsplit(str(target)).path)
    elif len(scheme) > 1 and "://" in str(target):
        return TableLocation(str(target), table or TABLE, None)
    path = Path(target).expanduser().absolute()
    try:
        return _local(path, table)
    except OSError as error:
        raise unreadable(path, hindrance(error) or error.strerror or str(error), str(error)) from error


def _local(path: Path, table: str | None) -> TableLocation:
    if not path.exists():
        raise StoreNotFoundError(f"{path} does not exist.", fix="Check the path; nothing was created there.")
    if not path.is_dir():
        raise StoreNotFoundError(
            f"{path} is a file, not a LanceDB folder.", fix="Name the folder that holds memories.lance."
        )
    if path.suffix == _SUFFIX and not _tables(path):
        path, table = path.parent, path.stem
    tables = _tables(path)
    wanted = table or TABLE
    if wanted in tables:
        _check_versions(path / f"{wanted}{_SUFFIX}")
        place = TableLocation(str(path), wanted, path)
        _check_newest(place)
        return place
    if tables:
        example = path / f"{tables[0]}{_SUFFIX}"
        raise UnknownDialectError(
            f"{path} has no table {wanted}; its tables are {', '.join(tables)}.",
            fix=f"To read one as memories, name its folder: {example}.",
        )
    below = [str(each) for each in sorted(path.iterdir()) if _holds_tables(each)]
    raise StoreNotFoundError(
        f"{path} holds no LanceDB table.",
        fix=f"There are tables in {', '.join(below)}."
        if below
        else "Name the folder that holds memories.lance.",
    )


def _tables(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.iterdir() if path.suffix == _SUFFIX and path.is_dir())


def _holds_tables(folder: Path) -> bool:
    try:
        return folder.is_dir() and bool(_tables(folder))
    except PermissionError:
        return False


def _check_versions(folder: Path) -> None:
    versions = folder / "_versions"
    if not versions.is_dir() or not any(path.suffix == ".manifest" for path in versions.iterdir()):
        raise DamagedStoreError(
            f"{folder} is a table folder without any version in it.",
            fix="Restore the folder from a backup, or remove it when it was left over from a failed start.",
        )


def _check_newest(place: TableLocation) -> None:
    """Raise DamagedStoreError where the newest manifest does not hold what its end says: the engine panics of it.

    Its last 16 bytes: where the message begins (8 bytes), the format (4), "LANC"; the message follows its length.
    """
    name = place.newest_version_file()
    path = Path(place.uri) / f"{place.table}{_SUFFIX}" / "_versions" / name
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            if size < _FOOTER:
                return  # cut or empty: the engine says so
            file.seek(size - _FOOTER)
            end = file.read(_FOOTER)
            start = int.from_bytes(end[:8], "little")
            if start + 4 <= size:
                file.seek(start)
                length = int.from_bytes(file.read(4), "little")
    except OSError as error:
        must_be_absent(path, error)
        return  # removed meanwhile: the engine looks for the newest itself
    if end[-4:] != b"LANC":
        return  # the engine says that, too
    if start + 4 > size or start + 4 + length > size - _FOOTER:
        raise DamagedStoreError(
            f"{place.uri}: bytes of its newest version file {name} are missing or wrong.",
            fix="Move that file out of _versions to open the version before it (its change is lost).",
        )
