"""The configuration: what is wrong, what a plan changes, and that writing touches nothing else."""

from __future__ import annotations

import random
import stat
from pathlib import Path
from typing import Any

import json5
import pytest

from memtui.engine.configuration.consequences import consequences_of
from memtui.engine.configuration.file import REMOVED, Configuration, open_config
from memtui.engine.configuration.json5_text import Json5Error, parse, remove_value, set_value
from memtui.engine.configuration.key_checks import WORD, checks_for, run_checks
from memtui.engine.configuration.options import OPTIONS, option
from memtui.engine.configuration.plans import PLANS, ConfigPlan, plan_changes, plan_named
from memtui.engine.configuration.rules import problems_of
from memtui.engine.configuration.write import last_record, undo_write, write_changes
from memtui.engine.core.errors import RefusedError, UsageError
from memtui.engine.store.open import open_store
from tests.engine.loopback import Answer, loopback
from tests.engine.pro_store import row, write_store

NOW_MS = 1_795_000_000_000
PRO = "memory-lancedb-pro"


def home(folder: Path, text: str, name: str = "openclaw.json") -> Configuration:
    state = folder / ".openclaw"
    state.mkdir(exist_ok=True)
    (state / name).write_bytes(text.encode())
    return again(folder)


def again(folder: Path) -> Configuration:
    return open_config({"HOME": str(folder)}, folder)


def pro(inner: str, more: str = "") -> str:
    return (
        "{ plugins: { slots: { memory: 'memory-lancedb-pro' }, entries: { 'memory-lancedb-pro': "
        f"{{ enabled: true, config: {{ {inner} }} }} }} }}, {more} }}"
    )


FULL = "embedding: { apiKey: '${K}', model: 'nomic-embed-text', baseURL: 'http://127.0.0.1:1/v1' }, autoRecall: true"


# ---------------------------------------------------------------------- text


def odd_config(rng: random.Random, depth: int = 0) -> str:
    """A random JSON5 object: comments, quotes, trailing commas, white space, duplicate keys."""

    def gap() -> str:
        return rng.choice(["", " ", "\n  ", " /* a } comment */ ", " // to the end {\n", "\t", "\r\n"])

    def name(number: int) -> str:
        word = rng.choice(["alpha", "beta", "plugins", "minScore", "dbPath"]) + str(number)
        return rng.choice([word, f"'{word}'", f'"{word}"'])

    def value() -> str:
        kind = rng.randrange(9 if depth < 3 else 7)
        if kind >= 7:
            return odd_config(rng, depth + 1)
        if kind == 6:
            return (
                "["
                + ", ".join(value_plain() for _ in range(rng.randrange(3)))
                + rng.choice(["", ","]).replace(",", "")
                + "]"
            )
        return value_plain()

    def value_plain() -> str:
        return rng.choice(
            [
                "true",
                "null",
                "1",
                "-.5",
                "+0x1F",
                "1e3",
                "'it\\'s'",
                '"a \\u00e9 // no comment"',
                "'x\\\ny'",
                "Infinity",
            ]
        )

    members = [
        f"{gap()}{name(number % 4)}{gap()}:{gap()}{value()}{gap()}" for number in range(rng.randrange(5))
    ]
    trailing = "," if members and rng.random() < 0.4 else ""
    return "{" + ",".join(members) + trailing + gap() + "}"


