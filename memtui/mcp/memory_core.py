"""memory-core's own tools on an agent's index: its names, its arguments, the shape of its answers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import create_model

from memtui.engine import MemtuiError, RecallRequest
from memtui.engine.documents import NotesIndex, index_of, read_file_text
from memtui.mcp.door import Door, ToolError, untrusted
from memtui.mcp.fence import fenced_texts
from memtui.mcp.tools.base import Arguments, Details, Reply, Tool

if TYPE_CHECKING:
    from memtui.engine import Trace

SNIPPET = 700
"""Characters of a chunk in an answer."""

MOST_CHARS = 40_000
"""Characters of a file in one answer; the rest is read on from a line."""


def memory_core_tools() -> tuple[Tool, ...]:
    """`memory_search` and `memory_get`, as OpenClaw offers them to its agents."""
    search = create_model(
        "memory_search",
        __base__=Arguments,
        query=(str, ...),
        maxResults=(int | None, None),
        minScore=(float | None, None),
    )
    get: type[Arguments] = create_model(
        "memory_get",
        __base__=Arguments,
        **{"path": (str, ...), "from": (int | None, None), "lines": (int | None, None)},  # type: ignore[call-overload]
    )
    return (
        Tool(
            "memory_search",
            "Search memory",
            "Call this before answering about earlier work, decisions, dates, people or preferences.",
            search,
            Details,
            _search,
            order=1,
        ),
        Tool(
            "memory_get",
            "Read memory",
            "Call this with a path from memory_search to read a few lines of that file.",
            get,
            Details,
            partial(_get),
            order=2,
        ),
    )


def _index(door: Door) -> NotesIndex:
    index = index_of(door.engine.store)
    if index is None:
        raise ToolError("This store is no index of memory-core. A person can choose it with --store.")
    return index


def _search(door: Door, given: Any) -> Reply:
    if not given.query.strip():
        raise ToolError("query: it is empty. Ask in words.")
    index = _index(door)
    config = None if given.minScore is None else {"memoryCore": {"minScore": given.minScore}}
    try:
        trace = door.engine.recall(
            RecallRequest(
                given.query,
                recipe="memory-core",
                limit=given.maxResults,
                scopes=door.reach.scopes,
                config=config,
            )
        )
    except MemtuiError as error:
        raise ToolError(f"{error.message} {error.fix}".strip()) from error
    results = [_result(trace, index, result.id, result.score) for result in trace.results]
    meta = index.view.content.meta
    details: dict[str, Any] = {
        "results": results,
        "provider": meta.get("provider"),
        "model": meta.get("model"),
        "citations": "auto",
    }
    if trace.warnings:
        details["warning"] = "; ".join(trace.warnings)
    return _reply(details)


def _result(trace: Trace, index: NotesIndex, chunk_id: str, score: float | None) -> dict[str, Any]:
    chunk = next(chunk for chunk in index.view.content.chunks if chunk.id == chunk_id)
    place = next(at for at, row in enumerate(trace.pool.rows) if row.id == chunk_id)
    vector, words = trace.pool.vector.get(place), trace.pool.bm25.get(place)
    raw = abs(words.raw or 0.0) if words is not None else 0.0
    cited = f"{chunk.path}#L{chunk.start_line}" + (
        f"-L{chunk.end_line}" if chunk.end_line > chunk.start_line else ""
    )
    snippet = chunk.text[:SNIPPET].rstrip("\n")
    fields = {"importance": chunk.importance, "triggers": chunk.triggers, "projectKey": chunk.project}
    return {
        "path": chunk.path,
        "startLine": chunk.start_line,
        "endLine": chunk.end_line,
        "score": score,
        "vectorScore": 0 if vector is None else vector.score,
        "textScore": raw / (1 + raw),
        "snippet": f"{snippet}\n\nSource: {cited}",
        "source": chunk.source,
        **{name: value for name, value in fields.items() if value is not None},
        "provenance": {
            "originClass": chunk.origin_class,
            "sessionKind": chunk.session_kind,
            "observedAt": chunk.observed_ms,
        },
        "corpus": "sessions" if chunk.source == "sessions" else "memory",
        "citation": cited,
    }


def _get(door: Door, given: Any) -> Reply:
    index = _index(door)
    reach = door.reach
    if reach.limited and f"agent:{index.agent}" not in (reach.scopes or ()):
        raise ToolError("path: this memory is another agent's.")
    first = getattr(given, "from") or 1
    if first < 1 or (given.lines is not None and given.lines < 1):
        raise ToolError("from and lines: they count from 1.")
    files = [file.path for file in index.view.content.files if file.source != "sessions"]
    place = index.files.allows(given.path, files)
    if place is None:
        raise ToolError(
            f"path: {given.path[:200]!r} is no file of this memory. Take a path from memory_search."
        )
    found = read_file_text(place)
    if found.text is None:
        raise ToolError(f"path: {given.path[:200]!r} cannot be read: {found.problem}.")
    lines = found.text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    last = len(lines) if given.lines is None else min(len(lines), first - 1 + given.lines)
    own = lines[first - 1 : last]
    while len(own) > 1 and sum(len(line) + 1 for line in own) > MOST_CHARS:
        own = own[: max(1, len(own) // 2)]
    text, following = "\n".join(own)[:MOST_CHARS], first + len(own)
    more = following <= len(lines)
    if more:
        text += f"\n\n[More content available. Use from={following} to continue.]"
    workspace = index.files.workspace
    details: dict[str, Any] = {
        "status": "ok",
        "text": text,
        "path": os.path.relpath(place, workspace) if workspace is not None else given.path,
        "from": first,
        "lines": len(own),
        "truncated": more,
        **({"nextFrom": following} if more else {}),
    }
    return _reply(details)


def _reply(details: Mapping[str, Any]) -> Reply:
    """The details, with every stored text once more in its fence; the text for a model in one fence."""
    told = dict(details)
    if texts := fenced_texts(told):
        told["fenced"] = texts
    return Reply(Details(**told), untrusted([json.dumps(details, ensure_ascii=False, indent=2)]))
