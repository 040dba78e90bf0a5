"""What Transfer can do: the one place where a task is registered."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.tui.wizard.wizard import Task


Facts = tuple[tuple[str, str], ...]
"""Labels with what there is to say of each."""


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """A task on the start page: its name, what it does, and where its declaration is, loaded when it is begun."""

    name: str
    title: str
    about: str
    module: str
    value: str = "TASK"
    """Which value of the module it is."""
    steps: Facts = ()
    """How it goes, for the start page where it has room: each step with a sentence."""


_HERE = "memtui.tui.screens.transfer"

TASKS = (
    TaskEntry(
        "import",
        "Import",
        "memories from files, folders and other stores",
        f"{_HERE}.import_task",
        steps=(
            ("source", "a path or pasted text; the format is detected from the content"),
            ("mapping", "owner of the memories, and the target of each field"),
            ("review", "each record: new, duplicate or near duplicate; keep it or leave it out"),
            ("run", "one entry of the Journal: stopped, resumed, undone whole"),
        ),
    ),
    TaskEntry(
        "export",
        "Export",
        "memories to a file or a folder, secrets masked",
        f"{_HERE}.export_task",
        steps=(
            ("which", "all, or those of a filter; marked ones from Browse"),
            ("form", "what each form cannot hold is listed, and the first rows as they would be"),
            ("secrets", "are masked unless you say otherwise"),
            ("this store", "is only read"),
        ),
    ),
    TaskEntry(
        "migrate",
        "Migrate",
        "a new store of another form, verified row by row",
        f"{_HERE}.migrate_task",
        steps=(
            ("check", "what the new format cannot hold, field by field, before it is written"),
            ("run", "a new store beside this one, each row read back and compared"),
            ("this store", "is only read"),
        ),
    ),
    TaskEntry(
        "upgrade",
        "Upgrade",
        "rows of the old form get summaries, category, tier",
        f"{_HERE}.repair_tasks",
        "UPGRADE",
        steps=(
            ("what", "rows that have no summary, category or tier of their own"),
            ("review", "what each row would become"),
            ("run", "one entry of the Journal"),
        ),
    ),
    TaskEntry(
        "repair",
        "Repair",
        "fix wrong scopes, summaries, times and metadata",
        f"{_HERE}.repair_tasks",
        "REPAIR",
        steps=(
            ("what", "fix wrong scopes, summaries, times and metadata"),
            ("review", "the rows of each kind, before and after"),
            ("run", "one entry of the Journal"),
        ),
    ),
    TaskEntry(
        "vectors",
        "Missing vectors",
        "embed rows that were stored without a vector",
        f"{_HERE}.repair_tasks",
        "VECTORS",
        steps=(
            ("what", "rows that were stored without a vector"),
            ("review", "how many there are, and data sharing"),
            ("run", "one entry of the Journal; rows with a vector stay as they are"),
        ),
    ),
    TaskEntry(
        "reembed",
        "Re-embed",
        "switch the embedding model: rehearse, build, switch",
        f"{_HERE}.reembed_task",
        steps=(
            ("model", "bundled, local or of a service, with its data sharing"),
            ("rehearse", "a sample under both models: your questions, answered side by side"),
            ("make", "the new table beside the old one; it resumes where it stopped"),
            ("switch", "with the agent stopped; the undo stays here"),
        ),
    ),
)
"""In the order of the start page, which lists all of them."""

UNLISTED = (TaskEntry("back", "Undo", "", f"{_HERE}.reembed_task", "BACK"),)
"""Begun from elsewhere only: the way back from a switch is offered where there was one."""


def task_named(name: str) -> Task[Any]:
    """The declaration of a task; its module is loaded now."""
    entry = next(task for task in (*TASKS, *UNLISTED) if task.name == name)
    task: Task[Any] = getattr(import_module(entry.module), entry.value)
    return task
