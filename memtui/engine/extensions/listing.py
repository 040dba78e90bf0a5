"""Which extensions are installed, and whether each works."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import Any, Literal

from memtui.engine.core.extensions import PROTOCOLS, Extension, ExtensionError, installed, load

State = Literal["works", "broken", "left out"]
"""Loaded and fit for its protocol; not so; never asked, as another one has its name."""

KINDS = {
    "memtui.dialects": "dialect",
    "memtui.readers": "import format",
    "memtui.writers": "export format",
    "memtui.recipes": "recipe",
    "memtui.capture_recipes": "capture recipe",
    "memtui.checks": "checks",
}
"""What an extension of each group brings, for people."""


@dataclass(frozen=True, slots=True)
class CheckedExtension:
    """An extension with its state; `reason` says why it is broken or left out."""

    extension: Extension
    state: State
    reason: str = ""

    @property
    def kind(self) -> str:
        """What it brings, for people."""
        return KINDS[self.extension.group]

    @property
    def protocol(self) -> int:
        """The version of the protocol that this memtui reads."""
        return PROTOCOLS[self.extension.group]

    def as_json(self) -> dict[str, Any]:
        """The extension in the document of `memtui extensions --json`."""
        return {
            "name": self.extension.name,
            "kind": self.kind,
            "group": self.extension.group,
            "package": self.extension.package,
            "version": self.extension.version,
            "module": self.extension.module,
            "protocol": self.protocol,
            "columns": sorted(self.extension.marks),
            "state": self.state,
            "reason": self.reason,
        }


def check_extensions() -> tuple[CheckedExtension, ...]:
    """Every installed extension, loaded to see whether it works; what it prints while it loads is thrown away."""
    found: list[CheckedExtension] = []
    for group in PROTOCOLS:
        ours, seen = _names_of_ours(group), set[str]()
        for extension in installed(group):
            if extension.name in ours:
                reason = f"memtui has a {KINDS[group]} of this name"
                found.append(CheckedExtension(extension, "left out", reason))
            elif extension.name in seen:
                found.append(
                    CheckedExtension(extension, "left out", "another package offers this name first")
                )
            else:
                found.append(_checked(extension))
            seen.add(extension.name)
    return tuple(found)


def _checked(extension: Extension) -> CheckedExtension:
    quiet = io.StringIO()
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            _load_as_used(extension)
    except ExtensionError as error:
        return CheckedExtension(extension, "broken", error.message)
    return CheckedExtension(extension, "works")


def _load_as_used(extension: Extension) -> None:
    """Load it the way that its registry does. Raises ExtensionError."""
    name = extension.name
    match extension.group:
        case "memtui.dialects":
            load(extension, "recognise")
        case "memtui.readers":
            from memtui.engine.transfer.registry import format_named

            format_named(name)
        case "memtui.writers":
            from memtui.engine.transfer.registry import export_format

            export_format(name)
        case "memtui.recipes":
            from memtui.engine.recall.recipes.registry import recipe_named

            recipe_named(name)
        case "memtui.capture_recipes":
            from memtui.engine.capture.recipes.registry import capture_recipe

            capture_recipe(name)
        case "memtui.checks":
            from memtui.engine.health.registry import checks_of_extension

            checks_of_extension(name)


def _names_of_ours(group: str) -> frozenset[str]:
    """The names that an extension cannot take in this group."""
    match group:
        case "memtui.readers":
            from memtui.engine.transfer.registry import FORMATS

            return frozenset((*(known_format.name for known_format in FORMATS), "auto"))
        case "memtui.writers":
            from memtui.engine.transfer.registry import EXPORT_FORMATS

            return frozenset((*(export_format.name for export_format in EXPORT_FORMATS), "auto"))
        case "memtui.recipes":
            from memtui.engine.recall.recipes.registry import all_recipes

            return frozenset(recipe.name for recipe in all_recipes())
        case "memtui.capture_recipes":
            from memtui.engine.capture.recipes.registry import capture_recipes

            return frozenset(capture_recipes())
    return frozenset()
