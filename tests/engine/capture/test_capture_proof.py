"""The capture trace proves itself: any number, text or name of it that is changed is noticed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, open_engine
from memtui.engine.capture.chat import Replies
from memtui.engine.capture.commits import commit
from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.proof import prove
from memtui.engine.capture.recipes.base import CaptureRequest
from memtui.engine.capture.trace import CaptureTrace, Message
from memtui.engine.store.create import create_empty
from tests.conftest import NOW_MS

TALK = (
    "The staging database listens on port 5432.",
    "Correction: I prefer light roast coffee, not dark roast.",
    "We decided to deploy on Fridays.",
    "maybe we rename otter to seal",
    "ok",
)


def said(*texts: str, recipe: str, **config: Any) -> CaptureRequest:
    return CaptureRequest([Message("user", text) for text in texts], recipe, config, scope="agent:main")


def memory(abstract: str, category: str = "preferences") -> dict[str, Any]:
    return {
        "category": category,
        "abstract": abstract,
        "overview": "",
        "content": f"{abstract}.",
        "grounding": "real",
    }


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    create_empty(tmp_path / "store", 256)
    made = open_engine(
        tmp_path / "store",
        now=lambda: NOW_MS,
        environ={},
        cwd=tmp_path,
        writable=True,
        state=tmp_path / "state",
    )
    first = capture(said("I prefer dark roast coffee.", recipe="memtui"), made.capture_context())
    commit(made, first)
    made.store.refresh()
    return made


def by_rules(engine: Engine) -> tuple[CaptureRequest, CaptureTrace]:
    request = said(*TALK, recipe="memtui")
    return request, capture(request, engine.capture_context())


def by_plugin(engine: Engine) -> tuple[CaptureRequest, CaptureTrace]:
    """With admission: one is kept, one rejected, one is like a stored memory."""
    near = memory("I prefer dark roast coffee")
    proposals = [memory("Deploys: on Fridays", "events"), memory("Roof: green", "cases"), near]
    replies = Replies(
        {
            "extract": [{"conversation_register": "real", "memories": proposals}],
            "utility": [{"utility": 0.9, "reason": "asked for"}, {"utility": 0.0}, {"utility": 0.5}],
            "dedup": [
                {"results": [{"index": 1, "decision": "support", "match_index": 1, "reason": "again"}]}
            ],
        },
        json.dumps,
    )
    config = {"extractMinMessages": 1, "admissionControl": {"enabled": True, "preset": "conservative"}}
    request = said(*TALK, recipe="pro", **config)
    return request, capture(request, engine.capture_context(replies))


Run = Callable[[Engine], tuple[CaptureRequest, CaptureTrace]]
RUNS = pytest.mark.parametrize("run", [by_rules, by_plugin])


@RUNS
def test_a_trace_as_it_was_made_is_proven(engine: Engine, run: Run) -> None:
    request, trace = run(engine)
    found = prove(trace, request, engine.capture_context())
    assert found["proven"] is True, found
    assert trace.writes
    assert {each.fate for each in trace.texts} >= {"kept"}


def changed(value: Any) -> Iterator[tuple[str, Any]]:
    """(where, the value with one leaf in it changed), for every number and name in it."""
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield "", value + 1
    elif isinstance(value, str):
        if value.startswith("{") and "\n" not in value:
            for where, other in changed(json.loads(value)):
                yield where, json.dumps(other, ensure_ascii=False, separators=(",", ":"))
        elif value:
            yield "", f"{value}x"
    elif isinstance(value, dict):
        for key, each in value.items():
            for where, other in changed(each):
                yield f".{key}{where}", {**value, key: other}
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            for where, other in changed(each):
                whole = [*value[:at], other, *value[at + 1 :]]
                yield f"[{at}]{where}", whole if isinstance(value, list) else tuple(whole)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name in ("ms", "tokens_in", "tokens_out", "before"):
                continue  # how long it took, and what the row was: nothing is decided by it here
            for where, other in changed(getattr(value, field.name)):
                yield f".{field.name}{where}", replace(value, **{field.name: other})


@RUNS
@pytest.mark.slow
def test_each_number_and_name_of_a_trace_that_is_changed_is_noticed(engine: Engine, run: Run) -> None:
    request, trace = run(engine)
    tried, missed = 0, []
    for where, other in changed(trace):
        if where.startswith((".calls", ".warnings", ".recipe", ".facts.scope")):
            continue  # what the model said is an input; warnings and the name are words about the run
        if where.endswith(".row.id"):
            continue  # drawn by lot: every id of a new row is as good
        tried += 1
        if prove(other, request, engine.capture_context())["proven"] is not False:
            missed.append(where)
    assert tried > 100
    assert not missed


@RUNS
def test_a_number_that_breaks_its_own_rule_is_found_without_running_again(engine: Engine, run: Run) -> None:
    _, trace = run(engine)
    from memtui.engine.capture.proof import faults_of

    assert list(faults_of(trace)) == []
    broken = 0
    for where, other in changed(trace):
        weighed = ".admission.score" in where or where.endswith(".row.importance")
        if weighed or (".neighbours" in where and where.endswith(".score")):
            broken += 1
            assert list(faults_of(other)), where
    assert broken