def paths_in(node: Any, lead: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    out = []
    for key in dict.fromkeys(each.key for each in node.members):
        inner = node.member(key).node
        out.append((*lead, key))
        if inner.kind == "object":
            out += paths_in(inner, (*lead, key))
    return out


def only_space_and_commas(before: str, after: str, inserted: str) -> bool:
    """Whether `after` is `before` with `inserted`, white space and commas put in."""
    rest, at = after.replace(inserted, "", 1), 0
    for char in rest:
        if at < len(before) and char == before[at]:
            at += 1
        elif char not in " \t\r\n,":
            return False
    return at == len(before)


@pytest.mark.parametrize(
    "seed", [*range(60), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(60, 300))]
)
def test_no_byte_outside_of_the_edited_span_changes(seed: int) -> None:
    rng = random.Random(seed)
    text = rng.choice(["", "// head\n", "/* head */ "]) + odd_config(rng) + rng.choice(["", "\n", " // tail"])
    node = parse(text)
    assert node.plain() == json5.loads(text)
    paths = paths_in(node)
    if paths:
        path = rng.choice(paths)
        spot = node
        for key in path:
            spot = spot.member(key).node  # type: ignore[union-attr]
        for value in (True, 0.62, "${NAME}", ["a", "b"]):
            made = set_value(text, path, value)
            assert made.startswith(text[: spot.start])
            assert made.endswith(text[spot.end :])
            got: Any = json5.loads(made)
            for key in path:
                got = got[key]
            assert got == value
    new = (*(rng.choice([each for each in paths if _is_object(node, each)] or [()])), "brandNew")
    made = set_value(text, new, 42)
    got = json5.loads(made)
    for key in new:
        got = got[key]
    assert got == 42
    inserted = next(each for each in ("brandNew: 42", '"brandNew": 42', "'brandNew': 42") if each in made)
    assert only_space_and_commas(text, made, inserted)
    gone = remove_value(made, new)
    assert json5.loads(gone) == json5.loads(text)


