"""Reading openclaw.json: JSON5 and its errors, $include, variables and their layers, secrets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from memtui.engine.discovery.json5_file import MAX_BYTES, UnreadableFileError, read_json5
from memtui.engine.discovery.openclaw_config import MAX_DEPTH, LoadedConfig, load, merge
from memtui.engine.discovery.places import PathReading
from memtui.engine.discovery.variables import (
    HERE,
    MASK,
    EnvironmentLayers,
    SecretText,
    expand,
    key_ref,
    mask_text,
    masked,
    read_dotenv,
)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / ".openclaw"
    folder.mkdir()
    return folder


def loaded(
    state: Path, text: str, environ: dict[str, str] | None = None, cwd: Path | None = None
) -> LoadedConfig:
    config = state / "openclaw.json"
    config.write_text(text)
    return load(PathReading("host", config, state, state.parent), environ or {}, cwd or state.parent)


@pytest.mark.parametrize(
    ("data", "reason", "where"),
    [
        (b"{\n  a: {\n    b c\n  },\n}", 'is not valid JSON5: unexpected "c"', (3, 7)),
        (b"{a: [1 }", 'is not valid JSON5: unexpected "}"', (1, 8)),
        (b"{a: 1", "is not valid JSON5: unexpected end of input", (1, 6)),
        (b"{a: 1}\n}", 'is not valid JSON5: unexpected "}"', (2, 1)),
        (b"", "is empty", (None, None)),
        (b"{}\n\xff", "is not UTF-8 text", (2, 1)),
        (b"[" * 4000 + b"]" * 4000, "is nested too deeply", (None, None)),
        (b" " * (MAX_BYTES + 1), "is larger than 2 MiB", (None, None)),
    ],
    ids=["colon", "bracket", "end", "rest", "empty", "bytes", "deep", "huge"],
)
def test_an_unreadable_file_says_why_and_where(
    tmp_path: Path, data: bytes, reason: str, where: tuple[int | None, int | None]
) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(data)
    with pytest.raises(UnreadableFileError) as caught:
        read_json5(file)
    assert caught.value.reason == reason
    assert (caught.value.line, caught.value.column) == where


def test_a_folder_and_a_missing_file_are_errors_too(tmp_path: Path) -> None:
    for place, reason in ((tmp_path, "is not a file"), (tmp_path / "none", "does not exist")):
        with pytest.raises(UnreadableFileError, match=reason):
            read_json5(place)


def test_the_whole_of_json5(tmp_path: Path) -> None:
    file = tmp_path / "x.json5"
    file.write_bytes(
        b"\xef\xbb\xbf// c\n{a: 0x20, 'b': .5, \"c\": +1, /* d */ e: 'x\\\ny', f: [1,], g: -Infinity,}"
    )
    assert read_json5(file) == {"a": 32, "b": 0.5, "c": 1, "e": "xy", "f": [1], "g": float("-inf")}


def test_includes_merge_as_openclaw_does() -> None:
    base = {"a": {"x": 1, "y": [1]}, "b": 1}
    assert merge(base, {"a": {"y": [2], "z": 3}, "b": {"c": 1}}) == {
        "a": {"x": 1, "y": [1, 2], "z": 3},
        "b": {"c": 1},
    }


def test_nested_includes_are_relative_to_their_own_file(state: Path) -> None:
    (state / "parts").mkdir()
    (state / "parts/a.json5").write_text("{one: {$include: './b.json5'}, list: [1]}")
    (state / "parts/b.json5").write_text("{deep: true}")
    config = loaded(state, "{agents: {$include: 'parts/a.json5', list: [2], own: 1}}")
    assert config.values == {"agents": {"one": {"deep": True}, "list": [1, 2], "own": 1}}
    assert config.file is not None
    assert [Path(part).name for part in config.file.includes] == ["a.json5", "b.json5"]


@pytest.mark.parametrize(
    ("include", "reason"),
    [
        ("'../outside.json'", "is outside the folder"),
        ("'openclaw.json'", "includes itself"),
        ("'missing.json'", "does not exist"),
        ("'broken.json'", 'unexpected "}" at line 2, column 1'),
        ("'link.json'", "is outside the folder"),
        ("7", "must be a file name"),
        ("['list.json']", "beside other keys must name an object"),
        ("'bad\\0name'", "impossible path"),
    ],
)
def test_a_bad_include_is_a_finding_and_the_rest_still_counts(state: Path, include: str, reason: str) -> None:
    (state.parent / "outside.json").write_text("{stolen: 1}")
    (state / "link.json").symlink_to(state.parent / "outside.json")
    (state / "broken.json").write_text("{a:\n}")
    (state / "list.json").write_text("[1]")
    config = loaded(
        state,
        f"{{plugins: {{slots: {{memory: 'memory-lancedb'}}}}, agents: {{$include: {include}, own: 1}}}}",
    )
    assert config.file is not None
    assert config.file.parse == "incomplete"
    assert config.file.active_plugin == "memory-lancedb"
    assert config.at("agents", "own") == 1
    assert "stolen" not in str(config.values)
    assert [reason in finding.message for finding in config.findings] == [True]


def test_includes_stop_at_a_depth(state: Path) -> None:
    for level in range(MAX_DEPTH + 2):
        (state / f"{level}.json").write_text(f'{{"n": {level}, "next": {{"$include": "{level + 1}.json"}}}}')
    config = loaded(state, "{$include: '0.json'}")
    assert ["levels deep" in finding.message for finding in config.findings] == [True]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${A}/v1", "one/v1"),
        ("$${A}", "${A}"),
        ("$$${A}", "$${A}"),
        ("${a} ${1A} $A ${A", "${a} ${1A} $A ${A"),
        ("${A}${B}", "onetwo"),
        ("${MISSING}-${A}", "${MISSING}-one"),
        ("${EMPTY}", "${EMPTY}"),
    ],
)
def test_variables_and_their_escape(text: str, value: str) -> None:
    layers = EnvironmentLayers((("environment", {"A": "one", "B": "two", "EMPTY": ""}),))
    assert expand({"k": [text]}, layers).values == {"k": [value]}


def test_missing_variables_are_told_by_place() -> None:
    missing = expand({"a": [{"b": "${X} ${Y}"}], "c": "$${Z}"}, EnvironmentLayers(())).missing
    assert missing == {("a", 0, "b"): ("X", "Y")}


def test_the_layers_in_their_order(state: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / ".env").write_text("A=here\nB=here\n")
    (state / ".env").write_text("A=state\nB=state\nC=state\n")
    env = "{A: 'block', D: 'block', vars: {E: '${C}+'}, shellEnv: {enabled: true}}"
    text = f"{{env: {env}, agents: {{v: '${{A}} ${{B}} ${{C}} ${{D}} ${{E}}'}}}}"
    config = loaded(state, text, {"A": "process"}, here)
    assert config.at("agents", "v") == "process here state block state+"
    assert config.environ.origin("B") == HERE
    assert [finding.kind for finding in config.findings] == ["variable-from-folder"]


def test_missing_variables_outside_of_memory_are_one_note(state: Path) -> None:
    plugins = "{entries: {'memory-lancedb': {config: {dbPath: '${NO_C}'}}}}"
    text = f"{{channels: {{a: '${{NO_A}}', b: '${{NO_B}}'}}, plugins: {plugins}}}"
    findings = loaded(state, text).findings
    assert [(finding.severity, "NO_C" in finding.message) for finding in findings] == [
        ("warning", True),
        ("note", False),
    ]
    assert findings[1].message.startswith("2 settings outside of memory")


def test_dotenv_files(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# c\nexport A = \"x # y\\nz\" # c\nB='q # r'\nC=plain # c\nD=\nno line\nE=a=b#c\n")
    assert read_dotenv(file) == {"A": "x # y\nz", "B": "q # r", "C": "plain", "D": "", "E": "a=b#c"}
    assert read_dotenv(tmp_path / "none") == {}


def test_layers_show_no_value() -> None:
    assert "hush" not in repr(EnvironmentLayers((("environment", {"KEY": "hush"}),)))


@pytest.mark.parametrize(
    ("raw", "value", "shown", "key"),
    [
        ("sk-plain", "sk-plain", "apiKey: written in the configuration: set", "sk-plain"),
        ("${K}", "sk-env", "apiKey: K: set", "sk-env"),
        ("${NOPE}", "${NOPE}", "apiKey: NOPE: not set", ""),
        ("${lower}", "${lower}", "apiKey: lower: set", "sk-lower"),
        ({}, {"source": "env", "id": "K"}, "apiKey: K: set", "sk-env"),
        ({}, {"source": "env", "id": "NOPE"}, "apiKey: NOPE: not set", ""),
        ({}, {"source": "exec", "id": "x"}, "apiKey: source 'exec' is not supported: not set", ""),
    ],
)
def test_where_a_key_comes_from(raw: Any, value: Any, shown: str, key: str) -> None:
    ref = key_ref("apiKey", raw, value, {"K": "sk-env", "lower": "sk-lower"}, None)
    assert ref is not None
    assert str(ref) == shown
    assert ref.read() == key
    assert "sk-" not in repr(ref)


def test_a_key_file_is_read_only_when_it_is_needed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # reading it would hang
    assert key_ref("k", None, {"source": "file", "id": str(tmp_path / "pipe")}, {}, None) is not None
    (tmp_path / "key").write_text("sk-file\n")
    ref = key_ref("k", None, {"source": "file", "id": "~/key"}, {}, tmp_path)
    assert ref is not None
    assert str(ref).endswith("in a file, not read")
    assert ref.read() == "sk-file"


def test_masking_takes_names_urls_and_whole_blocks() -> None:
    tree = {
        "apiKey": ["a"],
        "botToken": 7,
        "keyPrefix": "lock",
        "url": "redis://:p/w@host:1/2",
        "headers": {"X-A": "b"},
        "list": [{"clientSecret": {"id": "x"}}],
        "password": "",
        "note": "see https://h/p?api_key=abc&x=1",
    }
    assert masked(tree) == {
        "apiKey": MASK,
        "botToken": MASK,
        "keyPrefix": "lock",
        "url": f"redis://{MASK}@host:1/2",
        "headers": MASK,
        "list": [{"clientSecret": MASK}],
        "password": "",
        "note": f"see https://h/p?api_key={MASK}&x=1",
    }
    assert mask_text("plain text with a: b@c") == "plain text with a: b@c"


def test_hidden_values_stay_hidden() -> None:
    assert "x" not in repr(SecretText("x"))
    assert SecretText("x").reveal() == "x"
