"""Writing an extension, and knowing which are installed: the protocols, the parts they are made of, their state.

`memtui extensions` prints what `check_extensions` returns. The page Extensions of the documentation shows a whole one.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.core.extensions import PROTOCOLS, Extension, ExtensionError, installed, load
from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.capture.recipes.base import CaptureModule, CaptureRecipe
    from memtui.engine.dialects.base import Capabilities, Columns, Dialect, DialectModule
    from memtui.engine.dialects.with_metadata import LifecycleDialect
    from memtui.engine.health.check import Check, CheckModule, Patient, Seen
    from memtui.engine.recall.recipes.base import Recipe, RecipeModule
    from memtui.engine.recall.recipes.nearest import nearest_recipe
    from memtui.engine.transfer.exporting.request import ExportFormat, WriterModule
    from memtui.engine.transfer.format import Format, ReaderModule, Sighting
    from memtui.engine.transfer.record import Record

__all__ = [
    "PROTOCOLS",
    "Capabilities",
    "CaptureModule",
    "CaptureRecipe",
    "Check",
    "CheckModule",
    "CheckedExtension",
    "Columns",
    "Dialect",
    "DialectModule",
    "ExportFormat",
    "Extension",
    "ExtensionError",
    "Format",
    "LifecycleDialect",
    "Patient",
    "ReaderModule",
    "Recipe",
    "RecipeModule",
    "Record",
    "Seen",
    "Sighting",
    "WriterModule",
    "check_extensions",
    "nearest_recipe",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Capabilities": "memtui.engine.dialects.base",
        "CaptureModule": "memtui.engine.capture.recipes.base",
        "CaptureRecipe": "memtui.engine.capture.recipes.base",
        "Check": "memtui.engine.health.check",
        "CheckModule": "memtui.engine.health.check",
        "Columns": "memtui.engine.dialects.base",
        "Dialect": "memtui.engine.dialects.base",
        "DialectModule": "memtui.engine.dialects.base",
        "ExportFormat": "memtui.engine.transfer.exporting.request",
        "Format": "memtui.engine.transfer.format",
        "LifecycleDialect": "memtui.engine.dialects.with_metadata",
        "Patient": "memtui.engine.health.check",
        "ReaderModule": "memtui.engine.transfer.format",
        "Recipe": "memtui.engine.recall.recipes.base",
        "RecipeModule": "memtui.engine.recall.recipes.base",
        "Record": "memtui.engine.transfer.record",
        "Seen": "memtui.engine.health.check",
        "Sighting": "memtui.engine.transfer.format",
        "WriterModule": "memtui.engine.transfer.exporting.request",
        "nearest_recipe": "memtui.engine.recall.recipes.nearest",
    },
)

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

            return frozenset((*(each.name for each in FORMATS), "auto"))
        case "memtui.writers":
            from memtui.engine.transfer.registry import EXPORT_FORMATS

            return frozenset((*(each.name for each in EXPORT_FORMATS), "auto"))
        case "memtui.recipes":
            from memtui.engine.recall.recipes.registry import all_recipes

            return frozenset(each.name for each in all_recipes())
        case "memtui.capture_recipes":
            from memtui.engine.capture.recipes.registry import capture_recipes

            return frozenset(capture_recipes())
    return frozenset()
