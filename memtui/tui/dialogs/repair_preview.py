"""What mends a store, before it is done: each remedy with its rows, and what the agent would read afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from textual.content import Content

from memtui.engine import counted
from memtui.engine.changes import ChangeSet
from memtui.tui.actions.table import bindings
from memtui.tui.dialogs.change_preview import ChangePreview, PreviewAnswer, PreviewRows
from memtui.tui.dialogs.change_preview_view import MOST_LINES, SHOWN, change_lines, head_lines, sentences
from memtui.tui.host import host
from memtui.tui.paint.numbers import full
from memtui.tui.widgets.row_list import Row
from memtui.tui.widgets.text_lines import Way

if TYPE_CHECKING:
    from memtui.engine import CancelToken
    from memtui.engine.changes import RecallEffect
    from memtui.tui.calls import Report
    from memtui.tui.change_request import ChangeRequests


class Weigh(Protocol):
    """Works out, in a thread, what the remedies of these keys do to the answers; with `send` services are asked."""

    def __call__(
        self, keys: Sequence[str], cancel: CancelToken, report: Report, *, send: bool
    ) -> RecallEffect: ...


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that would be mended: what is done, why, and the rows that change with it."""

    key: str
    title: str
    why: str = ""
    price: str = ""
    changes: ChangeSet | None = None
    for_good: bool = False
    """Whether something is lost that no undo brings back."""


def _nothing(title: str, notes: tuple[str, ...]) -> ChangeSet:
    """The change set that stands for the remedies in what is common to all previews: it changes no row itself."""
    return ChangeSet("maintain", title, (), 0, notes=notes)


def _titled(repairs: Sequence[Repair]) -> str:
    return f"Would fix {counted(len(repairs), 'finding')}" if len(repairs) != 1 else repairs[0].title


class RepairRows(PreviewRows, inherit_bindings=False):
    """The remedies; each may be left out."""

    BINDINGS = [*bindings("preview"), *bindings("narrow")]  # noqa: RUF012

    def __init__(self, repairs: Sequence[Repair], plan: ChangeSet, notes: Sequence[str]) -> None:
        super().__init__(plan, notes)
        self.repairs = tuple(repairs)

    def paint(self, width: int) -> Sequence[Row]:
        glyphs = host(self).glyphs
        head = head_lines(self.plan, self.notes, width, glyphs)
        rows = [Row((*head, Content()))] if head else []
        for repair in self.repairs:
            lines = list(sentences([repair.title], width, glyphs.forth, "bold $foreground"))
            for said in (repair.why, repair.price and f"costs {repair.price}"):
                lines += [line.stylize("$dim") for line in sentences([said], width, " ", "$dim") if said]
            changes = repair.changes.changes if repair.changes is not None else ()
            for change in changes[:SHOWN]:
                lines += change_lines(change, width, glyphs, most=0 if self.whole else MOST_LINES)[:-1]
            if len(changes) > SHOWN:
                lines += sentences([f"and {full(len(changes) - SHOWN)} more"], width, " ", "$dim")
            rows.append(Row((*lines, Content()), repair.key))
        return rows


class RepairPreview(ChangePreview):
    """Returns an answer whose `row` names the remedies that are agreed to, by their keys; None for none.

    `weigh` works out what they do to the answers; `back` is how they are taken back.
    """

    def __init__(
        self,
        repairs: Sequence[Repair],
        *,
        weigh: Weigh,
        back: str,
        stop_agent: str = "",
        locked: bool = False,
        notes: Sequence[str] = (),
        sends: bool = False,
    ) -> None:
        self.repairs = tuple(repairs)
        self._sent = False
        plan = _nothing(_titled(repairs), (f"Undo: {back}.",) if back else ())
        super().__init__(
            plan,
            notes=notes,
            stop_agent=stop_agent,
            locked=locked,
            effect=lambda _, cancel, report: weigh(self.keys, cancel, report, send=self._sent),
            way_out="leave it",
            sends=sends,
        )
        self._rows = RepairRows(repairs, plan, self._notes())

    @property
    def keys(self) -> tuple[str, ...]:
        """The remedies that are agreed to."""
        return tuple(repair.key for repair in self.repairs)

    @property
    def _clean(self) -> bool:
        return bool(self.repairs)

    @property
    def _for_good(self) -> bool:
        return any(repair.for_good for repair in self.repairs)

    def agreed_words(self, gone: int) -> str:
        mend = f"mend {counted(len(self.repairs), 'finding')}" if len(self.repairs) > 1 else "do it"
        return f"{mend}: old versions go for good"

    @property
    def _can_drop(self) -> bool:
        return len(self.repairs) > 1 and bool(self._rows.key)

    def apply_words(self) -> str:
        mend = f"fix {counted(len(self.repairs), 'finding')}" if len(self.repairs) > 1 else "do it"
        return f"unlock and {mend}" if self._locked else mend

    def more_ways(self) -> list[Way]:
        return []

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return True if action == "zoom" else super().check_action(action, parameters)

    def action_drop(self) -> None:
        key = self._rows.key
        self.repairs = tuple(repair for repair in self.repairs if repair.key != key)
        rows = self._rows
        assert isinstance(rows, RepairRows)
        rows.repairs = self.repairs
        self._take(replace(self.plan, title=_titled(self.repairs)))

    def action_send(self) -> None:
        """Ask again with services, which a person has just allowed for this preview."""
        self._sent, self._sends = True, False
        self._say_ways()
        self.refresh_bindings()
        self._ask_effect()

    def _done(self) -> None:
        self.dismiss(PreviewAnswer("apply", self.plan, confirmed=True, row=" ".join(self.keys)))

    def action_apply(self) -> None:
        self._done()

    def action_stopped(self) -> None:
        self._done()

    def action_agree(self) -> None:
        self._done()


def show_repairs(
    staging: ChangeRequests,
    repairs: Sequence[Repair],
    effect: Weigh,
    then: Callable[[Sequence[str]], None],
    *,
    back: str,
    stop_agent: str = "",
) -> None:
    """Show what would be mended, where a change can be planned now; `then` gets the keys of what is agreed to."""
    engine = host(staging).session.engine
    if engine is None or not staging.able():
        return

    def answered(answer: PreviewAnswer | None) -> None:
        if answer is not None:
            then(answer.row.split())

    access = engine.write_state.access
    if access.verdict == "confirm":
        stop_agent = access.reason or stop_agent
    preview = RepairPreview(
        repairs, weigh=effect, back=back, stop_agent=stop_agent, locked=engine.locked, sends=engine.sends
    )
    staging.app.push_screen(preview, answered)
