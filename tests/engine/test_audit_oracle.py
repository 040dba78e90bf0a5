"""The contract of the audit against an oracle of its own: made homes, and rights by the words of the specification.

Nothing here calls the reader's own helpers; what is expected is known because it was written so.
"""

from __future__ import annotations

import json
import random
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine.access import ScopePolicy
from memtui.engine.access.matrix import AgentRow, ScopeCount, build_matrix
from memtui.engine.witness import list_sessions, replay_session

FORMS = ("agent:", "custom:", "project:", "user:", "reflection:")
SCOPES = (
    "global", "GLOBAL", " global", "agent:main", "agent:ops", "Agent:Ops", "reflection:agent:ops", "agent:ops ",
    "project:atlas", "Project:Atlas", "user:eva", "team-lark", "team:shared", "nobody", "", "  ", None,
)  # fmt: skip
NAMES = st.sampled_from([each for each in SCOPES if each and each == each.strip()])


def expected(
    agent: str, scope: str | None, lists: dict[str, list[str]], defined: set[str], team: list[str]
) -> str:
    """The first reason that holds, in the order of the contract."""
    if scope is None or not scope.strip():
        return "null-scope"
    usual = ["global", f"agent:{agent}"]
    if agent in lists:
        if scope in lists[agent]:
            return "acl"
    elif scope in usual:
        return "default-global" if scope == "global" else "default-own"
    if scope == f"reflection:agent:{agent}":
        return "own-reflection"
    if scope in team:
        return "env"
    reads = [*lists.get(agent, usual), f"reflection:agent:{agent}", *team]
    if scope.strip() in reads:
        return "padded"
    if scope.strip().lower() in [each.lower() for each in reads]:
        return "case"
    if agent in lists and scope in usual:
        return "acl-replaces-default"
    known = scope.strip() == "global" or scope.strip().startswith(FORMS) or scope.strip() in defined
    return "not-granted" if known else "undefined-form"


@settings(max_examples=300, deadline=None)
@given(
    lists=st.dictionaries(st.sampled_from(("main", "ops", "ghost")), st.lists(NAMES, max_size=4), max_size=3),
    defined=st.sets(st.sampled_from(("team-lark", "project:atlas", "nobody")), max_size=3),
    team=st.lists(st.sampled_from(("team:shared", "user:eva", "global")), max_size=2, unique=True),
)
def test_every_cell_has_the_reason_of_the_contract(
    lists: dict[str, list[str]], defined: set[str], team: list[str]
) -> None:
    block = {"definitions": {each: {} for each in sorted(defined)}, "agentAccess": lists}
    access = ScopePolicy.from_config(block, {"CLAWTEAM_MEMORY_SCOPE": " , ".join(team)})
    names = ("main", "ops", "scribe")
    agents = [*(AgentRow(each) for each in names), AgentRow("shell", pseudo=True, injected=False)]
    matrix = build_matrix(access, agents, dict.fromkeys(SCOPES, ScopeCount(3, 3, 2)))
    granted = {"acl", "default-global", "default-own", "own-reflection", "env"}
    for cell in matrix.cells:
        if cell.agent == "shell":
            assert (cell.read, cell.reason) == (True, "bypass")
            continue
        reason = expected(cell.agent, cell.scope, lists, defined | {"global", *team}, team)
        assert cell.reason == reason, (cell, lists, defined, team)
        assert cell.read == cell.write == (reason in granted)
        assert (cell.rows, cell.injectable) == (3, 2 if cell.read else 0)
    readers = {
        scope: [c for c in matrix.cells if c.scope == scope and c.read and c.agent != "shell"]
        for scope in SCOPES
    }
    found = {(each.kind, each.subject) for each in matrix.findings}
    assert {key for kind, key in found if kind == "unreadable-rows"} == {s for s in SCOPES if not readers[s]}
    assert {key for kind, key in found if kind == "unknown-agent"} == set(lists) - set(names)
    unlisted = {each for each in names if each not in lists} if lists else set()
    assert {key for kind, key in found if kind == "no-list-where-others-have"} == unlisted
    own_lost = {
        each for each in names if expected(each, f"agent:{each}", lists, defined, team) not in granted
    }
    assert {key for kind, key in found if kind == "own-scope-unreadable"} == own_lost
    lands = {each for each in names if expected(each, f"agent:{each}", lists, defined, team) not in granted}
    assert {key for kind, key in found if kind == "writes-to-global"} == lands
    people = {s for s in SCOPES if s and s.startswith("user:") and len(readers[s]) == len(names)}
    assert {key for kind, key in found if kind == "person-readable-by-all"} == people


LINE = "- [W][cases:global] 2025-06-15 (manual) {}"
HEAD = "<relevant-memories>\n<mode:full>\n[UNTRUSTED DATA — historical notes]\n"
TAIL = "\n[END UNTRUSTED DATA]\n</relevant-memories>"
START = 1_788_858_000_000


def block(*texts: str) -> str:
    return HEAD + "\n".join(LINE.format(each) for each in texts) + TAIL


def iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat().replace("+00:00", "Z")


