"""No dry run, plan, check, preview or rehearsal sends anything: the configured services count what they get."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.cli.every_command import call, commands_on_a_store
from tests.engine.loopback import Loopback, loopback
from tests.engine.served_home import IDS, served_home

TALK = """\
User: The staging database listens on port 5432.
Assistant: Noted.
User: I prefer dark roast coffee.
"""


@pytest.fixture
def service() -> Iterator[Loopback]:
    with loopback() as server:
        yield server


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: Loopback) -> Path:
    """An agent's home whose configuration names services for vectors, answers and order; a question was asked there."""
    home = tmp_path / "home"
    for name in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    for name in ("MEMTUI_STATE_DIR", "MEMTUI_CACHE_DIR", "MEMTUI_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    store = served_home(home, service.url)
    (tmp_path / "talk.txt").write_text(TALK)
    (tmp_path / "new.jsonl").write_text(
        "\n".join(json.dumps({"text": f"The joiner calls at {hour} o'clock."}) for hour in (7, 8, 9))
    )
    # questions that a preview with its effect on recall would ask again
    assert call("cases", "add", "where is tool 3", "--expect", IDS[3], "--store", store).code == 0
    return tmp_path


def previews(place: Path) -> Iterable[Sequence[object]]:
    """Every preview of every command; what is named only here is not in the list of every command's calls."""
    store = place / "home" / ".openclaw" / "memory" / "lancedb-pro"
    on = ("--store", store)
    first, second = IDS[0], IDS[1]
    for line in commands_on_a_store(store, place / "out"):
        if {"--dry-run", "plan", "check", "diff"} & {str(word) for word in line}:
            yield line
    effect = ("--dry-run", "--effect", *on)
    new = ("--model", "other-model", "--base-url", f"{SERVICE[0]}/v1", *on)
    yield from (
        ["report", *on],
        ["report", "--json", *on],
        ["add", "The ladder is in the shed.", "--dry-run", *on],
        ["edit", first, "--set", "text=Tool 1 hangs on the door.", *effect],
        ["edit", "--where", "id:*", "--set", "importance=0.1", *effect],
        ["forget", first, *effect],
        ["forget", "--where", "id:*", "--hard", *effect],
        ["restore", first, *effect],
        ["merge", first, second, *effect],
        ["merge", first, second, "--text", "Tools hang on hooks.", "--dry-run", *on],
        ["undo", *effect],
        ["upgrade", *effect],
        ["upgrade", "--llm", f"{SERVICE[0]}/v1", "--llm-model", "m", "--dry-run", *on],
        ["repair", *effect],
        ["doctor", *on],
        ["doctor", "--deep", *on],
        ["doctor", "--fix", "safe", *effect],
        ["doctor", "--fix", "all", *effect],
        ["import", place / "new.jsonl", "--dry-run", *on],
        ["import", place / "new.jsonl", "--find-near", *effect],
        ["import", place / "new.jsonl", "--new-vectors", *effect],
        ["capture", place / "talk.txt", "--dry-run", *on],
        ["capture", place / "talk.txt", "--recipe", "pro", "--dry-run", "--explain", *on],
        ["capture", place / "talk.txt", "--llm", f"{SERVICE[0]}/v1", "--llm-model", "m", "--dry-run", *on],
        ["reembed", "--missing", "--dry-run", *on],
        ["reembed", "--dry-run", *new],
        ["reembed", "--rehearse", *new],
        ["grade", "--dry-run", *on],
        ["compact", "--dry-run", *on],
        ["compact", "--as-plugin", "--dry-run", *on],
        ["dream", "--dry-run", *on],
        ["reflect", place / "talk.txt", "--dry-run", *on],
        ["reflect", place / "talk.txt", "--llm", f"{SERVICE[0]}/v1", "--llm-model", "m", "--dry-run", *on],
        ["sweep", "--dry-run", *on],
        ["sweep", "--all", "--dry-run", *on],
        ["migrate", "check", store],
        ["migrate", "run", store, place / "out" / "migrated", "--dry-run"],
        ["export", place / "out" / "all.jsonl", "--dry-run", *on],
        ["versions", "restore", 1, "--dry-run", *on],
        ["journal", "--finish", "--dry-run", *on],
        ["inbox", "--dry-run", *on],
        ["alive"],
        ["alive", "--json"],
        ["config", "check", *on],
        ["config", "check"],
        *(["config", "plan", name, *on] for name in "ABCD"),
        *(["config", "diff", name, *on] for name in "ABCD"),
        ["context", *on],
        ["stats", *on],
        ["scan", *on],
        ["since", "7d", *on],
        ["duplicates", *on],
        ["review", *on],
        ["lifecycle", *on],
        ["access", "--leaks", *on],
        ["ls", *on],
        ["show", first, *on],
        ["stores"],
    )


SERVICE: list[str] = []


def test_no_preview_of_any_command_sends_anything(place: Path, service: Loopback) -> None:
    SERVICE[:] = [service.url]
    (place / "out").mkdir()
    sent: list[str] = []
    failed: list[str] = []
    for line in previews(place):
        service.requests.clear()
        called = call(*line)
        if called.code == -1:
            failed.append(f"{' '.join(called.arguments)}: {called.trace}")
        sent += [
            f"{' '.join(called.arguments)}: {request.path} {str(request.body)[:90]}"
            for request in service.requests
        ]
    assert not failed
    assert not sent, "\n".join(sent)


def test_a_preview_says_what_it_would_send_and_sends_it_only_when_told(
    place: Path, service: Loopback
) -> None:
    on = ("--dry-run", "--store", place / "home" / ".openclaw" / "memory" / "lancedb-pro")
    host = service.url.removeprefix("http://")
    for line in (
        ["edit", IDS[0], "--set", "importance=0.1", "--effect"],
        ["edit", IDS[0], "--set", "text=Tool 1 hangs on the door.", "--effect"],
        ["forget", "--where", "id:*", "--effect"],
        ["sweep"],
        ["capture", place / "talk.txt", "--llm", f"{service.url}/v1", "--llm-model", "m"],
    ):
        service.requests.clear()
        called = call(*line, *on)
        said = called.out + called.err
        assert (called.code, service.requests) == (0, []), said
        assert "--send" in said, said
        assert host in said or "127.0.0.1" in said, said
        if "--effect" in line:
            assert "effect on recall: not known: " in called.out
            assert "answered differently" not in called.out
            document = json.loads(call(*line, "--json", *on).out)
            assert "would be sent to" in document["effect"]["not_known"]
        call(*line, "--send", *on)
        assert service.requests, line
    assert call("edit", IDS[0], "--set", "importance=0.1", "--send", *on[1:]).code == 2
