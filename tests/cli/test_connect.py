"""`memtui connect`: what is written into a host's own file, what stays as it was, and what the file then starts."""

from __future__ import annotations

import difflib
import json
import os
import random
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import json5
import pytest
import yaml

from memtui.cli.main import run
from memtui.engine.hosts import HOSTS, HTTP_HOSTS
from tests.conftest import ROOT

SECRET = "sk-live-Q2fZ8vT4nR6yH1mB9cK3"

JSON_FILE = """{
  // a person's own notes
  "theme": "dark", /* kept */
  "KEY": {"fetch": {"command": "uvx", "args": ["mcp-server-fetch"], "env": {"API_KEY": "SECRET"}}},
  "last": [1, 2.50, 1e3,], // odd numbers stay
}
"""
TOML_FILE = """# my settings
model = "o9"   # why not
[profiles.deep]
model = 'o9-pro'

[mcp_servers.fetch]
command = "uvx"
args = ["mcp-server-fetch", # the fetcher
  "--quiet"]
env = { API_KEY = "SECRET" }

# the end
"""
YAML_FILE = """# mine
name: Local   # not yours
version: 0.0.1
schema: v1
models:
  - name: small
    provider: ollama
mcpServers:
  # the fetcher
  - name: fetch
    command: uvx
    args:
      - mcp-server-fetch   # pinned
    env:
      API_KEY: SECRET
# after it
rules:
  - be brief
"""
KEYS = {
    "codex": ("mcp_servers", "memtui"),
    "vscode": ("servers", "memtui"),
    "openclaw": ("mcp", "servers", "memtui"),
    "opencode": ("mcp", "memtui"),
}


def file_of(host: str) -> str:
    """What a person has in that host's file before, with another server in it."""
    if host == "codex":
        return TOML_FILE.replace("SECRET", SECRET)
    if host == "continue":
        return YAML_FILE.replace("SECRET", SECRET)
    text = JSON_FILE.replace("SECRET", SECRET)
    if host == "openclaw":
        return text.replace('"KEY": {"fetch"', '"mcp": {"servers": {"fetch"').replace('"}}},', '"}}}},')
    return text.replace("KEY", KEYS.get(host, ("mcpServers",))[0], 1)


def read(path: Path) -> Any:
    """The values of a file, by another reader than memtui's own."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    return yaml.safe_load(text) if path.suffix == ".yaml" else json5.loads(text)


def entry(host: str, path: Path) -> Any:
    tree = read(path)
    if host == "continue":
        return next(item for item in tree["mcpServers"] if item["name"] == "memtui")
    for key in KEYS.get(host, ("mcpServers", "memtui")):
        tree = tree[key]
    return tree


class Home:
    """A person's home with a project in it, and memtui's commands there."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str], store: Path) -> None:
        self.root, self.capsys, self.store = root, capsys, store

    def file(self, host: str) -> Path:
        hosts = json.loads(self.run("connect", "--json")[1])["hosts"]
        return Path(next(each["file"] for each in hosts if each["host"] == host))

    def run(self, *words: str) -> tuple[int, str, str]:
        code = run(list(words))
        told = self.capsys.readouterr()
        return code, told.out, told.err

    def connect(self, host: str, *words: str) -> tuple[int, str, str]:
        return self.run("connect", host, "--store", str(self.store), *words)


