"""Markdown that agents keep beside their tables, indexed and searched as memory-core does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.core.lazy import lazy_names

if TYPE_CHECKING:
    from memtui.engine.documents.cold_lane import (
        ColdAnswer,
        ColdHit,
        ColdLane,
        ColdSource,
        Ingest,
    )
    from memtui.engine.documents.cold_settings import ColdRules, read_cold_rules
    from memtui.engine.documents.context_pack import Pack, pack_context, pack_errors, pack_json
    from memtui.engine.documents.grading import Grade, Graded, Grading, grade, importance_score, plan_grading
    from memtui.engine.documents.index import DocumentHits, MarkdownIndex, SearchRules, Sync, open_index
    from memtui.engine.documents.sessions import LeftSessionFile, clean_slug, recent_messages, session_file
    from memtui.engine.documents.store_documents import (
        Consulted,
        consult,
        consult_for,
        lane_of,
        sources_of,
        take_in,
    )
    from memtui.engine.documents.working_set import (
        Todo,
        WorkingRow,
        WorkingRules,
        WorkingSet,
        build_working_set,
        todos_of,
        working_set_of,
    )
    from memtui.engine.notes.index_store import NotesIndex, index_of
    from memtui.engine.notes.memory_files import read_file_text
    from memtui.engine.notes.ranking import FoundChunk

__all__ = [
    "ColdAnswer",
    "ColdHit",
    "ColdLane",
    "ColdRules",
    "ColdSource",
    "Consulted",
    "DocumentHits",
    "FoundChunk",
    "Grade",
    "Graded",
    "Grading",
    "Ingest",
    "LeftSessionFile",
    "MarkdownIndex",
    "NotesIndex",
    "Pack",
    "SearchRules",
    "Sync",
    "Todo",
    "WorkingRow",
    "WorkingRules",
    "WorkingSet",
    "build_working_set",
    "clean_slug",
    "consult",
    "consult_for",
    "grade",
    "importance_score",
    "index_of",
    "lane_of",
    "open_index",
    "pack_context",
    "pack_errors",
    "pack_json",
    "plan_grading",
    "read_cold_rules",
    "read_file_text",
    "recent_messages",
    "session_file",
    "sources_of",
    "take_in",
    "todos_of",
    "working_set_of",
]

__getattr__ = lazy_names(
    __name__,
    {
        "ColdAnswer": "memtui.engine.documents.cold_lane",
        "ColdHit": "memtui.engine.documents.cold_lane",
        "ColdLane": "memtui.engine.documents.cold_lane",
        "ColdRules": "memtui.engine.documents.cold_settings",
        "ColdSource": "memtui.engine.documents.cold_lane",
        "Consulted": "memtui.engine.documents.store_documents",
        "consult_for": "memtui.engine.documents.store_documents",
        "consult": "memtui.engine.documents.store_documents",
        "lane_of": "memtui.engine.documents.store_documents",
        "sources_of": "memtui.engine.documents.store_documents",
        "take_in": "memtui.engine.documents.store_documents",
        "Ingest": "memtui.engine.documents.cold_lane",
        "read_cold_rules": "memtui.engine.documents.cold_settings",
        "Grade": "memtui.engine.documents.grading",
        "Graded": "memtui.engine.documents.grading",
        "Grading": "memtui.engine.documents.grading",
        "grade": "memtui.engine.documents.grading",
        "importance_score": "memtui.engine.documents.grading",
        "plan_grading": "memtui.engine.documents.grading",
        "LeftSessionFile": "memtui.engine.documents.sessions",
        "clean_slug": "memtui.engine.documents.sessions",
        "recent_messages": "memtui.engine.documents.sessions",
        "session_file": "memtui.engine.documents.sessions",
        "DocumentHits": "memtui.engine.documents.index",
        "FoundChunk": "memtui.engine.notes.ranking",
        "NotesIndex": "memtui.engine.notes.index_store",
        "index_of": "memtui.engine.notes.index_store",
        "read_file_text": "memtui.engine.notes.memory_files",
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
