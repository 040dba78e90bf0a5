"""A folder or a zip archive as a list of files: nothing is unpacked, no link followed, no name trusted."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, takewhile
from pathlib import Path, PurePosixPath
from typing import Protocol, cast

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import one_line
from memtui.engine.transfer.sources.text import Readable, WholeOnly, unzipped

MAX_NOTE = 64 * 1024**2
"""Bytes of a file that is read whole: a note, a chat list. Larger ones are refused with that reason."""

MAX_FILES = 200_000

ZIP = b"PK\x03\x04"

_BOMB_FROM = 1024**2

_BOMB_RATIO = 200
"""Text shrinks to a tenth, a memory export to a fiftieth; only a bomb shrinks to less than a two-hundredth."""

_HIDDEN = {
    ".git",
    "node_modules",
    ".pnpm-store",
    ".venv",
    "venv",
    ".tox",
    "__pycache__",
    ".trash",
    ".obsidian",
}

_BESIDE = ("__MACOSX", ".DS_Store")
"""What a system puts beside files that it packs: not theirs."""

_DEVICE = re.compile(r"(?:CON|PRN|AUX|NUL|COM\d|LPT\d)(?:\.|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class UnsafeMember:
    """A file that is left out, by the name it would have, and why."""

    name: str
    why: str


class OpenMember(Protocol):
    """Opens one file of a tree for reading bytes."""

    def __call__(self) -> Readable: ...


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One regular file: its name below the root with forward slashes, bytes, and time (None: not known)."""

    name: str
    size: int
    mtime_ms: int | None
    open: OpenMember = field(repr=False)

    @property
    def path(self) -> PurePosixPath:
        """The name as a path."""
        return PurePosixPath(self.name)

    def read(self, limit: int = MAX_NOTE) -> bytes:
        """All bytes; MemtuiError when there are more than `limit`."""
        if self.size > limit:
            raise _too_large(self.name, self.size, limit)
        handle = self.open()
        try:
            data = handle.read(limit + 1)
        finally:
            handle.close()
        if len(data) > limit:
            raise _too_large(self.name, len(data), limit)
        return data