class Messy:
    """A transcript written with everything that a host and a bad disk may leave in one, and what it says."""

    def __init__(self, seed: int, host: str) -> None:
        self.host, self.dice = host, random.Random(seed)
        self.lines: list[bytes] = [json.dumps({"type": "session", "version": 3, "id": "x"}).encode()]
        self.events: list[dict[str, Any]] = []
        self.wanted: list[tuple[str, str, list[str] | None]] = []
        self.leaf: str | None = None
        self.count = self.bad = 0
        self.clock = START

    def entry(self, kind: str, parent: str | None, **more: Any) -> str:
        self.count += 1
        name = f"e{self.count:04d}"
        document = {"type": kind, "id": name, "parentId": parent, "timestamp": iso(self.clock), **more}
        self.lines.append(json.dumps(document).encode())
        if self.dice.random() < 0.2:
            bad = self.dice.choice([b'{"type": "message", "id"', b"\xff\xfe not json", b"[1, 2", b"nul"])
            self.lines.append(bad)
            self.bad += 1
        if self.dice.random() < 0.15:
            self.lines.append(self.dice.choice([b"42", b'"text"', b"[]", b"null", b'{"no": "type"}']))
        return name

    def message(self, role: str, text: str, parent: str | None) -> str:
        content: Any = text if self.dice.random() < 0.4 else [{"type": "text", "text": text}]
        if isinstance(content, list) and self.dice.random() < 0.3:
            content.append({"type": "image", "data": "…"})
        return self.entry(
            "message", parent, message={"role": role, "content": content, "timestamp": self.clock}
        )

    def turn(self, number: int) -> None:
        for attempt in range(self.dice.choice([1, 1, 1, 2])):
            self.clock += 200_000
            for kind in self.dice.choice(
                [(), ("model_change",), ("custom", "thinking_level_change"), ("compaction",)]
            ):
                self.leaf = self.entry(kind, self.leaf, summary="…", customType="x", data={})
            words = f"question {number} try {attempt}"
            got = [f"memory {number} {attempt} {at}" for at in range(self.dice.choice([0, 1, 2, 3]))]
            pasted = self.dice.random() < 0.25
            typed = f"{words}\n\n{block('a pasted one')}" if pasted else words
            prompt = f"{block(*got)}\n\n{typed}" if got else typed
            above = self.leaf
            user = self.message("user", prompt if self.host == "blocks" else typed, above)
            lost = self.host == "trajectory" and self.dice.random() < 0.25
            if self.host == "trajectory":
                data: dict[str, Any] = {"prompt": prompt}
                if lost:
                    data = {
                        "truncated": True,
                        "originalBytes": 300_000,
                        "reason": "trajectory-event-size-limit",
                    }
                base = {
                    "runId": f"r{number}-{attempt}",
                    "ts": iso(self.clock + 1000),
                    "traceSchema": "openclaw-trajectory",
                }
                self.events.append({**base, "type": "session.started", "data": {}})
                compiled = dict(data) if lost else {"prompt": prompt, "transcriptLeafId": above}
                self.events.append({**base, "type": "context.compiled", "data": compiled})
                for _ in range(self.dice.choice([1, 2])):
                    self.events.append({**base, "type": "prompt.submitted", "data": data})
            answer = self.message("assistant", f"answer {number}", user)
        self.leaf = answer
        self.wanted.append((words, "none" if lost else "evident", None if lost else got))

    def write(self, home: Path, name: str) -> None:
        folder = home / ".openclaw" / "agents" / "main" / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        cut = b'\n{"type":"message","id":"cut","par' if self.dice.random() < 0.3 else b"\n"
        (folder / name).write_bytes(b"\n".join(self.lines) + cut)
        if self.events:
            stem, _, tail = name.partition(".jsonl")
            text = "".join(json.dumps(each) + "\n" for each in self.events)
            (folder / f"{stem}.trajectory.jsonl{tail}").write_text(text, "utf-8")


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    host=st.sampled_from(("blocks", "trajectory")),
    turns=st.integers(1, 6),
    tail=st.sampled_from(("", ".reset.2026-09-01T04-00-00.000Z", ".deleted.2026-09-02T08-30-00.000Z")),
)
def test_a_messy_home_is_read_as_it_was_written(seed: int, host: str, turns: int, tail: str) -> None:
    made = Messy(seed, host)
    for number in range(turns):
        made.turn(number)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        made.write(home, f"s-1.jsonl{tail}")
        environ = {"HOME": folder}
        [summary] = list_sessions(environ, home)
        assert (summary.file.id, summary.file.agent, summary.turns) == ("s-1", "main", turns)
        replayed = replay_session("s-1", environ, home).as_json()
    kind = "transcript" if host == "blocks" else "trajectory"
    knows = host == "trajectory" or any(got for _, _, got in made.wanted)
    for turn, (words, evidence, got) in zip(replayed["turns"], made.wanted, strict=True):
        assert turn["question"] == words
        if not knows:  # nothing tells which build this is
            assert turn["memories"] is None
            continue
        assert turn["evidence"] == (kind if evidence == "evident" else "none"), (turn, made.wanted)
        lines = None if turn["memories"] is None else [each["line"] for each in turn["memories"]]
        assert lines == (None if got is None else [LINE.format(each) for each in got])
    assert bool(made.bad) <= any(
        "cannot be read" in each or "is cut" in each for each in replayed["warnings"]
    )
