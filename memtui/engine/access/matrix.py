"""The access matrix: agents down, scopes across, each cell with one reason; what is odd in it; deny rules.

Pure: rules and counts come in, cells and findings go out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from memtui.engine.access.policy import GLOBAL, Access, Reason, scope_of
from memtui.engine.core.errors import UsageError
from memtui.engine.core.text import counted

NO_ID, SHELL = "no id", "shell"


FindingKind = Literal[
    "unreadable-rows",
    "own-scope-unreadable",
    "unknown-agent",
    "no-list-where-others-have",
    "secret-readable-by-all",
    "person-readable-by-all",
    "writes-to-global",
    "config-throws",
]


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent of the matrix."""

    id: str
    exists: bool = True
    """Whether a configuration lists it or it has sessions; others are only spoken of."""
    pseudo: bool = False
    injected: bool = True
    """Whether auto-recall runs for it at all."""

    @property
    def asks_as(self) -> str | None:
        """The agent id that the rules are asked for."""
        return None if self.pseudo else self.id


@dataclass(frozen=True, slots=True)
class ScopeCount:
    """The rows of one scope."""

    rows: int = 0
    active: int = 0
    injectable: int = 0
    """Rows that auto-recall could inject into an agent that reads them."""
    owners: tuple[str | None, ...] = ()
    """The agents of the rows, where rows have one."""
    secrets: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """What one agent may do with one scope."""

    agent: str
    scope: str | None
    read: bool
    write: bool
    reason: Reason
    rows: int
    injectable: int

    def as_json(self) -> dict[str, Any]:
        """The cell of the command-line contract."""
        return {
            "agent": self.agent,
            "scope": self.scope,
            "read": self.read,
            "write": self.write,
            "reason": self.reason,
            "rows": self.rows,
            "injectable": self.injectable,
        }


@dataclass(frozen=True, slots=True)
class AccessFinding:
    """Something in the rights that a person should look at."""

    kind: FindingKind
    subject: str | None
    """The scope, the agent or the configuration's key that it is about; None is the NULL scope."""
    sentence: str
    rows: int = 0

    def as_json(self) -> dict[str, Any]:
        """The finding of the command-line contract, with what is known beside it."""
        return {"kind": self.kind, "subject": self.subject, "sentence": self.sentence, "rows": self.rows}


