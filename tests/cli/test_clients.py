"""`memtui clients`: a client is let in on one store, on every store of the user, or on the demo alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memtui.client_register import register_for
from tests.cli.conftest import Run


@pytest.fixture
def stores(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Two stores and the demo, with the clients one, other, all and guest let in: their tokens by name."""
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"MEMTUI_{kind}_DIR", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second"):
        assert run("new", tmp_path / name)[0] == 0
    assert run("demo", "--make-only")[0] == 0
    tokens = {}
    for name, place in (("one", "first"), ("other", tmp_path / "second"), ("guest", "demo"), ("all", None)):
        code, token, said = run("clients", "add", name, *(() if place is None else ("--store", place)))
        assert code == 0, said
        tokens[name] = token.strip()
    return tokens


@pytest.mark.parametrize(
    ("store", "let_in"), [("first", {"one", "all"}), ("second", {"other", "all"}), ("demo", {"guest"})]
)
def test_a_token_opens_the_store_that_it_is_for(
    stores: dict[str, str], tmp_path: Path, store: str, let_in: set[str]
) -> None:
    for named in (store, str(tmp_path / store)):
        if store == "demo" and named != store:
            named = str(tmp_path / "cache" / "demo")  # as a screen names it
        register = register_for(named)
        assert {name for name, token in stores.items() if register.of_token(token)} == let_in
        paused = {"cursor"} if store == "demo" else set()  # the demo comes with a client that a person paused
        assert {client.name for client in register.all()} == let_in | paused


def test_the_list_says_on_which_store(stores: dict[str, str], run: Run, tmp_path: Path) -> None:
    _, said, _ = run("clients", "--json")
    listed = {client["name"]: client["store"] for client in json.loads(said)["clients"]}
    assert listed == {"one": str(tmp_path / "first"), "other": str(tmp_path / "second"), "all": ""}
    _, said, _ = run("clients")
    assert "every store" in said
    assert str(tmp_path / "first") in said
    _, said, _ = run("clients", "--store", "demo", "--json")
    assert [client["name"] for client in json.loads(said)["clients"]] == ["cursor", "guest"]
    _, said, _ = run("clients", "--store", "first", "--json")
    assert [client["name"] for client in json.loads(said)["clients"]] == ["all", "one"]


def test_a_client_of_another_store_keeps_its_place_when_one_is_changed(
    stores: dict[str, str], run: Run
) -> None:
    assert run("clients", "pause", "one", "--store", "first")[0] == 0
    assert run("clients", "revoke", "guest", "--store", "demo")[0] == 0
    _, said, _ = run("clients", "--json")
    assert {client["name"] for client in json.loads(said)["clients"]} == {"one", "other", "all"}
    assert register_for("second").of_token(stores["other"])


def test_a_store_that_is_not_there_lets_nobody_in(stores: dict[str, str], run: Run) -> None:
    code, _, said = run("clients", "add", "late", "--store", "nowhere")
    assert code == 1
    assert "nowhere" in said


def test_the_demo_asks_for_no_token_that_nobody_was_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"MEMTUI_{kind}_DIR", str(tmp_path / kind.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run("demo", "--make-only")[0] == 0
    assert not register_for("demo").needs_token()
    assert run("clients", "resume", "cursor", "--store", "demo")[0] == 0
    assert not register_for("demo").needs_token()
    assert register_for("demo").all() == ()


def test_the_demo_that_is_not_made_yet_has_its_agents_and_its_configuration(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMTUI_CACHE_DIR", str(tmp_path / "first"))
    code, said, _ = run("alive", "--store", "demo", "--json")
    assert code == 1  # one of its agents is dead
    assert len(json.loads(said)["agents"]) == 5
    monkeypatch.setenv("MEMTUI_CACHE_DIR", str(tmp_path / "second"))
    assert "candidatePoolSize" in run("config", "check", "--store", "demo")[1]
