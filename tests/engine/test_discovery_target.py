"""Which store is meant: by folder, URI or name, by the settings, or by what was discovered."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from memtui.engine.core.errors import MemtuiError, StoreNotFoundError
from memtui.engine.discovery import Target, resolve_target
from memtui.engine.discovery.types import BUILTIN, PRO


def put_store(folder: Path) -> Path:
    (folder / "memories.lance/_versions").mkdir(parents=True)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home where memory-lancedb-pro is active and a built-in store is left over."""
    put_store(tmp_path / ".openclaw/memory/lancedb-pro")
    put_store(tmp_path / ".openclaw/memory/lancedb")
    config = {
        "plugins": {"slots": {"memory": PRO}, "entries": {PRO: {"config": {"embedding": {"model": "m"}}}}}
    }
    (tmp_path / ".openclaw/openclaw.json").write_text(json.dumps(config))
    return tmp_path


def resolve(home: Path, store: str | None = None, *, setting: str = "", cwd: Path | None = None) -> Target:
    return resolve_target(store, SimpleNamespace(store=setting, storage=()), {"HOME": str(home)}, cwd or home)


def test_without_a_word_the_active_store_is_taken(home: Path) -> None:
    target = resolve(home)
    assert target.uri == str(home / ".openclaw/memory/lancedb-pro")
    assert target.found is not None
    assert (target.name, target.table, target.found.model) == ("lancedb-pro", "memories", "m")


def test_the_settings_come_before_discovery_and_a_word_before_both(home: Path) -> None:
    assert resolve(home, setting="lancedb").name == "lancedb"
    assert resolve(home, "lancedb-pro", setting="lancedb").name == "lancedb-pro"
    assert resolve(home, " ", setting="").name == "lancedb-pro"


@pytest.mark.parametrize(
    "word",
    [
        "lancedb-pro",
        PRO,
        "~/.openclaw/memory/lancedb-pro",
        ".openclaw/memory/lancedb-pro",
        "{home}/.openclaw/memory/lancedb-pro/",
        "file://{home}/.openclaw/memory/lancedb-pro",
        "{home}/.openclaw/memory/lancedb-pro/memories.lance",
        "{home}/link",
    ],
)
def test_every_way_to_name_a_discovered_store_knows_its_settings(home: Path, word: str) -> None:
    (home / "link").symlink_to(home / ".openclaw/memory/lancedb-pro")
    target = resolve(home, word.format(home=home))
    assert target.found is not None
    assert (target.found.plugin, target.found.model) == (PRO, "m")
    assert target.uri == str(home / ".openclaw/memory/lancedb-pro")


def test_a_folder_that_is_not_discovered(home: Path) -> None:
    put_store(home / "other/db")
    target = resolve(home, "db", cwd=home / "other")
    assert (target.uri, target.name, target.table, target.found) == (str(home / "other/db"), "db", None, None)
    assert resolve(home, str(home / "other/db/memories.lance")).table == "memories"


def test_a_uri_is_passed_on(home: Path) -> None:
    target = resolve(home, "s3://bucket/team/db")
    assert (target.uri, target.name, dict(target.storage_options)) == ("s3://bucket/team/db", "db", {})


def test_a_remote_store_of_the_configuration_brings_its_options(home: Path) -> None:
    entry = {"config": {"dbPath": "s3://bucket/db", "storageOptions": {"region": "r"}}}
    config = {"plugins": {"slots": {"memory": BUILTIN}, "entries": {BUILTIN: entry}}}
    (home / ".openclaw/openclaw.json").write_text(json.dumps(config))
    for word in (None, "s3://bucket/db/", "db"):
        assert dict(resolve(home, word).storage_options) == {"region": "r"}


def test_an_unknown_word_names_the_nearest_store(home: Path) -> None:
    with pytest.raises(StoreNotFoundError, match="no store lancedb-prof") as caught:
        resolve(home, "lancedb-prof")
    assert caught.value.fix == "Did you mean lancedb-pro?"
    with pytest.raises(StoreNotFoundError) as caught:
        resolve(home, "/nonexistent")
    assert caught.value.fix == "Discovered: lancedb-pro, lancedb."
    assert not Path("/nonexistent").exists()


def test_a_name_that_is_also_a_store_here_is_refused(home: Path) -> None:
    put_store(home / "here/lancedb")
    with pytest.raises(MemtuiError, match="both a discovered store") as caught:
        resolve(home, "lancedb", cwd=home / "here")
    assert "./lancedb" in caught.value.fix
    assert resolve(home, "./lancedb", cwd=home / "here").uri == str(home / "here/lancedb")
    (home / "plain/lancedb").mkdir(parents=True)
    assert resolve(home, "lancedb", cwd=home / "plain").found is not None


def test_several_stores_and_no_active_one_are_listed(home: Path) -> None:
    (home / ".openclaw/openclaw.json").unlink()
    with pytest.raises(MemtuiError, match="2 stores") as caught:
        resolve(home)
    for name in ("lancedb-pro", "lancedb"):
        assert str(home / ".openclaw/memory" / name) in caught.value.message
    assert "--store" in caught.value.fix


def test_one_store_is_taken_even_when_nothing_is_active(home: Path) -> None:
    (home / ".openclaw/memory/lancedb/memories.lance").rename(home / "gone")
    (home / ".openclaw/openclaw.json").write_text("{broken")
    target = resolve(home)
    assert target.name == "lancedb-pro"
    assert ["not valid JSON5" in warning for warning in target.warnings] == [True]


def test_a_conflict_is_never_settled_silently(tmp_path: Path) -> None:
    for folder in ("oc/.openclaw", "oc"):
        put_store(tmp_path / folder / "memory/lancedb-pro")
        (tmp_path / folder / "openclaw.json").write_text(json.dumps({"plugins": {"slots": {"memory": PRO}}}))
    environ = {"HOME": str(tmp_path), "OPENCLAW_HOME": str(tmp_path / "oc")}
    with pytest.raises(MemtuiError, match="two ways") as caught:
        resolve_target(None, None, environ, tmp_path)
    for folder in ("oc/.openclaw", "oc"):
        assert str(tmp_path / folder / "memory/lancedb-pro") in caught.value.message
    chosen = resolve_target("lancedb-pro@plugin", None, environ, tmp_path)
    assert chosen.uri == str(tmp_path / "oc/memory/lancedb-pro")
    with pytest.raises(MemtuiError, match="several stores"):
        resolve_target(PRO, None, environ, tmp_path)


def test_nothing_found_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError) as caught:
        resolve(tmp_path)
    for name in (".openclaw", ".clawdbot", ".moldbot", ".moltbot"):
        assert str(tmp_path / name) in caught.value.message
    assert "memtui demo" in caught.value.fix
    with pytest.raises(StoreNotFoundError, match="HOME is not set"):
        resolve_target(None, None, {}, tmp_path)


def test_finding_is_cheap() -> None:
    code = (
        "import sys, pathlib; from memtui.engine.discovery import resolve_target, discover\n"
        "discover({'HOME': '/nonexistent'}, cwd=pathlib.Path('/'))\n"
        "heavy = {'lancedb', 'pyarrow', 'numpy', 'httpx', 'pydantic', 'textual', 'rich'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
