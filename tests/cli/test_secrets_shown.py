"""What the commands print: secrets masked, in text and JSON; as they are stored with --show-secrets alone."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.cli.every_command import call
from tests.engine.transfer_stores import memory, pro_store

KEY = "ghp_Zk3vQ9wT7rLm2XcY8bNd4HsJ6gKf1PaE0uVi"

COMMANDS = (
    ("ls",),
    ("stats",),
    ("scan",),
    ("duplicates",),
    ("recall", "the key of the gateway"),
    ("recall", "the key of the gateway", "--explain"),
    ("recall", "the key of the gateway", "--recipe", "memtui"),
    ("why-not", "the key of the gateway", memory(1, "")["id"]),
    ("show", memory(1, "")["id"]),
    ("forget", memory(1, "")["id"], "--dry-run"),
    ("journal",),
    ("review",),
    ("history", "the key of the gateway"),
)


def test_no_list_prints_a_secret(tmp_path: Path) -> None:
    rows = [
        memory(at, f"The key of the gateway is {KEY}{'!' * at}", metadata={"l2_content": KEY, "note": KEY})
        for at in range(1, 4)
    ]
    store = pro_store(tmp_path / "store", rows)
    ran = 0
    for command in COMMANDS:
        done = call(*command, "--store", store)
        assert KEY[:14] not in done.out + done.err, command
        ran += done.code == 0 and "gateway" in done.out
    assert ran >= 6
    assert KEY in call("show", rows[0]["id"], "--reveal", "--store", store).out
    assert KEY not in call("show", rows[0]["id"], "--json", "--store", store).out
    assert KEY in call("show", rows[0]["id"], "--json", "--show-secrets", "--store", store).out


TOLD = "Sonnenblume"


def test_no_json_and_no_receipt_shows_a_secret_unless_it_is_asked_for(tmp_path: Path) -> None:
    rows = [
        memory(1, f"The key of the gateway is {KEY}", metadata={"l2_content": f"key {KEY}", "note": "a, \\"}),
        memory(2, f"The password of the gateway is {TOLD}.", metadata={"l0_abstract": f"Passwort: {TOLD}"}),
    ]
    store = pro_store(tmp_path / "store", rows)
    receipt = tmp_path / "receipt.json"
    seen = 0
    for command in (*COMMANDS, ("recall", "the key of the gateway", "--save", receipt)):
        done = call(*command, "--json", "--store", store)
        for secret in (KEY[:14], TOLD):
            assert secret not in done.out + done.err, command
        seen += done.out.count("[REDACTED]")
        json.loads(done.out)
    assert seen > 10
    assert not any(secret in receipt.read_text() for secret in (KEY[:14], TOLD))
    metadata = json.loads(call("ls", "--json", "--store", store).out)["rows"][0]["metadata"]
    assert isinstance(metadata, dict) or json.loads(metadata)  # JSON in JSON stays JSON
    raw = call("ls", "--json", "--show-secrets", "--store", store).out
    assert KEY in raw
    assert TOLD in raw
    call("recall", "the key of the gateway", "--save", receipt, "--show-secrets", "--store", store)
    assert KEY in receipt.read_text()


def test_a_hook_stores_no_line_that_tells_a_secret_and_keeps_no_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = pro_store(tmp_path / "store", [memory(1, "The gateway stands in rack 4.")])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    said = (
        f"Remember: the password of the router is {TOLD}.\nRemember that I prefer green tea in the morning."
    )
    for event in (
        {"event": {"prompt": f"What is the password {TOLD}-9x for?"}, "ctx": {"sessionKey": "agent:main:x"}},
        {"event": {"messages": [{"role": "user", "content": said}]}, "ctx": {"sessionKey": "agent:main:x"}},
    ):
        name = "prompt_build" if "prompt" in event["event"] else "agent_end"
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
        done = call("hook", name, "--rw", "--store", store)
        assert done.code == 0, done.err
    assert TOLD not in call("ls", "--json", "--show-secrets", "--store", store).out
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert not [path for path in kept if TOLD.encode() in path.read_bytes()]
    assert not [path for path in kept if path.stat().st_mode & 0o077]
    assert not [
        path for path in (tmp_path / "state").rglob("*") if path.is_dir() and path.stat().st_mode & 0o077
    ]


def test_a_link_in_the_place_of_the_journal_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("journal.lock", "journal.busy", "journal.sqlite"):
        store = pro_store(tmp_path / f"store of {name}", [memory(1, "The gateway stands in rack 4.")])
        done = call("edit", memory(1, "")["id"], "--set", "importance=0.5", "--yes", "--store", store)
        assert done.code == 0, done.err
        folder = max(
            (tmp_path / "state").rglob("journal.sqlite"), key=lambda path: path.stat().st_mtime
        ).parent
        for each in folder.glob("journal.*"):
            each.unlink()
        target = tmp_path / f"elsewhere {name}"
        (folder / name).symlink_to(target)
        done = call("edit", memory(1, "")["id"], "--set", "importance=0.7", "--yes", "--store", store)
        assert (done.code == 0) is (name == "journal.lock"), name  # that one is put in the place of the link
        assert not target.exists()
