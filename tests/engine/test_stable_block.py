"""The stable form of the block: the same memories, those that were there before in their place and to the letter."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine, RecallRequest, open_engine
from memtui.engine.capture import drop_old_orders, keep_order, kept_order, order_parts, play, read_event
from memtui.engine.capture.stable_block import KEPT, order_block
from memtui.engine.cases import demo_cases
from memtui.engine.cost import stable_order
from memtui.engine.demo.build import build_demo
from memtui.engine.explain import injected
from tests.conftest import NOW_MS


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_demo(tmp_path_factory.mktemp("stable") / "demo", now_ms=NOW_MS)


@pytest.fixture
def engine(demo: Path, tmp_path: Path) -> Iterator[Engine]:
    with open_engine(
        demo, now=lambda: NOW_MS, environ={"HOME": str(tmp_path)}, cwd=tmp_path, state=tmp_path / "state"
    ) as opened:
        yield opened


def test_on_every_case_the_set_and_the_lines_are_those_of_the_plain_block(engine: Engine) -> None:
    before: tuple[str, ...] = ()
    moved = shared = 0
    for case in demo_cases(NOW_MS):
        request = RecallRequest(case.query, recipe="pro/agent", scopes=case.searched, source="auto-recall")
        block = injected(engine.recall(request))
        plain = [part.id for part in block.parts if part.line]
        for past in (before, tuple(reversed(plain)), ("gone", *plain[1:])):
            made = order_parts(block, past)
            assert set(made.ids) == set(plain), case.query
            assert sorted(made.text.split("\n")) == sorted(block.block.split("\n"))
            kept = [name for name in past if name in plain]
            assert list(made.ids[: len(kept)]) == kept
            moved += list(made.ids) != plain
            shared += bool(kept)
        before = tuple(plain)
    assert moved > 5
    assert shared > 5


def test_a_numbered_list_counts_anew_and_an_unknown_form_stays_as_it_is() -> None:
    text = "<relevant-memories>\nuntrusted\n1. [fact] one\n2. [fact] two\n</relevant-memories>"
    named = [("a", "1. [fact] one"), ("b", "2. [fact] two")]
    made = order_block(text, named, ["b"])
    assert made.ids == ("b", "a")
    assert "1. [fact] two\n2. [fact] one" in made.text
    assert order_block(text, [("a", "another line")], ["a"]).text == text
    assert order_block("", [], ["a"]).ids == ()
    assert order_block(text, [("a", named[0][1]), ("a", named[1][1])], ["a"]).text == text


def test_an_order_is_kept_for_its_owner_alone_with_ids_only_and_for_an_hour(tmp_path: Path) -> None:
    keep_order(tmp_path, "agent:main:one", ["b", "a"])
    (file,) = (tmp_path / KEPT).iterdir()
    assert json.loads(file.read_text()) == ["b", "a"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert "main" not in file.name
    assert kept_order(tmp_path, "agent:main:one") == ("b", "a")
    assert kept_order(tmp_path, "agent:main:two") == ()
    old = time.time() - 3601
    os.utime(file, (old, old))
    assert kept_order(tmp_path, "agent:main:one") == ()
    drop_old_orders(tmp_path)
    assert not file.exists()
    file.write_text("{", encoding="utf-8")
    assert kept_order(tmp_path, "agent:main:one") == ()


QUESTIONS = (
    "which port do I use for SSH to the bastion?",
    "when may we deploy this week, and which port is the bastion?",
    "the port for SSH to the bastion, please",
)

REPEATING = {"autoRecallMinRepeated": 0, "recallMode": "full"}


def test_a_hook_keeps_the_order_of_its_session_and_forgets_it_with_the_session(
    demo: Path, tmp_path: Path
) -> None:
    with open_engine(
        demo,
        now=lambda: NOW_MS,
        environ={"HOME": str(tmp_path)},
        cwd=tmp_path,
        state=tmp_path / "state",
        writable=True,
    ) as engine:
        state = engine.state_place
        assert state is not None

        def block(session: str, question: str, *, stable: bool) -> list[str]:
            event = read_event(
                "prompt_build", json.dumps({"prompt": question, "session_id": session, "agent": "main"})
            )
            answer = play(engine, event, REPEATING, tmp_path, stable=stable)
            assert "failed" not in answer
            return [line for line in answer["prependContext"].split("\n") if line.startswith("- [")]

        before: list[str] = []
        for question in QUESTIONS:
            plain = block("plain", question, stable=False)
            stable = block("stable", question, stable=True)
            assert sorted(stable) == sorted(plain)
            assert stable == stable_order(before, plain)
            before = stable
        assert before
        assert len(list((state / KEPT).iterdir())) == 1
        end = read_event(
            "session_end", json.dumps({"session_id": "stable", "agent": "main", "reason": "clear"})
        )
        play(engine, end, REPEATING, tmp_path)
        assert list((state / KEPT).iterdir()) == []


def test_a_hook_that_may_not_write_says_that_it_keeps_no_order(engine: Engine, tmp_path: Path) -> None:
    event = read_event(
        "prompt_build", json.dumps({"prompt": QUESTIONS[0], "session_id": "s", "agent": "main"})
    )
    answer = play(engine, event, REPEATING, tmp_path, stable=True)
    assert answer["prependContext"]
    assert answer["note"] == "The order of the block is not kept: start the hook with --rw."
    state = engine.state_place
    assert state is not None
    assert not (state / KEPT).exists()
