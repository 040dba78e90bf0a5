"""A second table at an address: made and verified on this machine, sent there file by file, verified there again."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.core.errors import RefusedError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.store.locate import TABLE
from memtui.engine.store.object_store import ObjectFolder
from memtui.engine.transfer.make_store import open_like
from memtui.engine.transfer.reembed.build import NOTE, Origin, Reembedded, reembed, verified

if TYPE_CHECKING:
    from memtui.engine.providers.embedder import Embedder
    from memtui.engine.store.table import Store

_SENDING, _WHOLE = "sending", "whole"


def reembed_to(
    store: Store,
    embedder: Embedder,
    address: str,
    options: Mapping[str, str],
    *,
    work: Path,
    parts: str = "",
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> Reembedded:
    """`reembed` with its table at an address on object storage that `options` reach.

    After a failure or a kill the same call goes on: vectors of a service are asked for once, the table is made once,
    files that arrived whole are not sent again. A table counts there when its last file, which names the others, has
    come. Raises RefusedError when something else is there, and what `reembed` raises.
    """
    there = ObjectFolder(address, options)
    origin = Origin.of(store, embedder.name)
    state = _state(there, address, origin)
    near = work / "far" / hashlib.sha256(address.encode()).hexdigest()[:16]
    if state != _WHOLE:
        if near.exists() and Origin.read(near) != origin:  # of a store as it was before
            shutil.rmtree(near)
        reembed(
            store, embedder, near, work=work, keep=True, parts=parts, on_progress=on_progress, cancel=cancel
        )
        _note(there, origin, _SENDING)
        _send(near / f"{TABLE}.lance", there, on_progress, cancel)
    far = open_like(address, store, options)
    checked = verified(store, far, embedder, on_progress, cancel)
    _note(there, origin, _WHOLE)
    shutil.rmtree(near, ignore_errors=True)
    return Reembedded(address, embedder.name, far.dims or 0, store.count(), store.version, *checked)


def _state(there: ObjectFolder, address: str, origin: Origin) -> str:
    """How far a table of this origin is at the address; empty where nothing is. RefusedError for anything else."""
    found = there.get(NOTE)
    said = {} if found is None else json.loads(found[0])
    known = (
        None
        if found is None
        else Origin(
            int(said["version"]),
            None if said["file"] is None else tuple(said["file"]),
            said["model"],
            said["tag"],
        )
    )
    if known == origin:
        return str(said["state"])
    if known is not None or TABLE in there.tables():
        what = "memories" if known is None else known.model
        if known is not None and known.model == origin.model:
            what = "the store before the change"
        raise RefusedError(f"{address} holds a table of {what}.", fix="Remove it, or name another address.")
    return ""


def _note(there: ObjectFolder, origin: Origin, state: str) -> None:
    there.put_new(NOTE, json.dumps({**asdict(origin), "state": state}).encode())


def _send(
    table: Path, there: ObjectFolder, on_progress: OnProgress | None, cancel: CancelToken | None
) -> None:
    """Send a table's files, those that name its versions last; what a run before left of another table goes."""
    root = f"{TABLE}.lance"
    files = {
        f"{root}/{path.relative_to(table).as_posix()}": path for path in table.rglob("*") if path.is_file()
    }
    sizes = there.sizes(root)
    for name in sizes.keys() - files.keys():
        there.delete(name)
    total, done = sum(path.stat().st_size for path in files.values()), 0
    for name, path in sorted(files.items(), key=lambda each: (f"{root}/_versions/" in each[0], each[0])):
        if cancel is not None:
            cancel.check()
        size = path.stat().st_size
        if sizes.get(name) != size or f"{root}/_versions/" in name:
            there.send(name, path)
        done += size
        if on_progress:
            on_progress(Progress("sending the new table", done, total, "bytes"))
