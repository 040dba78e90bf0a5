"""Putting a re-embedded table in the place of the old one, and the way back; the old one is kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.errors import MemtuiError, RefusedError
from memtui.engine.transfer.reembed import NOTE as MADE

if TYPE_CHECKING:
    from memtui.engine.curate.facade import Curator
    from memtui.engine.store.table import Store

NOTE = "switch.json"


@dataclass(frozen=True, slots=True)
class Switched:
    """A switch that was made: where the table before it lies, and what has to be configured for the new one."""

    store: str
    table: str
    kept: str
    """The folder with the table as it was before."""
    model: str
    dims: int
    time_ms: int


def switch(
    store: Store,
    made: Path,
    curator: Curator,
    note: Path,
    *,
    now_ms: int,
    confirmed: bool,
) -> Switched:
    """Put the table in `made`, which `reembed` made of the store, in the place of the store's own.

    The old table goes into a folder beside the store, its journal is set aside with it. Raises RefusedError
    unless `confirmed` says that no agent has the store open, when somebody has written to it since the table
    was made, and for a store that is not on this machine.
    """
    folder = _local(store)
    if not confirmed:
        raise RefusedError(
            f"Whoever has {store.name} open would go on with the old table.",
            fix="Stop the agent and close other programs, then repeat with --yes; nothing was changed.",
        )
    table = f"{store.table_name}.lance"
    origin = made_from(made)
    if origin is None or not (made / table).is_dir():
        raise RefusedError(
            f"{made} holds no table that was made of this store.", fix="Re-embed first; nothing was changed."
        )
    bench = curator.bench
    bench.access.require(confirmed=confirmed)
    kept = folder.with_name(f"{folder.name}.before-{now_ms}")
    with bench.gatekeeper.hold() as hold:
        if bench.writer.newest() != origin[0]:
            raise RefusedError(
                f"{store.name} was written to since the new table was made.",
                fix="Run the re-embedding again: only what is new is embedded; nothing was changed.",
            )
        from memtui.engine.store.open import open_store

        dims = open_store(made).dims or 0
        hold.check()
        kept.mkdir()
        _exchange(folder / table, made / table, kept / table)
    _set_aside(bench.journal.path, now_ms)
    bench.journal.close()
    done = Switched(str(folder), store.table_name, str(kept), origin[1], dims, now_ms)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps(asdict(done)), encoding="utf-8")
    (made / MADE).unlink(missing_ok=True)
    if not any(made.iterdir()):
        made.rmdir()
    return done


def made_from(folder: Path) -> tuple[int, str] | None:
    """(version of the store, model) that a second table was made from and with; None for any other folder."""
    try:
        value = json.loads((folder / MADE).read_text(encoding="utf-8"))
        return int(value["version"]), str(value["model"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def back(store_folder: Path, note: Path, *, confirmed: bool) -> Switched:
    """Take a switch back: the table as it was before is the store's again, the new one is kept beside it.

    What was written since the switch is in the new table only.
    """
    last = last_switch(note)
    if last is None or Path(last.store) != store_folder:
        raise RefusedError(
            f"No switch of {store_folder.name} is known.", fix="There is nothing to take back."
        )
    if not confirmed:
        raise RefusedError(
            "What was written since the switch would no longer be seen, and whoever has the store open would go on.",
            fix="Stop the agent, then repeat with --yes; nothing was changed.",
        )
    table = f"{last.table}.lance"
    kept = Path(last.kept)
    if not (kept / table).is_dir():
        raise MemtuiError(
            f"The table before is not in {kept} any more.", fix="Restore that folder from a backup."
        )
    left = store_folder.with_name(f"{store_folder.name}.reembedded-{last.time_ms}")
    left.mkdir()
    _exchange(store_folder / table, kept / table, left / table)
    if not any(kept.iterdir()):
        kept.rmdir()
    note.unlink()
    return last


def last_switch(note: Path) -> Switched | None:
    """The switch that can be taken back."""
    try:
        value = json.loads(note.read_text(encoding="utf-8"))
        return Switched(**value)
    except (OSError, ValueError, TypeError):
        return None


def _exchange(here: Path, new: Path, aside: Path) -> None:
    """`here` goes to `aside`, `new` to `here`; when the second step fails the first is taken back."""
    try:
        with _undone(aside, here):
            here.rename(aside)
            new.rename(here)
    except OSError as error:
        raise MemtuiError(
            f"The tables cannot be exchanged: {(error.strerror or str(error)).lower()}.",
            fix="Make the new table on the same disk as the store; nothing was changed.",
        ) from error


@contextmanager
def _undone(moved: Path, home: Path) -> Iterator[None]:
    try:
        yield
    except OSError:
        if moved.exists() and not home.exists():
            moved.rename(home)
        raise


def _set_aside(journal: Path, now_ms: int) -> None:
    """Entries of before the switch speak of rows with other vectors: they are kept, but can no longer be undone."""
    for suffix in ("", "-wal", "-shm"):
        old = journal.with_name(journal.name + suffix)
        if old.exists():
            os.replace(old, journal.with_name(f"{journal.stem}-before-{now_ms}{journal.suffix}{suffix}"))


def _local(store: Store) -> Path:
    if store.folder is None:
        raise RefusedError(
            f"{store.name} is not on this machine.", fix="Re-embed a copy of it, and configure the copy."
        )
    return store.folder
