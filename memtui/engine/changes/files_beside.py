"""Files beside a store that a change writes along with its memories: taken back with them, never over others' work."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memtui.engine.core.errors import MemtuiError
from memtui.engine.core.text import counted


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file as it was and as it is to be; None where there is none."""

    path: str
    before: str | None
    after: str | None

    @property
    def reverse(self) -> FileEdit:
        """The same the other way."""
        return FileEdit(self.path, self.after, self.before)

    @property
    def sentence(self) -> str:
        """What happens to the file, for a preview."""
        if self.after is None:
            return f"{self.path} is removed"
        if self.before is None:
            return f"{self.path} is new, {counted(len(self.after.splitlines()), 'line')}"
        more = len(self.after.splitlines()) - len(self.before.splitlines())
        lines = counted(abs(more), "line")
        told = f"{lines} more" if more > 0 else f"{lines} fewer" if more < 0 else "as many lines"
        return f"{self.path} changes, {told}"

    def as_json(self) -> dict[str, Any]:
        """As the journal keeps it."""
        return asdict(self)


def edits_of(texts: Mapping[Path, str]) -> tuple[FileEdit, ...]:
    """The edits that give each file its text, from how it is now; a file that has it already is left out.

    Raises MemtuiError for a file that is there and cannot be read.
    """
    found = []
    for path, text in texts.items():
        try:
            found.append(FileEdit(str(path), _text(path), text))
        except (OSError, UnicodeDecodeError) as error:
            raise MemtuiError(
                f"{path} cannot be read; nothing was changed.", fix="Move it away, or make it readable."
            ) from error
    return tuple(edit for edit in found if edit.before != edit.after)


def edits_in(detail: Mapping[str, Any]) -> tuple[FileEdit, ...]:
    """The edits that a journal entry keeps."""
    return tuple(FileEdit(file["path"], file["before"], file["after"]) for file in detail.get("files", ()))


def files_written(edits: Iterable[FileEdit]) -> set[bool]:
    """Whether files are as after their edits (True) or as before (False); nothing is said of another text."""
    said = set()
    for edit in edits:
        try:
            now = _text(Path(edit.path))
        except (OSError, UnicodeDecodeError):
            continue
        if now in (edit.before, edit.after):
            said.add(now == edit.after)
    return said


@dataclass(slots=True)
class PreparedFiles:
    """New contents, written beside their files: `take` puts them in place, `drop` throws them away."""

    edits: Sequence[FileEdit]
    beside: dict[str, str]

    def take(self) -> list[str]:
        """Put every file in place; what was changed by others since is left, and said in a sentence."""
        problems = []
        for edit in self.edits:
            path = Path(edit.path)
            try:
                now = _text(path)
                if now == edit.after:
                    continue
                if now != edit.before:
                    problems.append(self._beyond(edit, path, now))
                elif edit.after is None:
                    path.unlink()
                else:
                    os.replace(self.beside.pop(edit.path), path)
            except UnicodeDecodeError:
                problems.append(f"{path} stays as it is: it was changed since.")
            except OSError as error:
                problems.append(f"{path} is unchanged: {(error.strerror or str(error)).lower()}.")
        self.drop()
        return [problem for problem in problems if problem]

    def _beyond(self, edit: FileEdit, path: Path, now: str | None) -> str:
        """A file that has grown since keeps what was added; another change is left alone."""
        if now is not None and edit.before is not None and now.startswith(edit.before):
            text = (edit.after or "") + now[len(edit.before) :]
            path.write_text(text, encoding="utf-8")
            return ""
        return f"{path} stays as it is: it was changed since."

    def drop(self) -> None:
        """Remove what was written beside and not put in place."""
        for name in self.beside.values():
            Path(name).unlink(missing_ok=True)
        self.beside.clear()


def prepare_files(edits: Iterable[FileEdit]) -> PreparedFiles:
    """Write new contents beside their files, so that only a renaming is left to do. Raises OSError."""
    prepared = PreparedFiles(tuple(edits), {})
    try:
        for edit in prepared.edits:
            if edit.after is None:
                continue
            path = Path(edit.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            prepared.beside[edit.path] = name
            os.fchmod(handle, path.stat().st_mode & 0o777 if path.exists() else 0o644)
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(edit.after)
    except OSError:
        prepared.drop()
        raise
    return prepared


def _text(path: Path) -> str | None:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
