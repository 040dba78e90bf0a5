"""Changing a store with a preview, a journal and an undo: nothing is written that cannot be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.changes.apply import ConflictError
    from memtui.engine.changes.change_set import Change, ChangeSet, Conflict, Op, Outcome
    from memtui.engine.changes.files_beside import FileEdit, edits_of
    from memtui.engine.changes.forgetting import holds_words
    from memtui.engine.changes.interrupted import Interrupted
    from memtui.engine.changes.journal import EntryRow, JournalEntry
    from memtui.engine.changes.recall_effect import LAST, AnswerChange, AnswerRow, EffectQuestion, of_cases
    from memtui.engine.changes.story import Story
    from memtui.engine.changes.suggested import plan_change
    from memtui.engine.changes.trash import TrashedMemory

__all__ = [
    "LAST",
    "AnswerChange",
    "AnswerRow",
    "Change",
    "ChangeSet",
    "Conflict",
    "ConflictError",
    "EffectQuestion",
    "EntryRow",
    "FileEdit",
    "Interrupted",
    "JournalEntry",
    "Op",
    "Outcome",
    "Story",
    "TrashedMemory",
    "edits_of",
    "holds_words",
    "of_cases",
    "plan_change",
]

__getattr__ = lazy_names(
    __name__,
    {
        "AnswerChange": "memtui.engine.changes.recall_effect",
        "AnswerRow": "memtui.engine.changes.recall_effect",
        "Change": "memtui.engine.changes.change_set",
        "FileEdit": "memtui.engine.changes.files_beside",
        "edits_of": "memtui.engine.changes.files_beside",
        "holds_words": "memtui.engine.changes.forgetting",
        "ChangeSet": "memtui.engine.changes.change_set",
        "Conflict": "memtui.engine.changes.change_set",
        "ConflictError": "memtui.engine.changes.apply",
        "EffectQuestion": "memtui.engine.changes.recall_effect",
        "EntryRow": "memtui.engine.changes.journal",
        "Interrupted": "memtui.engine.changes.interrupted",
        "JournalEntry": "memtui.engine.changes.journal",
        "LAST": "memtui.engine.changes.recall_effect",
        "Op": "memtui.engine.changes.change_set",
        "Outcome": "memtui.engine.changes.change_set",
        "Story": "memtui.engine.changes.story",
        "TrashedMemory": "memtui.engine.changes.trash",
        "of_cases": "memtui.engine.changes.recall_effect",
        "plan_change": "memtui.engine.changes.suggested",
    },
)
