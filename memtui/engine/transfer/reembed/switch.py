"""Putting a re-embedded table in the place of the old one, and the way back; nothing is deleted."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import MemtuiError, RefusedError
from memtui.engine.transfer.reembed.build import NOTE as MADE
from memtui.engine.transfer.reembed.build import Origin

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


_JOURNAL = ("journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "rows")
"""What a journal is made of, in its folder."""


@dataclass(frozen=True, slots=True)
class Switched:
    """A switch that was made: where the table before it lies, and what has to be configured for the new one."""

    store: str
    """The folder of the store."""
    table: str
    kept: str
    """The folder with the table as it was before."""
    model: str
    dims: int
    time_ms: int
    journal: str
    """The folder of the journal."""

    @property
    def home(self) -> Path:
        """Where the store's table is."""
        return Path(self.store) / f"{self.table}.lance"

    @property
    def before(self) -> Path:
        """Where the table of before the switch is."""
        return Path(self.kept) / f"{self.table}.lance"

    @property
    def after(self) -> Path:
        """Where the new table goes when the switch is taken back."""
        folder = Path(self.store)
        return folder.with_name(f"{folder.name}.reembedded-{self.time_ms}") / f"{self.table}.lance"


def note_of(work: Path, uri: str) -> Path:
    """The file below `work` that remembers the last switch of a store."""
    digest = blake2b(uri.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return work / digest / "switch.json"


def switch(engine: Engine, made: Path, note: Path, *, confirmed: bool) -> Switched:
    """Put the table in `made`, which `reembed` made of the store, in the place of the store's own.

    The old table goes into a folder beside the store, its journal is set aside with it: its entries speak of rows
    with other vectors. A kill in the middle is put right by `back`. Open the store anew afterwards.

    Raises RefusedError unless `confirmed` says that no agent has the store open, when somebody has written to it
    since the table was made, and for a store that is not on this machine.
    """
    from memtui.engine.changes.interrupted import find_interrupted
    from memtui.engine.store.locate import TABLE
    from memtui.engine.store.open import open_store
    from memtui.engine.store.writer import VersionMark

    store, now_ms = engine.store, engine.now_ms
    folder = store.folder
    if folder is None:
        raise RefusedError(
            f"{store.name} is not on this machine.", fix="Re-embed a copy of it, and configure the copy."
        )
    if not confirmed:
        raise RefusedError(
            f"Whoever has {store.name} open would go on with the old table.",
            fix="Stop the agent and close other programs, then repeat with --yes; nothing was changed.",
        )
    origin, new = Origin.read(made), made / f"{TABLE}.lance"
    if origin is None or not new.is_dir():
        raise RefusedError(
            f"{made} holds no table that was made of this store.", fix="Re-embed first; nothing was changed."
        )
    applier = engine.write_state.applier
    applier.access.require(confirmed=confirmed)
    if find_interrupted(engine):
        raise RefusedError(
            "A change of this store was interrupted and is not settled.",
            fix="Settle it first (memtui journal); nothing was changed.",
        )
    with applier.gatekeeper.hold() as hold:
        if applier.writer.mark(applier.writer.newest()) != VersionMark(origin.version, origin.file):
            raise RefusedError(
                f"{store.name} was written to since the new table was made.",
                fix="Remove it and re-embed again; nothing was changed.",
            )
        done = Switched(
            str(folder),
            store.table_name,
            str(folder.with_name(f"{folder.name}.before-{now_ms}")),
            origin.model,
            open_store(new).dims or 0,
            now_ms,
            str(applier.journal.path.parent),
        )
        hold.check()
        note.parent.mkdir(parents=True, exist_ok=True)
        _write(note, done)
        try:
            _move(done.home, done.before)
            _move(new, done.home)
        except OSError as error:
            if not done.home.exists() and done.before.exists():
                _move(done.before, done.home)
            note.unlink(missing_ok=True)
            raise MemtuiError(
                f"The tables cannot be exchanged: {(error.strerror or str(error)).lower()}.",
                fix="Make the new table on the same disk as the store; nothing was changed.",
            ) from error
    applier.journal.close()
    _set_aside(Path(done.journal), f"before-{now_ms}")
    (made / MADE).unlink(missing_ok=True)
    _tidy(made)
    return done


def back(note: Path, *, now_ms: int, confirmed: bool) -> Switched:
    """Take a switch back: the table as it was before is the store's again, the new one is kept beside it.

    What was written since the switch is in the new table only. The store need not be open; a switch that was
    killed between its two steps is taken back, too. The journal of before counts again.
    """
    last = last_switch(note)
    if last is None:
        raise RefusedError(
            "No switch of this store is known.", fix="There is nothing to undo; nothing was changed."
        )
    if not confirmed:
        raise RefusedError(
            "What was written since the switch would no longer be seen, and whoever has the store open would go on.",
            fix="Stop the agent, then repeat with --yes; nothing was changed.",
        )
    if not last.before.is_dir():
        if last.home.is_dir() and not Path(last.kept).exists():  # killed before its first step
            note.unlink()
            return last
        raise MemtuiError(
            f"The table before is not in {last.kept} any more.", fix="Restore that folder from a backup."
        )
    try:
        if last.home.is_dir():
            _move(last.home, last.after)
        _move(last.before, last.home)
    except OSError as error:
        raise MemtuiError(
            f"The tables cannot be exchanged: {(error.strerror or str(error)).lower()}.",
            fix="Close other programs, then repeat; both tables are still there.",
        ) from error
    journal = Path(last.journal)
    if (aside := journal / f"before-{last.time_ms}").is_dir():
        _set_aside(journal, f"reembedded-{now_ms}")
        for path in aside.iterdir():
            os.replace(path, journal / path.name)
        _tidy(aside)
    _tidy(Path(last.kept))
    note.unlink()
    return last


def last_switch(note: Path) -> Switched | None:
    """The switch that can be taken back."""
    try:
        return Switched(**json.loads(note.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def _write(note: Path, done: Switched) -> None:
    """On the disk before anything is moved."""
    with note.open("w", encoding="utf-8") as file:
        json.dump(asdict(done), file)
        file.flush()
        os.fsync(file.fileno())


def _move(here: Path, there: Path) -> None:
    there.parent.mkdir(parents=True, exist_ok=True)
    here.rename(there)


def _set_aside(journal: Path, name: str) -> None:
    """Keep a journal whose entries can no longer be undone, in a folder of its own below."""
    for part in _JOURNAL:
        if (journal / part).exists():
            _move(journal / part, journal / name / part)


def _tidy(folder: Path) -> None:
    """Remove a folder that is empty."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
