"""Stores on object storage from the shell: made, filled, changed, taken back; and each refusal in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.store import far_vectors
from tests.cli.conftest import Run
from tests.engine.object_storage import BUCKET, object_service, settings_text

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with object_service() as found:
        yield found


@pytest.fixture
def home(endpoint: str, tmp_path: Path) -> Path:
    return written(tmp_path / "home", settings_text(endpoint))


def written(home: Path, text: str) -> Path:
    """A home folder with these settings."""
    folder = home / ".config" / "memtui"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")
    return home


@pytest.fixture
def memtui(run: Run, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command as a person with that home folder and the two keys in variables."""

    def command(home: Path, *words: str) -> tuple[int, str, str]:
        for name, value in (("TEAM_KEY", "someone"), ("TEAM_SECRET", "something"), ("HOME", str(home))):
            monkeypatch.setenv(name, value)
        return run(*words)

    return command


def test_a_store_is_made_filled_changed_and_taken_back(home: Path, memtui: Command) -> None:
    def done(*words: str) -> str:
        code, out, err = memtui(home, *words)
        assert code == 0, err
        return out

    def only_row() -> dict[str, Any]:
        (row,) = json.loads(done("ls", "--store", "team", "--json"))["rows"]
        return dict(row)

    done("new", "team")
    code, _, err = memtui(home, "new", f"s3://{BUCKET}/team")
    assert code == 3
    assert "already holds a table" in err
    done("add", "the bastion listens on port 8443", "--store", "team")
    key = only_row()["id"]
    done("edit", key, "--set", "text=the bastion listens on port 2222", "--yes", "--store", "team")
    answer = json.loads(done("recall", "bastion port", "--store", "team", "--json"))
    assert [each["text"] for each in answer["results"]] == ["the bastion listens on port 2222"]
    done("undo", "--yes", "--store", "team")
    assert only_row()["text"] == "the bastion listens on port 8443"
    done("forget", key, "--hard", "--yes", "--store", "team")
    done("undo", "--yes", "--store", "team")
    assert only_row()["id"] == key
    entries = json.loads(done("journal", "--store", "team", "--json"))["entries"]
    assert [each["action"] for each in entries] == ["undo", "forget", "undo", "edit", "import"]
    assert not list(home.glob("s3*"))
    (listed,) = json.loads(done("stores", "--json"))["stores"]
    assert (listed["name"], listed["rows"], listed["health"]) == ("team", 1, "ok")
    assert "something" not in json.dumps(listed)


@pytest.mark.parametrize(
    ("change", "reason", "remedy"),
    [
        (("s3://memories/team", "s3://nobody/team"), "no bucket of that name", "Check the bucket"),
        (("/team", "/nothing"), "There is no table at", "Check the path"),
        (("127.0.0.1", "127.0.0.2"), "cannot be reached", "Check the endpoint"),
        (("allow_http = true", ""), "plain http", "allow_http"),
    ],
)
def test_what_is_wrong_with_the_service_is_said_in_words(
    endpoint: str, tmp_path: Path, memtui: Command, change: tuple[str, str], reason: str, remedy: str
) -> None:
    home = written(tmp_path / "home", settings_text(endpoint).replace(*change))
    code, _, err = memtui(home, "ls", "--store", "team")
    assert code == 1
    assert reason in err
    assert remedy in err


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('aws_secret_access_key = "plain"', "would keep a secret in a plain file"),
        ('aws_session_token = "plain-${TEAM_KEY}"', "would keep a secret in a plain file"),
        ('account_key = "plain"', "would keep a secret in a plain file"),
        ('endpoint = "${NOT_SET}"', "names NOT_SET, which is not set"),
        ("endpoint = []", "must be text"),
        ('"End Point" = "x"', "is not the name of an option"),
        ('uri = "team"', "is not an address"),
    ],
)
def test_a_profile_that_cannot_be_is_refused_with_its_place(
    tmp_path: Path, memtui: Command, line: str, reason: str
) -> None:
    home = written(tmp_path / "home", f"[storage.team]\n{line}\n")
    code, _, err = memtui(home, "ls", "--store", "s3://memories/team")
    assert code == 2
    assert reason in err
    assert "storage.team" in err
    assert "plain-" not in err