def _is_object(node: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        node = node.member(key).node
    return bool(node.kind == "object")


@pytest.mark.parametrize(
    "text", ["{", "{a 1}", "{a: 1} x", "[1, }", "{'a: 1}", "{a: 1 b: 2}", "", "{a: " * 400]
)
def test_a_text_that_is_no_json5_is_said_with_its_place(text: str) -> None:
    with pytest.raises(Json5Error, match="line"):
        parse(text)


# ---------------------------------------------------------------------- plans


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_names_each_setting_once_and_writes_nothing(name: str, tmp_path: Path) -> None:
    config = home(tmp_path, pro(FULL))
    before = (tmp_path / ".openclaw" / "openclaw.json").read_bytes()
    changes = plan_changes(config, PLANS[name])
    paths = [each.path for each in changes]
    assert len(paths) == len(set(paths))
    for each in changes:
        assert (
            each.path[:3] == ("plugins", "entries", PRO)
            or each.path[:2] == ("plugins", "slots")
            or each.path == ("plugins", "allow")
        )
        assert each.before != each.after
        assert not isinstance(each.after, dict)
    assert (tmp_path / ".openclaw" / "openclaw.json").read_bytes() == before
    rerank = next(each.after for each in changes if each.path[-1] == "rerank")
    assert rerank == ("none" if name in "CD" else "cross-encoder")


@pytest.mark.parametrize("name", PLANS)
def test_a_written_plan_leaves_nothing_to_plan(name: str, tmp_path: Path) -> None:
    config = home(tmp_path, pro(FULL))
    write_changes(
        config, plan_changes(config, PLANS[name]), plan=name, state=tmp_path / "state", now_ms=NOW_MS
    )
    assert plan_changes(again(tmp_path), PLANS[name]) == ()
    assert [each for each in problems_of(again(tmp_path)) if each.severity == "error"] == []


def test_from_one_plan_to_another_takes_out_what_would_be_in_the_way(tmp_path: Path) -> None:
    config = home(tmp_path, pro(FULL))
    for name in "ABCD":
        config = again(tmp_path)
        write_changes(
            config, plan_changes(config, PLANS[name]), plan=name, state=tmp_path / "state", now_ms=NOW_MS
        )
    embedding = again(tmp_path).plugin["embedding"]
    assert embedding["baseURL"] == "http://localhost:11434/v1"
    assert "taskQuery" not in embedding


def test_settings_are_edited_in_the_file_that_holds_them(tmp_path: Path) -> None:
    text = pro("$include: './memory.json5', autoRecall: false, /* one */ autoRecall: false // two\n")
    (tmp_path / ".openclaw").mkdir()
    included = "{ embedding: { model: 'x' /* keep */, }, retrieval: { minScore: 0.3 } }"
    (tmp_path / ".openclaw" / "memory.json5").write_text(included)
    config = home(tmp_path, text)
    assert config.spot((*config.config_path, "embedding", "model")).file.name == "memory.json5"
    texts = config.with_settings(
        [
            ((*config.config_path, "embedding", "model"), "y"),
            ((*config.config_path, "retrieval", "hardMinScore"), 0.4),
            ((*config.config_path, "autoRecall"), True),
        ]
    )
    main, part = (tmp_path / ".openclaw" / name for name in ("openclaw.json", "memory.json5"))
    assert (
        texts[part]
        == "{ embedding: { model: 'y' /* keep */, }, retrieval: { minScore: 0.3, hardMinScore: 0.4 } }"
    )
    assert texts[main] == text.replace("/* one */ autoRecall: false", "/* one */ autoRecall: true")


def test_a_key_is_never_written_out(tmp_path: Path) -> None:
    (tmp_path / "own.json5").write_text("{ embedding: { apiKey: 'sk-abcdefghijklmnop' } }")
    with pytest.raises(UsageError, match="written out"):
        plan_named("own.json5", tmp_path)
    config = home(tmp_path, pro("embedding: { apiKey: 'sk-secret-of-mine-123456', model: 'x' }"))
    shown = [each.as_json() for each in plan_changes(config, PLANS["C"])]
    assert "sk-secret" not in str(shown)


def test_a_reference_to_the_same_variable_is_as_good_as_its_name(tmp_path: Path) -> None:
    config = home(tmp_path, pro("embedding: { apiKey: [{ source: 'env', id: 'JINA_API_KEY' }, '${OTHER}'] }"))
    assert not [each for each in plan_changes(config, PLANS["A"]) if each.short == "embedding.apiKey"]


def test_a_value_behind_a_variable_is_no_difference_and_a_key_goes_by_its_name(tmp_path: Path) -> None:
    words = (
        "env: { vars: { WHERE: 'https://api.jina.ai/v1', MODE: 'vector', K: 'ollama', J: 'same', "
        "JINA_API_KEY: 'same', OPENAI_API_KEY: 'written out' } }"
    )
    inner = (
        "embedding: { apiKey: '${J}', baseURL: '${WHERE}', model: '${NOT_SET}' }, "
        "retrieval: { mode: '${MODE}' }, llm: { apiKey: 'written out' }"
    )
    config = home(tmp_path, pro(inner, words))
    listed = {each.short: each for each in plan_changes(config, PLANS["A"])}
    assert "embedding.baseURL" not in listed
    assert listed["retrieval.mode"].before == "${MODE}"  # another value
    assert listed["embedding.model"].before == "${NOT_SET}"  # nobody knows its value here
    assert listed["embedding.apiKey"].after == "${JINA_API_KEY}"  # the same here, perhaps not for the gateway
    assert listed["llm.apiKey"].after == "${OPENAI_API_KEY}"  # the key leaves the file
    (tmp_path / "own.json5").write_text(
        "{ retrieval: { mode: '${KIND}' }, embedding: { baseURL: '${WHERE}' } }"
    )
    config = home(tmp_path, pro("retrieval: { mode: 'hybrid' }", "env: { vars: { KIND: 'hybrid' } }"))
    listed = {each.short: each for each in plan_changes(config, plan_named("own.json5", tmp_path))}
    assert "retrieval.mode" not in listed
    assert "embedding.baseURL" in listed
    local = home(tmp_path, pro("embedding: { apiKey: '${K}' }", words))
    assert "embedding.apiKey" not in {each.short for each in plan_changes(local, PLANS["D"])}


def test_what_a_plan_brings_with_it(tmp_path: Path) -> None:
    from memtui.engine.store.open import open_store
    from tests.engine.planted_faults import sound

    config = home(tmp_path, pro(FULL))
    store = open_store(sound(tmp_path / "store"))
    found = {each.kind: each for each in consequences_of(config, plan_changes(config, PLANS["A"]), store)}
    assert set(found) == {"restart", "reembed", "services", "access", "silence"}
    assert found["reembed"].detail["rows"] == 40
    assert "stops at its start" in found["reembed"].sentence
    assert found["access"].detail["cells"] == []


def test_rights_that_change_are_named(tmp_path: Path) -> None:
    config = home(tmp_path, pro(FULL, "agents: { list: [{ id: 'support' }] }"))
    (tmp_path / "own.json5").write_text("{ scopes: { agentAccess: { support: ['global', 'project:x'] } } }")
    changes = plan_changes(config, plan_named("own.json5", tmp_path))
    access = next(each for each in consequences_of(config, changes) if each.kind == "access")
    assert {(each["agent"], each["scope"], each["gains"]) for each in access.detail["cells"]} == {
        ("support", "project:x", True),
        ("support", "agent:support", False),
    }


# ---------------------------------------------------------------------- rules

RULES = {
    "range": "retrieval: { candidatePoolSize: 5 }",
    "unknown": "autoRecallTopK: 3",
    "base-url": "embedding: { apiKey: '${K}', baseUrl: 'http://x/v1' }",
    "scores": "retrieval: { minScore: 0.5, hardMinScore: 0.4 }",
    "rerank-key": "retrieval: { rerank: 'cross-encoder' }",
    "rerank-provider": "retrieval: { rerankProvider: 'vllm' }",
    "rerank-defaults": "retrieval: { rerankProvider: 'siliconflow', rerankApiKey: '${K}' }",
    "default-scope": "scopes: { default: 'nowhere' }",
    "agent-access": "scopes: { agentAccess: { system: [] } }",
    "own-scope": "scopes: { agentAccess: { main: ['global'] } }",
    "auto-recall-off": "autoCapture: true",
    "include-exclude": "autoRecallIncludeAgents: ['a'], autoRecallExcludeAgents: ['a']",
    "redis": "redisUrl: 'redis://x'",
    "no-effect": "autoRecallMinRepeated: 0",
    "variable": "embedding: { apiKey: '${NOT_SET}' }",
    "required": "embedding: { model: 'x' }",
}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_is_said_with_its_remedy(rule: str, tmp_path: Path) -> None:
    inner = RULES[rule] if "embedding" in RULES[rule] else f"embedding: {{ apiKey: 'x' }}, {RULES[rule]}"
    found = [each for each in problems_of(home(tmp_path, pro(inner))) if each.rule == rule]
    assert found
    assert all(each.sentence and each.remedy for each in found)


def test_nothing_is_wrong_with_a_sound_configuration(tmp_path: Path) -> None:
    inner = "embedding: { apiKey: 'ollama', baseURL: 'http://localhost:11434/v1' }, autoRecall: true"
    assert problems_of(home(tmp_path, pro(inner))) == ()


def test_the_slot_and_the_entry(tmp_path: Path) -> None:
    rules = {each.rule for each in problems_of(home(tmp_path, "{ plugins: { slots: { memory: 'ghost' } } }"))}
    assert "slot" in rules
    off = pro(FULL).replace("enabled: true", "enabled: false")
    assert "off" in {each.rule for each in problems_of(home(tmp_path, off))}


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("enabled: true", "enabled: 'true'", "plugins.entries.memory-lancedb-pro.enabled"),
        ("enabled: true", "enabled: 1", "plugins.entries.memory-lancedb-pro.enabled"),
        ("plugins: {", "plugins: { enabled: 'no',", "plugins.enabled"),
        ("plugins: {", "plugins: { deny: 'memory-lancedb-pro',", "plugins.deny"),
        ("plugins: {", "plugins: { allow: [1],", "plugins.allow"),
    ],
)
def test_switches_and_lists_of_the_host_have_their_type(
    old: str, new: str, path: str, tmp_path: Path
) -> None:
    text = pro(FULL)
    assert old in text
    found = problems_of(home(tmp_path, text.replace(old, new, 1)))
    assert [each.severity for each in found if (each.rule, each.path) == ("type", path)] == ["error"]


