"""The journal of calls: what a line holds, how the newest are found, and what it tells of clients and of a day."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memtui.engine import UsageError
from memtui.engine.clients import (
    UNANSWERED,
    Call,
    CallJournal,
    Client,
    ClientRegister,
    activities,
    day_of_calls,
    gate_of,
    scores_in,
)
from memtui.engine.clients import calls as calls_module

HOUR = 3_600_000
NOW = 1_790_000_000_000


def call(at: int, client: str = "mcp:codex", **more: object) -> Call:
    given = {
        "agent": "codex",
        "tool": "memory_search",
        "outcome": "ok",
        "ids": (),
        "ms": 4.0,
        "asked": "a",
        **more,
    }
    return Call(at, client, **given)  # type: ignore[arg-type]


def test_what_is_read_is_what_was_written_newest_first(tmp_path: Path) -> None:
    journal = CallJournal(tmp_path)
    made = [
        call(NOW + at, ids=(f"id-{at}", "x" * 900), scores=(0.5, 0.25), via="http", gate="secret", chars=at)
        for at in range(40)
    ]
    for each in made:
        journal.add(each)
    assert journal.read(3) == made[:-4:-1]
    assert journal.read(1_000) == made[::-1]
    with journal.path.open("a") as file:
        file.write('{"time_ms": 1, "cut o')
    assert journal.read(1) == [made[-1]]
    journal.add(made[0])
    assert journal.read(2) == [made[0], made[-1]]  # a line that a kill tore takes no other along


def test_a_call_that_was_cut_off_stands_where_it_began_and_an_answered_one_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = CallJournal(tmp_path)
    begun = [call(NOW + at, outcome=UNANSWERED, key=f"key-{at}", ms=0.0) for at in range(3)]
    done = [replace(begun[at], time_ms=NOW + 10 + at, outcome="created", ms=5.0) for at in (0, 2)]
    for each in (*begun[:2], done[0]):
        journal.add(each)
    assert journal.read() == [done[0], begun[1]]
    monkeypatch.setattr(calls_module, "LARGEST", 1)  # the answer comes into the next file
    for each in (begun[2], done[1]):
        journal.add(each)
    assert journal.read(1) == [done[1]]
    assert begun[2] not in journal.read()
    assert day_of_calls(journal.read(), now_ms=NOW + 20, since_ms=NOW).p95_ms == 5.0


def test_a_full_journal_begins_anew_and_still_tells_of_the_calls_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls_module, "LARGEST", 2_000)
    journal = CallJournal(tmp_path)
    made = [call(NOW + at) for at in range(15)]
    before = journal.stamp
    for each in made:
        journal.add(each)
    assert journal.path.with_name("calls.1.jsonl").exists()
    assert journal.read(15) == made[::-1]
    assert journal.stamp != before


def test_a_day_in_numbers_counts_what_was_stored_injected_refused_and_waits() -> None:
    calls = [
        call(NOW - 1, tool="memory_store", outcome="created", ids=("a",), ms=10.0),
        call(NOW - 2, tool="memory_store", outcome="duplicate", ids=("a",), asked="b"),
        call(NOW - 3, tool="memory_store", outcome="refused", gate="secret", asked="c"),
        call(NOW - 4, tool="memory_forget", outcome="preview", ids=("a",), asked="d"),
        call(NOW - 5, tool="memory_update", outcome="preview", ids=("b",), asked="e"),
        call(NOW - 4, tool="memory_update", outcome="updated", ids=("b",), asked="e"),
        call(NOW - 6, "hook:main", via="hook", outcome="injected", ids=("a", "b", "c"), chars=412),
        call(NOW - 7, "hook:main", via="hook", outcome="stored", ids=("p", "q")),
        call(NOW - 30 * HOUR, outcome="refused"),
    ]
    day = day_of_calls(calls, now_ms=NOW, since_ms=NOW - 24 * HOUR)
    assert (day.calls, day.stored, day.injected, day.previews) == (8, 3, 3, 1)
    assert day.refused == (("secret", 1),)
    assert day.p95_ms == 10.0
    assert sum(day.slots) == 8
    assert day_of_calls([], now_ms=NOW, since_ms=0).p95_ms is None


def test_who_is_here_is_told_by_the_latest_call_of_each() -> None:
    calls = [
        call(NOW - 60_000),
        call(NOW - 2 * HOUR, outcome="refused"),
        call(NOW - 1_000, "hook:main", agent="main", via="hook", outcome="injected", ids=("a", "b")),
    ]
    first, second = activities(calls, now_ms=NOW)
    assert (first.client, first.injected, first.via, first.calls) == ("hook:main", 2, "hook", 1)
    assert (second.client, second.calls, second.refused, sum(second.slots)) == ("mcp:codex", 2, 1, 1)


def test_what_refused_a_call_is_one_word_that_repeats_nothing() -> None:
    assert gate_of("scope: 'custom:finance' is not one of yours.") == "scope"
    assert gate_of("it holds a secret: store where the secret is kept, never the secret") == "secret"
    assert gate_of("This server is read-only. A person can start it with --rw.") == "read only"
    assert gate_of("hunter22X9 is not a word: no") == ""
    assert scores_in({"results": [{"id": "a", "score": 0.5}, {"id": "b", "score": 0.25}]}) == (0.5, 0.25)
    assert scores_in({"results": [{"id": "a", "score": None}]}) == ()


def test_a_client_gets_other_rights_and_is_found_by_the_name_of_its_calls(tmp_path: Path) -> None:
    register = ClientRegister(tmp_path / "clients.json")
    token = register.add(Client("codex", agent="main"))
    register.change("codex", reads=("global",), writes="", rate=60)
    changed = register.of_caller("mcp:codex")
    assert changed is not None
    assert (changed.reads, changed.writes, changed.rate) == (("global",), "", 60)
    assert register.of_token(token) == changed
    assert register.of_caller("hook:main") is None
    with pytest.raises(UsageError):
        register.change("nobody", rate=1)
