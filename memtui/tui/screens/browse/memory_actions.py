"""Editing one memory from Browse: in the form, or its text in $EDITOR; then looked at and written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine import Memory, MemtuiError, changes, clean, one_line, transfer
from memtui.tui.change_request import ChangeRequests
from memtui.tui.host import host
from memtui.tui.paint.cells import crop
from memtui.tui.screens.browse.edit_form import EditedMemory, draft_of, new_draft, put
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
            self._staging.say("The text is the same; nothing was changed.", "note")
        else:
            edited = replace(draft, given={**draft.given, "text": text})
            self._unsaved.keep(edited)
            self._stage(edited, scopes, memory.title)

    def add(self, scope: str, scopes: Sequence[str]) -> None:
        """The form for a new memory, in `scope` to begin with."""
        engine = host(self._staging).session.engine
        if self._staging.able() and engine is not None:
            self._add(self._unsaved.restored(new_draft(engine.editable, scope)), scopes)

    def _add(
        self, draft: EditedMemory, scopes: Sequence[str], rules_off: frozenset[str] = frozenset()
    ) -> None:
        """Ask for a new memory; `rules_off` were named as the reason against this very text, and hold no more."""
        from memtui.tui.screens.browse.edit_form import AddForm

        info = host(self._staging).session.info
        text = draft.value("text")

        def reviewed(typed: EditedMemory | None) -> None:
            if typed is not None:
                self._stage_new(typed, scopes, rules_off if typed.value("text") == text else frozenset())

        embedder = info.embedder if info is not None else ""
        self._staging.app.push_screen(AddForm(draft, scopes, embedder, "", self._unsaved.keep), reviewed)

    def _stage_new(self, draft: EditedMemory, scopes: Sequence[str], rules_off: frozenset[str]) -> None:
        def again(trouble: str = "", off: frozenset[str] = rules_off) -> None:
            self._add(replace(draft, trouble=trouble), scopes, off)

        def failed(error: MemtuiError) -> None:
            rule = getattr(error, "rule", "")
            again(str(error), rules_off | {rule} if rule in transfer.DISPUTABLE else rules_off)

        def applied(outcome: Outcome) -> None:
            self._unsaved.drop(draft.id)
            self._done(outcome)

        fields: dict[str, str | float] = {name: draft.value(name) for name in draft.own}
        if "importance" in fields:
            fields["importance"] = float(fields["importance"])
        self._staging.stage(
            lambda engine: transfer.plan_memory(engine, fields, rules_off),
            then=applied,
            edit=again,
            failed=failed,
        )

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
