"""Edits of memories that were not applied yet, on disk: a crash, a kill or a closed terminal loses none of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memtui.engine import find_secrets
from memtui.tui.screens.browse.edit_form import EditedMemory
from memtui.ui_state import UiState


class UnsavedEdits:
    """The edits of one store, by the memory's id; in a file that only its owner may read.

    An edit that holds a secret is not kept: secrets go nowhere but into the store.
    """

    def __init__(self, file: UiState) -> None:
        self._file = file

    def keep(self, draft: EditedMemory) -> bool:
        """Keep what differs from the memory; whether it is on disk. An edit without a difference is dropped."""
        if not draft.given:
            return self.drop(draft.id)
        if any(find_secrets(value) for value in draft.given.values()):
            self.drop(draft.id)
            return False
        return self._file.put({draft.id: {"given": dict(draft.given), "in_place": draft.in_place}})

    def drop(self, id: str) -> bool:
        """The edit was applied, or is not wanted; whether that is on disk."""
        return id not in self._file.read() or self._file.put({id: None})

    def restored(self, draft: EditedMemory) -> EditedMemory:
        """The draft of a memory as it was left; the same where nothing was left that still differs."""
        kept = self._file.read().get(draft.id)
        if not isinstance(kept, dict):
            return draft
        known = {"text", *(field.name for field in draft.fields)}
        given = {
            name: value
            for name, value in _texts(kept.get("given")).items()
            if name in known and value != draft.own[name]
        }
        return (
            replace(draft, given=given, in_place=kept.get("in_place") is True, restored=True)
            if given
            else draft
        )


def _texts(values: Any) -> dict[str, str]:
    found = values.items() if isinstance(values, dict) else ()
    return {name: value for name, value in found if isinstance(value, str)}