def test_a_setting_beside_a_second_config_is_named_where_it_stands(tmp_path: Path) -> None:
    inner = "config: { autoRecall: true }, embedding: { apiKey: 'x', baseUrl: 'http://127.0.0.1:1/v1' }"
    paths = {each.path for each in problems_of(home(tmp_path, pro(inner)))}
    assert "plugins.entries.memory-lancedb-pro.config.embedding.baseUrl" in paths
    assert not any(".config.config.embedding" in path for path in paths)


# ---------------------------------------------------------------------- writing


def test_mode_backup_and_the_way_back(tmp_path: Path) -> None:
    config = home(tmp_path, pro(FULL))
    path = tmp_path / ".openclaw" / "openclaw.json"
    path.chmod(0o640)
    before = path.read_bytes()
    state = tmp_path / "state"
    record = write_changes(config, plan_changes(config, PLANS["A"]), plan="A", state=state, now_ms=NOW_MS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    backup = Path(record.files[0].backup)
    assert backup.read_bytes() == before
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert path.read_bytes() != before
    undo_write(again(tmp_path), last_record(state), state=state, now_ms=NOW_MS)
    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(RefusedError):
        last_record(state)


def test_undo_after_a_change_of_another_hand_takes_back_our_settings_only(tmp_path: Path) -> None:
    config = home(tmp_path, pro(FULL))
    path = tmp_path / ".openclaw" / "openclaw.json"
    before = path.read_text()
    state = tmp_path / "state"
    write_changes(config, plan_changes(config, PLANS["A"]), plan="A", state=state, now_ms=NOW_MS)
    path.write_text("// by hand\n" + path.read_text())
    undo_write(again(tmp_path), last_record(state), state=state, now_ms=NOW_MS)
    assert path.read_text().startswith("// by hand\n")
    assert (
        again(tmp_path).plugin["embedding"]
        == parse(before).plain()["plugins"]["entries"][PRO]["config"]["embedding"]
    )


def test_a_file_that_changed_since_it_was_read_is_left_alone(tmp_path: Path) -> None:
    config = home(tmp_path, pro(FULL))
    path = tmp_path / ".openclaw" / "openclaw.json"
    path.write_text(pro(FULL) + "\n")
    changes = plan_changes(config, PLANS["A"])
    with pytest.raises(RefusedError, match="changed by somebody"):
        write_changes(config, changes, plan="A", state=tmp_path / "state", now_ms=NOW_MS)
    assert path.read_text() == pro(FULL) + "\n"
    assert not list(path.parent.glob("*.memtui-*"))


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "kept.json"
    real.write_text(pro(FULL))
    (tmp_path / ".openclaw").mkdir()
    link = tmp_path / ".openclaw" / "openclaw.json"
    link.symlink_to(real)
    config = again(tmp_path)
    write_changes(config, plan_changes(config, PLANS["D"]), plan="D", state=tmp_path / "state", now_ms=NOW_MS)
    assert link.is_symlink()
    assert "mxbai" in real.read_text()


def test_two_files_that_claim_to_be_it_are_refused(tmp_path: Path) -> None:
    home(tmp_path, pro(FULL))
    (tmp_path / "openclaw.json").write_text(pro(FULL))
    with pytest.raises(RefusedError, match="Two files"):
        open_config({"OPENCLAW_HOME": str(tmp_path), "HOME": str(tmp_path / "x")}, tmp_path)


# ---------------------------------------------------------------------- keys

SETTINGS = {
    "embedding.apiKey": "${KEY}",
    "embedding.model": "some-model",
    "embedding.dimensions": 8,
    "retrieval.rerank": "cross-encoder",
    "retrieval.rerankApiKey": "${KEY}",
    "retrieval.rerankModel": "some-reranker",
}


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "wrong or has expired"),
        (402, "credit"),
        (403, "no permission"),
        (404, "no such model"),
        (429, "quota"),
        (400, "does not take"),
        (503, "failed"),
    ],
)
def test_what_each_answer_means(status: int, said: str) -> None:
    with loopback() as server:
        server.script = [Answer(status, {"error": "no"})]
        settings = {
            **SETTINGS,
            "embedding.baseURL": f"{server.url}/v1",
            "retrieval.rerankEndpoint": f"{server.url}/v1/rerank",
        }
        results = run_checks(checks_for(settings, {"KEY": "sk-one"}))
    assert len(results) == 1, "the first failure stops"
    assert not results[0].ok
    assert results[0].status == status
    assert said in results[0].sentence
    assert results[0].remedy
    assert "sk-one" not in str(results)


