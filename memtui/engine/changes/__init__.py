"""Changing a store with a preview, a journal and an undo: nothing is written that cannot be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.changes.change_set import Change, ChangeSet, Conflict, Op, Outcome
    from memtui.engine.changes.commit import apply, apply_staged
    from memtui.engine.changes.fields import LONGEST_TEXT, Field
    from memtui.engine.changes.files_beside import FileEdit, edits_of
    from memtui.engine.changes.forgetting import (
        holds_words,
        plan_forget,
        plan_forget_person,
        read_receipts,
        receipts_of_entry,
    )
    from memtui.engine.changes.interrupted import (
        Interrupted,
        find_interrupted,
        finish_entry,
        leave_entry,
        plan_finish,
        plan_redo,
        plan_undo,
    )
    from memtui.engine.changes.journal import EntryRow, Journal, JournalEntry, journal_at_rest
    from memtui.engine.changes.merging import plan_merge, plan_supersede
    from memtui.engine.changes.owner_lock import LockState
    from memtui.engine.changes.plan import (
        makes_version,
        plan_each,
        plan_edit,
        plan_reinstate,
        plan_texts,
        staged_memory,
    )
    from memtui.engine.changes.purge_history import plan_past
    from memtui.engine.changes.recall_effect import (
        LAST,
        AnswerChange,
        AnswerRow,
        EffectQuestion,
        RecallEffect,
        of_cases,
    )
    from memtui.engine.changes.reverse import plan_bring_back
    from memtui.engine.changes.story import Story, memory_story
    from memtui.engine.changes.suggested import plan_change
    from memtui.engine.changes.trash import TrashedMemory, archived_memories, deleted_memories, plan_restore
    from memtui.engine.changes.write_state import WriteState

__all__ = [
    "LAST",
    "LONGEST_TEXT",
    "AnswerChange",
    "AnswerRow",
    "Change",
    "ChangeSet",
    "Conflict",
    "EffectQuestion",
    "EntryRow",
    "Field",
    "FileEdit",
    "Interrupted",
    "Journal",
    "JournalEntry",
    "LockState",
    "Op",
    "Outcome",
    "RecallEffect",
    "Story",
    "TrashedMemory",
    "WriteState",
    "apply",
    "apply_staged",
    "archived_memories",
    "deleted_memories",
    "edits_of",
    "find_interrupted",
    "finish_entry",
    "holds_words",
    "journal_at_rest",
    "leave_entry",
    "makes_version",
    "memory_story",
    "of_cases",
    "plan_bring_back",
    "plan_change",
    "plan_each",
    "plan_edit",
    "plan_finish",
    "plan_forget",
    "plan_forget_person",
    "plan_merge",
    "plan_past",
    "plan_redo",
    "plan_reinstate",
    "plan_restore",
    "plan_supersede",
    "plan_texts",
    "plan_undo",
    "read_receipts",
    "receipts_of_entry",
    "staged_memory",
]

__getattr__ = lazy_names(
    __name__,
    {
        "AnswerChange": "memtui.engine.changes.recall_effect",
        "AnswerRow": "memtui.engine.changes.recall_effect",
        "Change": "memtui.engine.changes.change_set",
        "ChangeSet": "memtui.engine.changes.change_set",
        "Conflict": "memtui.engine.changes.change_set",
        "EffectQuestion": "memtui.engine.changes.recall_effect",
        "EntryRow": "memtui.engine.changes.journal",
        "Field": "memtui.engine.changes.fields",
        "FileEdit": "memtui.engine.changes.files_beside",
        "Interrupted": "memtui.engine.changes.interrupted",
        "Journal": "memtui.engine.changes.journal",
        "JournalEntry": "memtui.engine.changes.journal",
        "LAST": "memtui.engine.changes.recall_effect",
        "LONGEST_TEXT": "memtui.engine.changes.fields",
        "LockState": "memtui.engine.changes.owner_lock",
        "Op": "memtui.engine.changes.change_set",
        "Outcome": "memtui.engine.changes.change_set",
        "RecallEffect": "memtui.engine.changes.recall_effect",
        "Story": "memtui.engine.changes.story",
        "TrashedMemory": "memtui.engine.changes.trash",
        "WriteState": "memtui.engine.changes.write_state",
        "apply": "memtui.engine.changes.commit",
        "apply_staged": "memtui.engine.changes.commit",
        "archived_memories": "memtui.engine.changes.trash",
        "deleted_memories": "memtui.engine.changes.trash",
        "edits_of": "memtui.engine.changes.files_beside",
        "find_interrupted": "memtui.engine.changes.interrupted",
        "finish_entry": "memtui.engine.changes.interrupted",
        "holds_words": "memtui.engine.changes.forgetting",
        "journal_at_rest": "memtui.engine.changes.journal",
        "leave_entry": "memtui.engine.changes.interrupted",
        "makes_version": "memtui.engine.changes.plan",
        "memory_story": "memtui.engine.changes.story",
        "of_cases": "memtui.engine.changes.recall_effect",
        "plan_bring_back": "memtui.engine.changes.reverse",
        "plan_change": "memtui.engine.changes.suggested",
        "plan_each": "memtui.engine.changes.plan",
        "plan_edit": "memtui.engine.changes.plan",
        "plan_finish": "memtui.engine.changes.interrupted",
        "plan_forget": "memtui.engine.changes.forgetting",
        "plan_forget_person": "memtui.engine.changes.forgetting",
        "plan_merge": "memtui.engine.changes.merging",
        "plan_past": "memtui.engine.changes.purge_history",
        "plan_redo": "memtui.engine.changes.interrupted",
        "plan_reinstate": "memtui.engine.changes.plan",
        "plan_restore": "memtui.engine.changes.trash",
        "plan_supersede": "memtui.engine.changes.merging",
        "plan_texts": "memtui.engine.changes.plan",
        "plan_undo": "memtui.engine.changes.interrupted",
        "read_receipts": "memtui.engine.changes.forgetting",
        "receipts_of_entry": "memtui.engine.changes.forgetting",
        "staged_memory": "memtui.engine.changes.plan",
    },
)
