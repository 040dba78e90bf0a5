"""Versions on Health: what it asks of the engine, and what can be done with a version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on

from memtui.engine import changes, counted
from memtui.tui.actions.table import bindings
from memtui.tui.dialogs.choose_one import ChooseOne, Option
from memtui.tui.dialogs.repair_preview import show_repairs
from memtui.tui.dialogs.text_prompt import TextPrompt
from memtui.tui.dialogs.unlock import unlocked
from memtui.tui.host import host
from memtui.tui.messages import ShowInBrowse
from memtui.tui.screens.health.area import Area
from memtui.tui.screens.health.going_back import going_back
from memtui.tui.screens.health.reading import before_and_after, weigh
from memtui.tui.screens.health.state import VersionAnswers
from memtui.tui.widgets.panel import Panel
from memtui.tui.widgets.row_list import BuiltRows, RowList

if TYPE_CHECKING:
    from memtui.engine import CancelToken, Engine, Progress
    from memtui.engine.changes import ChangeSet
    from memtui.engine.health import NamedVersion, SinceReport, VersionEntry, VersionNames, WholeRestore
    from memtui.tui.calls import Report


SHOWN_IN_BROWSE = 50
"""Ids that a filter line still holds."""


def read_versions(
    engine: Engine, unfolded: bool, cancel: CancelToken, report: Report
) -> tuple[tuple[VersionEntry, ...], tuple[NamedVersion, ...]]:
    """The last versions, injections folded unless `unfolded`, and the names that were given."""
    from memtui.engine.health import patient_of, time_line

    patient = patient_of(engine, now_ms=engine.now_ms, cancel=cancel)
    journal = [] if engine.state is None else engine.write_state.journal.entries()
    names = version_names(engine).kept()
    lines = time_line(
        engine.store, patient.files, journal=journal, names={name.version: name.name for name in names},
        fold=not unfolded, on_progress=report, cancel=cancel,
    )  # fmt: skip
    return lines, names


def read_difference(engine: Engine, first: int, last: int) -> Any:
    """What changed from the version before `first` to `last`."""
    from memtui.engine.health import diff_versions

    numbers = [version for version, _ in engine.store.versions()]
    before = max((number for number in numbers if number < first), default=None)
    return () if before is None else diff_versions(engine.store, before, last)


def read_since(engine: Engine, version: int) -> Any:
    """What changed from a version to the newest one: what bringing back would undo."""
    from memtui.engine.health import diff_versions

    engine.store.refresh()
    return diff_versions(engine.store, version, engine.store.version)


def read_writers(engine: Engine, version: int, cancel: CancelToken, report: Report) -> SinceReport:
    """What is new, changed or gone since a version, with who wrote it."""
    from memtui.engine.health import find_baseline, find_since

    engine.store.refresh()
    baseline = find_baseline(engine, str(version), version_names(engine))
    return find_since(engine, baseline, on_progress=report, cancel=cancel)


def groups_of(found: SinceReport) -> tuple[list[Option], dict[str, tuple[str, ...]]]:
    """The groups of a report as options, and the memories of each that are there: bursts first, then by writer."""
    options: list[Option] = []
    ids: dict[str, tuple[str, ...]] = {}

    def add(label: str, hint: str, rows: Sequence[str]) -> None:
        key = str(len(options))
        options.append(Option(key, label, hint))
        ids[key] = tuple(rows)

    for burst in found.bursts:
        seconds = (burst.to_ms - burst.from_ms) // 1000
        hint = f"within {counted(seconds, 'second')}" if seconds else "in one version"
        add(f"burst: {counted(len(burst.ids), 'memory', 'memories')}", f"{burst.writer}, {hint}", burst.ids)
    for by in ("writer", "source", "kind"):
        for name, rows in found.groups(by).items():
            count = {op: sum(row.op == op for row in rows) for op in ("new", "changed", "gone")}
            hint = ", ".join(f"{number} {op}" for op, number in count.items() if number)
            add(f"{by}: {name}", hint, [row.id for row in rows if row.op != "gone"])
    return options, ids


def give_name(engine: Engine, planned: ChangeSet) -> str:
    """Name a version, or take its names away; what to say of it."""
    outcome = changes.apply(engine, planned, confirmed=True)
    entry = "" if outcome.entry is None else f"; entry {outcome.entry} of the Journal undoes it"
    return "; ".join([f"{planned.title}{entry}", *outcome.warnings])


def ask_then(engine: Engine, query: str, version: int) -> VersionAnswers:
    """One question on a version and on the newest one, with the present settings."""
    from memtui.engine import RecallRequest

    def places(table_version: int | None) -> tuple[tuple[str, str], ...]:
        request = RecallRequest(query, recipe=engine.default_recipe, table_version=table_version)
        trace = engine.recall(request)
        return tuple((result.id, trace.memories[result.id].text) for result in trace.results)

    return VersionAnswers(query, version, places(version), places(None))


def pin(engine: Engine, version: int, name: str, cancel: CancelToken, report: Report) -> str:
    """Copy a version into a folder of its own; what to say of it."""
    from memtui.engine.health import pin_version

    folder = Path(name).expanduser()
    rows, entry = pin_version(engine, version, folder, on_progress=report, cancel=cancel)
    back = "" if entry is None else f"; entry {entry} of the Journal removes it again"
    return f"v{version}, {counted(rows, 'memory', 'memories')}, copied to {folder}: no clean-up reaches it there{back}"


def plan_whole(engine: Engine, version: int) -> WholeRestore:
    """What going back to a version would take with it."""
    from memtui.engine.health import plan_whole_restore

    return plan_whole_restore(engine.store, version)


def restore_whole(engine: Engine, planned: WholeRestore, ask: bool) -> str:
    """Go back to a version as a whole, the full-text index made anew where it would go; what to say of it.

    With `ask` the cases and last questions are asked before and after.
    """
    from memtui.engine.health import TableStep, maintain

    steps: tuple[TableStep, ...] = (TableStep("restore", str(planned.version)),)
    if planned.loses_words:
        steps = (*steps, TableStep("index-text"))
    receipt = maintain(
        engine.store, engine.write_state.applier, steps,
        confirmed=True, planned_on=planned.newest, ask=before_and_after(engine) if ask else None,
    )  # fmt: skip
    engine.refresh()
    said = f"the table is as at v{planned.version}; the Journal has the receipt, entry {receipt.entry}"
    return f"{said}; {receipt.sentence}" if receipt.sentence else said


def version_names(engine: Engine) -> VersionNames:
    """The names of the table's versions."""
    from memtui.engine.health import VersionNames
    from memtui.paths import versions_file

    return VersionNames(engine.store, versions_file(engine.info.uri, engine.store.table_name))


