"""Snapshots of a table's whole folder, kept beside memtui's own files: against a disk that breaks, or a folder lost.

The form is openclaw-mem-engine's (manifest.json, one folder a tag). Versions and their names live in the table's folder
and go with it; a snapshot does not. Nothing of the store is changed: it is copied, and copied out again. The documents
that were read for the store go with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.changes.journal import journal_of
from memtui.engine.core.errors import DamagedStoreError, RefusedError, UsageError
from memtui.engine.core.progress import OnProgress, Progress
from memtui.engine.documents.store_documents import FILE as DOCUMENTS
from memtui.engine.documents.store_documents import copy_lane

if TYPE_CHECKING:
    from memtui.engine.engine import Engine

KIND = "openclaw-mem-engine.dataset-snapshot.v0"

FOLDER, MANIFEST, DATA = "snapshots", "manifest.json", "data"

BESIDE = "beside"
"""Folder of what is kept beside the store: its documents."""

_TAG = re.compile(r"[A-Za-z0-9._-]{1,64}")

_FIRST = ("_versions", "_transactions")
"""Copied before the data: whatever they name was written before them, also while an agent goes on."""

BLOCK = 1 << 20


def checked_tag(tag: str) -> str:
    """The tag, if it names a folder and nothing else. UsageError else."""
    if not _TAG.fullmatch(tag):
        raise UsageError(
            "snapshot tag must match [A-Za-z0-9._-]{1,64}", fix="Take letters, digits, . _ and -."
        )
    if tag in (".", ".."):
        raise UsageError("snapshot tag must not contain path separators", fix="Take letters and digits.")
    return tag


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """One file of a snapshot."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class FolderSnapshot:
    """One snapshot, as its manifest tells it."""

    tag: str
    created_at: str
    """ISO 8601, UTC."""
    source: str
    """The folder of the store that it is of."""
    table: str
    rows: int
    version: int
    files: tuple[SnapshotFile, ...]
    place: Path
    documents: SnapshotFile | None = None
    """The documents of the store, by their path below the snapshot; None where there were none."""

    @property
    def bytes(self) -> int:
        """Of all its files."""
        return sum(file.bytes for file in (*self.files, *filter(None, (self.documents,))))

    def as_json(self) -> dict[str, Any]:
        """The manifest: no memory's text, and no reason, which may hold one."""
        digest = hashlib.sha256("".join(f"{file.path}\0{file.sha256}\n" for file in self.files).encode())
        return {
            "kind": KIND,
            "tag": self.tag,
            "createdAt": self.created_at,
            "source": {"dbPath": self.source, "table": self.table},
            "artifact": {"format": "dir", "path": str(self.place), "dataPath": str(self.place / DATA)},
            "stats": {
                "fileCount": len(self.files),
                "bytes": sum(file.bytes for file in self.files),
                "sha256": digest.hexdigest(),
                "rowCount": self.rows,
                "version": self.version,
                "files": [asdict(file) for file in self.files],
            },
            "notes": [],
            **({} if self.documents is None else {"documents": asdict(self.documents)}),
        }