def test_only_the_word_test_is_sent_and_lengths_are_compared() -> None:
    with loopback() as server:
        settings = {
            **SETTINGS,
            "embedding.baseURL": f"{server.url}/v1",
            "retrieval.rerankEndpoint": f"{server.url}/v1/rerank",
        }
        checks = checks_for(settings, {"KEY": "sk-one"})
        assert not server.requests
        results = run_checks(checks)
        assert [each.ok for each in results] == [True, True]
        assert [each.path for each in server.requests] == ["/v1/embeddings", "/v1/rerank"]
        texts = [each.body.get("input", [each.body.get("query")]) for each in server.requests]
        assert texts == [[WORD], [WORD]]
        assert all(each.key == "sk-one" for each in server.requests)
        wrong = run_checks(checks_for({**settings, "embedding.dimensions": 9}, {"KEY": "sk-one"}))
    assert not wrong[0].ok
    assert "8 numbers, 9 are configured" in wrong[0].sentence


def test_a_service_that_is_not_there_and_a_key_that_is_not_set() -> None:
    settings = {**SETTINGS, "embedding.baseURL": "http://127.0.0.1:1/v1"}
    assert "cannot be reached" in run_checks(checks_for(settings, {"KEY": "x"}))[0].sentence
    assert "not set here" in run_checks(checks_for(settings, {}))[0].sentence