@pytest.fixture
def home(
    tmp_path: Path,
    empty_store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Home:
    for name in (
        "CODEX_HOME",
        "XDG_CONFIG_HOME",
        "OPENCLAW_CONFIG_PATH",
        "OPENCLAW_STATE_DIR",
        "OPENCLAW_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMTUI_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("MEMTUI_CONFIG_DIR", str(tmp_path / "config"))
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    return Home(tmp_path / "home", capsys, empty_store)


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("host", HOSTS)
def test_the_entry_is_added_and_every_other_byte_stays(host: str, ends: str, home: Home) -> None:
    path = home.file(host)
    path.parent.mkdir(parents=True, exist_ok=True)
    mark = b"\xef\xbb\xbf" if ends == "\r\n" and host not in ("codex", "continue") else b""
    before = mark + file_of(host).replace("\n", ends).encode()
    path.write_bytes(before)
    path.chmod(0o640)
    known, there = read(path), files_below(home.root)
    code, out, err = home.connect(host, "--rw")
    assert code == 3, err
    assert files_below(home.root) == there, "a preview writes nothing"
    assert "+" in out
    assert SECRET not in out + err
    code, out, err = home.connect(host, "--rw", "--yes")
    assert code == 0, err
    words = entry(host, path)
    command = words["command"] if isinstance(words["command"], list) else [words["command"], *words["args"]]
    assert command[1:] == ["mcp", "--store", str(home.store), "--rw"]
    assert Path(command[0]).name == "memtui"
    after = path.read_bytes()
    changes = difflib.ndiff(before.decode().splitlines(True), after.decode().splitlines(True))
    gone = [line[2:] for line in changes if line.startswith("- ")]
    assert "".join(gone).count("\n") <= 1, "at most the line that got a comma, or the entry in it"
    assert {ends} == {"\r\n" if line.endswith("\r\n") else "\n" for line in after.decode().splitlines(True)}
    assert path.stat().st_mode & 0o777 == 0o640
    backup = [place for place in path.parent.iterdir() if ".memtui-" in place.name]
    assert [place.read_bytes() for place in backup] == [before]
    assert backup[0].stat().st_mode & 0o777 == 0o600
    home.capsys.readouterr()
    printed = tmp_block(home, host)
    assert entry(host, printed) == words, "the block that is printed to be pasted"
    assert home.connect(host, "--rw", "--yes")[1].startswith("nothing to change")
    assert home.connect(host, "--undo")[0] == 3
    assert path.read_bytes() == after
    assert home.connect(host, "--undo", "--yes")[0] == 0
    assert files_below(home.root) == there
    assert read(path) == known
    assert home.connect(host, "--undo", "--yes")[0] == 3, "nothing is left to undo"


def tmp_block(home: Home, host: str) -> Path:
    code, out, _ = home.run("mcp", "--store", str(home.store), "--rw", "--print-config", host)
    assert code == 0
    path = home.root.parent / f"block{home.file(host).suffix}"
    path.write_text(out, encoding="utf-8")
    return path


@pytest.mark.parametrize("host", HOSTS)
def test_a_file_that_is_not_there_is_made_and_goes_with_its_folders(host: str, home: Home) -> None:
    there = sorted(str(path) for path in home.root.rglob("*"))
    assert home.connect(host, "--yes")[0] == 0
    assert entry(host, home.file(host))
    if host == "continue":
        assert {"name", "version", "schema"} <= set(read(home.file(host)))
    assert home.connect(host, "--undo", "--yes")[0] == 0
    assert sorted(str(path) for path in home.root.rglob("*")) == there


@pytest.mark.parametrize("host", HOSTS)
def test_an_entry_that_is_there_keeps_what_a_person_added_to_it(host: str, home: Home) -> None:
    path = home.file(host)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file_of(host), encoding="utf-8")
    assert home.connect(host, "--yes")[0] == 0
    text = path.read_text(encoding="utf-8")
    if host == "codex":
        text = text.replace(
            "[mcp_servers.memtui]\n", "[mcp_servers.memtui]\n# slow here\ntool_timeout_sec = 9\n"
        )
        text += '\n[mcp_servers.memtui.env]\nA = "b"\n'
    elif host == "continue":
        text = text.replace("- name: memtui\n", "- name: memtui\n    # slow here\n    env: {A: b}\n")
    else:
        text = text.replace('"memtui": {', '"memtui": { // slow here\n "env": {"A": "b"},', 1)
    path.write_text(text, encoding="utf-8")
    assert home.connect(host, "--rw", "--yes")[0] == 0
    kept = entry(host, path)
    assert kept["env"] == {"A": "b"}
    assert "slow here" in path.read_text(encoding="utf-8")
    assert "--rw" in json.dumps(kept)
    assert home.connect(host, "--undo", "--yes")[0] == 0
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("host", HOSTS)
def test_undo_takes_out_the_entry_alone_where_the_file_was_changed_since(host: str, home: Home) -> None:
    path = home.file(host)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file_of(host), encoding="utf-8")
    assert home.connect(host, "--yes")[0] == 0
    text = path.read_text(encoding="utf-8")
    for old, new in (("dark", "light"), ("o9-pro", "o9-mini"), ("be brief", "be kind")):
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    assert home.connect(host, "--undo", "--yes")[0] == 0
    wanted = file_of(host)
    for old, new in (("dark", "light"), ("o9-pro", "o9-mini"), ("be brief", "be kind")):
        wanted = wanted.replace(old, new)
    other = path.with_name("wanted" + path.suffix)
    other.write_text(wanted, encoding="utf-8")
    assert read(path) == read(other)
    assert "memtui" not in path.read_text(encoding="utf-8")
    assert home.connect(host, "--yes")[0] == 0
    path.write_text(path.read_text(encoding="utf-8").replace('"--store"', '"--other"'), encoding="utf-8")
    if '"--other"' in path.read_text(encoding="utf-8"):
        changed = path.read_bytes()
        code, _, err = home.connect(host, "--undo", "--yes")
        assert (code, path.read_bytes()) == (3, changed), err


