"""Transcripts are private: no command, file of state, log or picture repeats them, and no secret is printed.

Each word below stands in one place of a made home. Where it may be seen is said with it; everywhere else it must not
be, whatever a command prints or leaves behind.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import find_secrets
from memtui.paths import cache_dir, config_dir, state_dir
from tests.cli.conftest import Run
from tests.engine import pro_store
from tests.engine.session_world import START_MS, MadeTurn, block, line, write_session

PASSWORD = "Zq7hunter22X9"
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6"
QUESTION, ANSWER, ABANDONED, CUT = "gloxinia", "vermilion walrus", "marzipan", "obsidian"
MEMORY = f"The vault of the depot opens with password: {PASSWORD}"
SCREENSHOTS = Path(__file__).parents[2] / "screenshots"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sessions of four layouts with private words and secrets in every part, and a store that holds a secret."""
    place = tmp_path / "home"
    monkeypatch.setenv("HOME", str(place))
    for name in ("state", "cache"):
        monkeypatch.setenv(f"MEMTUI_{name.upper()}_DIR", str(tmp_path / name))
    store = place / ".openclaw" / "memory" / "lancedb-pro"
    rows = [
        pro_store.row("11111111-a", MEMORY, [1, 0], timestamp=START_MS, scope="agent:main"),
        pro_store.row("22222222-b", f"The feed of the depot takes {TOKEN}", [0, 1], timestamp=START_MS),
        pro_store.row("33333333-c", "The depot closes at seven.", [1, 1], timestamp=START_MS),
    ]
    pro_store.write_store(store, rows, dims=2)
    import lancedb

    marked = json.dumps({"last_injected_at": START_MS + 60_500, "injected_count": 1})
    lancedb.connect(store).open_table("memories").update(
        where="id = '22222222-b'", values={"metadata": marked}
    )
    how, what = (
        f"how does the {QUESTION} vault open, password: {PASSWORD}",
        f"does the {QUESTION} feed take {TOKEN}",
    )
    asked = [
        MadeTurn(how, (line(MEMORY, "agent:main"),), abandoned=1),
        MadeTurn(what, (line(f"The feed of the depot takes {TOKEN}"),)),
        MadeTurn(f"when does the {QUESTION} depot close", (line("The depot closes at seven."),)),
        MadeTurn(f"and the {QUESTION}"),
    ]
    for agent, layout in (
        ("main", "blocks"),
        ("scribe", "trajectory"),
        ("ops", "sqlite"),
        ("crew", "sqlite-windows"),
    ):
        write_session(place, layout, asked, session=f"s-{agent}", agent=agent)
    folder = place / ".openclaw" / "agents" / "main" / "sessions"
    text = (folder / "s-main.jsonl").read_text("utf-8")
    text = text.replace("An answer.", f"The {ANSWER} says {TOKEN}").replace("(try 0)", f"{ABANDONED} (try 0)")
    (folder / "s-main.jsonl").write_text(f'{text}{{"type": "message", "content": "{CUT} {TOKEN}', "utf-8")
    old = text.replace("<relevant", f"{block([line(TOKEN)])}<relevant")
    (folder / "s-old.jsonl.reset.2026-09-01").write_text(old, "utf-8")
    config = {"embedding": {"apiKey": TOKEN}, "scopes": {"agentAccess": {"crew": ["global"]}}}
    plugins = {
        "slots": {"memory": "memory-lancedb-pro"},
        "entries": {"memory-lancedb-pro": {"enabled": True, "config": config}},
    }
    agents = {"list": [{"id": each} for each in ("main", "scribe", "ops", "crew")]}
    (place / ".openclaw" / "openclaw.json").write_text(
        json.dumps({"agents": agents, "plugins": plugins}), "utf-8"
    )
    return place