def test_names_with_dots_stay_one_name(tmp_path: Path) -> None:
    """A plan of one's own may grant scopes to an agent whose name has dots."""
    config = home(tmp_path, pro("embedding: { apiKey: '${K}' }"))
    own = tmp_path / "own.json5"
    own.write_text(
        "{ scopes: { agentAccess: { 'support.de': ['global'] }, definitions: { 'a.b': { description: 'x' } } } }"
    )
    changes = [
        each for each in plan_changes(config, plan_named("own.json5", tmp_path)) if "scopes" in each.path
    ]
    assert [each.path[-3:] for each in changes] == [
        ("scopes", "agentAccess", "support.de"),
        ("definitions", "a.b", "description"),
    ]


# ---------------------------------------------------------------------- spans


def test_a_key_that_stands_twice_is_taken_out_twice(tmp_path: Path) -> None:
    config = home(tmp_path, pro("embedding: { apiKey: 'x', taskQuery: 'a', /* c */ taskQuery: 'b' }"))
    texts = config.with_settings([((*config.config_path, "embedding", "taskQuery"), REMOVED)])
    (text,) = texts.values()
    assert "embedding: { apiKey: 'x'" in text
    assert "taskQuery" not in text
    assert "/* c */" in text


def test_a_list_gets_its_name_and_keeps_its_comments_and_the_part_of_another_file(tmp_path: Path) -> None:
    (tmp_path / ".openclaw").mkdir()
    (tmp_path / ".openclaw" / "more.json5").write_text("{ allow: ['first'] }")
    text = (
        "{ plugins: { $include: 'more.json5', allow: ['second' /* mine */, // why\n], entries: { x: {} } } }"
    )
    config = home(tmp_path, text)
    write_changes(config, plan_changes(config, PLANS["D"]), plan="D", state=tmp_path / "state", now_ms=NOW_MS)
    again_text = (tmp_path / ".openclaw" / "openclaw.json").read_text()
    assert "allow: ['second' /* mine */, 'memory-lancedb-pro', // why\n]" in again_text
    assert again(tmp_path).value(("plugins", "allow")) == ["first", "second", PRO]
    assert (tmp_path / ".openclaw" / "more.json5").read_text() == "{ allow: ['first'] }"


def test_new_members_have_the_line_ends_of_the_file(tmp_path: Path) -> None:
    config = home(tmp_path, '{\r\n  "gateway": 1 // port\r\n}\r\n')
    write_changes(config, plan_changes(config, PLANS["C"]), plan="C", state=tmp_path / "state", now_ms=NOW_MS)
    written = (tmp_path / ".openclaw" / "openclaw.json").read_bytes()
    assert b"\n" not in written.replace(b"\r\n", b"")
    assert written.startswith(b'{\r\n  "gateway": 1, // port\r\n  "plugins": {')