class VersionsArea(Area):
    """What can be done on the view of the versions."""

    VIEW = "versions"
    BINDINGS = bindings("versions")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        able = bool(self.state.difference) if action == "bring_back" else self.state.entry is not None
        return (True if able else None) if self.seen else False

    @on(RowList.Opened, "#list-rows")
    def _opened(self, event: RowList.Opened) -> None:
        engine, entry = self.engine, self.state.entry
        if not self.seen or engine is None or entry is None:
            return
        event.stop()
        first = entry.first if entry.first is not None else entry.version
        self.call(
            "difference",
            lambda cancel, report: read_difference(engine, first, entry.version),
            lambda found: self.have(difference=found, marked=frozenset()),
        )

    @on(RowList.Opened, "#detail-rows")
    def _marked(self, event: RowList.Opened) -> None:
        if self.seen and event.key:
            event.stop()
            self.have(marked=self.state.marked ^ {event.key})

    def read_versions(self) -> None:
        """Read the time line anew."""
        engine = self.engine
        if engine is None:
            return
        unfolded = self.state.unfolded
        self.call(
            "versions",
            lambda cancel, report: read_versions(engine, unfolded, cancel, report),
            lambda found: self.have(versions=found[0], names=found[1]),
            progress=self._looking_at_versions,
        )

    def _looking_at_versions(self, progress: Progress) -> None:
        self.query_one("#list", Panel).headline(which=f"{progress.done:,} of {progress.total:,}")

    def _done_to_versions(self, said: str) -> None:
        host(self).take("changed", said)

    def action_unfold(self) -> None:
        self.have(unfolded=not self.state.unfolded, versions=None)

    def action_name(self) -> None:
        """A name for the version under the cursor; none takes it away."""
        engine, entry = self.engine, self.state.entry
        if engine is None or entry is None:
            return

        names = version_names(engine)
        version = entry.version

        def named(name: str | None) -> None:
            if name is not None:
                self.call("name", lambda cancel, report: names.plan(version, name), planned)

        def planned(found: ChangeSet) -> None:
            if found.tags:  # in the table itself
                unlocked(self, found.title, lambda: write(found))
            elif found.asides:
                write(found)
            else:
                self.flash("Nothing to change.", "note")

        def write(found: ChangeSet) -> None:
            self.call("name", lambda cancel, report: give_name(engine, found), self._done_to_versions)

        hint = (
            "In the table itself: no clean-up takes the version while it has the name. Nothing: no name."
            if names.in_table
            else "Memtui's own: the table is not touched, and a clean-up may take the version. Nothing: no name."
        )
        self.app.push_screen(TextPrompt(f"Name of v{entry.version}", hint, entry.name), named)

    def action_since(self) -> None:
        """What changed from the version under the cursor to today."""
        engine, entry = self.engine, self.state.entry
        if engine is not None and entry is not None:
            self.call(
                "difference",
                lambda cancel, report: read_since(engine, entry.version),
                lambda found: self.have(difference=found, marked=frozenset()),
            )

    def action_writers(self) -> None:
        """Who wrote what since the version under the cursor; a group goes to Browse."""
        engine, entry = self.engine, self.state.entry
        if engine is not None and entry is not None:
            self.call(
                "writers",
                lambda cancel, report: read_writers(engine, entry.version, cancel, report),
                self._show_writers,
                progress=self._looking_at_versions,
            )

    def _show_writers(self, found: SinceReport) -> None:
        options, ids = groups_of(found)
        if not options:
            self.flash(f"Nothing is new, changed or gone since v{found.baseline.version}.", "note")
            return

        def chosen(key: str | None) -> None:
            if key is None:
                return
            if not ids[key]:
                self.flash("All of them are gone: restore rows of the version to see them.", "note")
                return
            if len(ids[key]) > SHOWN_IN_BROWSE:
                self.flash(f"The newest {SHOWN_IN_BROWSE} of {len(ids[key]):,} are shown.", "note")
            self.post_message(ShowInBrowse(f"id:{','.join(ids[key][:SHOWN_IN_BROWSE])}"))

        self.app.push_screen(ChooseOne(f"Since v{found.baseline.version}", options), chosen)

    def action_bring_back(self) -> None:
        """The marked rows (else the one under the cursor, else all) as they were at the version: an ordinary change."""
        entry, found = self.state.entry, self.state.difference
        if entry is None or not found:
            return
        key = self.query_one("#detail-rows", BuiltRows).key
        ids = sorted(self.state.marked) or ([key] if key else [each.id for each in found])
        version = entry.version
        self.staging.stage(lambda engine: changes.plan_bring_back(engine, version, ids))

    def action_whole(self) -> None:
        """The whole table as it was at the version, after the list of what would go."""
        engine, entry = self.engine, self.state.entry
        if engine is None or entry is None or not self.staging.able():
            return
        self.call(
            "whole",
            lambda cancel, report: plan_whole(engine, entry.version),
            self._preview_whole,
        )

    def _preview_whole(self, planned: WholeRestore) -> None:
        """What goes and comes back, and what the agent would then read; agreed to, the table goes back."""
        from memtui.engine.health import TableStep

        self.have(difference=planned.changes, marked=frozenset())
        engine = self.engine
        if engine is None:
            return
        steps = (TableStep("restore", str(planned.version)),)
        ask = planned.unread is None  # where a file is gone nothing can be asked of the table of now

        def agreed(_: Sequence[str]) -> None:
            unlocked(self, f"go back to v{planned.version}", restore)

        def restore() -> None:
            self.call(
                "restore",
                lambda cancel, report: restore_whole(engine, planned, ask),
                self._done_to_versions,
            )

        show_repairs(
            self.staging,
            [going_back(planned, engine.store.dialect.columns.metadata)],
            lambda keys, cancel, report, *, send: weigh(engine, (), steps, cancel, report, send=send),
            agreed,
            back=f"v{planned.newest} stays among the versions until a clean-up; going back to it is the same again",
        )

    def action_then(self) -> None:
        """A question on the version under the cursor and today."""
        engine, entry = self.engine, self.state.entry
        if engine is None or entry is None:
            return

        def asked(query: str | None) -> None:
            if query and query.strip():
                self.call(
                    "ask",
                    lambda cancel, report: ask_then(engine, query, entry.version),
                    lambda found: self.have(answers=found),
                )

        hint = "Asked on that version and on the newest one, with the settings of today; nothing is written."
        self.app.push_screen(TextPrompt(f"Recall at v{entry.version}", hint), asked)

    def action_pin(self) -> None:
        """A copy of the version in a folder of its own."""
        engine, entry = self.engine, self.state.entry
        if engine is None or entry is None:
            return

        def named(name: str | None) -> None:
            if name and name.strip():
                self.call(
                    "pin",
                    lambda cancel, report: pin(engine, entry.version, name, cancel, report),
                    self.flash,
                    progress=self._looking_at_versions,
                )

        hint = "A new folder. The copy is a store of its own, with its text index; no clean-up reaches it."
        self.app.push_screen(
            TextPrompt(f"Copy v{entry.version}", hint, f"~/memories-v{entry.version}"), named
        )
