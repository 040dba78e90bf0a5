"""The access matrix: cells with one reason each, findings, deny rules, differences of two configurations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import RefusedError, UsageError, open_engine
from memtui.engine.access import ScopePolicy
from memtui.engine.access.matrix import AgentRow, ScopeCount, build_matrix, difference, read_rules
from memtui.engine.configuration import (
    access_under,
    consequences_of,
    list_places,
    listed_scopes,
    open_config,
    plan_access,
    rule_place,
    undo_write,
    without_lists,
    write_changes,
)
from memtui.engine.recall.prompt_lines import is_injected
from memtui.engine.witness.rights import read_rights, rights_under
from tests.engine import pro_store

BLOCK = {
    "definitions": {"team-lark": {}},
    "agentAccess": {"ops": ["global", "project:atlas", "user:eva"], "ghost": ["project:atlas"], "scribe": []},
}
SCOPES: tuple[str | None, ...] = (
    None,
    "",
    " global ",
    "GLOBAL",
    "global",
    "agent:ops",
    "agent:main",
    "reflection:agent:ops",
    "project:atlas",
    "Project:Atlas",
    "user:eva",
    "team-lark",
    "nobody-defined-this",
    "team:shared",
)


def matrix_of(block: Any = BLOCK, agents: tuple[str, ...] = ("main", "ops", "scribe"), **environ: str) -> Any:
    access = ScopePolicy.from_config(block, environ)
    rows = [AgentRow(each) for each in agents]
    rows += [AgentRow(each, False) for each in access.named_agents() if each not in agents]
    rows += [AgentRow("no id", pseudo=True), AgentRow("shell", pseudo=True)]
    return build_matrix(access, rows, {scope: ScopeCount(2, 2, 1) for scope in SCOPES}), access


def test_each_cell_has_the_first_reason_that_holds() -> None:
    matrix, _ = matrix_of(CLAWTEAM_MEMORY_SCOPE="team:shared")
    ops = {scope: matrix.cell("ops", scope) for scope in SCOPES}
    assert {scope: (cell.read, cell.reason) for scope, cell in ops.items()} == {
        None: (False, "null-scope"),
        "": (False, "null-scope"),
        " global ": (False, "padded"),
        "GLOBAL": (False, "case"),
        "global": (True, "acl"),
        "agent:ops": (False, "acl-replaces-default"),
        "agent:main": (False, "not-granted"),
        "reflection:agent:ops": (True, "own-reflection"),
        "project:atlas": (True, "acl"),
        "Project:Atlas": (False, "case"),
        "user:eva": (True, "acl"),
        "team-lark": (False, "not-granted"),
        "nobody-defined-this": (False, "undefined-form"),
        "team:shared": (True, "env"),
    }
    main = {scope: matrix.cell("main", scope).reason for scope in SCOPES}
    assert (main["global"], main["agent:main"]) == ("default-global", "default-own")
    assert main["Project:Atlas"] == "undefined-form"
    for pseudo in ("no id", "shell"):
        assert all(matrix.cell(pseudo, scope).reason == "bypass" for scope in SCOPES)
        assert all(matrix.cell(pseudo, scope).read for scope in SCOPES)
        assert not matrix.cell(pseudo, None).write
    assert ops["global"].injectable == 1
    assert ops["agent:main"].injectable == 0


def test_findings_name_their_subject() -> None:
    matrix, _ = matrix_of()
    found = {(each.kind, each.subject) for each in matrix.findings}
    assert {
        ("unreadable-rows", None),
        ("unreadable-rows", ""),
        ("unreadable-rows", "team-lark"),
        ("own-scope-unreadable", "ops"),
        ("own-scope-unreadable", "scribe"),
        ("unknown-agent", "ghost"),
        ("no-list-where-others-have", "main"),
        ("writes-to-global", "ops"),
    } <= found
    assert ("no-list-where-others-have", "ops") not in found
    assert ("unreadable-rows", "global") not in found


def test_what_everybody_reads_and_should_not() -> None:
    access = ScopePolicy.from_config({"agentAccess": {"a": ["user:eva"], "b": ["user:eva"]}}, {})
    counts: dict[str | None, ScopeCount] = {"user:eva": ScopeCount(3, 3, 3, secrets=2)}
    found = build_matrix(
        access, [AgentRow("a"), AgentRow("b"), AgentRow("shell", pseudo=True)], counts
    ).findings
    assert {("secret-readable-by-all", "user:eva"), ("person-readable-by-all", "user:eva")} <= {
        (each.kind, each.subject) for each in found
    }


def test_deny_rules_are_broken_by_the_cells_they_meet() -> None:
    matrix, access = matrix_of()
    rules = read_rules(
        "# rights\n\ndeny: ops project:*  # why\ndeny: * user:eva\ndeny: no id user:*\ndeny: main x\n"
    )
    assert [(rule.agent, rule.scope, rule.line) for rule in rules] == [
        ("ops", "project:*", 3),
        ("*", "user:eva", 4),
        ("no id", "user:*", 5),
        ("main", "x", 6),
    ]
    broken = {(each.rule.line, each.cell.agent, each.cell.scope) for each in matrix.broken(rules, access)}
    assert broken == {(3, "ops", "project:atlas"), (4, "ops", "user:eva"), (5, "no id", "user:eva")}
    [unseen] = matrix.broken(read_rules("deny: main agent:main\ndeny: ops reflection:agent:ops"), access)[1:]
    assert unseen.cell.scope == "reflection:agent:ops"
    for wrong in ("allow: a b", "deny: a", "deny a b", "deny: a b c"):
        with pytest.raises(UsageError, match="Line 1"):
            read_rules(wrong)


def test_a_planned_change_shows_the_difference_of_cells() -> None:
    before, _ = matrix_of()
    after, _ = matrix_of({**BLOCK, "agentAccess": {**BLOCK["agentAccess"], "scribe": ["user:eva"]}})
    [change] = difference(before, after)
    assert (change.after.agent, change.after.scope, change.before.read, change.after.read) == (
        "scribe",
        "user:eva",
        False,
        True,
    )


def test_the_plugins_own_cases_agree(shared: Path) -> None:
    recorded = json.loads((shared / "fixtures" / "peer" / "functions.json").read_text("utf-8"))["scopes"]
    looked = 0
    for manager in recorded["managers"]:
        if "agents" not in manager:
            continue
        access = ScopePolicy.from_config(manager["config"], {})
        for agent in manager["agents"]:
            name = agent["agent"]
            scopes = dict.fromkeys((*SCOPES, *(agent["filter"] or ())), ScopeCount(1, 1, 1))
            row = AgentRow(name or "no id", pseudo=not name)
            for cell in build_matrix(access, [row], scopes).cells:
                wanted = agent["filter"] is None or cell.scope in agent["filter"]
                assert cell.read == wanted, (manager["name"], name, cell)
                looked += 1
    assert looked > 100


def test_auto_recall_lists_decide_who_is_injected() -> None:
    assert is_injected("main", {})
    assert not is_injected("main", {"autoRecallIncludeAgents": ["ops"]})
    assert is_injected("ops-2", {"autoRecallIncludeAgents": ["ops-"], "autoRecallExcludeAgents": ["ops-2"]})
    assert not is_injected("temp:x", {"autoRecallExcludeAgents": ["temp:*"]})


def test_a_store_with_its_configuration(tmp_path: Path) -> None:
    home = tmp_path / "home" / ".openclaw"
    store = home / "memory" / "lancedb-pro"
    store.mkdir(parents=True)
    rows = [
        pro_store.row("a", "The window is on Friday.", [1, 0]),
        pro_store.row("b", "password: hunter22X9", [0, 1]),
        pro_store.row("c", "Archived.", [1, 0], metadata={"state": "archived"}),
        pro_store.row("d", "Eva dislikes Mondays.", [1, 0], scope="user:eva"),
        pro_store.row("e", "Nobody sees me.", [1, 0], scope="   "),
        pro_store.row("f", "Nor me.", [1, 0], scope=None),
    ]
    pro_store.write_store(store, rows, dims=2, fts=False)
    (home / "agents" / "wanderer" / "sessions").mkdir(parents=True)
    scopes: dict[str, Any] = {"agentAccess": {"ops": ["global", "user:eva"]}}
    plugin = {"enabled": True, "config": {"embedding": {"apiKey": "x"}, "scopes": scopes}}
    config = {
        "agents": {"list": [{"id": "main"}, {"id": "ops"}]},
        "plugins": {"slots": {"memory": "memory-lancedb-pro"}, "entries": {"memory-lancedb-pro": plugin}},
    }
    (home / "openclaw.json").write_text(json.dumps(config), "utf-8")
    environ = {"HOME": str(tmp_path / "home")}

    def rights() -> Any:
        engine = open_engine(None, now=lambda: pro_store.NOW_MS, environ=environ, cwd=tmp_path)
        return read_rights(engine, environ, tmp_path)

    found = rights()
    document = found.matrix.as_json()
    assert [each["id"] for each in document["agents"]] == ["main", "ops", "wanderer", "no id", "shell"]
    assert [each["pseudo"] for each in document["agents"]] == [False, False, False, True, True]
    assert set(document["scopes"]) == {"global", "user:eva", "   ", None}
    cell = found.matrix.cell("ops", "global")
    assert (cell.rows, cell.injectable, cell.reason) == (3, 2, "acl")
    kinds = {(each.kind, each.subject) for each in found.matrix.findings}
    assert ("secret-readable-by-all", "global") in kinds
    assert ("unreadable-rows", None) in kinds
    assert ("unreadable-rows", "   ") in kinds
    scopes["default"] = "not-there"
    (home / "openclaw.json").write_text(json.dumps(config), "utf-8")
    thrown = rights()
    assert [(each.kind, each.subject) for each in thrown.matrix.findings] == [
        ("config-throws", "scopes.default")
    ]
    assert thrown.matrix.cells == []


def test_editing_who_reads_what_shows_the_cells_that_change_with_what_they_hold(tmp_path: Path) -> None:
    """An agent's list is one setting; a name with dots or space around it is the one that the plugin reads."""
    store = tmp_path / ".openclaw" / "memory" / "lancedb-pro"
    store.mkdir(parents=True)
    rows = [
        pro_store.row("a", "The window is on Friday.", [1, 0]),
        pro_store.row("b", "The budget is 12 euro.", [0, 1], scope="finance"),
        pro_store.row("c", "password: hunter22X9", [0, 1], scope="finance"),
        pro_store.row("d", "For support alone.", [0, 1], scope="agent:support.de"),
    ]
    pro_store.write_store(store, rows, dims=2, fts=False)
    block = """{ agentAccess: { ops: ['global'], ' support.de ': ['global'] /* by hand */ } }"""
    (tmp_path / ".openclaw" / "openclaw.json").write_text(
        """{ plugins: { slots: { memory: 'memory-lancedb-pro' }, entries: { 'memory-lancedb-pro': {
        enabled: true, config: { embedding: { apiKey: '${K}' }, scopes: """
        + block
        + """ } } } } }""",
        "utf-8",
    )
    environ = {"HOME": str(tmp_path)}
    engine = open_engine(None, now=lambda: pro_store.NOW_MS, environ=environ, cwd=tmp_path)
    found, config = read_rights(engine, environ, tmp_path), open_config(environ, tmp_path)
    assert listed_scopes(config, "support.de") == ("global",)
    places = list_places(config)
    assert {agent: (place.line, dict(place.scopes)) for agent, place in places.items()} == {
        "ops": (2, {"global": 2}),
        "support.de": (2, {"global": 2}),
    }
    for agent, scope, reason, said in (
        ("ops", "global", "acl", "agentAccess.ops names it, openclaw.json:2"),
        ("ops", "finance", "not-granted", "agentAccess.ops does not name it, openclaw.json:2"),
        ("main", "global", "default-global", "openclaw.json has no agentAccess.main"),
        ("ops", "team", "env", "CLAWTEAM_MEMORY_SCOPE in the environment"),
        ("ops", None, "null-scope", ""),
    ):
        assert rule_place(places, config.main, agent, scope, reason) == said  # type: ignore[arg-type]
    changes = plan_access(config, "support.de", ["global", "finance"])
    assert [each.path[-3:] for each in changes] == [("scopes", "agentAccess", " support.de ")]
    after, changed = rights_under(engine, found, access_under(config, changes, {}))
    sentence = "support.de gains 2 memories of finance; 1 holds secrets"
    assert [each.sentence for each in changed] == [sentence]
    assert after.matrix.cell("support.de", "finance").read  # type: ignore[union-attr]
    said = consequences_of(config, changes, engine.store, environ={})
    assert next(each for each in said if each.kind == "access").sentence == sentence
    _, changed = rights_under(
        engine, found, access_under(config, plan_access(config, "support.de", None), {})
    )
    assert [each.sentence for each in changed] == ["support.de gains 1 memory of agent:support.de"]
    assert plan_access(config, "ops", ["global"]) == ()
    for name, scopes in (("system", ["global"]), (" ", ["global"]), ("ops", ["global", " "])):
        with pytest.raises(UsageError):
            plan_access(config, name, scopes)
    record = write_changes(config, changes, plan="access", state=tmp_path / "state", now_ms=1)
    again = open_config(environ, tmp_path)
    assert listed_scopes(again, "support.de") == ("global", "finance")
    assert "/* by hand */" in again.texts[again.main]
    undo_write(again, record, state=tmp_path / "state", now_ms=2)
    assert open_config(environ, tmp_path).texts == config.texts