BROKEN = {
    "json": [b'{"mcpServers": {', b"[1, 2", b"\xff\xfe{}", b'{"a": 1} trailing', b'{"a" 1}'],
    "toml": [b"[mcp_servers", b"a = ", b"a = 1\na = 2\n", b"\xff", b"mcp_servers = { fetch = {} }\n"],
    "yaml": [
        b"mcpServers: [",
        b"a:\n\t- b",
        b"a: b: c",
        b"--- a\n--- b\n",
        b"mcpServers: {a: b}\n",
        b"- a\n",
    ],
}


@pytest.mark.parametrize(
    ("host", "content"),
    [
        (host, content)
        for host in ("claude", "openclaw", "codex", "continue")
        for content in BROKEN["toml" if host == "codex" else "yaml" if host == "continue" else "json"]
    ],
)
def test_a_file_that_cannot_be_read_or_has_no_place_is_refused_in_a_sentence(
    host: str, content: bytes, home: Home
) -> None:
    path = home.file(host)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    code, out, err = home.connect(host, "--yes")
    assert code in (1, 3)
    assert str(path) in err
    assert "othing was changed" in err
    assert "Traceback" not in err + out
    assert files_below(path.parent) == {path.name: content}


def test_a_place_that_holds_something_else_is_refused(home: Home) -> None:
    path = home.file("claude")
    path.write_text('{"mcpServers": ["fetch"]}', encoding="utf-8")
    code, _, err = home.connect("claude", "--yes")
    assert code == 3
    assert "mcpServers" in err
    assert path.read_text(encoding="utf-8") == '{"mcpServers": ["fetch"]}'


def test_a_link_stays_a_link(home: Home, tmp_path: Path) -> None:
    path, real = home.file("gemini"), tmp_path / "dotfiles.json"
    path.parent.mkdir(parents=True)
    real.write_text("{}", encoding="utf-8")
    path.symlink_to(real)
    assert home.connect("gemini", "--yes")[0] == 0
    assert path.is_symlink()
    assert "memtui" in real.read_text(encoding="utf-8")


def test_from_standard_input_to_http_and_back_only_the_way_changes(home: Home) -> None:
    for host in HTTP_HOSTS:
        path = home.file(host)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file_of(host), encoding="utf-8")
        assert home.connect(host, "--yes")[0] == 0
        code, _, err = home.connect(host, "--rw", "--http", "8765", "--yes")
        assert code == 0
        assert "MEMTUI_TOKEN" in err
        there = entry(host, path)
        assert there["url"] == "http://127.0.0.1:8765/mcp"
        assert not {"command", "args", "startup_timeout_sec"} & set(there)
        assert home.connect(host, "--yes")[0] == 0
        assert not {"url", "headers", "bearer_token_env_var"} & set(entry(host, path))
        for _ in range(3):
            assert home.connect(host, "--undo", "--yes")[0] == 0
        assert path.read_text(encoding="utf-8") == file_of(host)


