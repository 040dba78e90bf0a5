"""`memtui report`: where the page goes, and that a mail command runs only where one is configured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.every_command import call
from tests.engine.pro_store import row, write_store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMTUI_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "config").mkdir()
    return write_store(tmp_path / "store", [row("a", "The gateway port is 8443", (1, 0))], dims=2)


def configure(store: Path, command: str) -> None:
    (store.parent / "config" / "config.toml").write_text(f"[report]\nmail = '{command}'\n", "utf-8")


def test_the_ending_of_the_file_decides_the_form(store: Path) -> None:
    for name, begins in (("week.md", "# Memory of"), ("week.html", "<!doctype html>")):
        done = call("report", "--store", store, "--out", store.parent / name)
        assert done.code in (0, 1), done.err
        assert done.out == ""
        assert (store.parent / name).read_text("utf-8").startswith(begins)
    lost = call("report", "--store", store, "--out", store.parent / "no" / "week.md")
    assert lost.code == 1
    assert "cannot be written" in lost.err


def test_mail_runs_the_configured_command_and_no_other(store: Path) -> None:
    refused = call("report", "--store", store, "--mail")
    assert refused.code == 2
    assert "--mail has no command" in refused.err
    configure(store, f"tee {store.parent / 'mailed'}")
    assert call("report", "--store", store).code in (0, 1)
    assert not (store.parent / "mailed").exists()
    assert call("report", "--store", store, "--mail").code in (0, 1)
    assert (store.parent / "mailed").read_text("utf-8").startswith("# Memory of")


@pytest.mark.parametrize(
    ("command", "said"), [("false", "ended with 1"), ("no-such-program", "cannot be run")]
)
def test_a_mail_that_fails_is_told(store: Path, command: str, said: str) -> None:
    configure(store, command)
    done = call("report", "--store", store, "--mail")
    assert done.code == 1
    assert said in done.err


def test_days_out_of_range_are_refused(store: Path) -> None:
    assert call("report", "--store", store, "--days", 0).code == 2
    assert call("report", "--store", store, "--days", 15).code == 2