@pytest.mark.parametrize("odd", ["null", "'text'", "[1]", "7"])
def test_what_is_no_object_is_said_and_left_alone(odd: str, tmp_path: Path) -> None:
    config = home(tmp_path, pro(f"embedding: {odd}"))
    with pytest.raises(UsageError, match="is no object"):
        config.with_settings([((*config.config_path, "embedding", "model"), "x")])


def test_the_default_is_not_taken_out(tmp_path: Path) -> None:
    inner = "embedding: { apiKey: '${OPENAI_API_KEY}' }, llm: { auth: 'api-key' }, retrieval: { candidatePoolSize: 20 }"
    shorts = {each.short for each in plan_changes(home(tmp_path, pro(inner)), PLANS["C"])}
    assert not {"llm.auth", "retrieval.candidatePoolSize"} & shorts
    other = inner.replace("20", "12").replace("api-key", "oauth")
    shorts = {each.short for each in plan_changes(home(tmp_path, pro(other)), PLANS["C"])}
    assert {"llm.auth", "retrieval.candidatePoolSize"} <= shorts


def test_a_file_on_one_line_stays_on_one_line(tmp_path: Path) -> None:
    text = '{"plugins":{"entries":{"memory-lancedb-pro":{"enabled":true,"config":{"autoRecall":false}}}}}\n'
    config = home(tmp_path, text)
    made = config.with_settings([(each.path, each.after) for each in plan_changes(config, PLANS["A"])])
    (after,) = made.values()
    assert after.count("\n") == 1
    assert json5.loads(after)["plugins"]["slots"] == {"memory": PRO}


def test_settings_in_a_second_config_bring_the_same_with_them(tmp_path: Path) -> None:
    """The plugin takes its settings from a second `config` inside, where there is one."""
    block = "embedding: { apiKey: '${K}', model: 'nomic-embed-text', dimensions: 768 }"
    found = []
    for inner in (block, f"config: {{ {block} }}"):
        config = home(tmp_path, pro(inner))
        changes = plan_changes(config, PLANS["A"])
        kinds = [each.kind for each in consequences_of(config, changes, environ={})]
        found.append((kinds, sorted(each.short for each in changes)))
    assert found[0] == found[1]
    assert "reembed" in found[0][0]


def test_plugins_that_a_new_list_leaves_out_are_named(tmp_path: Path) -> None:
    config = home(
        tmp_path,
        "{ plugins: { load: { paths: ['/opt/x'] }, entries: { other: {}, off: { enabled: false } } } }",
    )
    changes = plan_changes(config, PLANS["C"])
    said = [each for each in consequences_of(config, changes, environ={}) if each.kind == "plugins"]
    assert [each.detail["left_out"] for each in said] == [["other"]]
    assert said[0].grave


@pytest.mark.parametrize("name", PLANS)
def test_what_is_said_of_the_pool_fits_what_becomes_of_it(name: str, tmp_path: Path) -> None:
    config = home(tmp_path, pro(FULL + ", retrieval: { candidatePoolSize: 40 }"))
    (pool,) = [each for each in plan_changes(config, PLANS[name]) if each.path[-1] == "candidatePoolSize"]
    assert ("default" in pool.reason) == (pool.after is REMOVED)


@pytest.mark.parametrize(
    ("inner", "path", "said"),
    [
        (
            "retrieval: { candidatePoolSize: '20' }",
            "retrieval.candidatePoolSize",
            'the text "20", not a number',
        ),
        ("retrieval: { minScore: '0.5' }", "retrieval.minScore", 'the text "0.5", not a number'),
        ("autoCapture: 'true'", "autoCapture", 'the text "true", not true or false'),
        ("retrieval: { minScore: NaN }", "retrieval.minScore", "not a number"),
        ("autoRecallMaxItems: Infinity", "autoRecallMaxItems", "not a number"),
    ],
)
def test_a_value_of_another_type_is_said_as_such(inner: str, path: str, said: str, tmp_path: Path) -> None:
    found = [each for each in problems_of(home(tmp_path, pro(f"{FULL}, {inner}"))) if each.rule == "range"]
    assert [each.path.removeprefix(f"plugins.entries.{PRO}.config.") for each in found] == [path]
    assert said in found[0].sentence


