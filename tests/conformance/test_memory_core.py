"""memory-core's recorded rules against ours: chunks, words, fading, variety, merging, the flush."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import RecallRequest, open_engine
from memtui.engine.capture.hooks import flush_due
from memtui.engine.documents.index import chunk_markdown
from memtui.engine.notes import ranking
from memtui.engine.notes.keywords import keywords
from tests.engine.pro_store import NOW_MS, row, write_store

pytestmark = pytest.mark.conformance

Given = dict[str, Any]

DEPARTS = {"chunk/astral-utf16": "memtui counts code points, not UTF-16 units"}


def _chunks(i: Given) -> list[Given]:
    return [
        {
            "startLine": each.start_line,
            "endLine": each.end_line,
            "text": each.text,
            "hash": each.hash,
            "chars": len(each.text),
        }
        for each in chunk_markdown(i["content"], tokens=i["tokens"], overlap=i["overlap"])
    ]


def _dated(i: Given) -> Given:
    day = ranking.day_of(i["path"])
    return {"date": day and day.isoformat(), "evergreen": ranking.is_evergreen(i["path"])}


def _aged(i: Given) -> list[Given]:
    found = [
        ranking.FoundChunk(str(n), r["path"], 1, 1, "", score=r["score"]) for n, r in enumerate(i["results"])
    ]
    aged = ranking.aged(found, now_ms=i["nowMs"], half_life_days=i["halfLifeDays"])
    by_id = {each.id: each for each in aged}
    return [{"path": by_id[each.id].path, "score": by_id[each.id].score} for each in found]


def _hits(rows: list[Given]) -> list[ranking.FoundChunk]:
    return [
        ranking.FoundChunk(
            r["id"],
            r["path"],
            r["startLine"],
            r["endLine"],
            r["snippet"],
            vector=r.get("vectorScore", 0.0),
            words=r.get("textScore", 0.0),
        )
        for r in rows
    ]


def _merged(i: Given) -> list[Given]:
    found = ranking.merged(
        _hits(i["vector"]), _hits(i["keyword"]), vector_weight=i["vectorWeight"], text_weight=i["textWeight"]
    )
    if i["temporalDecay"]["enabled"]:
        found = ranking.aged(found, now_ms=i["nowMs"], half_life_days=i["temporalDecay"]["halfLifeDays"])
    return [
        {"path": e.path, "startLine": e.start_line, "score": e.score, "snippet": e.snippet} for e in found
    ]


def _varied(i: Given) -> list[str]:
    items = [(each["id"], each["score"], each["content"]) for each in i["items"]]
    return ranking.varied(items, i["config"]["lambda"]) if i["config"]["enabled"] else [e[0] for e in items]


FUNCTIONS: dict[str, Callable[[Given], Any]] = {
    "chunkMarkdown": _chunks,
    "buildFtsQuery": lambda i: ranking.fts_query(i["raw"]),
    "bm25RankToScore": lambda i: ranking.rank_score(float(i["rank"])),
    "calculateTemporalDecayMultiplier": lambda i: ranking.age_factor(i["ageInDays"], i["halfLifeDays"]),
    "parseMemoryDateFromPath+isEvergreenMemoryPath": _dated,
    "applyTemporalDecayToHybridResults": _aged,
    "jaccardSimilarity": lambda i: ranking.jaccard(i["a"], i["b"]),
    "mmrRerank": _varied,
    "mergeHybridResults": _merged,
    "isMemoryPath": lambda i: ranking.is_memory_path(i["relPath"]),
    "extractKeywords": lambda i: keywords(i["query"]),
    "shouldRunMemoryFlush": lambda i: flush_due(i).due,
}


def same(ours: Any, theirs: Any) -> bool:
    """Equal, floats within 1e-12 of each other."""
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, int | float) and not isinstance(theirs, bool):
        return math.isclose(ours, theirs, rel_tol=1e-12)
    return bool(ours == theirs)


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_every_recorded_case_is_equal(shared: Path, function: str) -> None:
    file = shared / "fixtures" / "mem-engine" / "golden.json"
    cases = [c for c in json.loads(file.read_text(encoding="utf-8"))["cases"] if c["fn"] == function]
    assert cases
    different = {
        case["id"]: (ours, case["expected"])
        for case in cases
        if not same(ours := FUNCTIONS[function](case["input"]), case["expected"])
    }
    assert different.keys() == {case["id"] for case in cases} & DEPARTS.keys(), different


def test_the_recipe_scores_as_recorded(shared: Path, tmp_path: Path) -> None:
    """The hits of both searches as recorded, each chunk a memory of the time that its path tells."""
    file = shared / "fixtures" / "mem-engine" / "golden.json"
    cases = [
        c for c in json.loads(file.read_text(encoding="utf-8"))["cases"] if c["fn"] == "mergeHybridResults"
    ]
    assert len(cases) == 2
    for at, case in enumerate(cases):
        given = case["input"]
        chunks = {each["id"]: each for each in (*given["vector"], *given["keyword"])}
        rows = []
        for key, each in chunks.items():
            day = ranking.day_of(each["path"])
            when = (
                0
                if day is None
                else int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000
            )
            rows.append({**row(key, each["snippet"], (1, 0)), "timestamp": float(when)})
        folder = write_store(tmp_path / str(at), rows, dims=2)
        decay = given["temporalDecay"]
        settings = {
            "vectorWeight": given["vectorWeight"],
            "textWeight": given["textWeight"],
            "minScore": 0.0,
            "temporalDecay": decay["enabled"],
            "halfLifeDays": float(decay.get("halfLifeDays", 30)),
        }
        lanes = {
            "vector": [[each["id"], each["vectorScore"]] for each in given["vector"]],
            "bm25": [[each["id"], each["textScore"]] for each in given["keyword"]],
        }
        with open_engine(folder, now=lambda: NOW_MS, environ={}, cwd=tmp_path) as engine:
            trace = engine.recall(
                RecallRequest(
                    "q",
                    recipe="memory-core",
                    lanes=lanes,
                    config={"memoryCore": settings},
                    now_ms=given["nowMs"],
                )
            )
        assert trace.proof.recomputed, trace.proof.failures
        ours = [{"path": chunks[e.id]["path"], "score": e.score} for e in trace.results]
        assert same(ours, [{"path": e["path"], "score": e["score"]} for e in case["expected"]])