class FolderSnapshots:
    """The snapshots of one store. UsageError for a store that is no folder, or beside which nothing is kept."""

    def __init__(self, engine: Engine) -> None:
        place = engine.state_place
        if place is None:
            raise UsageError(
                "Nothing is kept beside this store.", fix="Open it with a folder for memtui's state."
            )
        self._engine = engine
        self._table = Path(engine.info.uri) / f"{engine.store.table_name}.lance"
        if not self._table.is_dir():
            raise UsageError("Only a store that is a folder can be copied.", fix="See: memtui versions pin.")
        self.place = place / FOLDER

    def all(self) -> tuple[FolderSnapshot, ...]:
        """The newest first; a folder without a manifest that can be read is none."""
        found = [_read(path) for path in self.place.glob(f"*/{MANIFEST}")]
        known = [snapshot for snapshot in found if snapshot is not None]
        return tuple(sorted(known, key=lambda each: (each.created_at, each.tag), reverse=True))

    def named(self, tag: str) -> FolderSnapshot:
        """The snapshot of this tag. UsageError where there is none."""
        found = _read(self.place / checked_tag(tag) / MANIFEST)
        if found is None:
            raise UsageError(f"There is no snapshot {tag}.", fix="See: memtui versions snapshots.")
        return found

    def create(self, tag: str, *, on_progress: OnProgress | None = None) -> FolderSnapshot:
        """Copy the table's folder and the store's documents; one that was cut off is taken away again.

        RefusedError for a tag that is there.
        """
        place = self.place / checked_tag(tag)
        if place.exists():
            raise RefusedError(
                f"There is a snapshot {tag} already.", fix="Take another tag, or drop it first."
            )
        version = self._engine.store.version
        rows = self._engine.store.pin(version).count()
        self.place.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            files = tuple(_copied(self._table, place / DATA / self._table.name, place / DATA, on_progress))
            documents = place / BESIDE / DOCUMENTS
            there = copy_lane(self._engine, documents)
            at = datetime.fromtimestamp(self._engine.now_ms / 1000, UTC)
            made = FolderSnapshot(
                tag,
                at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                str(self._engine.info.uri),
                self._engine.store.table_name,
                rows,
                version,
                files,
                place,
                _told(documents, place) if there else None,
            )
            (place / MANIFEST).write_text(json.dumps(made.as_json(), indent=1) + "\n", encoding="utf-8")
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        return made

    def verify(self, tag: str) -> FolderSnapshot:
        """The snapshot, after each of its files was read and compared. DamagedStoreError for one that differs."""
        found = self.named(tag)
        every = [(found.place / DATA / file.path, file) for file in found.files]
        if found.documents is not None:
            every.append((found.place / found.documents.path, found.documents))
        for path, file in every:
            if not path.is_file() or path.stat().st_size != file.bytes or _digest(path) != file.sha256:
                raise DamagedStoreError(
                    f"{file.path} of the snapshot {tag} is not what was copied.", fix="Take another snapshot."
                )
        return found

    def check_out(self, tag: str, folder: Path, *, on_progress: OnProgress | None = None) -> FolderSnapshot:
        """Copy a verified snapshot into a new folder, a store that opens, with its documents.

        RefusedError for a folder that is not empty, and for one beside which documents are kept already.

        The store itself is never replaced: what was written since the snapshot would be lost, and an agent that holds
        it open would write on into what is gone.
        """
        found = self.verify(tag)
        if folder.exists() and any(folder.iterdir()):
            raise RefusedError(f"{folder} is not empty.", fix="Name a new folder.")
        documents = journal_of(self.place.parents[2], str(folder), found.table).with_name(DOCUMENTS)
        if found.documents is not None and documents.exists():
            raise RefusedError(f"Documents are kept for {folder} already.", fix="Name another folder.")
        made = not folder.exists()
        try:
            for _ in _copied(found.place / DATA, folder, folder, on_progress):
                pass
            if found.documents is not None:
                documents.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                _copy(found.place / found.documents.path, documents)
        except BaseException:
            if made:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        return found

    def drop(self, tag: str) -> FolderSnapshot:
        """Remove a snapshot for good."""
        found = self.named(tag)
        shutil.rmtree(found.place)
        return found


def _copied(source: Path, target: Path, root: Path, on_progress: OnProgress | None) -> Iterator[SnapshotFile]:
    """Copy a folder without its links, file by file, each flushed; what was copied, by its path below `root`."""
    paths = sorted(
        (path for path in source.rglob("*") if path.is_file() and not path.is_symlink()),
        key=lambda each: (not any(part in _FIRST for part in each.parts), each.as_posix()),
    )
    for at, path in enumerate(paths):
        if any(parent.is_symlink() for parent in path.relative_to(source).parents if parent != Path()):
            continue
        to = target / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        size, digest = _copy(path, to)
        if on_progress is not None:
            on_progress(Progress("copying", at + 1, len(paths)))
        yield SnapshotFile(to.relative_to(root).as_posix(), size, digest)


def _copy(source: Path, target: Path) -> tuple[int, str]:
    """Copy one file; its size and digest as they were written."""
    digest, size = hashlib.sha256(), 0
    with source.open("rb") as read, target.open("xb") as write:
        while block := read.read(BLOCK):
            digest.update(block)
            size += len(block)
            write.write(block)
        write.flush()
        os.fsync(write.fileno())
    return size, digest.hexdigest()


def _told(path: Path, root: Path) -> SnapshotFile:
    return SnapshotFile(path.relative_to(root).as_posix(), path.stat().st_size, _digest(path))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> FolderSnapshot | None:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        stats = told["stats"]
        if told["kind"] != KIND:
            return None
        return FolderSnapshot(
            str(told["tag"]),
            str(told["createdAt"]),
            str(told["source"]["dbPath"]),
            str(told["source"]["table"]),
            int(stats.get("rowCount", 0)),
            int(stats.get("version", 0)),
            tuple(SnapshotFile(**file) for file in stats["files"]),
            path.parent,
            SnapshotFile(**told["documents"]) if "documents" in told else None,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
