"""openclaw-mem-engine's working set and context pack, and what reads like an order, recorded against ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.__main__ import main
from memtui.cli.open_store import wall_clock
from memtui.engine import RecallRequest, UsageError, mask, open_engine
from memtui.engine.capture.recipes.memory_lancedb import is_order
from memtui.engine.cases import Case
from memtui.engine.cases.runner import Measures, mean, measure
from memtui.engine.documents import (
    WorkingRow,
    WorkingRules,
    build_working_set,
    cold_rules,
    grade,
    importance_score,
    pack_context,
    pack_errors,
    pack_json,
    sessions,
)
from memtui.engine.documents.index import chunk_markdown, remapped
from memtui.engine.documents.pack_policy import pack_score, soft_quotas
from memtui.engine.health import checked_tag
from memtui.engine.providers.clip import clip_rules
from tests.conformance import engine_cases, test_memory_core
from tests.conftest import NOW_MS

pytestmark = pytest.mark.conformance

Given = dict[str, Any]


def _working(i: Given) -> Given:
    rows = [
        WorkingRow(r["id"], r["category"], r["text"], r["createdAt"], r["importance_label"])
        for r in i["rows"]
    ]
    cfg = i["cfg"]
    rules = WorkingRules(cfg["enabled"], cfg["maxChars"], cfg["maxItemsPerSection"], cfg["maxItemChars"])
    made = build_working_set(i["scope"], rows, i["prompt"], rules)
    slot = {
        "id": made.id,
        "createdAt": i["nowMs"],
        "category": "other",
        "text": made.text,
        "importanceLabel": "must_remember",
    }
    return {
        "slot": slot if made.text else None,
        "receipt": made.receipt(enabled=cfg["enabled"]),
        "consumedIds": list(made.consumed),
    }


def _valid(i: Given) -> Given:
    errors = pack_errors(i["payload"])
    return {"ok": not errors, "errors": errors}


def _text(i: Given) -> str:
    return str(i["text"]) if "text" in i else "".join(i["textParts"])


def _graded(i: Given) -> Given:
    seen = i["obs"]
    made = grade(seen.get("summary", ""), tool=seen.get("tool_name", ""), kind=seen["kind"])
    return {
        "score": made.score,
        "label": made.label,
        "rationale": made.rationale,
        "reasons": list(made.reasons),
        "penalties": list(made.penalties),
    }


def _entry(i: Given) -> Given:
    made = sessions.session_entry(i["fileName"], i["jsonl"])
    return {"path": made.path, "content": made.content, "lineMap": list(made.lines), "hash": made.hash}


def _session_file(i: Given) -> Given:
    at = datetime.fromisoformat(i["timestamp"].replace("Z", "+00:00"))
    made = sessions.session_file(
        round(at.timestamp() * 1000),
        session_key=i["sessionKey"],
        session_id=i["sessionId"],
        source=i["source"],
        slug=i["slug"],
        said=i["content"],
    )
    return {"file": made.path, "body": made.body}


def _remapped(i: Given) -> list[Given]:
    cut = chunk_markdown(i["content"], tokens=i["tokens"], overlap=i["overlap"])
    return [
        {"startLine": each.start_line, "endLine": each.end_line, "text": each.text}
        for each in remapped(cut, i["lineMap"])
    ]


def _measured(i: Given) -> Given:
    """The measures of saved cases; scopes outside are counted over everything that came back."""
    measures: list[Measures] = []
    returned = outside = 0.0
    for each in i["queries"]:
        case = Case(each["query"], each["query"], tuple(each["expects"]), scopes=(each["scope"],))
        got = each["got"]
        found = measure(case, [id for id, _ in got], [scope for _, scope in got], i["k"])
        count = len(got[: i["k"]])
        returned, outside = returned + count, outside + found.wrong_scope * count
        measures.append(found)
    told = mean(measures)
    return {"hit_at_k": told["hit"], "mrr": told["mrr"], "wrong_scope_rate": outside / returned}


def _clamped(i: Given) -> Given:
    cfg, text = i["cfg"], i["input"]
    rules = clip_rules(cfg)
    made = rules.clip(text)
    return {
        "text": made,
        "clipped": made != text,
        "originalChars": len(text),
        "clampedChars": len(made),
        "originalBytes": len(text.encode()),
        "clampedBytes": len(made.encode()),
        "maxChars": rules.most,
        "headChars": rules.head,
        "maxBytes": rules.most_bytes,
    }


def _quotas(i: Given) -> Given:
    given = i["candidates"]
    made = soft_quotas([each["kind"] for each in given], i["limit"])

    def refs(places: Sequence[int]) -> list[str]:
        return [f"obs:{given[at]['id']}" for at in places]

    return {
        "order": [given[at]["id"] for at in made.order],
        "capped": [given[at]["id"] for at in made.capped],
        "hits": [
            *({"kind": kind, "action": "reserved", "refs": refs([at])} for kind, at in made.reserved.items()),
            *([{"kind": "event", "action": "capped", "refs": refs(made.capped)}] if made.capped else []),
        ],
    }


def _pack_score(i: Given) -> Given:
    detail = i["detail"]
    life = detail.get("lifecycle", {})
    now, made = (None if each is None else datetime.fromisoformat(each) for each in (i["now"], i["ts"]))
    assert now is not None
    return asdict(
        pack_score(
            i["relevance"],
            i["kind"],
            age_days=0.0 if made is None else (now - made).total_seconds() / 86_400,
            label=detail.get("importance", {}).get("label", "unknown"),
            uses=life.get("used_count", 0),
            state=life.get("state", ""),
        )
    )


def _tag(i: Given) -> Any:
    try:
        return checked_tag(i["tag"])
    except UsageError as error:
        return {"error": error.message}


FUNCTIONS: dict[str, Callable[[Given], Any]] = {
    "engine snapshot tag validation": _tag,
    "core.quotas.apply_soft_quotas": _quotas,
    "core.scoring.score_components": _pack_score,
    "buildWorkingSetBundle": _working,
    "context_pack_contract.validate_context_pack_v1": _valid,
    "looksLikePromptInjection": lambda i: is_order(i["text"]),
    "docs_memory.chunk_markdown": lambda i: [
        asdict(each) for each in cold_rules.sections(i["text"], title=i["default_title"], most=i["max_chars"])
    ],
    "docs_memory.detect_doc_kind": lambda i: cold_rules.kind_of(i["path"]),
    "docs_memory.parse_ts_hint": lambda i: cold_rules.date_hint(i["text"], i["path"]),
    "docs_memory.chunk_content_hash": lambda i: (
        cold_rules.DocumentSection("", i["heading_path"], i["title"], i["text"], 1).content_hash
    ),
    "docs_memory.make_record_ref": lambda i: cold_rules.record_ref(i["repo"], i["rel_path"], i["chunk_id"]),
    "matchesScope": lambda i: cold_rules.in_scope(
        i["row"]["repo"], i["row"]["path"], i["scope"], i["strategy"], i["scopeMap"]
    ),
    "computeScopePushdownRepos": lambda i: cold_rules.pushed_repos(i["scope"], i["strategy"], i["scopeMap"]),
    "globToRegExp": lambda i: cold_rules.glob_matches(i["glob"], i["path"]),
    "heuristic_v1.grade_observation": _graded,
    "importance.parse_importance_score": lambda i: importance_score(i["value"]),
    "redactSensitiveText(session index)": lambda i: sessions.masked_session(_text(i)),
    "buildSessionEntry": _entry,
    "getRecentSessionContent": lambda i: sessions.recent_messages(i["jsonl"], i["messageCount"]),
    "getRecentSessionContentWithResetFallback": lambda i: sessions.recent_of_files(
        i["files"], "only.jsonl", i["messageCount"]
    ),
    "file name and body": _session_file,
    "slug clean-up of a model reply": lambda i: sessions.clean_slug(i["reply"]),
    "chunkMarkdown+remapChunkLines": _remapped,
    "clampEmbeddingInput": _clamped,
    "hit@k (any expected id in top k), MRR (best expected rank, 0 on a miss), wrong-scope rate (returned rows outside "
    "the asked scope / returned rows)": _measured,
}


ADMIN = {"extractUserTextMessages", "memory_list", "memory_stats", "memory_export"}
"""Compared by tests/conformance/test_engine_admin.py."""

CAPTURED = {
    *(
        "shouldCapture",
        "detectCategory",
        "detectAutoCaptureCategory",
        "looksLikeSecret",
        "looksLikeToolOutput",
    ),
    *(
        "splitCaptureCandidates",
        "stripAutoInjectedArtifacts",
        "isTodoWithinDedupeWindow",
        "isNearDuplicateText",
    ),
}
"""Compared by tests/engine/test_capture_own.py."""

LEFT = {
    "cosineSimilarity": "vectors are compared by numpy, all of one length",
    "scope.normalize_scope_token": "the sidecar's scope names; no store of ours or the engine has them",
    "redactSensitiveText(export)": "exports mask everything that is found, upstream leaves some of it readable",
    "memory_import (real LanceDB table)": "imports are planned, previewed and undone: other counters",
    "memory_store": "a read-only door has no tool that writes",
    "memory_forget": "a read-only door has no tool that writes",
    "memory_import": "a read-only door has no tool that writes",
    "memory_docs_ingest": "a read-only door has no tool that writes",
}
"""Recorded functions that memtui does not reproduce, with the reason."""


def test_no_recorded_function_is_forgotten(shared: Path) -> None:
    file = shared / "fixtures" / "mem-engine" / "golden.json"
    recorded = {case["fn"] for case in json.loads(file.read_text(encoding="utf-8"))["cases"]}
    compared = {*FUNCTIONS, *test_memory_core.FUNCTIONS, *engine_cases.FUNCTIONS, *CAPTURED, *ADMIN}
    assert recorded - compared == LEFT.keys()


def test_an_export_hides_whatever_upstream_hides_and_more(shared: Path) -> None:
    """Departs on purpose from secrets/redact-assign: an assigned password is hidden, too."""
    file = shared / "fixtures" / "mem-engine" / "golden.json"
    cases = [
        case
        for case in json.loads(file.read_text(encoding="utf-8"))["cases"]
        if case["fn"] == "redactSensitiveText(export)"
    ]
    hidden = {case["id"] for case in cases if mask(_text(case["input"]))[1]}
    theirs = {case["id"] for case in cases if case["expected"] != _text(case["input"])}
    assert theirs | {"secrets/redact-assign"} <= hidden


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_every_recorded_case_is_equal(shared: Path, function: str) -> None:
    file = shared / "fixtures" / "mem-engine" / "golden.json"
    cases = [c for c in json.loads(file.read_text(encoding="utf-8"))["cases"] if c["fn"] == function]
    assert cases
    ours = {case["id"]: FUNCTIONS[function](case["input"]) for case in cases}
    assert ours == {case["id"]: case["expected"] for case in cases}


def test_a_pack_of_a_real_recall_is_valid_and_names_what_does_not_fit(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    for text in (None, "The bastion answers on port 48022", "The bastion " + "stands behind the wall " * 60):
        words = ["new", str(folder)] if text is None else ["add", text, "--store", str(folder), "--yes"]
        assert main(words) == 0
    with open_engine(folder, now=wall_clock, environ={}, cwd=tmp_path) as engine:
        trace = engine.recall(RecallRequest("Which port does the bastion answer on?", recipe="memtui"))
    made = pack_context(trace, now_ms=NOW_MS, budget_tokens=40)
    assert pack_errors(made.payload) == []
    assert [each["text"] for each in made.payload["items"]] == ["The bastion answers on port 48022"]
    assert [why for _, why in made.excluded] == ["budget_tokens_exceeded"]
    assert made.tokens <= 40
    assert pack_json(made)["excluded"][0]["why"] == "budget_tokens_exceeded"
    scored = pack_context(trace, now_ms=NOW_MS, by_score=True)
    assert pack_errors(scored.payload) == []
    assert len(scored.payload["items"]) == 2
