"""Open a store: those opened before, those discovered, folders as they are typed; what each is, and a new one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input

from memtui.engine import MemtuiError, counted, one_line
from memtui.patches.textual_painting import QuickModal
from memtui.tui.actions.table import bindings
from memtui.tui.calls import EngineCalls
from memtui.tui.host import host
from memtui.tui.messages import RunFailed, RunFinished
from memtui.tui.no_store import BRING, CONNECT, DEMO
from memtui.tui.paint.cells import crop, crop_start, tilde
from memtui.tui.paint.glyphs import Glyphs
from memtui.tui.paint.numbers import ago
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import Row, RowList
from memtui.tui.widgets.text_lines import CleanInput

FIRST_STORE = "memories"
"""What a first store is called, in the home folder."""

MOST_FOLDERS = 40
"""Folders that are offered below a typed path."""

Kind = Literal["before", "discovered", "folder", "new", "way"]

HEADINGS: Mapping[Kind, str] = {
    "before": "OPENED BEFORE",
    "discovered": "DISCOVERED",
    "folder": "FOLDERS",
    "new": "MAKE",
    "way": "OR",
}


@dataclass(frozen=True, slots=True)
class Place:
    """One place that can be opened, or made: what is handed back, and what is known of it."""

    kind: Kind
    value: str
    what: str = ""
    """Its kind and its rows, in words; empty where they are not known."""
    written_ms: int | None = None
    """When a table in it was last written; None where that is not known."""
    store: bool = True
    """Whether a table lies in it; other folders are only on the way."""


def ways() -> list[Place]:
    """What else there is to do where no store is known."""
    return [
        Place("way", each.name, f"{each.label}: {each.hint}", store=False) for each in (DEMO, BRING, CONNECT)
    ]


def last_written(folder: Path) -> int | None:
    """When a LanceDB table in `folder` was last written, in milliseconds; None where none lies there."""
    times = []
    try:
        if folder.is_file():
            return int(folder.stat().st_mtime * 1000)
        for table in folder.glob("*.lance"):
            versions = table / "_versions"
            times.append((versions if versions.is_dir() else table).stat().st_mtime)
    except OSError:
        return None
    return int(max(times) * 1000) if times else None


def places(recent: Sequence[str], environ: Mapping[str, str], cwd: Path) -> list[Place]:
    """What was opened before and what discovery finds, the latter with its rows; for a worker."""
    from memtui.engine.discovery import discover, inspect, is_index_file

    known: dict[str, str] = {}
    discovery = discover(environ, cwd=cwd)
    for store in (*discovery.stores, *discovery.indexes):
        try:
            health = inspect(store)
        except MemtuiError as error:
            known[store.path] = error.message
            continue
        rows = "" if health.rows is None else f", {counted(health.rows, 'memory', 'memories')}"
        agents = ", ".join(one_line(agent) for agent in health.agents if agent)
        known[store.path] = f"{health.dialect_title or store.plugin}{rows}{f', {agents}' if agents else ''}"
    found = [
        Place("before", each, known.get(each, ""), last_written(Path(each)))
        for each in recent
        if "://" in each or Path(each).is_dir() or is_index_file(Path(each))
    ]
    return [
        *found,
        *(
            Place("discovered", path, what, last_written(Path(path)))
            for path, what in known.items()
            if path not in recent
        ),
    ]


def folders(typed: str, cwd: Path) -> list[Place]:
    """The folders that a typed path begins, those with a table first; and a new store, where nothing is there yet."""
    if not typed or "://" in typed:
        return []
    path = Path(os.path.expanduser(typed))
    path = path if path.is_absolute() else cwd / path
    parent, start = (path, "") if typed.endswith(os.sep) or path.is_dir() else (path.parent, path.name)
    try:
        there = sorted(
            path
            for path in parent.iterdir()
            if path.name.startswith(start) and not path.name.endswith(".lance") and path.is_dir()
        )
    except OSError:
        there = []
    shown = [path for path in there if start.startswith(".") or not path.name.startswith(".")][:MOST_FOLDERS]
    found = [Place("folder", str(path), written_ms=last_written(path)) for path in shown]
    found = [
        each if each.written_ms is not None else Place("folder", each.value, store=False) for each in found
    ]
    if path.is_dir() and (written := last_written(path)) is not None:
        found.insert(0, Place("folder", str(path), written_ms=written))
    found.sort(key=lambda each: not each.store)
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        found.append(Place("new", str(path), "a store of memtui's own, without memories", store=False))
    return found


def completed(typed: str, found: Sequence[Place]) -> str:
    """The typed path as far as all folders that it begins agree, with a slash where only one does."""
    names = [each.value for each in found if each.kind == "folder"]
    if not names:
        return typed
    common = os.path.commonprefix(names)  # noqa: RUF071 -- as far as the letters agree, not whole folders
    common = common + os.sep if len(names) == 1 else common
    return tilde(common) if typed.startswith("~") else common


WAY_CELLS = 22
"""Cells of the name of a way out, behind which its hint begins."""


class PlaceRows(RowList):
    """The places, under what they are."""

    LINE_ABOVE = True
    found: Sequence[Place] = ()
    said: str = "looking"

    def paint(self, width: int) -> Sequence[Row]:
        rows: list[Row] = []
        if self.said:
            told = Content.styled(one_line(self.said), "$dim").wrap(max(12, width - 4))
            rows.append(Row(tuple(Content.assemble("  ", line) for line in told)))
        kind = ""
        for each in self.found:
            if each.kind != kind:
                kind = each.kind
                title = Content.styled(f" {HEADINGS[each.kind]}", "bold $heading")
                rows.append(Row((title,) if not rows else (Content(), title)))
            rows.append(Row(self._lines_of(each, width, host(self).glyphs), f"{each.kind} {each.value}"))
        return rows

    def _lines_of(self, each: Place, width: int, glyphs: Glyphs) -> tuple[Content, ...]:
        """A place and what it is; below it, where both do not fit beside each other."""
        if each.kind == "way":
            label, _, hint = each.what.partition(": ")
            line = crop(f"  {label.ljust(WAY_CELLS)}{hint}", max(12, width - 1), glyphs.ellipsis)
            return (Content.styled(line, "$foreground"),)
        when = "" if each.written_ms is None else f"written {ago(each.written_ms, host(self).now_ms())}"
        far = "   ".join(part for part in (each.what, when) if part)
        style = "$foreground" if each.store or each.kind == "new" else "$dim"
        place = tilde(each.value)
        gap = width - 4 - Content(place).cell_length - Content(far).cell_length
        if gap > 0:
            return (Content.assemble("  ", (place, style), " " * gap, (far, "$dim"), " "),)
        name = crop_start(place, max(8, width - 4), glyphs.ellipsis)
        told = crop(far, max(8, width - 6), glyphs.ellipsis)
        return (Content.assemble("  ", (name, style)), Content.assemble("    ", (told, "$dim")))


class OpenStore(QuickModal["tuple[str, str] | None"]):
    """Returns "store" or "new" with the place taken, or another way out by its name; None when closed."""

    DEFAULT_CSS = """
    OpenStore Panel { width: 120; max-width: 96%; height: 26; max-height: 94%; border: round $frame-focus; }
    OpenStore.-narrow Panel { width: 100%; max-width: 100%; height: 100%; max-height: 100%; }
    OpenStore Input { border: none; height: 1; padding: 0 1; background: $background; margin: 0 0 1 0; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal")]  # noqa: RUF012
    BINDINGS = bindings("find")

    def __init__(self, recent: Sequence[str], environ: Mapping[str, str], cwd: Path, fill: str = "") -> None:
        super().__init__()
        self._fill = fill
        self._recent, self._environ, self._cwd = tuple(recent), environ, cwd
        self._known: list[Place] = []
        self._looked = False
        self.runner = EngineCalls(self)

    def compose(self) -> ComposeResult:
        with Panel(title="Open a store"):
            yield CleanInput(self._fill, placeholder="a folder, a LanceDB URI, or a word of a place below")
            yield PlaceRows()

    def on_mount(self) -> None:
        self.query_one(Panel).headline(where="enter open   tab complete   {find.close} close")
        self.query_one(Input).focus()
        self.runner.start("places", lambda token, report: places(self._recent, self._environ, self._cwd))
        self._show(self._fill)

    def on_unmount(self) -> None:
        self.runner.cancel_all()

    @on(RunFinished)
    def _finished(self, message: RunFinished) -> None:
        message.stop()
        if self.runner.done(message):
            self._known, self._looked = message.value, True
            self._show(self.query_one(Input).value)

    @on(RunFailed)
    def _failed(self, message: RunFailed) -> None:
        message.stop()
        if self.runner.done(message):
            self._looked = True
            self._show(self.query_one(Input).value, one_line(str(message.error)))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, text: str, said: str = "") -> None:
        words = text.lower().split()
        known = [each for each in self._known if all(w in f"{each.value} {each.what}".lower() for w in words)]
        rows = self.query_one(PlaceRows)
        rows.found = [*known, *folders(text.strip(), self._cwd)]
        nothing = "Nothing was opened before and nothing is discovered: type a folder, or where to make one."
        unknown = self._looked and not self._known
        if unknown and not text.strip():
            rows.found = [*folders(f"~{os.sep}{FIRST_STORE}", self._cwd), *ways()]
        rows.said = said or (
            "looking" if not self._looked else nothing if unknown and not text.strip() else ""
        )
        if self._looked and not rows.found and not rows.said:
            rows.said = "No place known here holds these words, and no folder begins with them."
        keys = [f"{each.kind} {each.value}" for each in rows.found if each.kind != "new" or self._fill]
        rows.repaint(keys[0] if keys else "")  # a slip of the hand makes no store: one has to go to that row
        rows.scroll_home(animate=False)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._take(self.query_one(PlaceRows).key or f"typed {event.value.strip()}")

    @on(RowList.Opened)
    def _opened(self, event: RowList.Opened) -> None:
        event.stop()
        self._take(event.key)

    def _take(self, key: str) -> None:
        kind, _, value = key.partition(" ")
        place = next((each for each in self.query_one(PlaceRows).found if each.value == value), None)
        if kind == "folder" and place is not None and not place.store:
            self.query_one(Input).value = tilde(value) + os.sep
            self.query_one(Input).cursor_position = len(self.query_one(Input).value)
        elif kind == "way":
            self.dismiss((value, ""))
        elif value:
            self.dismiss(("new" if kind == "new" else "store", value))

    def on_key(self, event: events.Key) -> None:
        """The cursor of the list moves while the line has the keyboard; tab completes a path."""
        line = self.focused
        if isinstance(line, Input) and event.key in ("up", "down", "pageup", "pagedown"):
            event.stop()
            getattr(self.query_one(PlaceRows), f"action_{event.key.replace('page', 'page_')}")()
        elif isinstance(line, Input) and event.key == "tab":
            event.stop()
            event.prevent_default()
            line.value = completed(line.value, self.query_one(PlaceRows).found)
            line.cursor_position = len(line.value)

    def action_close(self) -> None:
        self.dismiss(None)
