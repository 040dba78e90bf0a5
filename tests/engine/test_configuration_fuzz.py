"""300 made-up configurations, each under a plan: what is written, what is left alone, and the way back."""

from __future__ import annotations

import os
import random
import re
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import json5
import pytest

from memtui.engine.configuration.draft import draft_plan
from memtui.engine.configuration.file import Configuration, open_config
from memtui.engine.configuration.json5_text import Node, parse
from memtui.engine.configuration.owner_rules import other_owner
from memtui.engine.configuration.plans import PLANS, ConfigPlan, plan_changes
from memtui.engine.configuration.write import last_record, undo_write, write_changes
from memtui.engine.core.errors import RefusedError
from memtui.engine.discovery.openclaw_config import merge

NOW_MS = 1_795_000_000_000
PRO = "memory-lancedb-pro"

SETTINGS: dict[str, dict[str, Any]] = {
    "": {"autoRecall": False, "autoCapture": True, "extractMinMessages": 4, "dbPath": "~/x", "sessionStrategy": "none"},
    "embedding": {
        "apiKey": "${OPENAI_API_KEY}", "model": "text-embedding-3-small", "dimensions": 1536,
        "taskQuery": "retrieval.query", "taskPassage": "p", "normalized": True,
        "baseURL": "https://api.openai.com/v1", "requestDimensions": 512,
    },
    "retrieval": {"mode": "vector", "minScore": 0.3, "rerank": "none", "vectorWeight": 0.5, "rerankApiKey": "${X}"},
    "llm": {"apiKey": "${OPENAI_API_KEY}", "model": "m"},
    "sessionMemory": {"enabled": True},
}  # fmt: skip


class Writer:
    """JSON5 with odd white space, comments, quotes, trailing commas and keys that stand twice."""

    def __init__(self, rng: random.Random, folder: Path) -> None:
        self.rng, self.folder = rng, folder
        self.newline = rng.choice(["\n", "\n", "\r\n"])
        self.dense = rng.random() < 0.2
        self.files: dict[str, str] = {}

    def gap(self) -> str:
        if self.dense:
            return ""
        return self.rng.choice(
            [
                "",
                "",
                " ",
                f"{self.newline}    ",
                f"{self.newline}\t\t",
                " /* a } comment, with 'quotes' */ ",
                f' // to the end {{ "x": {self.newline}',
                "\t",
                f"{self.newline}{self.newline}",
                "/**/",
            ]
        )

    def key(self, name: str) -> str:
        bare = [name] if re.fullmatch(r"[A-Za-z_$][\w$]*", name) else []
        at = self.rng.randrange(len(name))
        odd = f"{name[:at]}\\u{ord(name[at]):04x}{name[at + 1 :]}"  # a letter by its number
        odds = [f"'{odd}'", *([odd] if bare and at else [])] if name != "$include" else []
        return self.rng.choice([*bare, *bare, f"'{name}'", f'"{name}"', *odds])

    def value(self, value: Any) -> str:
        if isinstance(value, dict):
            return self.object(value)
        if isinstance(value, list):
            inside = ",".join(f"{self.gap()}{self.value(each)}{self.gap()}" for each in value)
            return f"[{inside}{',' if value and self.rng.random() < 0.3 else ''}]"
        if isinstance(value, str):
            return self.rng.choice([f"'{value}'", f'"{value}"'])
        if isinstance(value, bool) or value is None:
            return {True: "true", False: "false", None: "null"}[value]
        short = [str(value).lstrip("0")] if isinstance(value, float) and 0 < value < 1 else []
        digits = [hex(value), hex(value).upper().replace("X", "x")] if isinstance(value, int) else []
        return self.rng.choice(
            [str(value), f"+{value}", f"{value}e0", *short, *digits] if value else ["0", "0x0"]
        )

    def object(self, tree: dict[str, Any]) -> str:
        parts = []
        for name, each in tree.items():
            if (
                name != "$include" and self.rng.random() < 0.12
            ):  # an earlier one of the same key, which does not count
                old = self.rng.choice([1, "old", {"model": "old", "minScore": 1}, [], None])
                parts.append((name, self.value(old)))
            parts.append((name, self.value(each)))
        text = ",".join(
            f"{self.gap()}{self.key(name)}{self.gap()}:{self.gap()}{made}{self.gap()}" for name, made in parts
        )
        return "{" + text + ("," if parts and self.rng.random() < 0.4 else "") + self.gap() + "}"

    def file(self, text: str, name: str) -> str:
        mark = "\ufeff" if self.rng.random() < 0.2 else ""
        head = self.rng.choice(["", "", f"// head{self.newline}", "/* head */ "])
        self.files[name] = mark + head + text + self.rng.choice(["", self.newline, " // tail"])
        return name