@dataclass(frozen=True, slots=True)
class DenyRule:
    """One line of a policy file: this agent must not read or write these scopes."""

    agent: str
    scope: str
    line: int

    def meets(self, agent: AgentRow, scope: str | None) -> bool:
        """Whether the rule speaks of this cell; a `*` for the agent means real agents."""
        if agent.pseudo and self.agent != agent.id:
            return False
        return _matches(self.agent, agent.id) and _matches(self.scope, "" if scope is None else scope)


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A deny rule and a cell that breaks it."""

    rule: DenyRule
    cell: Cell

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "rule": f"deny: {self.rule.agent} {self.rule.scope}",
            "line": self.rule.line,
            "agent": self.cell.agent,
            "scope": self.cell.scope,
            "read": self.cell.read,
            "write": self.cell.write,
            "reason": self.cell.reason,
            "rows": self.cell.rows,
        }


@dataclass(frozen=True, slots=True)
class CellChange:
    """A cell that another configuration would change."""

    before: Cell
    after: Cell
    secrets: int
    """Rows with a secret in the scope."""

    @property
    def sentence(self) -> str:
        """What the agent gains or loses."""
        before, after = self.before, self.after
        if before.read != after.read:
            said = difference_in_words(after.agent, after.scope, after.read, after.rows, self.secrets)
            return said + (f"; may not write there: {after.reason}" if after.read and not after.write else "")
        can = "may write" if after.write else "may no longer write"
        return f"{after.agent} {can} into {_named(after.scope)}"

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {"before": self.before.as_json(), "after": self.after.as_json(), "secrets": self.secrets}


@dataclass(slots=True)
class AccessMatrix:
    """Who reads what."""

    agents: list[AgentRow]
    counts: Mapping[str | None, ScopeCount]
    cells: list[Cell] = field(default_factory=list)
    findings: list[AccessFinding] = field(default_factory=list)

    @property
    def scopes(self) -> list[str | None]:
        """The columns, in their order."""
        return list(self.counts)

    def cell(self, agent: str, scope: str | None) -> Cell | None:
        """One cell; None where there is none."""
        return next((cell for cell in self.cells if cell.agent == agent and cell.scope == scope), None)

    def broken(self, rules: Iterable[DenyRule], access: Access | None) -> list[BrokenRule]:
        """The cells that break a rule; a scope that a rule names is looked at even where no row has it."""
        out = []
        for rule in rules:
            named = {agent.id: agent for agent in self.agents}
            cells = [cell for cell in self.cells if rule.meets(named[cell.agent], cell.scope)]
            if access is not None and "*" not in rule.scope and rule.scope not in self.counts:
                alone = [agent for agent in self.agents if rule.meets(agent, rule.scope)]
                cells += [cell_of(access, agent, rule.scope, ScopeCount()) for agent in alone]
            out += [BrokenRule(rule, cell) for cell in cells if cell.read or cell.write]
        return out

    def as_json(self) -> dict[str, Any]:
        """The document of the command-line contract."""
        return {
            "schema": "memtui.access.v1",
            "agents": [
                {
                    "id": agent.id,
                    "pseudo": agent.pseudo,
                    "exists": agent.exists,
                    "auto_recall": agent.injected,
                }
                for agent in self.agents
            ],
            "scopes": self.scopes,
            "cells": [cell.as_json() for cell in self.cells],
            "findings": [finding.as_json() for finding in self.findings],
        }


def build_matrix(
    access: Access | None,
    agents: Sequence[AgentRow],
    counts: Mapping[str | None, ScopeCount],
    *,
    error: tuple[str, str] | None = None,
) -> AccessMatrix:
    """The matrix of these rules. `access` None: the configuration throws, `error` is its key and sentence."""
    matrix = AccessMatrix(list(agents), counts)
    if access is None:
        key, sentence = error or ("scopes", "the configuration cannot be read")
        matrix.findings.append(AccessFinding("config-throws", key, sentence))
        return matrix
    matrix.cells = [
        cell_of(access, agent, scope, count) for agent in agents for scope, count in counts.items()
    ]
    matrix.findings = list(_findings(matrix, access))
    return matrix


def cell_of(access: Access, agent: AgentRow, scope: str | None, count: ScopeCount) -> Cell:
    """One cell by the rules."""
    owners = count.owners or (None,)
    grants = [access.reads(agent.asks_as, scope, owner) for owner in owners]
    grant = next((grant for grant in grants if grant.allowed), grants[0])
    write = access.writes(agent.asks_as, scope, agent.asks_as).allowed
    can = grant.allowed and agent.injected and not agent.pseudo
    return Cell(
        agent.id, scope, grant.allowed, write, grant.reason, count.rows, count.injectable if can else 0
    )


def difference(before: AccessMatrix, after: AccessMatrix) -> list[CellChange]:
    """The cells that differ between two configurations over the same rows, those with most rows first."""
    old = {(cell.agent, cell.scope): cell for cell in before.cells}
    out = []
    for cell in after.cells:
        was = old.get((cell.agent, cell.scope))
        if was is None:
            was = Cell(cell.agent, cell.scope, False, False, "not-granted", cell.rows, 0)
        if (was.read, was.write) != (cell.read, cell.write):
            out.append(CellChange(was, cell, after.counts[cell.scope].secrets))
    return sorted(out, key=lambda each: -each.after.rows)


def difference_in_words(
    agent: str, scope: str | None, gains: bool, rows: int | None, secrets: int = 0
) -> str:
    """What a change of rights brings: support gains 312 memories of finance; 2 hold secrets."""
    verb = "gains" if gains else "loses"
    if not rows:
        return f"{agent} {verb} {_named(scope)}" + ("" if rows is None else ", which holds no memory yet")
    held = f"; {counted(secrets, 'holds', 'hold')} secrets" if secrets and gains else ""
    return f"{agent} {verb} {_memories(rows)} of {_named(scope)}{held}"


def read_rules(text: str) -> list[DenyRule]:
    """The rules of a policy file: `deny: AGENT SCOPE` a line, `*` for any text, `#` comments.

    Raises UsageError that names the line.
    """
    rules = []
    for number, raw in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        line = re.sub(r"(?:^|\s)#.*", "", raw).strip()
        if not line:
            continue
        word, colon, rest = line.partition(":")
        parts = [*([NO_ID] if rest.strip().startswith(f"{NO_ID} ") else [])]
        parts += rest.strip().removeprefix(NO_ID if parts else "").split()
        if word.strip().lower() != "deny" or not colon or len(parts) != 2:
            raise UsageError(
                f"Line {number} of the policy is no rule: {line}.", fix="Write it as: deny: support finance*"
            )
        rules.append(DenyRule(parts[0], parts[1], number))
    return rules


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


_LISTED_OTHERWISE: tuple[Reason, ...] = ("acl-replaces-default", "case", "padded")
"""Why a list keeps an agent from its own scope: it lacks it, or writes it in a way that never matches."""


def _findings(matrix: AccessMatrix, access: Access) -> Iterable[AccessFinding]:
    real = [agent for agent in matrix.agents if not agent.pseudo]
    there = [agent for agent in real if agent.exists]
    readers: dict[str | None, set[str]] = {scope: set() for scope in matrix.counts}
    names = {agent.id for agent in real}
    for cell in matrix.cells:
        if cell.read and cell.agent in names:
            readers[cell.scope].add(cell.agent)
    for scope, count in matrix.counts.items():
        if count.rows and not readers[scope]:
            yield AccessFinding(
                "unreadable-rows",
                scope,
                f"no agent reads {_memories(count.rows)} of {_named(scope)}",
                count.rows,
            )
    listed = access.named_agents()
    for agent in real:
        own = access.reads(agent.id, scope_of("agent", agent.id))
        if not agent.exists and scope_of("agent", agent.id) not in matrix.counts:
            continue  # granted to nobody, which is a finding of its own
        if not own.allowed and own.reason in _LISTED_OTHERWISE:
            rows = matrix.counts.get(scope_of("agent", agent.id), ScopeCount()).rows
            yield AccessFinding(
                "own-scope-unreadable",
                agent.id,
                f"{agent.id} cannot read its own scope: its list lacks agent:{agent.id}",
                rows,
            )
    for name in listed:
        if not any(agent.id == name for agent in there):
            yield AccessFinding("unknown-agent", name, f"{name} is granted scopes, but no such agent exists")
    if listed:
        for agent in there:
            if agent.id not in listed:
                yield AccessFinding(
                    "no-list-where-others-have",
                    agent.id,
                    f"{agent.id} has no access list, others have: it reads all of {GLOBAL}",
                    matrix.counts.get(GLOBAL, ScopeCount()).rows,
                )
    everybody = {agent.id for agent in there} or names
    for scope, count in matrix.counts.items():
        if not everybody or not everybody <= readers[scope]:
            continue
        if count.secrets:
            yield AccessFinding(
                "secret-readable-by-all",
                scope,
                f"{_memories(count.secrets)} of {_named(scope)} {'holds' if count.secrets == 1 else 'hold'} secrets, "
                "which every agent reads",
                count.secrets,
            )
        if count.rows and (scope or "").startswith("user:"):
            yield AccessFinding(
                "person-readable-by-all",
                scope,
                f"{_named(scope)} is about a person, and every agent reads it",
                count.rows,
            )
    for agent in there:
        if access.writes_to(agent.id) == GLOBAL:
            yield AccessFinding(
                "writes-to-global",
                agent.id,
                f"what {agent.id} stores without a scope lands in {GLOBAL}",
            )


def _named(scope: str | None) -> str:
    return (
        "no scope (NULL)"
        if scope is None
        else f"the scope {scope!r}"
        if scope != scope.strip() or not scope
        else scope
    )


def _memories(count: int) -> str:
    return counted(count, "memory", "memories")