COMMANDS: list[tuple[list[str], set[str]]] = [
    (["sessions"], set()),
    (["replay", "s-main"], {QUESTION}),
    (["replay", "s-main", "--now"], {QUESTION}),
    (["replay", "s-scribe", "--as-of"], {QUESTION}),
    (["replay", "s-ops"], {QUESTION}),
    (["replay", "s-old"], {QUESTION}),
    (["replay", f"{QUESTION}"], {QUESTION}),  # no such session: it says what was asked for
    (["injections"], set()),
    (["access", "--leaks"], set()),
    (["blast", "11111111"], set()),
    (["cases", "from-sessions", "--since", "2026-01-01"], set()),
    (["doctor"], set()),
    (["stats"], set()),
]
"""What is run, and the private words that it is asked to show."""


def left_behind(*places: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for place in places
        if place.is_dir()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


def test_no_command_repeats_a_transcript_and_none_prints_a_secret(
    run: Run, home: Path, tmp_path: Path
) -> None:
    said: dict[str, str] = {}
    for words, may in COMMANDS:
        for more in ([], ["--json"]):
            code, out, err = run(*words, *more)
            name = " ".join((*words, *more))
            assert code in (0, 1, 2), err
            said[name] = out + err
            assert out or err, name
            for private in {QUESTION, ANSWER, ABANDONED, CUT, PASSWORD, TOKEN} - may:
                assert private not in said[name], (name, private)
            assert not find_secrets(said[name]), name
    turns = json.loads(run("replay", "s-main", "--json")[1])["turns"]
    assert [turn["evidence"] for turn in turns] == ["transcript"] * 4  # the walk above saw real turns
    assert "[REDACTED]" in json.dumps(turns)
    pack = tmp_path / "pack.zip"
    assert run("proof-pack", "11111111", pack)[0] == 0
    with zipfile.ZipFile(pack) as parts:
        told = {name: parts.read(name) for name in parts.namelist()}
    places = (tmp_path / "state", tmp_path / "cache", state_dir(), cache_dir(), config_dir())
    files = left_behind(*places)
    assert any(name.endswith("injections.sqlite") for name in files)
    cases = [name for name in files if "case" in Path(name).name]
    assert cases
    for name, content in {**told, **files}.items():
        hidden = {ANSWER, ABANDONED, CUT, PASSWORD, TOKEN} | (set() if name in cases else {QUESTION})
        for private in hidden:  # a case is a question that a person chose to keep
            assert private.encode() not in content, (name, private)
            assert private.encode("utf-16-le") not in content, (name, private)


def test_a_log_of_a_broken_session_names_no_word_of_it(
    run: Run, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = home / ".openclaw" / "agents" / "main"
    (folder / "agent").mkdir()
    (folder / "agent" / "openclaw-agent.sqlite").write_bytes(f"SQLite format 3\0{CUT} {TOKEN}".encode() * 99)
    (folder / "sessions" / "s-noise.jsonl").write_text(f"{CUT} {TOKEN}\n" * 9, "utf-8")
    caplog.set_level(0)
    code, out, err = run("sessions", "--json")
    assert code == 0, err
    warnings: list[Any] = [each["warnings"] for each in json.loads(out)["sessions"]]
    assert any(warnings)
    for text in (out, err, caplog.text, os.environ.get("TEXTUAL_LOG", "")):
        assert CUT not in text
        assert TOKEN not in text


def test_the_pictures_hold_no_secret() -> None:
    pictures = sorted(SCREENSHOTS.glob("*.svg"))
    assert pictures
    for path in pictures:
        drawn = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text("utf-8"))
        assert drawn, path
        shown = " ".join(drawn).replace("&#160;", " ")
        assert not find_secrets(shown), path


@pytest.mark.slow
def test_a_picture_is_made_of_the_demo_and_never_of_the_home_that_it_is_made_in(
    run: Run, home: Path, tmp_path: Path
) -> None:
    before = left_behind(home, tmp_path / "state", tmp_path / "cache")
    code, out, err = run("shot", "audit-turn", "--size", "80x24", "--out", tmp_path / "pictures", "--json")
    assert code == 0, err
    [picture] = json.loads(out)["files"]
    drawn = Path(picture).read_text("utf-8")
    assert "bastion" in drawn
    assert not {each for each in (QUESTION, ANSWER, "depot", PASSWORD, TOKEN) if each in drawn}
    assert left_behind(home, tmp_path / "state", tmp_path / "cache") == before