@pytest.mark.parametrize(
    ("slot", "told"),
    [
        ("memory-lancedb", "its own agentId"),
        ("memory-core", "its own index"),
        ("somebody-elses", "reads no lists of scopes"),
        ("memory-lancedb-pro", ""),
    ],
)
def test_a_list_is_planned_only_where_the_owner_of_the_slot_reads_it(
    tmp_path: Path, slot: str, told: str
) -> None:
    """memory-lancedb-pro's lists beside another owner would be written, shown as done, and read by nobody."""
    folder = tmp_path / ".openclaw"
    folder.mkdir()
    entries = {"memory-lancedb-pro": {"enabled": True, "config": {"scopes": {"agentAccess": {"ops": []}}}}}
    given = {"plugins": {"slots": {"memory": slot}, "entries": {**entries, slot: entries.get(slot, {})}}}
    (folder / "openclaw.json").write_text(json.dumps(given), encoding="utf-8")
    config = open_config({"HOME": str(tmp_path)}, tmp_path)
    why = without_lists(config)
    assert told in why
    if not told:
        assert plan_access(config, "ops", ["global"])
        return
    assert why.startswith(slot)
    for scopes in (["global"], None):
        with pytest.raises(RefusedError, match=slot):
            plan_access(config, "ops", scopes)