def made(rng: random.Random, folder: Path) -> dict[str, str]:
    """The texts of a configuration: `openclaw.json` and the files that it includes, one in another."""
    writer = Writer(rng, folder)
    config: dict[str, Any] = {}
    for block, options in SETTINGS.items():
        chosen = {key: value for key, value in options.items() if rng.random() < 0.5}
        if block == "":
            config |= chosen
        elif rng.random() < 0.7:
            config[block] = chosen
    for block in ("embedding", "retrieval"):
        if isinstance(config.get(block), dict) and rng.random() < 0.25:  # a block in a file of its own
            inside = config[block]
            kept = {key: inside.pop(key) for key in list(inside) if rng.random() < 0.4}
            name = writer.file(writer.object(inside), f"{block}.json5")
            config[block] = {"$include": f"./{name}", **kept}
    if rng.random() < 0.3:
        config["scopes"] = {
            "definitions": {"global": {"description": "x"}},
            "agentAccess": {"main": ["global"]},
        }
    if rng.random() < 0.3:  # some settings come with one file, which may include another
        outer = {key: config.pop(key) for key in list(config) if rng.random() < 0.5}
        name = writer.file(writer.object(outer), "memory.json5")
        if rng.random() < 0.5:
            name = writer.file(writer.object({"$include": f"./{name}"}), "more.json5")
        config = {"$include": rng.choice([f"./{name}", [f"./{name}"]]), **config}
    entry: dict[str, Any] = {"enabled": rng.choice([True, False]), "config": config}
    if rng.random() < 0.2:
        entry["config"] = {"config": config}
    plugins: dict[str, Any] = {"entries": {"other": {"enabled": True}, PRO: entry}}
    if rng.random() < 0.15:
        plugins = {}
    if rng.random() < 0.7:
        plugins["slots"] = {"memory": rng.choice([PRO, PRO, PRO, "memory-core"])}
    if rng.random() < 0.4:
        plugins["allow"] = rng.choice([[], ["other"], ["other", PRO]])
    if rng.random() < 0.2:
        plugins["load"] = {"paths": ["/opt/plugins"]}
    if plugins and rng.random() < 0.2:
        kept = {key: plugins.pop(key) for key in list(plugins) if rng.random() < 0.5}
        name = writer.file(writer.object({**plugins, "allow": ["first"]}), "plugins.json5")
        plugins = {"$include": f"./{name}", **kept}
    tree: dict[str, Any] = {
        "gateway": {"port": 18789},
        "plugins": plugins,
        "agents": {"list": [{"id": "main"}]},
    }
    if rng.random() < 0.1:
        tree = {}
    writer.file(writer.object(tree), "openclaw.json")
    return writer.files


def read(folder: Path) -> Configuration:
    return open_config({"HOME": str(folder)}, folder)


def resolved(state: Path, name: str = "openclaw.json") -> Any:
    """The configuration as the host merges it, read by another parser."""

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(each) for each in node]
        if not isinstance(node, dict):
            return node
        own = {key: walk(each) for key, each in node.items() if key != "$include"}
        names = node.get("$include", [])
        inside: Any = {}
        for each in [names] if isinstance(names, str) else names:
            inside = merge(inside, resolved(state, each))
        return merge(inside, own) if own or not names else inside

    return walk(json5.loads((state / name).read_bytes().decode().removeprefix("\ufeff")))


def members(node: Node, lead: tuple[str, ...] = ()) -> dict[tuple[str, ...], Node]:
    """Every value by the path of the keys that count."""
    found = {}
    for each in node.members:
        member = node.member(each.key)
        assert member is not None
        found[*lead, each.key] = member.node
        if member.node.kind == "object":
            found |= members(member.node, (*lead, each.key))
    return found


def letters(text: str) -> Counter[str]:
    return Counter(re.sub(r"[\s,]", "", text))


