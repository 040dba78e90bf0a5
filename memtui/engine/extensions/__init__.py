"""Writing an extension, and knowing which are installed: the protocols, the parts they are made of, their state.

`memtui extensions` prints what `check_extensions` returns. The page Extensions of the documentation shows a whole one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.capture.recipes.base import CaptureModule, CaptureRecipe
    from memtui.engine.core.extensions import PROTOCOLS, Extension, ExtensionError
    from memtui.engine.dialects.base import Capabilities, Columns, Dialect, DialectModule
    from memtui.engine.dialects.time_form import TimeForm
    from memtui.engine.dialects.with_metadata import LifecycleDialect
    from memtui.engine.extensions.listing import CheckedExtension, check_extensions
    from memtui.engine.health.check import Check, CheckModule, Seen
    from memtui.engine.recall.recipe import Recipe, RecipeModule
    from memtui.engine.recall.recipes.nearest import nearest_recipe
    from memtui.engine.transfer.exporting.request import WriterModule
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
    "Extension",
    "ExtensionError",
    "Format",
    "LifecycleDialect",
    "ReaderModule",
    "Recipe",
    "RecipeModule",
    "Record",
    "Seen",
    "Sighting",
    "TimeForm",
    "WriterModule",
    "check_extensions",
    "nearest_recipe",
]

__getattr__ = lazy_names(
    __name__,
    {
        "PROTOCOLS": "memtui.engine.core.extensions",
        "Extension": "memtui.engine.core.extensions",
        "ExtensionError": "memtui.engine.core.extensions",
        "CheckedExtension": "memtui.engine.extensions.listing",
        "check_extensions": "memtui.engine.extensions.listing",
        "Capabilities": "memtui.engine.dialects.base",
        "CaptureModule": "memtui.engine.capture.recipes.base",
        "CaptureRecipe": "memtui.engine.capture.recipes.base",
        "Check": "memtui.engine.health.check",
        "CheckModule": "memtui.engine.health.check",
        "Columns": "memtui.engine.dialects.base",
        "Dialect": "memtui.engine.dialects.base",
        "DialectModule": "memtui.engine.dialects.base",
        "Format": "memtui.engine.transfer.format",
        "LifecycleDialect": "memtui.engine.dialects.with_metadata",
        "ReaderModule": "memtui.engine.transfer.format",
        "Recipe": "memtui.engine.recall.recipe",
        "RecipeModule": "memtui.engine.recall.recipe",
        "Record": "memtui.engine.transfer.record",
        "Seen": "memtui.engine.health.check",
        "Sighting": "memtui.engine.transfer.format",
        "TimeForm": "memtui.engine.dialects.time_form",
        "WriterModule": "memtui.engine.transfer.exporting.request",
        "nearest_recipe": "memtui.engine.recall.recipes.nearest",
    },
)
