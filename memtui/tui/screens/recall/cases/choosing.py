"""Choosing what the cases are asked with: A, B, how many results count, and a file of more cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine import CancelToken, CaseBook, one_line
from memtui.engine.cases.run import Setup
from memtui.tui.dialogs.ask import Ask
from memtui.tui.dialogs.pick import Option, Pick
from memtui.tui.runner import Report
from memtui.tui.screens.recall import options
from memtui.tui.screens.recall.cases import working
from memtui.tui.screens.recall.cases.state import Named

if TYPE_CHECKING:
    from memtui.tui.screens.recall.cases.screen import CasesScreen

KS = (1, 3, 5, 10, 20)
ALONE, FILE = "\0alone", "\0file"
"""Values of the chooser of B that are no recipe."""


class Choosing:
    """Opens the dialogs of one Cases screen."""

    def __init__(self, screen: CasesScreen) -> None:
        self._screen = screen

    def _recipes(self) -> list[Option]:
        return options.recipe_options(options.recipes_of(self._screen.session.engine))

    def other(self) -> None:
        """Choose B."""
        rest = [
            Option(FILE, "a configuration file", "the plugin's retrieval and decay blocks", "f"),
            Option(ALONE, "nothing", "only A is run", "0"),
        ]

        def taken(value: str | None) -> None:
            screen = self._screen
            if value == ALONE:
                screen.state = replace(screen.state, b=None)
            elif value == FILE:
                self._file()
            elif value is not None:
                screen.state = replace(screen.state, b=Named(value, Setup("B", value)))

        self._screen.app.push_screen(Pick("Compare with", [*self._recipes(), *rest]), taken)

    def first(self) -> None:
        """Choose A."""
        screen = self._screen

        def taken(value: str | None) -> None:
            if value is not None:
                screen.state = replace(screen.state, a=Named(value, Setup("A", value)))

        screen.app.push_screen(
            Pick("Run with the recipe", self._recipes(), screen.state.a.setup.recipe), taken
        )

    def _file(self) -> None:
        """B is A with the settings of a file."""
        screen = self._screen
        base = screen.state.a.setup

        def taken(path: str | None) -> None:
            def read(cancel: CancelToken, report: Report) -> Named:
                from memtui.engine.config_file import read_config

                return Named(
                    one_line(Path(path or "").name), replace(base, name="B", config=read_config(path))
                )

            if path:
                screen.runner.start("file", read)

        screen.app.push_screen(
            Ask("Configuration file", 'JSON or JSON5: {"retrieval": {...}, "decay": {...}}.'), taken
        )

    def how_many(self) -> None:
        """How many results count."""
        screen = self._screen

        def taken(value: str | None) -> None:
            if value is not None:
                screen.state = replace(screen.state, k=int(value))

        found = [Option(str(k), str(k), "results count") for k in KS]
        screen.app.push_screen(Pick("How many results count", found, str(screen.state.k)), taken)

    def import_file(self, book: CaseBook) -> None:
        """Take the cases of a file."""
        screen = self._screen

        def taken(path: str | None) -> None:
            if path:
                screen.runner.start("import", lambda cancel, report: working.take_file(book, Path(path)))

        hint = 'One JSON object a line: {"query": "...", "expected": ["id"]}.'
        screen.app.push_screen(Ask("Cases file", hint), taken)
