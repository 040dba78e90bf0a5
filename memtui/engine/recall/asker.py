"""Whose recall it is: an agent's, with the scopes that it may read, or a person's, who sees everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.access import DEFAULT_AGENT, Grant, is_bypass
from memtui.engine.recall.recipes.registry import recipe_named
from memtui.engine.recall.request import UNSET, RecallRequest

if TYPE_CHECKING:
    from memtui.engine.recall.recipes.pro.run import RecallContext


How = Literal["agent", "given", "everything", "own-rules"]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asked, and what was searched for them."""

    agent: str
    """The agent that the recall stands for; empty where it stands for nobody."""
    how: How
    """agent: the scopes that it may read. given: scopes that somebody named. everything: no filter by scope.
    own-rules: the recipe's program decides by rules of its own."""
    scopes: tuple[str, ...] | None
    """The scopes searched; None without a filter."""
    words: str
    """The same for people: "asked by main: global, agent:main"."""
    grants: tuple[Grant, ...] = ()
    """Each scope searched, whether the agent may read it, and why."""

    @property
    def refused(self) -> tuple[Grant, ...]:
        """Scopes that were searched although the agent may not read them."""
        return tuple(grant for grant in self.grants if not grant.allowed)

    @property
    def named(self) -> tuple[str, ...] | None:
        """The scopes that somebody named; None where the asker's own were searched, or all."""
        return None if self.how in ("agent", "everything") else self.scopes

    @property
    def sees_all(self) -> bool:
        """Whether a person chose to look in all scopes where an agent would not."""
        return self.how == "everything" and bool(self.agent)

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        return {
            "agent": self.agent or None,
            "how": self.how,
            "scopes": None if self.scopes is None else list(self.scopes),
            "reasons": {
                str(grant.scope): {"allowed": grant.allowed, "reason": grant.reason} for grant in self.grants
            },
            "words": self.words,
        }


def asked_by(request: RecallRequest, bench: RecallContext) -> tuple[RecallRequest, Asker]:
    """The request with its scopes decided, and who asks.

    A recipe of the plugin's agent that names no scopes asks as the agent `request.agent`, else as the configured
    one. A caller that gives `source` or recorded hits replays the retriever, which filters nothing by itself.
    Deciding twice changes nothing. Raises ConfigError where the access lists cannot be read.
    """
    recipe = recipe_named(request.recipe)
    if recipe.of_agent and not bench.store.dialect.name.startswith("builtin"):
        return _by_agent(request, bench)
    scopes = None if request.scopes is UNSET else request.scopes
    request = replace(request, scopes=scopes)
    if recipe.name == "memory-lancedb":
        agent = request.agent or DEFAULT_AGENT
        labels = bench.store.dialect.labels
        rule = "its own memories" if "agentId" in labels else "one pool for all agents"
        words = f"asked by {agent}: {rule}"
        return request, Asker(agent, "own-rules", _tuple(scopes), words)
    if recipe.name == "mem-engine":
        return request, Asker("", "own-rules", _tuple(scopes), "asked by the tool: the scope of its policy")
    who = "the command line, for its owner" if recipe.name == "pro/cli" else "you, not an agent"
    if scopes is None:
        return request, Asker("", "everything", None, f"asked by {who}: all scopes")
    return request, Asker("", "given", tuple(scopes), f"asked by {who}: {_listed(scopes)}")


def _by_agent(request: RecallRequest, bench: RecallContext) -> tuple[RecallRequest, Asker]:
    agent = request.agent.strip() or bench.agent
    replays = request.source is not UNSET or request.lanes is not None
    if request.scopes is UNSET and replays:
        request = replace(request, scopes=None)
        return request, Asker("", "everything", None, "the retriever by itself: all scopes")
    if request.scopes is None and not is_bypass(agent):
        words = f"all scopes, which is what no agent sees; {agent} reads fewer"
        return request, Asker(agent, "everything", None, words)
    own = bench.access().searched(agent)
    if request.scopes is UNSET:
        request = replace(request, scopes=own)
    if request.scopes is None:
        words = f"asked by {agent}: everything, a reserved name that nothing is filtered for"
        return request, Asker(agent, "agent", None, words)
    scopes = tuple(request.scopes)
    grants = tuple(bench.access().reads(agent, scope) for scope in scopes)
    if own is not None and set(scopes) == set(own):
        return request, Asker(agent, "agent", scopes, f"asked by {agent}: {_listed(scopes)}", grants)
    refused = [str(grant.scope) for grant in grants if not grant.allowed]
    tail = f"; {agent} may not read {_listed(refused)}" if refused else ""
    return request, Asker(agent, "given", scopes, f"scopes named: {_listed(scopes)}{tail}", grants)


def _tuple(scopes: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if scopes is None else tuple(scopes)


def _listed(scopes: Sequence[str]) -> str:
    return ", ".join(scope or "(none)" for scope in scopes) or "no scope at all"
