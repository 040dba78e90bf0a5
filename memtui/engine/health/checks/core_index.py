"""memory-core's index and the Markdown behind it: what the index no longer says, and what has no file any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.text import counted, quoted
from memtui.engine.health.check import Check, Patient, Seen
from memtui.engine.notes.index_store import NotesIndex, index_of

if TYPE_CHECKING:
    from memtui.engine.notes.index_store import IndexView

_SHOWN = 20
"""Files that are named; the count says how many there are."""


def _index(patient: Patient) -> NotesIndex | None:
    return None if patient.store is None else index_of(patient.store)


def _is_index(patient: Patient) -> bool:
    return _index(patient) is not None


def _remedy(index: NotesIndex) -> str:
    return "let the host read its files: openclaw memory index" + (
        f" --agent {quoted(index.agent)}" if index.agent else ""
    )


def _place(index: NotesIndex, path: str) -> str:
    return str(index.files.place(path) or path)


def _ids(view: IndexView, paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(placed.chunk.id for placed in view.placed.values() if placed.chunk.path in paths)


def _stale(patient: Patient) -> Seen | None:
    index = _index(patient)
    if index is None:
        return None
    view = index.view
    changed, new = view.changed_files, index.new_files(view)
    rebuild = view.content.vector_rebuild not in ("", "clean")
    said = []
    if changed:
        said.append(f"{counted(len(changed), 'file')} changed since the index was made")
    if new:
        said.append(f"{counted(len(new), 'file')} not indexed yet")
    if rebuild:
        said.append(f"the vectors are marked {view.content.vector_rebuild}")
    if not said:
        return None
    paths = (*changed, *new)
    return Seen(
        f"{', '.join(said)}: recall quotes the index, not the files",
        len(paths) or 1,
        ids=tuple(
            placed.chunk.id
            for placed in view.placed.values()
            if placed.chunk.path in changed and placed.state != "indexed"
        ),
        files=tuple(_place(index, path) for path in paths[:_SHOWN]),
        evidence=paths[:_SHOWN],
        remedy=_remedy(index),
    )


def _orphans(patient: Patient) -> Seen | None:
    index = _index(patient)
    if index is None or index.files.workspace is None:
        return None
    missing = index.view.missing_files
    ids = _ids(index.view, missing)
    if not missing:
        return None
    return Seen(
        f"{counted(len(ids), 'row')} of {counted(len(missing), 'file')} that are gone: recall still returns them",
        len(ids),
        ids=ids,
        files=tuple(_place(index, path) for path in missing[:_SHOWN]),
        evidence=missing[:_SHOWN],
        remedy=_remedy(index),
    )


PROTOCOL = 1

CHECKS = (
    Check(
        "D48", "index and files", "facts", "S3", "wrong", "the agent recalls what the files said before",
        "let the host read its files: openclaw memory index", _stale,
        how="by hand", safe=None, reversible=None, applies=_is_index,
    ),
    Check(
        "D49", "files of the rows", "facts", "S2", "wrong", "the agent recalls what nobody keeps any more",
        "let the host read its files: openclaw memory index", _orphans,
        how="by hand", safe=None, reversible=None, applies=_is_index,
    ),
)  # fmt: skip
