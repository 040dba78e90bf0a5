"""Mend: what is junk in this store, and what to do about it; opened from Browse, closed with escape."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult

from memtui.engine import Memory, MemtuiError, Progress, changes, counted, one_line
from memtui.engine.changes import Outcome
from memtui.tui import layouts
from memtui.tui.actions.table import bindings
from memtui.tui.base_screen import BaseScreen
from memtui.tui.dialogs.forget import receipt_sheet
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.host import host
from memtui.tui.layout import Arrangement
from memtui.tui.messages import ShowInBrowse
from memtui.tui.no_store import of_session
from memtui.tui.paint.numbers import full
from memtui.tui.screens.mend import finding_list
from memtui.tui.screens.mend import state as reduce
from memtui.tui.screens.mend.finding_list import Finds, masked
from memtui.tui.screens.mend.state import COARSE, FINE, PARTS, Losers, MendState, Part
from memtui.tui.screens.mend.view import LISTED, MEMBERS, detail_rows, head_lines, key_of, list_rows, listed
from memtui.tui.session import Session
from memtui.tui.widgets.layout_container import LayoutContainer
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.state_panel import Choice, State, StatePanel, failed
from memtui.tui.widgets.text_lines import TextLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.engine import Engine
    from memtui.engine.health import Cluster


LOOK, READ, CLUSTERS = "look", "read", "clusters"

_NAMES = dict(PARTS)

_NOTHING: dict[Part, str] = {
    "duplicates": "no two memories are that much alike",
    "noise": "the noise filter would drop nothing",
    "secrets": "no secrets and no prompt injection",
    "trash": "the trash is empty: nothing was archived, or deleted through memtui",
}


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


class MendScreen(BaseScreen):
    """One state, a list and a detail that paint it, and engine calls that change it."""

    MODE = "browse"
    OF_ROW = frozenset((READ,))
    UNDO = "mend.undo"
    CSS_PATH = "mend.tcss"
    BINDINGS = bindings("mend")

    def __init__(self, part: Part = "duplicates", filter: str = "") -> None:
        super().__init__()
        self.state = MendState(part, filter)
        self._engine: Engine | None = None
        self._revision = -1
        self._keys: list[str] = []
        """The rows of the list, whether they have been painted yet or not."""
        self.said = State("loading", finding_list.title_of(part))
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
        return self.said is None

    def body(self) -> ComposeResult:
        yield LayoutContainer(
            TextLines(id="head"),
            Panel(StatePanel(), title=_NAMES[self.state.part], id="said"),
            Panel(Finds(self._list, id="finds"), title=_NAMES[self.state.part], id="found"),
            Panel(Finds(self._detail, id="member"), title="Memory", id="one"),
            arrange=self._arrange,
        )

    def _arrange(self, width: int, height: int) -> Arrangement:
        return layouts.mend(width, height, said=self.said is not None)

    def _list(self, width: int, height: int) -> list[Row]:
        app = host(self)
        return list_rows(self.state, width, app.glyphs, app.now_ms())

    def _detail(self, width: int, height: int) -> list[Row]:
        app = host(self)
        return detail_rows(self.state, self.finds.key, width, app.glyphs, app.now_ms(), app.keys.by_id)

    # the store

    def session_changed(self, session: Session) -> None:
        if session.engine is None:
            self.runner.cancel_all()
            self._engine, self._revision = None, -1
            self.state = MendState(part=self.state.part)
            self.say(of_session(session))
        elif session.phase == "reading" and not self.own and not self.state.looked:
            self.say(State("loading", "reading tiers and states", progress=session.progress))
        elif session.phase == "ready" and session.revision != self._revision:
            again, self._revision = session.engine is self._engine, session.revision
            self._engine = session.engine
            if self.own:  # what it did is known: the lists have lost it already
                self.own = False
                self.state = replace(self.state, trash=None)
                if self.state.part != "trash":
                    self.repaint_all()
                    return
            elif again or self.state.looked:
                self.state = reduce.unlooked(self.state)
            self.look()
        elif session.phase == "ready":
            self.own = False  # reading it anew has failed

    # looking

    def look(self) -> None:
        """Look for what the present part is about."""
        engine, state = self._engine, self.state
        if engine is None:
            return
        self.say(State("loading", finding_list.title_of(state.part), (("{mend.back}", "stops it"),)))
        self.call(
            LOOK,
            lambda token, report: finding_list.look(engine, state, token, report),
            self._looked,
            progress=self._advanced,
            failed=self._not_looked,
        )

    def show(self, state: MendState, *, key: str | None = None) -> None:
        """Another state of what was found; a part that was not looked for yet is looked for."""
        other = state.part != self.state.part
        self.state = state
        if other:
            self.runner.cancel(LOOK)
        if not state.looked:
            self.look()
            return
        if other:
            self.say(None)
        self.repaint_all(key)

    def turn(self, state: MendState) -> None:
        """Another threshold: the pairs are known, only the clusters are made anew, in a thread."""
        self.state = state
        self._paint_head()
        if (near := state.near) is not None:
            self.call(CLUSTERS, lambda token, report: near.clusters(state.threshold), self._have_clusters)

    def _advanced(self, progress: Progress) -> None:
        panel = self.query_one(StatePanel)
        panel.state = replace(panel.state, progress=progress)

    def _looked(self, value: Any) -> None:
        self.state = self._found(value)
        self.say(None)
        self.repaint_all("")

    def _not_looked(self, error: MemtuiError) -> None:
        again = Choice("look", "refresh", key="app.reload")
        self.say(failed("it could not be looked for", error, again))

    def _have_clusters(self, clusters: tuple[Cluster, ...]) -> None:
        self.state = replace(self.state, clusters=clusters)
        self.repaint_all()

    def _have_memories(self, memories: dict[str, Memory]) -> None:
        self.state = replace(self.state, memories={**self.state.memories, **memories})
        self.finds.repaint()
        self.member.repaint()

    def _found(self, value: Any) -> MendState:
        state = self.state
        if state.part == "duplicates":
            near, clusters = value
            return replace(state, near=near, clusters=clusters)
        if state.part == "trash":
            return replace(state, trash=value)
        return replace(state, suspects={**state.suspects, state.part: value})

    @on(StatePanel.Chosen)
    def _chosen(self, message: StatePanel.Chosen) -> None:
        if message.choice.name == "look" and self.session.newer:
            host(self).take("retry")  # what another writer did is read first; the look follows it
        elif message.choice.name == "look" and self._engine is not None:
            self.look()
        elif message.choice.name == "all":
            self.action_within()
        elif message.choice.name == "leave":
            self.dismiss()
        else:
            host(self).take(message.choice.name, message.choice.value)

    @property
    def next_keys(self) -> tuple[str, ...]:
        """What is to be done next stands first in the key bar: what was masked is still in the history."""
        return ("mend.past",) if self._lately and self.state.part == "secrets" else ()

    @property
    def marked(self) -> int:
        return len(self.state.marks)

    def action_back(self) -> None:
        """One step back: what is going on, an error, marks, the detail; then the screen itself."""
        if self.runner.busy(LOOK):
            self.runner.cancel(LOOK)
            choices = (
                Choice("look", "refresh", key="app.reload"),
                Choice("leave", "back to Browse", "{mend.back}"),
            )
            self.say(State("empty", "stopped before the search was complete", choices=choices))
        elif self.staging.stop() or self.dismiss_flash():
            return
        elif self.state.marks:
            self.show(replace(self.state, marks=frozenset()))
        elif self.member.has_focus:
            self.finds.focus()
        else:
            self.dismiss()

    # showing

    def say(self, said: State | None) -> None:
        super().say(said)
        self.hand_over(self.focus_first)

    def repaint(self) -> None:
        self.query_one("#said", Panel).headline(what=_NAMES[self.state.part])
        self._paint_head()

    def focus_first(self) -> None:
        (self.query_one(StatePanel) if self.said is not None else self.finds).focus()

    def _paint_head(self) -> None:
        self.query_one("#head", TextLines).show(
            head_lines(self.state, self.size.width, host(self).keys.by_id)
        )

    def repaint_all(self, key: str | None = None) -> None:
        """Paint the lists anew; the cursor goes to `key`, to the first for an empty one, else it stays."""
        state = self.state
        rows = self._keys = [key_of(each) for each in listed(state)[:LISTED]]
        if not rows:
            ways = [] if state.part == "trash" else [Choice("look", "refresh", key="app.reload")]
            if state.within and state.part != "trash":
                ways.append(Choice("all", "look at every memory", key="mend.within"))
            among = f", among those that hold {one_line(state.within)}" if state.within and ways else ""
            self.say(State("empty", f"{_NOTHING[state.part]}{among}", choices=tuple(ways)))
            return
        if self.said is not None:
            self.say(None)
        self._paint_head()
        self.query_one("#found", Panel).headline(what=_NAMES[state.part])
        wanted = self.finds.key if key is None else key
        self.finds.repaint(wanted if wanted in rows else rows[0])
        self._selected()
        self.refresh_bindings()

    def _selected(self) -> None:
        """The cursor of the list is somewhere: paint that one, and read what is not known of it yet."""
        keys = self._keys
        at = keys.index(self.finds.key) + 1 if self.finds.key in keys else 0
        self.query_one("#found", Panel).headline(where=f"{at:,} / {len(keys):,}")
        titles = {"duplicates": "Cluster", "trash": "Memory"}
        self.query_one("#one", Panel).headline(what=titles.get(self.state.part, "Memory"))
        self.member.repaint()
        self._read()

    def _read(self) -> None:
        engine, known = self._engine, self.state.memories
        wanted = [each for each in self._wanted() if each and each not in known]
        if engine is not None and wanted:
            self.call(READ, lambda token, report: engine.memories(wanted), self._have_memories)

    def _wanted(self) -> list[str]:
        """The members of the selected cluster, and the first of those around it; else the selected one."""
        here = self.finds.key
        if self.state.part != "duplicates":
            return [here]
        clusters = reduce.shown_clusters(self.state)[:LISTED]
        at = next((i for i, cluster in enumerate(clusters) if cluster.ids[0] == here), 0)
        near = clusters[max(0, at - MEMBERS) : at + MEMBERS]
        return [*(clusters[at].ids[:MEMBERS] if clusters else ()), *(cluster.ids[0] for cluster in near)]

    def on_resize(self, event: events.Resize) -> None:  # beside the frame's own: Textual calls both
        self._paint_head()

    @on(RowList.Highlighted, "#finds")
    def _moved(self) -> None:
        self.state = replace(reduce.fresh(self.state), revealed="")
        self._selected()

    @on(Finds.Sideways)
    def _sideways(self, message: Finds.Sideways) -> None:
        (self.member if message.by > 0 else self.finds).focus()

    @on(RowList.Opened, "#finds")
    def _opened(self) -> None:
        self.member.focus()

    # what the keys do

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        parts = _OF_PART.get(action)
        if parts is not None and self.state.part not in parts:
            return False
        if action == "within" and (not self.state.filter or self.state.part == "trash"):
            return None
        if action == "mark_sure" and not self.state.looked:
            return None
        return True

    def why_disabled(self, action: str) -> str:
        """Why the list cannot be taken for the whole store, or the other way."""
        if action != "within":
            return ""
        trash = self.state.part == "trash"
        return (
            "the trash always shows everything"
            if trash
            else "Browse has no filter, so every memory is searched"
        )

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

    def action_browse(self) -> None:
        if self.listed and self.finds.key and self.state.part != "trash":
            ids = self._cluster.ids[:50] if self._cluster is not None else (self.finds.key,)
            self.dismiss()
            self.app.post_message(ShowInBrowse(f"id={','.join(_literal(memory_id) for memory_id in ids)}"))

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
        marks = reduce.sure(reduce.shown_suspects(self.state))
        if self.state.part == "secrets":  # an order to a model holds nothing to mask: it is marked one by one
            marks = reduce.sure(
                tuple(suspect for suspect in reduce.shown_suspects(self.state) if suspect.kind == "secret")
            )
            orders = len({suspect.id for suspect in reduce.shown_suspects(self.state)} - marks)
            if orders:
                self.flash(
                    f"{counted(len(marks), 'secret')} marked; {full(orders)} left: prompt injection, or uncertain",
                    "note",
                )
        self.show(replace(self.state, marks=marks))

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

        hint = "The kept memory gets this text; the store's embedding model computes its vector again."
        self.app.push_screen(TextPrompt("Text of the kept memory", hint, one_line(present)), taken)

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
        self.staging.merge(
            ids,
            survivor=survivor,
            text=state.text,
            losers=state.losers,
            then=lambda outcome: self._then(cluster.ids),
        )

    def action_archive(self) -> None:
        ids = self._taken()
        if ids:
            self.staging.stage(lambda engine: changes.plan_forget(engine, ids), then=self._gone)

    def action_forget(self) -> None:
        ids = self._taken()
        if ids:
            self.staging.stage(lambda engine: changes.plan_forget(engine, ids, hard=True), then=self._gone)

    def action_mask(self) -> None:
        ids = self._taken()
        if ids:
            cap = host(self).keys.cap("mend.past")
            chosen = set(ids)
            doubted = [
                suspect
                for suspect in reduce.shown_suspects(self.state)
                if suspect.kind == "secret" and suspect.doubt and suspect.id not in chosen
            ]
            self.staging.stage(lambda engine: masked(engine, ids, cap, doubted), then=self._masked)

    def _masked(self, outcome: Outcome) -> None:
        self._lately = tuple(change.id for change in outcome.changes)
        self._gone(outcome)
        self.refresh_bindings()

    def action_past(self) -> None:
        """Of what was masked last, or of what is chosen: the history and the journal forget what it was before."""
        ids = self._lately or self._taken()
        if ids:
            self.staging.stage(
                lambda engine: changes.plan_past(engine, ids, drop_names=True), then=self._past_gone
            )

    def _past_gone(self, outcome: Outcome) -> None:
        self._lately = ()
        self.own = True
        if outcome.receipt is not None:
            self.app.push_screen(receipt_sheet(outcome.receipt, outcome.warnings))

    def action_every_trace(self) -> None:
        ids = self._taken()
        if ids:
            self.staging.stage(
                lambda engine: changes.plan_forget(engine, ids, hard=True, shrink=True, drop_names=True),
                then=self._traceless,
            )

    def _traceless(self, outcome: Outcome) -> None:
        self._gone(outcome)
        if outcome.receipt is not None:
            self.app.push_screen(receipt_sheet(outcome.receipt, outcome.warnings))

    def action_restore(self) -> None:
        ids = self._taken()
        if ids:
            self.staging.stage(lambda engine: changes.plan_restore(engine, ids), then=self._gone)

    def _gone(self, outcome: Outcome) -> None:
        self._then([change.id for change in outcome.changes])

    def undo_last(self) -> None:
        """Take back the last change; what comes back stands in the list again."""
        self.staging.stage(
            lambda engine: changes.plan_undo(engine),
            force=lambda engine, ids: changes.plan_undo(engine, forced=ids),
            then=self._undone,
        )

    def _undone(self, outcome: Outcome) -> None:
        self.own, self._lately = True, ()
        self.show(reduce.undone(self.state, frozenset(change.id for change in outcome.changes)))

    def action_redo(self) -> None:
        self.staging.stage(
            lambda engine: changes.plan_redo(engine),
            force=lambda engine, ids: changes.plan_redo(engine, forced=ids),
            then=self._gone,
        )

    def action_within(self) -> None:
        if self.state.filter:
            self.show(reduce.unlooked(replace(self.state, narrow=not self.state.narrow)), key="")


def _literal(text: str) -> str:
    from memtui.engine.query import literal

    return literal(text, "=")
