"""What Transfer can do: the one place where a task is registered."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.tui.wizard.wizard import Task


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """A task on the start page: its name, what it does, and where its declaration is, loaded when it is begun."""

    name: str
    title: str
    about: str
    module: str
    value: str = "TASK"
    """Which value of the module it is."""


_HERE = "memtui.tui.screens.transfer"

TASKS = (
    TaskEntry("import", "Import", "memories from files, folders and other stores", f"{_HERE}.import_task"),
    TaskEntry("export", "Export", "memories to a file or a folder, secrets masked", f"{_HERE}.export_task"),
    TaskEntry(
        "migrate", "Migrate", "a new store of another form, verified row by row", f"{_HERE}.migrate_task"
    ),
    TaskEntry(
        "upgrade",
        "Upgrade",
        "rows of the old form get summaries, category, tier",
        f"{_HERE}.repair_tasks",
        "UPGRADE",
    ),
    TaskEntry(
        "repair",
        "Repair",
        "scopes, summaries, times and metadata that mislead",
        f"{_HERE}.repair_tasks",
        "REPAIR",
    ),
    TaskEntry(
        "vectors",
        "Missing vectors",
        "made for rows that were stored without one",
        f"{_HERE}.repair_tasks",
        "VECTORS",
    ),
    TaskEntry(
        "reembed", "Re-embed", "another embedding model: rehearse, make, switch", f"{_HERE}.reembed_task"
    ),
)
"""In the order of the start page, which lists all of them."""

UNLISTED = (TaskEntry("back", "The way back", "", f"{_HERE}.reembed_task", "BACK"),)
"""Begun from elsewhere only: the way back from a switch is offered where there was one."""


def task_named(name: str) -> Task[Any]:
    """The declaration of a task; its module is loaded now."""
    entry = next(each for each in (*TASKS, *UNLISTED) if each.name == name)
    task: Task[Any] = getattr(import_module(entry.module), entry.value)
    return task
