"""Markdown that agents keep beside their tables, indexed and searched as memory-core does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.documents.cold_lane import (
        ColdAnswer,
        ColdHit,
        ColdLane,
        ColdRules,
        Ingest,
        read_cold_rules,
    )
    from memtui.engine.documents.context_pack import Pack, pack_context, pack_errors, pack_json
    from memtui.engine.documents.grading import Grade, Graded, Grading, grade, importance_score, plan_grading
    from memtui.engine.documents.index import DocumentHits, MarkdownIndex, SearchRules, Sync, open_index
    from memtui.engine.documents.sessions import SessionFile, clean_slug, recent_messages, session_file
    from memtui.engine.documents.working_set import (
        Todo,
        WorkingRow,
        WorkingRules,
        WorkingSet,
        build_working_set,
        todos_of,
        working_set_of,
    )
    from memtui.engine.recall.recipes.memory_core.ranking import Found

__all__ = [
    "ColdAnswer",
    "ColdHit",
    "ColdLane",
    "ColdRules",
    "DocumentHits",
    "Found",
    "Grade",
    "Graded",
    "Grading",
    "Ingest",
    "MarkdownIndex",
    "Pack",
    "SearchRules",
    "SessionFile",
    "Sync",
    "Todo",
    "WorkingRow",
    "WorkingRules",
    "WorkingSet",
    "build_working_set",
    "clean_slug",
    "grade",
    "importance_score",
    "open_index",
    "pack_context",
    "pack_errors",
    "pack_json",
    "plan_grading",
    "read_cold_rules",
    "recent_messages",
    "session_file",
    "todos_of",
    "working_set_of",
]

__getattr__ = lazy_names(
    __name__,
    {
        "ColdAnswer": "memtui.engine.documents.cold_lane",
        "ColdHit": "memtui.engine.documents.cold_lane",
        "ColdLane": "memtui.engine.documents.cold_lane",
        "ColdRules": "memtui.engine.documents.cold_lane",
        "Ingest": "memtui.engine.documents.cold_lane",
        "read_cold_rules": "memtui.engine.documents.cold_lane",
        "Grade": "memtui.engine.documents.grading",
        "Graded": "memtui.engine.documents.grading",
        "Grading": "memtui.engine.documents.grading",
        "grade": "memtui.engine.documents.grading",
        "importance_score": "memtui.engine.documents.grading",
        "plan_grading": "memtui.engine.documents.grading",
        "SessionFile": "memtui.engine.documents.sessions",
        "clean_slug": "memtui.engine.documents.sessions",
        "recent_messages": "memtui.engine.documents.sessions",
        "session_file": "memtui.engine.documents.sessions",
        "DocumentHits": "memtui.engine.documents.index",
        "Found": "memtui.engine.recall.recipes.memory_core.ranking",
        "MarkdownIndex": "memtui.engine.documents.index",
        "SearchRules": "memtui.engine.documents.index",
        "Sync": "memtui.engine.documents.index",
        "Todo": "memtui.engine.documents.working_set",
        "WorkingRow": "memtui.engine.documents.working_set",
        "WorkingRules": "memtui.engine.documents.working_set",
        "WorkingSet": "memtui.engine.documents.working_set",
        "build_working_set": "memtui.engine.documents.working_set",
        "Pack": "memtui.engine.documents.context_pack",
        "pack_context": "memtui.engine.documents.context_pack",
        "pack_errors": "memtui.engine.documents.context_pack",
        "pack_json": "memtui.engine.documents.context_pack",
        "open_index": "memtui.engine.documents.index",
        "todos_of": "memtui.engine.documents.working_set",
        "working_set_of": "memtui.engine.documents.working_set",
    },
)