def started(home: Home, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memtui", "connect", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environ}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=300)


def test_a_check_starts_what_the_file_says_and_lists_its_tools(home: Home) -> None:
    for host in ("codex", "opencode", "continue"):
        path = home.file(host)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file_of(host).replace(f'"{SECRET}"', '"x"'), encoding="utf-8")
        assert home.connect(host, "--yes")[0] == 0
        done = started(home, "--check", host, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(done.stdout)["hosts"][0]
        assert found["outcome"] == "answered"
        assert {"memory_search", "memory_get", "memory_why"} <= set(found["tools"])
        assert "memory_store" not in found["tools"]
    assert home.connect("codex", "--rw", "--yes")[0] == 0
    done = started(home, "--check")
    assert done.returncode == 0
    assert "memory_store" in done.stdout
    assert "gemini" not in done.stdout, "only hosts that are connected"


def test_a_check_names_what_is_wrong_and_ends_with_1(home: Home) -> None:
    path = home.file("claude")
    for content, words in (
        ('{"mcpServers": {', "is not JSON"),
        ("{}", "no entry"),
        ('{"mcpServers": {"memtui": {"command": "/no/such/program"}}}', "/no/such/program cannot be started"),
        (
            '{"mcpServers": {"memtui": {"command": "sh", "args": ["-c", "echo out of memory >&2"]}}}',
            "out of memory",
        ),
        ('{"mcpServers": {"memtui": {"args": []}}}', "no command"),
        ('{"mcpServers": {"memtui": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}}', "does not answer"),
        ('{"mcpServers": {"memtui": {"command": "sh", "disabled": true}}}', "disabled"),
        ('{"mcpServers": {"memtui": {"url": "http://127.0.0.1:9/${NOT_SET}"}}}', "NOT_SET"),
    ):
        path.write_text(content, encoding="utf-8")
        done = started(home, "--check", "claude")
        assert done.returncode == 1, content
        assert words in done.stdout, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert path.read_text(encoding="utf-8") == content


def test_a_check_calls_a_server_over_http_with_its_token(home: Home, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memtui", "mcp", "--rw", "--store", str(home.store), "--http", "0"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ) as server:
        try:
            assert server.stderr is not None
            port = server.stderr.readline().split("127.0.0.1:")[1].split("/")[0]
            token = server.stderr.readline().split()[-1]
            for host in HTTP_HOSTS:
                assert home.connect(host, "--rw", "--http", port, "--yes")[0] == 0
                refused = started(home, "--check", host, MEMTUI_TOKEN="wrong")
                assert refused.returncode == 1
                assert "memtui clients add" in refused.stdout
                done = started(home, "--check", host, "--json", MEMTUI_TOKEN=token)
                assert done.returncode == 0, done.stdout + done.stderr
                assert "memory_store" in json.loads(done.stdout)["hosts"][0]["tools"]
                assert token not in done.stdout
        finally:
            server.kill()


SPACES = ("", " ", "  ", "\t", "\n", "\n\n  ", "\r\n", " # note\n", " // note\n", " /* , } ] */ ")


def wild_json(random_: random.Random, depth: int = 0) -> str:
    def gap() -> str:
        space = random_.choice(SPACES)
        return "" if "#" in space else space

    kind = random_.random()
    if depth and (depth > 3 or kind < 0.4):
        return random_.choice(
            ["1", "-2.50", "1e3", "true", "null", "'a\\'b'", '"x, } ]"', '"é\\u00e9"', '"//no"']
        )
    if depth and kind < 0.7:
        items = [gap() + wild_json(random_, depth + 1) + gap() for _ in range(random_.randrange(4))]
        return "[" + ",".join(items) + ("," if items and random_.random() < 0.3 else "") + gap() + "]"
    names = random_.sample(["a", "'b c'", '"d"', "$e", '"mcpServers"', '"mcp"'], random_.randrange(4))
    members = [f"{gap()}{name}{gap()}:{gap()}{wild_json(random_, depth + 1)}{gap()}" for name in names]
    return "{" + ",".join(members) + ("," if members and random_.random() < 0.3 else "") + gap() + "}"


def wild_toml(random_: random.Random) -> str:
    values = [
        "1",
        '"a # b"',
        "'c'",
        '["x", # y\n "]"]',
        '"""\n[no]\nmore\n"""',
        "{ k = 'v' }",
        "1979-05-27",
        "-1_000",
    ]
    rows = []
    for number in range(random_.randrange(6)):
        header = random_.choice(
            ["", f"[t{number}]", f"[mcp_servers.s{number}]", f"[[list{number}]]", f'["q {number}"]']
        )
        if header:
            rows.append(header + random_.choice(["", "  # why"]))
        for key in range(random_.randrange(3)):
            name = random_.choice([f"k{number}{key}", f'"q {number}{key}"', f"d{number}{key}.in"])
            rows.append(
                f"{random_.choice(['', '  '])}{name} = {random_.choice(values)}{random_.choice(['', ' # c'])}"
            )
        rows.append(random_.choice(["", "# comment [x]", "\t"]))
    return random_.choice(["\n", "\r\n"]).join(rows) + random_.choice(["", "\n"])


def wild_yaml(random_: random.Random) -> str:
    rows = [random_.choice(["# top", "", "name: x", 'version: "1"'])]
    dash = random_.choice(["", "  ", "    "])
    servers = ["mcpServers:" + random_.choice(["", " # mine", "  "])]
    for number in range(random_.randrange(4)):
        servers += [f"{dash}- name: s{number}{random_.choice(['', ' # n'])}"]
        servers += random_.sample(
            [
                f"{dash}  command: |\n{dash}    run\n{dash}    it",
                f"{dash}  args:\n{dash}    - a\n{dash}    # c\n{dash}    - 'b: c'",
                f"{dash}  env: {{A: b}}",
                f"{dash}  # lone",
                "",
                f"{dash}  text: >-\n{dash}    folded\n\n{dash}    more",
            ],
            random_.randrange(4),
        )
    parts = [
        servers,
        ["rules:", "- one", "  # deep", "- two"],
        ["x: {a: [1, 2]}"],
        ["b: |+", "  keep", "", ""],
    ]
    for part in random_.sample(parts, random_.randrange(5)):
        rows += [*part, random_.choice(["", "# between"])]
    return "\n".join(rows) + random_.choice(["", "\n"])


@pytest.mark.parametrize(
    ("host", "make"), [("openclaw", wild_json), ("codex", wild_toml), ("continue", wild_yaml)]
)
def test_files_as_people_write_them_keep_every_line_or_are_refused(
    host: str, make: Callable[[random.Random], str], home: Home
) -> None:
    """Written: the values are those before and the entry; each line before is there, in its order; undo is exact."""
    path, written = home.file(host), 0
    path.parent.mkdir(parents=True, exist_ok=True)
    for seed in range(50):
        before = make(random.Random(seed)).encode()
        path.write_bytes(before)
        code, out, err = home.connect(host, "--yes")
        assert "Traceback" not in err + out
        if code:
            assert code in (1, 3)
            assert path.read_bytes() == before
            continue
        written += 1
        assert entry(host, path)["command"]
        after = path.read_bytes().decode()
        rest = iter(after)
        assert all(char in rest for char in before.decode().replace("[]", "").replace("null", "")), (
            seed,
            after,
        )
        assert home.connect(host, "--undo", "--yes")[0] == 0
        assert path.read_bytes() == before, seed
        assert home.connect(host, "--yes")[0] == 0
        path.write_bytes(path.read_bytes() + b"\n")
        if b"|+" not in before:  # blank lines at the end of such a text are part of it: undo refuses
            assert home.connect(host, "--undo", "--yes")[0] == 0
            assert "memtui" not in path.read_text(encoding="utf-8"), seed
    assert written > 12