def test_a_variable_that_is_not_set_is_in_the_way_of_that_store_only(tmp_path: Path, memtui: Command) -> None:
    home = written(tmp_path / "home", settings_text("http://127.0.0.1:1").replace("TEAM_KEY", "NOT_SET"))
    assert memtui(home, "new", str(tmp_path / "local"))[0] == 0
    code, _, err = memtui(home, "ls", "--store", str(tmp_path / "local"))
    assert code == 0, err
    code, out, _ = memtui(home, "stores", "--json")
    assert json.loads(out)["stores"][0]["health"] == "remote"
    code, _, err = memtui(home, "ls", "--store", "team")
    assert code == 2
    assert "NOT_SET" in err


def test_without_a_region_it_is_said_where_to_name_one(tmp_path: Path, memtui: Command) -> None:
    code, _, err = memtui(written(tmp_path / "home", ""), "ls", "--store", "s3://memories/team")
    assert code == 1
    assert "Name region and endpoint" in err
    assert "lance error" not in err


def test_a_store_is_not_made_at_an_address_that_holds_none(tmp_path: Path, memtui: Command) -> None:
    code, _, err = memtui(written(tmp_path / "home", ""), "new", "gopher://memories")
    assert code == 2
    assert "cannot be made" in err


@pytest.mark.slow
def test_two_consoles_see_and_undo_each_others_changes(
    endpoint: str, tmp_path: Path, memtui: Command
) -> None:
    text = settings_text(endpoint).replace("/team", "/shared") + 'journal = "store"\n'
    here, there = written(tmp_path / "here", text), written(tmp_path / "there", text)

    def done(home: Path, *words: str) -> Any:
        code, out, err = memtui(home, *words, "--store", "team", "--json")
        assert code == 0, err
        return json.loads(out) if out.strip().startswith("{") else out

    assert memtui(here, "new", "team")[0] == 0
    lines = tmp_path / "many.jsonl"
    lines.write_text(
        "".join(
            json.dumps({"text": f"Number {n}: " + "the lamp in the hall " * 40}) + "\n" for n in range(120)
        )
    )
    done(here, "import", str(lines), "--yes")
    done(here, "add", "the bastion listens on port 8443")
    entries = done(there, "journal")["entries"]
    assert [(each["entry"], each["rows"]) for each in entries] == [(2, 1), (1, 120)]
    done(there, "undo", "1", "--yes")
    assert done(here, "ls")["total"] == 1
    again = done(here, "journal")["entries"]
    assert [(each["entry"], each["action"], each["state"]) for each in again] == [
        (3, "undo", "applied"),
        (2, "import", "applied"),
        (1, "import", "undone"),
    ]
    done(here, "undo", "3", "--yes")
    assert done(there, "ls")["total"] == 121
    assert not list(tmp_path.rglob("journal.sqlite"))


def test_what_a_question_fetches_is_said_on_standard_error(
    home: Path, memtui: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far_vectors, "FAR_VECTORS", 1)
    home_file = home / ".config" / "memtui" / "config.toml"
    home_file.write_text(home_file.read_text("utf-8").replace("/team", "/fetched"), encoding="utf-8")
    assert memtui(home, "new", "team")[0] == 0
    for text in ("the bastion listens on port 8443", "the kiln is fired on Mondays"):
        assert memtui(home, "add", text, "--store", "team")[0] == 0

    def told(*words: str) -> bool:
        code, out, err = memtui(home, *words, "--store", "team", "--json")
        assert code == 0, err
        json.loads(out)
        return "fetching 2 vectors (0 MB) from object storage, once (kept on this machine)" in err

    assert told("recall", "bastion port")
    assert not told("recall", "kiln"), "the vectors are kept"
    _, out, _ = memtui(home, "stores", "--json")
    kept = json.loads(out)["kept_vectors"]
    assert kept["bytes"] == sum(each.stat().st_size for each in Path(kept["folder"]).iterdir()) > 0
    assert kept["folder"] in memtui(home, "stores")[1]
    _, out, _ = memtui(home, "stores", "--drop-vectors", "--json")
    assert json.loads(out)["kept_vectors"]["bytes"] == 0
    assert told("inject", "bastion port")
