"""Editing one memory from Browse: in the form, or its text in $EDITOR; then looked at and written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine import Memory, MemtuiError, changes, clean, one_line
from memtui.tui.change_request import ChangeRequests
from memtui.tui.host import host
from memtui.tui.paint.cells import crop
from memtui.tui.screens.browse.edit_form import EditedMemory, draft_of, put
from memtui.tui.screens.browse.unsaved import UnsavedEdits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memtui.engine.changes import Outcome


class Editing:
    """Edits memories by way of `staging`; `done` hears of each change that was written."""

    def __init__(self, staging: ChangeRequests, done: Callable[[Outcome], None]) -> None:
        self._staging, self._done = staging, done

    def edit(self, memory: Memory, scopes: Sequence[str]) -> None:
        """The form, with everything that the store lets a person set."""
        if (draft := self._draft(memory)) is not None:
            self._form(draft, scopes, memory.title)

    def text(self, memory: Memory, scopes: Sequence[str]) -> None:
        """The text in the person's own editor; in the form, with the reason, where that cannot be had."""
        draft = self._draft(memory)
        if draft is None:
            return
        before = draft.given.get("text", memory.raw_text)
        try:
            text = host(self._staging).in_editor(before)
        except MemtuiError as error:
            self._form(replace(draft, trouble=str(error)), scopes, memory.title)
            return
        if text == before == memory.raw_text:
            self._staging.say("The text is as it was; nothing was changed.", "note")
        else:
            edited = replace(draft, given={**draft.given, "text": text})
            self._unsaved.keep(edited)
            self._stage(edited, scopes, memory.title)

    def _draft(self, memory: Memory) -> EditedMemory | None:
        engine = host(self._staging).session.engine
        if not self._staging.able() or engine is None:
            return None
        draft = draft_of(memory, engine.editable, versioned=changes.makes_version(engine, memory))
        return self._unsaved.restored(draft)

    @property
    def _unsaved(self) -> UnsavedEdits:
        """The edits that an earlier run left."""
        app = host(self._staging)
        info = app.session.info
        return UnsavedEdits(app.unsaved_edits(info.uri if info is not None else ""))

    def _form(self, draft: EditedMemory, scopes: Sequence[str], title: str) -> None:
        from memtui.tui.screens.browse.edit_form import EditForm

        info = host(self._staging).session.info

        def reviewed(changed: EditedMemory | None) -> None:
            if changed is not None:
                self._stage(changed, scopes, title)

        embedder = info.embedder if info is not None else ""
        form = EditForm(draft, scopes, embedder, crop(one_line(title), 40), self._unsaved.keep)
        self._staging.app.push_screen(form, reviewed)

    def _stage(self, draft: EditedMemory, scopes: Sequence[str], title: str) -> None:
        def again(trouble: str = "") -> None:
            text = draft.given.get("text")
            shown = draft if text is None else put(draft, "text", clean(text), 0)
            self._form(replace(shown, trouble=trouble), scopes, title)

        def applied(outcome: Outcome) -> None:
            self._unsaved.drop(draft.id)
            self._done(outcome)

        self._staging.stage(
            lambda engine: changes.plan_edit(engine, [draft.id], draft.given, in_place=draft.in_place),
            then=applied,
            edit=again,
            failed=lambda error: again(str(error)),
        )
