"""Unlocking a store that is open for reading: asked once, with its name, its agent and whether that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content
from textual.message_pump import MessagePump

from memtui.engine import MemtuiError, changes, counted, one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.calls import EngineCalls
from memtui.tui.host import host
from memtui.tui.paint.cells import tilde
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.text_lines import DialogKeys

if TYPE_CHECKING:
    from memtui.engine import Engine, StoreInfo


def unlocked(
    node: MessagePump,
    deed: str,
    then: Callable[[], None],
    otherwise: Callable[[], None] | None = None,
    *,
    for_good: bool = False,
) -> None:
    """Call `then` when the open store may be written: at once, or once a person has unlocked it for the session.

    `deed` is what is to be done, "apply 3 changes"; `otherwise` is called when it stays locked; `for_good` says that
    the deed cannot be taken back.
    """
    session = host(node).session
    engine, info = session.engine, session.info
    if engine is None or info is None:
        return
    if not engine.locked:
        then()
        return

    def answered(agreed: bool | None) -> None:
        if agreed:
            host(node).take("unlock")
            then()
        elif otherwise is not None:
            otherwise()

    node.app.push_screen(Unlock(engine, info, deed, for_good), answered)


@dataclass(frozen=True, slots=True)
class Around:
    """What is known of the other writers of a store: its agent's gateway here, its lock, what was cut off."""

    gateways: tuple[int, ...] | None = None
    """Process ids; None where they cannot be told."""
    lock: str = ""
    cut_off: int = 0


def look_around(engine: Engine) -> Around:
    """Whether the store's agent runs on this machine, and what it left; for a worker."""
    from memtui.engine.discovery import running_gateways

    lock = engine.write_state.lock_state()
    return Around(
        None if engine.is_remote else running_gateways(),
        lock.phrase if lock.held else "",
        len(changes.find_interrupted(engine)),
    )


Fact = tuple[str, str, str]
"""Name, sentence, style."""


def facts(engine: Engine, info: StoreInfo, around: Around | None, *, for_good: bool = False) -> list[Fact]:
    """What a person should know before the store is unlocked, or why it cannot be."""
    found, access = engine.found, engine.write_state.access
    rows: list[Fact] = [
        (
            "store",
            f"{one_line(info.name)}   {counted(info.rows, 'memory', 'memories')}, {info.dialect_title}",
            "bold $foreground",
        ),
        ("", one_line(tilde(info.uri)), "$dim"),
    ]
    if never := engine.write_state.never_because:
        return [
            *rows,
            ("why", never, "bold $stale"),
            (
                "effect",
                "It stays open for reading. Exports, recalls and copies of it work all the same.",
                "$foreground",
            ),
        ]
    if found is None:
        rows.append(("agent", "no configuration here names this store", "$foreground"))
    else:
        who = ", ".join(map(one_line, found.agents)) or "one that its configuration does not name"
        rows.append(("agent", f"{who}   ({one_line(found.plugin)})", "$foreground"))
    rows.append(("runs", *_runs(engine, around)))
    if around is not None and around.lock:
        rows.append(("lock", f"The write lock is {around.lock}.", "$stale"))
    if around is not None and around.cut_off:
        said = counted(around.cut_off, "change was", "changes were")
        rows.append(
            ("journal", f"{said} cut off in the middle; the Journal finishes or undoes it.", "$stale")
        )
    rows.append(("beside it", access.reason, "$stale" if access.warning else "$foreground"))
    later = "Each change is an entry of the Journal; all but what is removed for good can be undone."
    rows.append(
        ("undo", "None from this: it goes for good.", "bold $stale") if for_good else ("undo", later, "$dim")
    )
    return rows


def _runs(engine: Engine, around: Around | None) -> tuple[str, str]:
    if engine.is_remote:
        return "not known: the store is not on this machine", "$foreground"
    if around is None:
        return "looking", "$dim"
    if around.gateways is None:
        return "not known: the processes of this machine cannot be listed", "$foreground"
    if around.gateways:
        pids = ", ".join(map(str, around.gateways))
        return f"an openclaw gateway runs now, pid {pids}", "bold $stale"
    return "no openclaw gateway runs on this machine", "$foreground"


class UnlockRows(RowList):
    """The facts, line by line."""

    def __init__(self, engine: Engine, info: StoreInfo, *, for_good: bool = False) -> None:
        super().__init__()
        self._engine, self._info, self._for_good = engine, info, for_good
        self.around: Around | None = None

    def paint(self, width: int) -> Sequence[Row]:
        rows = [Row((Content(),))]
        for name, sentence, style in facts(self._engine, self._info, self.around, for_good=self._for_good):
            for at, line in enumerate(Content.styled(sentence, style).wrap(max(20, width - 14))):
                rows.append(Row((Content.assemble((f"  {name if at == 0 else '':<11}", "$dim"), line),)))
        return rows


class Unlock(QuickModal[bool | None]):
    """Asks; True when the store is to be unlocked for the rest of the session."""

    DEFAULT_CSS = """
    Unlock { align: center middle; }
    Unlock Panel { width: 90; max-width: 100%; height: 15; max-height: 100%; border: round $frame-focus; }
    """
    BINDINGS = bindings("unlock")

    def __init__(self, engine: Engine, info: StoreInfo, deed: str, for_good: bool) -> None:
        super().__init__()
        self._engine, self._info, self._deed, self._for_good = engine, info, deed, for_good
        self._never = bool(engine.write_state.never_because)
        self._calls = EngineCalls(self)

    def compose(self) -> ComposeResult:
        name = one_line(self._info.name)
        with Panel(title=f"{name} cannot be written" if self._never else f"Unlock {name}"):
            yield UnlockRows(self._engine, self._info, for_good=self._for_good)
            yield DialogKeys()

    def on_mount(self) -> None:
        self.query_one(UnlockRows).focus()
        keys = self.query_one(DialogKeys)
        if self._never:
            keys.say(("unlock.close", "back"))
            return
        keys.say(("unlock.agree", f"unlock and {self._deed}"), ("unlock.close", "not now"))
        self._calls.call(
            "around", lambda cancel, report: look_around(self._engine), self._have, failed=self._unknown
        )

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def on_unmount(self) -> None:
        self._calls.cancel_all()

    def _have(self, around: Around) -> None:
        rows = self.query_one(UnlockRows)
        rows.around = around
        rows.repaint()
        self._fit()

    def _fit(self) -> None:
        """As high as its facts."""
        rows, panel = self.query_one(UnlockRows), self.query_one(Panel)
        lines = sum(len(row.lines) for row in rows.paint(rows.size.width or panel.content_size.width))
        panel.styles.height = lines + 1 + panel.gutter.height + self.query_one(DialogKeys).outer_size.height

    def _unknown(self, error: MemtuiError) -> None:
        self._have(Around())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if action == "agree" and self._never else True

    def action_agree(self) -> None:
        self.dismiss(True)

    def action_close(self) -> None:
        self.dismiss(False)
