"""Recorded values of the rules that read a text: noise, gate, expansion, tags, intent, depth."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memtui.engine.core.content_rules import is_envelope, is_frustration, noise_rule
from memtui.engine.recall.recipes.pro.prompt_block import format_at_depth
from memtui.engine.recall.recipes.pro.question import (
    TAG_PREFIXES,
    analyse,
    boost,
    expand,
    skip_rule,
    tag_tokens,
)
from tests.conformance.lifecycle_cases import memories

Recorded = dict[str, Any]
Case = tuple[str, Any, Any]
CUSTOM_PREFIXES = ("env",)


def noise(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """The noise filter with all classes and with one switched off."""
    switched_off = {"noise": {}, "no_denials": {"denials": False}, "no_meta": {"meta": False}}
    switched_off["no_boilerplate"] = {"boilerplate": False}
    for case in recorded["noise"]:
        text = case["text"]
        for key, switches in switched_off.items():
            yield f"{key} {text[:50]}", noise_rule(text, **switches) is not None, case[key]
        yield f"frustration {text[:50]}", is_frustration(text), case["meta_frustration"]
        yield f"envelope {text[:50]}", is_envelope(text), case["envelope"]


def skip_retrieval(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """The adaptive gate without and with a minimum length."""
    for case in recorded["skip_retrieval"]:
        for key, least in (("skip", None), ("skip_min0", 0), ("skip_min10", 10), ("skip_min30", 30)):
            yield f"{key} {case['text'][:50]}", skip_rule(case["text"], least) is not None, case[key]


def expand_query(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Query expansion."""
    for case in recorded["expand_query"]:
        yield case["text"][:50], expand(case["text"]), case["expanded"]


def tags(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Tag tokens with the usual and with other prefixes."""
    for case in recorded["tag_tokens"]:
        yield case["text"][:50], tag_tokens(case["text"], TAG_PREFIXES), case["tokens"]
        yield f"custom {case['text'][:50]}", tag_tokens(case["text"], CUSTOM_PREFIXES), case["tokens_custom"]


def intents(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """The intent of a question."""
    for case in recorded["intent"]:
        intent = analyse(case["text"])
        ours = (intent.label, list(intent.categories), intent.depth, intent.confidence)
        yield (
            case["text"][:50],
            ours,
            tuple(case[key] for key in ("label", "categories", "depth", "confidence")),
        )


def category_boost(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """Results of a recall lifted by the intent of its question."""
    traces = json.loads(gzip.decompress((folder / "traces.json.gz").read_bytes()))
    questions = {query["qid"]: query["text"] for query in traces["queries"]}
    column = {row["id"]: row["category"] for row in memories(folder)}
    for case in recorded["category_boost"]:
        intent = analyse(questions[case["qid"]])
        yield f"{case['qid']} intent", (intent.label, intent.confidence), (case["label"], case["confidence"])
        ids = [row_id for row_id, _ in case["before"]]
        ours = boost([score for _, score in case["before"]], [column[row_id] for row_id in ids], intent)
        yield case["qid"], [[ids[at], score] for at, score in ours], case["after"]


def depths(recorded: Recorded, folder: Path) -> Iterator[Case]:
    """A memory as one line of a prompt."""
    stored = {row["id"]: row for row in memories(folder)}
    for case in recorded["format_at_depth"]:
        row, extra = stored[case["id"]], case["extra"] or {}
        ours = format_at_depth(
            row["text"],
            category=row["category"],
            scope=row["scope"],
            depth=case["depth"],
            score=case["score"],
            bm25_hit=extra.get("bm25Hit", False),
            reranked=extra.get("reranked", False),
        )
        yield f"{case['depth']} {case['id']}", ours, case["text"]
