"""Theme files to themes: found, read and checked before Textual sees them.

A bad base colour or variable would end the app when the theme is applied, so nothing unchecked is registered.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from textual.app import App
from textual.color import Color, ColorParseError
from textual.theme import Theme

from memtui.settings import line_of
from memtui.tui.theme.tokens import NAMES, defaults

DEFAULT = "deep-sea"

BASE = (
    "primary",
    "secondary",
    "warning",
    "error",
    "success",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
)
"""Textual's own colours, which a theme sets in `[base]`."""


class ThemeError(ValueError):
    """A theme file that cannot be used; the text says which file and line, which key and what to write instead."""


class _BadValueError(ValueError):
    """What is wrong, and the key (with its table) that it is wrong with."""

    def __init__(self, what: str, key: str = "") -> None:
        super().__init__(what)
        self.key = key


@dataclass(frozen=True, slots=True)
class LoadedThemes:
    """The themes that passed, by name, with the file of each, and one sentence for each file that did not."""

    themes: dict[str, Theme]
    problems: tuple[str, ...] = ()
    files: dict[str, Path] = field(default_factory=dict)


def search_path(user: Path | None = None) -> tuple[Path, ...]:
    """Folders in the order they are read; a later theme of the same name wins.

    A wheel carries the themes inside the package; an editable install has them at the repository root only.
    """
    package = Path(__file__).resolve().parents[2]
    shipped = package / "themes"
    folders = [shipped if shipped.is_dir() else package.parent / "themes"]
    if user is not None:
        folders.append(user)
    return tuple(folders)


def load_themes(folders: Iterable[Path], only: Collection[str] | None = None) -> LoadedThemes:
    """Read every `*.toml` of the folders, or `only` the files of these names.

    A bad file becomes a problem, never an exception.
    """
    themes: dict[str, Theme] = {}
    problems: list[str] = []
    files: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            if only is not None and path.stem not in only:
                continue
            try:
                theme = read_theme(path)
            except ThemeError as error:
                problems.append(str(error))
            else:
                themes[theme.name], files[theme.name] = theme, path
    return LoadedThemes(themes, tuple(problems), files)


def read_theme(path: Path) -> Theme:
    """One theme file as a `Theme` that is safe to apply. Raises `ThemeError`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise ThemeError(f"{path.name}: cannot be read ({error}).") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ThemeError(f"{path.name}: is not TOML ({error}).") from error
    return build_theme(data, path.name, text)


def build_theme(data: dict[str, Any], where: str, text: str = "") -> Theme:
    """A checked theme from the parsed tables `base` and `tokens`; `text` is what they were parsed from, for the line.

    Raises `ThemeError`.
    """
    try:
        return _build(data)
    except _BadValueError as error:
        line = line_of(text, error.key) if error.key else 0
        raise ThemeError(f"{where}{f', line {line}' if line else ''}: {error}") from error


def _build(data: dict[str, Any]) -> Theme:
    _known(data, ("name", "title", "dark", "ansi", "base", "tokens"))
    name, dark, ansi = data.get("name"), data.get("dark", True), data.get("ansi", False)
    if not isinstance(name, str) or not name:
        raise _BadValueError("a theme needs a name.", "name")
    for key, value in (("dark", dark), ("ansi", ansi)):
        if not isinstance(value, bool):
            raise _BadValueError(f"{key} must be true or false.", key)
    base = _colours(data.get("base", {}), BASE, "base")
    tokens = _colours(data.get("tokens", {}), NAMES, "tokens")
    if "primary" not in base:
        raise _BadValueError("base needs a primary colour.", "base")
    tokens = {**defaults(dark), **tokens}
    variables = {**(_terminal_variables(dark) if ansi else {}), **tokens, **_widget_variables(tokens, base)}
    theme = Theme(name=name, dark=dark, ansi=ansi, variables=variables, **base)  # type: ignore[arg-type]
    try:
        theme.to_color_system().generate()
    except (ColorParseError, ValueError) as error:
        raise _BadValueError(f"cannot be used ({error}).") from error
    return theme


def _terminal_variables(dark: bool) -> dict[str, str]:
    """What Textual's widgets need beside our tokens when the terminal's own 16 colours are used."""
    from textual.theme import BUILTIN_THEMES

    return dict(BUILTIN_THEMES["ansi-dark" if dark else "ansi-light"].variables)


def _widget_variables(tokens: dict[str, str], base: dict[str, str]) -> dict[str, str]:
    """Textual's own variables, from our tokens: cursors, scrollbars and links speak the same colours."""
    background = base.get("background", "#000000")
    return {
        "block-cursor-background": tokens["cursor"],
        "block-cursor-foreground": base.get("foreground", tokens["score-high"]),
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": tokens["cursor-idle"],
        "input-cursor-background": tokens["key"],
        "input-cursor-foreground": background,
        "input-selection-background": tokens["cursor"],
        "scrollbar": tokens["frame"],
        "scrollbar-hover": tokens["dim"],
        "scrollbar-active": tokens["frame-focus"],
        "scrollbar-background": background,
        "scrollbar-background-hover": background,
        "scrollbar-background-active": background,
        "scrollbar-corner-color": background,
        "screen-selection-background": tokens["cursor"],
    }


def _known(table: dict[str, Any], names: Iterable[str], inside: str = "") -> None:
    allowed = tuple(names)
    for key in table:
        if key not in allowed:
            close = get_close_matches(key, allowed, 1)
            hint = f', did you mean "{close[0]}"?' if close else "."
            at = f"{inside}: " if inside else ""
            raise _BadValueError(f'{at}unknown key "{key}"{hint}', f"{inside}.{key}" if inside else key)


def _colours(table: Any, names: Iterable[str], inside: str) -> dict[str, str]:
    if not isinstance(table, dict):
        raise _BadValueError(f"{inside}: must be a table of colours.", inside)
    _known(table, names, inside)
    for key, value in table.items():
        try:
            Color.parse(value)
        except (ColorParseError, TypeError, AttributeError) as error:
            raise _BadValueError(f'{inside}.{key}: "{value}" is not a colour.', f"{inside}.{key}") from error
    return dict(table)


# The themes of the running app: the one in use first, then the others; read again when its file is saved.

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