@pytest.mark.parametrize(
    "path", sorted(each.path for each in OPTIONS if each.kind in ("number", "whole", "yes-no"))
)
def test_no_number_and_no_switch_is_taken_as_a_text(path: str, tmp_path: Path) -> None:
    if ".dreaming." in f".{path}":
        pytest.skip("the plugin reads the numbers of dreams from texts")
    value: Any = "true" if option(path).kind == "yes-no" else "8"  # type: ignore[union-attr]
    for key in reversed(path.split(".")):
        value = {key: value}
    inner = json5.dumps(value)[1:-1]
    found = problems_of(home(tmp_path, pro(inner)))
    assert any(each.rule == "range" and each.path.endswith(path) for each in found)


def test_a_plugin_that_is_denied_is_named(tmp_path: Path) -> None:
    denied = pro(FULL).replace("{ plugins: {", f"{{ plugins: {{ deny: ['{PRO}'],", 1)
    assert [each.rule for each in problems_of(home(tmp_path, denied)) if each.rule != "variable"] == ["deny"]
    other = pro(FULL).replace("{ plugins: {", "{ plugins: { deny: ['browser'],", 1)
    assert "deny" not in [each.rule for each in problems_of(home(tmp_path, other))]


@pytest.mark.parametrize(
    ("inner", "remedy"),
    [
        (f"{FULL.replace('autoRecall: true', '')} autoRecall: true, scopes: {{ retrieval: {{ minScore: 0.3 }} }}",
         "Move it out of scopes"),
        (f"{FULL}, settings: {{ retrieval: {{ minScore: 0.3 }} }}", "up by one level"),
        (f"settings: {{ {FULL} }}", "Move the settings in settings up"),
    ],
)  # fmt: skip
def test_a_block_that_stands_too_deep_is_sent_to_its_place(inner: str, remedy: str, tmp_path: Path) -> None:
    found = problems_of(home(tmp_path, pro(inner)))
    assert any(remedy in each.remedy for each in found), [each.remedy for each in found]
    assert not any("config plan A" in each.remedy for each in found)


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_takes_out_its_own_names_in_other_letters(name: str, tmp_path: Path) -> None:
    inner = (
        "embedding: { apiKey: '${K}', model: 'x', baseUrl: 'http://old/v1', baseurl: 'http://older/v1' }, "
        "llm: { baseUrl: 'http://old/v1' }"
    )
    config = home(tmp_path, pro(inner))
    changes = plan_changes(config, plan_named(name, tmp_path))
    write_changes(config, changes, plan=name, state=tmp_path / "state", now_ms=NOW_MS)
    left = again(tmp_path)
    assert not [
        each
        for each in problems_of(left)
        if each.rule in ("unknown", "base-url") and "embedding" in each.path
    ]
    assert plan_changes(left, plan_named(name, tmp_path)) == ()


@pytest.mark.parametrize(
    ("address", "free"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.1.7:8080/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://localhost.example.com/v1", False),
    ],
)
def test_a_model_on_the_own_machine_has_no_price(address: str, free: bool, tmp_path: Path) -> None:
    rows = [row(str(n), "a text of a memory", [1.0, n]) for n in range(3)]
    store = open_store(write_store(tmp_path / "store", rows, dims=2, fts=False))
    inner = f"embedding: {{ apiKey: '${{K}}', model: 'nomic-embed-text', baseURL: '{address}' }}"
    config = home(tmp_path, pro(inner))
    plan = ConfigPlan("own", "own", {"embedding.model": "text-embedding-3-small"}, {})
    found = consequences_of(config, plan_changes(config, plan), store)
    said = next(each for each in found if each.kind == "reembed")
    assert ("free, on your own machine" in said.sentence) is free
    assert ("dollars" in said.sentence) is not free
