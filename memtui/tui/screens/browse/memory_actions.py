"""Editing one memory from Browse: in the form, or its text in $EDITOR; then looked at and written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine import Memory, MemtuiError, changes, clean, one_line
from memtui.tui.change_request import ChangeRequests
from memtui.tui.host import host
from memtui.tui.paint.cells import crop
from memtui.tui.screens.browse.edit_form import EditedMemory, draft_of, put

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
        try:
            text = host(self._staging).in_editor(memory.raw_text)
        except MemtuiError as error:
            self._form(replace(draft, trouble=str(error)), scopes, memory.title)
            return
        if text == memory.raw_text:
            self._staging.say("The text is as it was; nothing was changed.", "note")
        else:
            self._stage(replace(draft, given={"text": text}), scopes, memory.title)

    def _draft(self, memory: Memory) -> EditedMemory | None:
        engine = host(self._staging).session.engine
        if not self._staging.able() or engine is None:
            return None
        return draft_of(memory, engine.editable, versioned=changes.makes_version(engine, memory))

    def _form(self, draft: EditedMemory, scopes: Sequence[str], title: str) -> None:
        from memtui.tui.screens.browse.edit_form import EditForm

        info = host(self._staging).session.info

        def reviewed(changed: EditedMemory | None) -> None:
            if changed is not None:
                self._stage(changed, scopes, title)

        form = EditForm(draft, scopes, info.embedder if info is not None else "", crop(one_line(title), 40))
        self._staging.app.push_screen(form, reviewed)

    def _stage(self, draft: EditedMemory, scopes: Sequence[str], title: str) -> None:
        def again(trouble: str = "") -> None:
            text = draft.given.get("text")
            shown = draft if text is None else put(draft, "text", clean(text), 0)
            self._form(replace(shown, trouble=trouble), scopes, title)

        self._staging.stage(
            lambda engine: changes.plan_edit(engine, [draft.id], draft.given, in_place=draft.in_place),
            then=self._done,
            edit=again,
            failed=lambda error: again(str(error)),
        )