def _too_large(name: str, size: int, limit: int) -> MemtuiError:
    return MemtuiError(
        f"{one_line(name)} has {size:,} bytes, more than the {limit:,} that are read of such a file.",
        fix="Split it, or import it in another form.",
    )


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a folder or archive in order of their names, and what was left out."""

    root: Path
    files: tuple[TreeFile, ...]
    refused: tuple[UnsafeMember, ...] = ()
    is_archive: bool = False

    def named(self, name: str) -> TreeFile | None:
        """The file of exactly this name below the root."""
        at = bisect_left(self.files, name, key=lambda file: file.name)
        return self.files[at] if at < len(self.files) and self.files[at].name == name else None

    def below(self, folder: str, suffix: str = "") -> tuple[TreeFile, ...]:
        """The files below `folder` ("" for all) whose names end in `suffix`."""
        lead = f"{folder}/" if folder else ""
        begin = bisect_left(self.files, lead, key=lambda file: file.name)
        inside = takewhile(lambda file: file.name.startswith(lead), islice(self.files, begin, None))
        return tuple(file for file in inside if file.name.lower().endswith(suffix))


def single_file(path: Path) -> TreeFile:
    """One file by itself, under its own name."""
    found = path.stat()
    return TreeFile(path.name, found.st_size, found.st_mtime_ns // 1_000_000, _opener(path))


def tree_of(path: Path, suffixes: tuple[str, ...]) -> Tree:
    """The files of a folder that end in one of `suffixes`, of a zip archive, or one file by itself."""
    if path.is_dir():
        return folder_tree(path, suffixes)
    with path.open("rb") as handle:
        is_archive = handle.read(4) == ZIP
    return archive_tree(path) if is_archive else Tree(path.parent, (single_file(path),))


def folder_tree(root: Path, suffixes: tuple[str, ...]) -> Tree:
    """The files below `root` that end in one of `suffixes`; links, hidden folders and devices are left out."""
    files: list[TreeFile] = []
    refused: list[UnsafeMember] = []
    for path in _walk(root, refused):
        if not path.name.lower().endswith(suffixes):
            continue
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            refused.append(UnsafeMember(name, "a symbolic link is not followed"))
            continue
        try:
            found = path.stat()
        except OSError as error:
            refused.append(UnsafeMember(name, f"cannot be read: {(error.strerror or str(error)).lower()}"))
            continue
        if stat.S_ISREG(found.st_mode):
            files.append(TreeFile(name, found.st_size, found.st_mtime_ns // 1_000_000, _opener(path)))
    return Tree(root, tuple(sorted(files, key=lambda file: file.name)), tuple(refused))


def _opener(path: Path) -> OpenMember:
    return lambda: unzipped(path.open("rb"), path.name)


def _walk(root: Path, refused: list[UnsafeMember]) -> Iterator[Path]:
    count = 0
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        kept = []
        for name in sorted(folders):
            if _is_passed_over(name) or name.endswith(".lance"):
                continue
            if (here / name).is_symlink():
                refused.append(
                    UnsafeMember(
                        (here / name).relative_to(root).as_posix(), "a symbolic link is not followed"
                    )
                )
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(names):
            if _is_passed_over(name):
                continue
            count += 1
            if count > MAX_FILES:
                raise MemtuiError(
                    f"{root} holds more than {MAX_FILES:,} files.", fix="Name a smaller folder."
                )
            yield here / name


def _is_passed_over(name: str) -> bool:
    """Whether a file or folder of this name holds nothing of a person: trash, settings, what a system put there."""
    return name in _HIDDEN or name in _BESIDE or name.startswith("._")


def archive_tree(path: Path) -> Tree:
    """The members of a zip archive. Names that leave it, links and bombs are left out; nothing is unpacked.

    Its files are opened through one reading of the directory; a backslash in a name divides folders, as it does
    where such archives are made.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise MemtuiError(
            f"{path.name} is not a whole zip archive.", fix="Fetch it again.", details=str(error)
        ) from error
    files: dict[str, TreeFile] = {}
    refused: list[UnsafeMember] = []
    if len(archive.infolist()) > MAX_FILES:
        raise MemtuiError(f"{path.name} holds more than {MAX_FILES:,} files.", fix="Split the archive.")
    for info in archive.infolist():
        name = info.filename.replace("\\", "/")
        if name.endswith("/") or any(_is_passed_over(part) for part in name.split("/")):
            continue
        why = _unsafe(info, name)
        if why:
            refused.append(UnsafeMember(info.filename, why))
            continue
        name = PurePosixPath(name).as_posix()
        if name in files:
            refused.append(UnsafeMember(name, "a second member of the same name"))
            continue
        files[name] = TreeFile(name, info.file_size, None, _member(archive, info, path.name))
    return Tree(
        path, tuple(sorted(files.values(), key=lambda file: file.name)), tuple(refused), is_archive=True
    )


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, archive_name: str) -> OpenMember:
    """Opens one member; the archive stays open as long as one of its files may be asked for."""
    name = info.filename

    def open_member() -> Readable:
        try:
            member = archive.open(info)
        except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError) as error:
            raise MemtuiError(
                f"{one_line(name)} in {archive_name} cannot be unpacked: {one_line(str(error)).rstrip('.')}.",
                fix="Fetch the archive again, or make it again where it came from.",
                details=str(error),
            ) from error
        return cast(Readable, io.BufferedReader(WholeOnly(member, name, "member of the archive")))

    return open_member


def _unsafe(info: zipfile.ZipInfo, name: str) -> str:
    parts = name.split("/")
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in parts or "\x00" in name:
        return "its name leaves the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a symbolic link is not followed"
    if any(_DEVICE.match(part) for part in parts):
        return "its name is that of a device"
    if info.flag_bits & 1:
        return "it is encrypted"
    if info.file_size > _BOMB_FROM and info.file_size > _BOMB_RATIO * max(1, info.compress_size):
        return f"it would unpack to {info.file_size:,} bytes from {info.compress_size:,}"
    return ""
