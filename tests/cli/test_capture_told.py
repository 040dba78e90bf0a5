"""What the shell tells of a capture: a candidate's reason, a call without an answer, faults a job would meet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtui.engine.capture.draft import table_of
from memtui.engine.store.create import create_empty, create_pro, pro_schema
from tests.cli.conftest import Run
from tests.cli.test_capture import place
from tests.conftest import tree_hash
from tests.engine.capture.test_jobs import OLD
from tests.engine.loopback import Answer, loopback

__all__ = ["place"]  # the fixture


def test_explain_tells_the_decision_its_reason_and_the_neighbour(run: Run, place: Path) -> None:
    assert run("capture", place / "talk.txt", "--store", place / "store")[0] == 0
    (place / "more.txt").write_text(
        "I really prefer dark roast coffee.\nWe decided to rename otter to seal.\n"
    )
    code, out, _ = run("capture", place / "more.txt", "--store", place / "store", "--dry-run", "--explain")
    lines = [line.strip() for line in out.splitlines()]
    assert code == 0
    at = lines.index("skip  preferences: I really prefer dark roast coffee.")
    assert lines[at + 1].startswith("a stored one says the same (")
    assert lines[at + 2].startswith("near ")
    assert lines[at + 2].endswith(": I prefer dark roast coffee.")
    at = lines.index("create  events: We decided to rename otter to seal.")
    assert lines[at + 1].startswith('a decision by "We decided" (English rule ')


def test_a_call_without_an_answer_says_how_often_it_was_asked(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memtui.engine.providers.chat._WAIT_S", 0.01)
    with loopback() as server:
        server.chat = lambda _: Answer(429, {"error": "slow down"})
        where = ("--llm", f"{server.url}/v1", "--llm-model", "m")
        code, out, _ = run("capture", place / "talk.txt", "--store", place / "store", *where)
    assert code == 1
    assert "asked: extract, no answer in 3 tries, " in out


def test_a_dry_run_of_a_compaction_tells_the_faults_of_the_plugins_own(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTUI_EMBEDDING_MODEL", "static-minilm-256")
    create_pro(place / "db", table_of(OLD, pro_schema(256)))
    before = tree_hash(place / "db")
    code, _, errors = run("compact", "--dry-run", "--store", place / "db")
    assert (code, tree_hash(place / "db")) == (0, before)
    assert "the plugin's own would do more: " in errors
    assert "no longer valid or archived" in errors
    assert "scopes are mixed" in errors


def test_what_a_case_of_a_conversation_leaves_out_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name.lower()))
    create_empty(tmp_path / "db", 256)

    def said(text: str, *more: dict[str, str]) -> dict[str, object]:
        return {"sender": "human", "uuid": text[:4], "content": [{"type": "text", "text": text}, *more]}

    picture = {"type": "image", "source": "a picture"}
    claude = [
        {"uuid": "a", "name": "one", "chat_messages": [said("I prefer dark roast coffee.", picture)]},
        {"uuid": "b", "name": "two", "chat_messages": [said("I live in York.")]},
    ]
    nodes = {
        "n": {
            "message": {
                "author": {"role": "user"},
                "content": {
                    "content_type": "multimodal_text",
                    "parts": ["I live in York.", {"content_type": "image_asset_pointer"}],
                },
            },
        }
    }
    chatgpt = [{"title": "t", "current_node": "n", "mapping": nodes}]
    (tmp_path / "claude.json").write_text(json.dumps(claude))
    (tmp_path / "chatgpt.json").write_text(json.dumps(chatgpt))
    on = ("--store", tmp_path / "db")
    code, _, errors = run("cases", "add-talk", tmp_path / "claude.json", *on)
    assert (code, "1 other conversation left out" in errors) == (0, True), errors
    assert "image (1)" in errors
    code, _, errors = run("cases", "add-talk", tmp_path / "chatgpt.json", *on)
    assert (code, "image_asset_pointer (1)" in errors) == (0, True), errors
