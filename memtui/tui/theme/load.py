"""Theme files to themes: found, read and checked before Textual sees them.

A bad base colour or variable would end the app when the theme is applied, so nothing unchecked is registered.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from memtui.tui.theme.tokens import NAMES, defaults

DEFAULT = "deep-sea"
_BASE = (
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


class ThemeError(ValueError):
    """A theme file that cannot be used; the text says which file, which key and what to write instead."""


@dataclass(frozen=True, slots=True)
class LoadedThemes:
    """The themes that passed, by name, and one sentence for each file that did not."""

    themes: dict[str, Theme]
    problems: tuple[str, ...] = ()


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
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            if only is not None and path.stem not in only:
                continue
            try:
                theme = read_theme(path)
            except ThemeError as error:
                problems.append(str(error))
            else:
                themes[theme.name] = theme
    return LoadedThemes(themes, tuple(problems))


def read_theme(path: Path) -> Theme:
    """One theme file as a `Theme` that is safe to apply. Raises `ThemeError`."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ThemeError(f"{path.name}: cannot be read ({error}).") from error
    except tomllib.TOMLDecodeError as error:
        raise ThemeError(f"{path.name}: is not TOML ({error}).") from error
    return build_theme(data, path.name)


def build_theme(data: dict[str, Any], where: str) -> Theme:
    """A checked theme from the parsed tables `base` and `tokens`. Raises `ThemeError`."""
    _known(data, ("name", "title", "dark", "base", "tokens"), where)
    name, dark = data.get("name"), data.get("dark", True)
    if not isinstance(name, str) or not name:
        raise ThemeError(f"{where}: a theme needs a name.")
    if not isinstance(dark, bool):
        raise ThemeError(f"{where}: dark must be true or false.")
    base = _colours(data.get("base", {}), _BASE, f"{where}: base")
    tokens = _colours(data.get("tokens", {}), NAMES, f"{where}: tokens")
    if "primary" not in base:
        raise ThemeError(f"{where}: base needs a primary colour.")
    variables = {**defaults(dark), **tokens, **_widget_variables({**defaults(dark), **tokens}, base)}
    return Theme(name=name, dark=dark, variables=variables, **base)  # type: ignore[arg-type]


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


def _known(table: dict[str, Any], names: Iterable[str], where: str) -> None:
    allowed = tuple(names)
    for key in table:
        if key not in allowed:
            close = get_close_matches(key, allowed, 1)
            hint = f', did you mean "{close[0]}"?' if close else "."
            raise ThemeError(f'{where}: unknown key "{key}"{hint}')


def _colours(table: Any, names: Iterable[str], where: str) -> dict[str, str]:
    if not isinstance(table, dict):
        raise ThemeError(f"{where}: must be a table of colours.")
    _known(table, names, where)
    for key, value in table.items():
        try:
            Color.parse(value)
        except (ColorParseError, TypeError, AttributeError) as error:
            raise ThemeError(f'{where}.{key}: "{value}" is not a colour.') from error
    return dict(table)
