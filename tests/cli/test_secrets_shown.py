"""What the commands print for people: secrets masked, but for `show --reveal`; JSON is the stored text."""

from __future__ import annotations

from pathlib import Path

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
    assert KEY in call("show", rows[0]["id"], "--json", "--store", store).out
