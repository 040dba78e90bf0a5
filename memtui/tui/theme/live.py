"""The themes of the running app: the one in use first, then the others; read again when its file is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.app import App

from memtui.tui.theme.load import DEFAULT, LoadedThemes, ThemeError, load_themes, read_theme, search_path

LOOK_S = 1.0
"""How often the file of the theme in use is looked at: one `stat`."""


class LiveThemes:
    """Registers themes with `app`: at first the one that is `wanted`, the others with `load_all`."""

    def __init__(self, app: App[Any], wanted: str, user: Path | None) -> None:
        self._app = app
        self._folders = search_path(user)
        self.names: tuple[str, ...] = ()
        self._files: dict[str, Path] = {}
        self._seen: tuple[Path, int] | None = None
        first = load_themes(self._folders, {wanted, DEFAULT})  # the others wait for the first frame
        self._take(first if wanted in first.themes else load_themes(self._folders))
        app.theme = wanted if wanted in app.available_themes else DEFAULT

    def load_all(self) -> tuple[str, ...]:
        """Every theme; what is wrong with the files that are none, one sentence each."""
        every = load_themes(self._folders)
        self._take(every)
        self.saved()
        return every.problems

    def _take(self, loaded: LoadedThemes) -> None:
        self.names, self._files = tuple(sorted(loaded.themes)), loaded.files
        for theme in loaded.themes.values():
            self._app.register_theme(theme)

    def saved(self) -> bool:
        """Whether the file of the theme in use is another than at the last look."""
        file = self._files.get(self._app.theme)
        try:
            now = (file, file.stat().st_mtime_ns) if file is not None else None
        except OSError:
            return False  # an editor is replacing it
        before, self._seen = self._seen, now
        return before is not None and now is not None and before[0] == now[0] and before[1] != now[1]

    def reload(self) -> str:
        """Use the theme as its file is now; what is wrong with it, else nothing. Only good files change anything."""
        try:
            theme = read_theme(self._files[self._app.theme])
        except ThemeError as error:
            return str(error)
        if theme.name != self._app.theme:
            return f"{self._files[self._app.theme].name}: the name changed; start memtui again to use {theme.name}."
        self._app.register_theme(theme)
        self._app.refresh_css(animate=False)
        return ""

    def after(self, name: str) -> str:
        """The theme after `name`."""
        here = self.names.index(name) if name in self.names else -1
        return self.names[(here + 1) % len(self.names)]
