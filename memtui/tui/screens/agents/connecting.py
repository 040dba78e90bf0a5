"""Connecting a host from the app: its file chosen, the lines that would change shown, written, checked, undone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.content import Content

from memtui.engine import MemtuiError, clean
from memtui.engine.access import DEFAULT_AGENT
from memtui.patches.textual_painting import QuickModal
from memtui.paths import SERVER_EXTRA, has_server, own_command, state_dir
from memtui.tui.actions.table import bindings
from memtui.tui.dialogs.choose_one import Option
from memtui.tui.paint.cells import tilde
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.text_lines import DialogKeys

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.hosts import HostPlan, HostRecord


def project_folder(environ: Mapping[str, str]) -> Path:
    """The folder whose project files are meant: that of this process, for agents of another home that home."""
    home = environ.get("HOME", "")
    return Path.cwd() if home == os.environ.get("HOME", "") else Path(home)


def read_hosts(environ: Mapping[str, str]) -> tuple[Option, ...]:
    """The hosts that memtui knows, with the file of each and whether it names the server."""
    from memtui.engine.hosts import HOSTS, entry_of, server_file

    found = []
    for name in HOSTS:
        try:
            path = server_file(name, environ, project_folder(environ))
            state = "connected" if entry_of(name, path) is not None else ""
            shown = tilde(str(path))
        except MemtuiError as error:
            state, shown = "unreadable", error.message
        found.append(Option(name, name, f"{state}: {shown}" if state else shown))
    return tuple(found)


def ways_for(agent: str) -> tuple[Option, ...]:
    """What can be done with one host, what writes least first."""
    return (
        Option("read", "connect, read only", "it searches and reads every scope", "r"),
        Option(
            "write", "connect, store too", f"as {agent}: reads global and its own scope, writes there", "w"
        ),
        Option("check", "check", "start what the file says, and list its tools", "c"),
        Option("undo", "undo", "take the last write out of the file", "u"),
    )


def plan_connection(engine: Engine, name: str, way: str, agent: str) -> HostPlan:
    """What would be written into a host's file, or taken out of it. MemtuiError where that cannot be planned."""
    from memtui.engine.hosts import plan_host_undo, plan_pieces, server_file, server_pieces

    environ = engine.environ
    path = server_file(name, environ, project_folder(environ))
    if way == "undo":
        return plan_host_undo(state_dir(environ), name, "server", path)
    words = ["mcp", "--store", engine.info.uri]
    if way == "write":
        words += ["--rw", "--as", agent or DEFAULT_AGENT]
    return plan_pieces(name, "server", path, server_pieces(name, own_command(), words))


def write_connection(engine: Engine, plan: HostPlan) -> HostRecord:
    """Write a plan; its record is what undo goes by."""
    from memtui.engine.hosts import write_plan

    return write_plan(plan, state=state_dir(engine.environ), now_ms=engine.now_ms)


def check_connection(engine: Engine, name: str) -> str:
    """Start what a host's file says, and tell what answered. MemtuiError where nothing did."""
    from memtui.engine.hosts import check_host, server_file

    environ, folder = engine.environ, project_folder(engine.environ)
    found = check_host(name, server_file(name, environ, folder), {**os.environ, **environ}, folder)
    if found.outcome != "answered" and not has_server():
        raise MemtuiError("The package mcp is not installed.", fix=SERVER_EXTRA)
    if found.outcome != "answered":
        raise MemtuiError(f"{name}: {found.outcome}, {found.why}", fix=found.fix)
    return f"{name} starts {found.server} with {len(found.tools)} tools: {', '.join(found.tools)}"


def written_words(plan: HostPlan, record: HostRecord) -> str:
    """What was done, and what a person does next."""
    files = ", ".join(tilde(str(file.path)) for file in plan.changed)
    if plan.undoes:
        return f"undone: {files}; restart {plan.host}"
    if not has_server():
        return f"{files} written; the server needs {SERVER_EXTRA}"
    backup = ", a backup beside it" if any(file.backup for file in record.files) else ""
    return f"{files} written{backup}; restart {plan.host}, then check it here"


class DifferenceRows(RowList):
    """The lines of a difference, scrolled."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self._difference = tuple(lines)

    def paint(self, width: int) -> Sequence[Row]:
        colours = {"+": "$ok", "-": "$danger"}
        return [
            Row((Content.styled(f" {part}", colours.get(line[:1], "$dim")),))
            for line in self._difference
            for part in wrap(clean(line), width - 2, drop_whitespace=False, break_on_hyphens=False) or [""]
        ]


class HostPreview(QuickModal[str | None]):
    """The lines of a host's file that would change. Returns "write", or None when it is left."""

    DEFAULT_CSS = """
    HostPreview { align: center middle; }
    HostPreview Panel { width: 120; max-width: 96%; height: 70%; border: round $frame-focus; }
    HostPreview.-narrow Panel { width: 100%; max-width: 100%; height: 100%; }
    HostPreview DifferenceRows { height: 1fr; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("connection")

    def __init__(self, plan: HostPlan) -> None:
        super().__init__()
        self._rows = DifferenceRows(plan.difference)
        self._title = f"{'Undo' if plan.undoes else 'Connect'} {plan.host}: not written"

    def compose(self) -> ComposeResult:
        with Panel(title=self._title):
            yield self._rows
            yield DialogKeys()

    def on_mount(self) -> None:
        self.query_one(DialogKeys).say(("connection.write", "write the file"), ("connection.close", "cancel"))
        self._rows.focus()

    def action_write(self) -> None:
        self.dismiss("write")

    def action_close(self) -> None:
        self.dismiss(None)