def check_spans(before: str, after: str) -> None:
    """Nothing but the values that changed, and new members with white space and commas."""
    old, new = members(parse(before.removeprefix("\ufeff"))), members(parse(after.removeprefix("\ufeff")))
    assert set(old) <= set(new), "a plan without removals takes nothing out"
    shift = int(before.startswith("\ufeff"))
    kept, at = [], 0
    fresh = Counter[str]()
    spans = sorted(
        (node.start + shift, node.end + shift, path)
        for path, node in old.items()
        if node.kind != "object" and node.plain() != new[path].plain()
    )
    for start, end, path in spans:
        kept.append(before[at:start])
        at = end
        fresh += letters(after[new[path].start + shift : new[path].end + shift])
    kept.append(before[at:])
    text = parse(after.removeprefix("\ufeff"))
    for path in new:
        if path not in old and path[:-1] in {*old, ()}:
            owner = text
            for key in path[:-1]:
                member = owner.member(key)
                assert member is not None
                owner = member.node
            member = owner.member(path[-1])
            assert member is not None
            fresh += letters(after[member.start + shift : member.node.end + shift])
    rest = "".join(kept)
    assert letters(after) == letters(rest) + fresh
    place = 0
    for char in after:  # what is left of the text before stands in the text after, in its order
        if place < len(rest) and rest[place] == char:
            place += 1
    assert place == len(rest)


def without_removals(plan: ConfigPlan) -> ConfigPlan:
    from memtui.engine.configuration.file import REMOVED

    kept = {key: value for key, value in plan.settings.items() if value is not REMOVED}
    return ConfigPlan(plan.name, plan.title, kept, plan.reasons, plan.keys)


def at(tree: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return None
        tree = tree[key]
    return tree


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 300))]
)
def test_a_plan_is_written_into_any_configuration_and_taken_back_byte_for_byte(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memtui.engine.configuration.file import REMOVED

    monkeypatch.setattr(os, "fsync", lambda handle: None)  # the bytes are looked at, not a power cut
    rng = random.Random(seed)
    state = tmp_path / ".openclaw"
    state.mkdir()
    for name, text in made(rng, state).items():
        (state / name).write_bytes(text.encode())
        (state / name).chmod(rng.choice([0o600, 0o640, 0o644]))
    files = sorted(state.iterdir())
    before = {file: (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) for file in files}
    plan = PLANS[rng.choice("ABCD")]
    removing = rng.random() < 0.5
    if not removing:
        plan = without_removals(plan)
    config = read(tmp_path)
    was = resolved(state)
    assert was == config.loaded.raw
    if other_owner(config):  # no plan takes the slot from another plugin
        with pytest.raises(RefusedError):
            plan_changes(config, plan)
        return
    changes = plan_changes(config, plan)
    assert {file: (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) for file in files} == before
    assert len({each.path for each in changes}) == len(changes)
    for each in changes:
        assert at(was, each.path) == each.before
        assert each.after is REMOVED or each.before != each.after
    draft = draft_plan(config, plan, changes, environ={"HOME": str(tmp_path)})
    assert bool(draft.difference) == bool(changes)
    assert "sk-" not in str([each.as_json() for each in changes])
    if not changes:
        return
    record = write_changes(config, changes, plan=plan.name, state=tmp_path / "kept", now_ms=NOW_MS)
    now = resolved(state)
    for each in changes:
        assert at(now, each.path) == (None if each.after is REMOVED else each.after), each.dotted
    assert plan_changes(read(tmp_path), plan) == ()
    touched = {Path(each.path) for each in record.files}
    for file in files:
        after = file.read_bytes()
        assert stat.S_IMODE(file.stat().st_mode) == before[file][1]
        if file not in touched:
            assert after == before[file][0]
            continue
        text, later = before[file][0].decode(), after.decode()
        assert later.startswith("\ufeff") == text.startswith("\ufeff")
        assert removing or _comments(later) == _comments(text)
        if not removing:
            check_spans(text, later)
        if "\r\n" in text:
            assert len(re.findall(r"(?<!\r)\n", later)) == len(re.findall(r"(?<!\r)\n", text))
    undo_write(read(tmp_path), last_record(tmp_path / "kept"), state=tmp_path / "kept", now_ms=NOW_MS + 1)
    assert {file: (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) for file in files} == before


def _comments(text: str) -> list[str]:
    """The comments in their order; strings are passed over."""
    found = re.findall(r"""(//[^\n\r]*|/\*.*?\*/)|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""", text, re.DOTALL)
    return [each for each in found if each]
