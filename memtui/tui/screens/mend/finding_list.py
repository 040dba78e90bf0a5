"""The two lists of Mend: rows that can be marked, and the way from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from textual import on
from textual.message import Message

from memtui.engine import (
    Outcome,
    mask,
    one_line,
)
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.dialogs.forget import receipt_sheet
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.messages import ShowInBrowse
from memtui.tui.screens.mend import state as reduce
from memtui.tui.screens.mend.state import COARSE, FINE, FLOOR, KINDS, Losers, MendState, Part
from memtui.tui.screens.mend.view import LISTED
from memtui.tui.widgets.row_list import BuiltRows

if TYPE_CHECKING:
    from memtui.engine import CancelToken, ChangeSet, Engine
    from memtui.engine.health import (
        Cluster,
    )
    from memtui.tui.calls import Report


class Finds(BuiltRows, inherit_bindings=False):
    """Rows built by a function; posts `Marked` and `Sideways`, the screen decides what they mean."""

    BINDINGS = bindings("finds")

    @dataclass
    class Marked(Message):
        """Mark the row under the cursor, or take its mark away."""

        rows: Finds

    @dataclass
    class Sideways(Message):
        """Go to the list on the right (+1) or on the left (-1)."""

        by: int

    @property
    def keys(self) -> list[str]:
        """The keys of the rows, from the first to the last."""
        return self._keys()

    def action_mark(self) -> None:
        if self.key:
            self.post_message(self.Marked(self))

    def action_right(self) -> None:
        self.post_message(self.Sideways(1))

    def action_left(self) -> None:
        self.post_message(self.Sideways(-1))


# The engine calls behind Mend, as they run on a worker thread.


def look(engine: Engine, state: MendState, token: CancelToken, report: Report) -> Any:
    """What the present part is about: near pairs, suspects, or what was thrown away."""
    if state.part == "duplicates":
        near = engine.curate.duplicates(
            state.within, floor=FLOOR, across_scopes=state.across, on_progress=report, cancel=token
        )
        return near, near.clusters(state.threshold)
    if state.part == "trash":
        return trash(engine, token)
    return engine.curate.sweep(KINDS[state.part], state.within, on_progress=report, cancel=token)


def trash(engine: Engine, token: CancelToken) -> Any:
    """Deleted and archived memories together, the last first."""
    curate = engine.curate
    stateful = any(field.name == "state" for field in engine.editable)
    found = [*curate.trash(), *(curate.archived(LISTED, token) if stateful else ())]
    return tuple(sorted(found, key=lambda each: -each.when_ms))


def masked(engine: Engine, ids: Sequence[str], past: str) -> tuple[ChangeSet, tuple[str, ...]]:
    """Plan to put a mark in the place of every secret in the texts of these memories, and say what that leaves.

    `past` is the key that takes it out of the history, too.
    """
    texts = {each: mask(memory.raw_text)[0] for each, memory in engine.memories(ids).items()}
    stays = (
        "The secret stays in older versions of the table, and in the journal for undo."
        f" {past} takes it out of both afterwards, and the memory stays. A key that leaked: change it where it is used."
    )
    return engine.curate.texts(texts, in_place=True), (stays,)


def title_of(part: Part) -> str:
    """What is going on while the part is looked for."""
    return {
        "duplicates": "comparing memories",
        "noise": "looking for noise",
        "secrets": "looking for secrets and orders",
        "trash": "looking into the trash",
    }[part]


# What the keys of Mend do: go to a part, choose, and stage a change.

_OF_PART: dict[str, tuple[Part, ...]] = {
    **dict.fromkeys(
        ("stricter", "looser", "much_stricter", "much_looser", "across", "merge"), ("duplicates",)
    ),
    **dict.fromkeys(("losers", "survivor", "text", "skip"), ("duplicates",)),
    **dict.fromkeys(("archive", "forget", "mark_sure"), ("noise", "secrets")),
    "mask": ("secrets",),
    "past": ("secrets",),
    "every_trace": ("noise", "secrets"),
    "reveal": ("secrets",),
    "restore": ("trash",),
}
"""Actions that make sense in some parts only."""


class MendActions(BaseScreen):
    """The actions; a subclass has the state, the lists and what is painted of them."""

    state: MendState

    def __init__(self) -> None:
        super().__init__()
        self.own = False
        """The store is about to be read anew because of a change made here."""
        self._lately: tuple[str, ...] = ()
        """What was masked last: no longer in the list, but its past may still be taken."""

    @property
    def finds(self) -> Finds:
        """The list of what was found."""
        return self.query_one("#finds", Finds)

    @property
    def member(self) -> Finds:
        """The selected one in full; of a cluster, its members."""
        return self.query_one("#member", Finds)

    @property
    def listed(self) -> bool:
        """Whether there is a list, and not words in its place."""
        raise NotImplementedError

    def show(self, state: MendState, *, key: str | None = None) -> None:
        """Show another state."""
        raise NotImplementedError

    def turn(self, state: MendState) -> None:
        """Show another threshold."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        parts = _OF_PART.get(action)
        if parts is not None and self.state.part not in parts:
            return False
        if action == "within" and (not self.state.filter or self.state.part == "trash"):
            return None
        if action == "mark_sure" and not self.state.looked:
            return None
        return True

    # going about

    def action_part_before(self) -> None:
        self._go(reduce.beside(self.state, -1))

    def action_part_after(self) -> None:
        self._go(reduce.beside(self.state, 1))

    def action_duplicates(self) -> None:
        self._go("duplicates")

    def action_noise(self) -> None:
        self._go("noise")

    def action_secrets(self) -> None:
        self._go("secrets")

    def action_trash(self) -> None:
        self._go("trash")

    def _go(self, part: Part) -> None:
        if part != self.state.part:
            self.show(reduce.on_part(self.state, part), key="")

    def action_back(self) -> None:
        """One step back: what is going on, an error, marks, the detail; then the screen itself."""
        if self.staging.stop() or self.dismiss_flash():
            return
        if self.state.marks:
            self.show(replace(self.state, marks=frozenset()))
        elif self.member.has_focus:
            self.finds.focus()
        else:
            self.dismiss()

    def action_browse(self) -> None:
        if self.listed and self.finds.key and self.state.part != "trash":
            ids = self._cluster.ids[:50] if self._cluster is not None else (self.finds.key,)
            self.dismiss()
            self.app.post_message(ShowInBrowse(f"id={','.join(_literal(each) for each in ids)}"))

    def action_copy(self) -> None:
        if key := (self.member.key if self.member.has_focus else "") or self.finds.key:
            host(self).copy(key, "id")

    # choosing

    @on(Finds.Marked)
    def _marked(self, message: Finds.Marked) -> None:
        state, memory = self.state, message.rows.key
        if state.part != "duplicates":
            self.show(replace(state, marks=reduce.toggled(state.marks, memory)))
            self.finds.action_down()
        elif message.rows is self.member:
            self.show(replace(state, spared=reduce.toggled(state.spared, memory)))

    def action_mark_sure(self) -> None:
        self.show(replace(self.state, marks=reduce.sure(reduce.shown_suspects(self.state))))

    def action_reveal(self) -> None:
        here = self.finds.key
        self.show(replace(self.state, revealed="" if self.state.revealed == here else here))

    def action_stricter(self) -> None:
        self.turn(reduce.turned(self.state, FINE))

    def action_looser(self) -> None:
        self.turn(reduce.turned(self.state, -FINE))

    def action_much_stricter(self) -> None:
        self.turn(reduce.turned(self.state, COARSE))

    def action_much_looser(self) -> None:
        self.turn(reduce.turned(self.state, -COARSE))

    def action_across(self) -> None:
        self.show(replace(reduce.fresh(self.state), across=not self.state.across, near=None, clusters=()))

    def action_losers(self) -> None:
        other: Losers = "delete" if self.state.losers == "supersede" else "supersede"
        self.show(replace(self.state, losers=other))

    def action_survivor(self) -> None:
        if self.member.has_focus and self.member.key:
            memory = self.member.key
            self.show(replace(self.state, survivor=memory, text=None, spared=self.state.spared - {memory}))

    def action_text(self) -> None:
        cluster = self._cluster
        if cluster is None:
            return
        survivor = reduce.survivor_of(self.state, cluster)
        known = self.state.memories.get(survivor)
        present = self.state.text or (known.text if known is not None else "")

        def taken(text: str | None) -> None:
            if text is not None:
                self.show(replace(self.state, survivor=survivor, text=text))

        hint = "The memory that survives gets this text; its vector is made anew by the store's own embedder."
        self.app.push_screen(TextPrompt("The text that survives", hint, one_line(present)), taken)

    def action_skip(self) -> None:
        cluster = self._cluster
        if cluster is not None:
            self._settle(cluster.ids)

    # changing

    @property
    def _cluster(self) -> Cluster | None:
        if self.state.part != "duplicates":
            return None
        return next((c for c in reduce.shown_clusters(self.state) if c.ids[0] == self.finds.key), None)

    def _taken(self) -> tuple[str, ...]:
        """The marked memories, or the one under the cursor; none, said in words, where nothing is listed."""
        here = (self.finds.key,) if self.listed and self.finds.key else ()
        taken = tuple(sorted(self.state.marks)) or here
        if not taken:
            self.flash("There is no memory here.", "note")
        return taken

    def _settle(self, ids: Sequence[str]) -> None:
        """These are dealt with; the cursor goes to what followed them."""
        keys = self.finds.keys
        at = keys.index(self.finds.key) if self.finds.key in keys else 0
        gone = frozenset(ids)
        rest = [key for key in keys[at:] if key not in gone] or [key for key in keys if key not in gone][-1:]
        self.show(reduce.settled(self.state, gone), key=rest[0] if rest else "")

    def _then(self, ids: Sequence[str]) -> None:
        self.own = True
        self._settle(ids)

    def action_merge(self) -> None:
        state, cluster = self.state, self._cluster
        if cluster is None:
            return
        ids, survivor = reduce.merged(state, cluster), reduce.survivor_of(state, cluster)
        if len(ids) < 2:
            self.flash("A merge needs two memories or more: take one in again with {finds.mark}.", "error")
            return
        self.staging.stage(
            lambda engine: engine.curate.merge(ids, survivor=survivor, text=state.text, losers=state.losers),
            then=lambda outcome: self._then(cluster.ids),
        )

    def action_archive(self) -> None:
        ids = self._taken()
        if ids:
            self.staging.stage(lambda engine: engine.curate.forget(ids), then=self._gone)

    def action_forget(self) -> None:
        ids = self._taken()
        if ids:
            self.staging.stage(lambda engine: engine.curate.forget(ids, hard=True), then=self._gone)

    def action_mask(self) -> None:
        ids = self._taken()
        if ids:
            cap = host(self).keys.cap("mend.past")
            self.staging.stage(lambda engine: masked(engine, ids, cap), then=self._masked)

    def _masked(self, outcome: Outcome) -> None:
        self._lately = tuple(change.id for change in outcome.changes)
        self._gone(outcome)

    def action_past(self) -> None:
        """Of what was masked last, or of what is chosen: the history and the journal forget what it was before."""
        ids = self._lately or self._taken()
        if ids:
            self.staging.stage(lambda engine: engine.curate.past(ids), then=self._past_gone)

    def _past_gone(self, outcome: Outcome) -> None:
        self._lately = ()
        self.own = True
        if outcome.receipt is not None:
            self.app.push_screen(receipt_sheet(outcome.receipt, outcome.warnings))

    def action_every_trace(self) -> None:
        ids = self._taken()
        if ids:
            self.staging.stage(
                lambda engine: engine.curate.forget(ids, hard=True, shrink=True), then=self._traceless
            )

    def _traceless(self, outcome: Outcome) -> None:
        self._gone(outcome)
        if outcome.receipt is not None:
            self.app.push_screen(receipt_sheet(outcome.receipt, outcome.warnings))

    def action_restore(self) -> None:
        ids = self._taken()
        if ids:
            self.staging.stage(lambda engine: engine.curate.restore(ids), then=self._gone)

    def _gone(self, outcome: Outcome) -> None:
        self._then([change.id for change in outcome.changes])

    def action_undo(self) -> None:
        self.staging.stage(
            lambda engine: engine.curate.undo(),
            force=lambda engine, ids: engine.curate.undo(forced=ids),
            then=self._undone,
        )

    def _undone(self, outcome: Outcome) -> None:
        self.own, self._lately = True, ()
        self.show(reduce.undone(self.state, frozenset(change.id for change in outcome.changes)))

    def action_redo(self) -> None:
        self.staging.stage(
            lambda engine: engine.curate.redo(),
            force=lambda engine, ids: engine.curate.redo(forced=ids),
            then=self._gone,
        )

    def action_within(self) -> None:
        if self.state.filter:
            self.show(reduce.unlooked(replace(self.state, narrow=not self.state.narrow)), key="")


def _literal(text: str) -> str:
    from memtui.engine.query import (
        literal,
    )

    return literal(text, "=")
