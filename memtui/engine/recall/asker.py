"""Who asks by a recipe: an agent, with the scopes that it may read, or a person, who sees everything.

An agent that is named either decides what is searched, or the words say why it does not: it is never passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.engine.access import is_bypass
from memtui.engine.recall.request import UNSET, RecallRequest
from memtui.engine.recall.trace import Asker

if TYPE_CHECKING:
    from memtui.engine.recall.context import RecallContext


def by_person(
    request: RecallRequest, context: RecallContext, who: str = "you"
) -> tuple[RecallRequest, Asker]:
    """All scopes, or those that were named."""
    scopes = None if request.scopes is UNSET else request.scopes
    request = replace(request, scopes=scopes)
    if scopes is None:
        return request, Asker("", "everything", None, f"asked by {who} (all scopes)")
    return request, Asker("", "given", tuple(scopes), f"asked by {who}: {_listed(scopes)}")


def by_whoever(
    request: RecallRequest, context: RecallContext, who: str = "you"
) -> tuple[RecallRequest, Asker]:
    """The agent that is named, within the scopes that it may read; a person where none is named.

    Raises ConfigError where the access lists cannot be read.
    """
    agent = request.agent.strip()
    if not agent:
        return by_person(request, context, who)
    visibility = context.store.dialect.can.visibility
    if visibility in ("scopes", "policy"):
        return by_agent(request, context)
    request, asker = by_person(request, context, who)
    return request, uncounted(asker, agent, OF_ALL_AGENTS if visibility else NO_RULES)


OF_ALL_AGENTS = "this recipe searches the memories of all agents"

NO_RULES = "nothing here says which agent reads what"


def uncounted(asker: Asker, agent: str, why: str) -> Asker:
    """The same asker, whose words say that the agent that was named changes nothing."""
    return replace(asker, words=f"{asker.words}; {agent} is named and changes nothing: {why}")


def by_own_rules(request: RecallRequest, words: str, agent: str = "") -> tuple[RecallRequest, Asker]:
    """The recipe's program decides by rules of its own, which `words` tell."""
    scopes = None if request.scopes is UNSET else request.scopes
    return replace(request, scopes=scopes), Asker(
        agent, "own-rules", None if scopes is None else tuple(scopes), words
    )


def by_agent(request: RecallRequest, context: RecallContext) -> tuple[RecallRequest, Asker]:
    """The scopes that the agent `request.agent` may read, else the configured one, where none are named.

    A caller that gives `source` or recorded hits replays the retriever, which filters nothing by itself. A store
    of the built-in program has no scopes to read by. Raises ConfigError where the access lists cannot be read.
    """
    if context.store.dialect.can.visibility == "agents":
        request, asker = by_person(request, context)
        named = request.agent.strip()
        return request, uncounted(asker, named, OF_ALL_AGENTS) if named else asker
    agent = request.agent.strip() or context.agent
    replays = request.source is not UNSET or request.lanes is not None
    if request.scopes is UNSET and replays:
        request = replace(request, scopes=None)
        return request, Asker("", "everything", None, "the retriever without an agent (all scopes)")
    if request.scopes is None and not is_bypass(agent):
        words = f"all scopes, which is what no agent sees; {agent} reads fewer"
        return request, Asker(agent, "everything", None, words)
    own = context.access().searched(agent)
    if request.scopes is UNSET:
        request = replace(request, scopes=own)
    if request.scopes is None:
        words = f"asked by {agent}: everything, a reserved name that nothing is filtered for"
        return request, Asker(agent, "agent", None, words)
    scopes = tuple(request.scopes)
    grants = tuple(context.access().reads(agent, scope) for scope in scopes)
    if own is not None and set(scopes) == set(own):
        return request, Asker(agent, "agent", scopes, f"asked by {agent}: {_listed(scopes)}", grants)
    refused = [str(grant.scope) for grant in grants if not grant.allowed]
    tail = f"; {agent} may not read {_listed(refused)}" if refused else ""
    return request, Asker(agent, "given", scopes, f"scopes named: {_listed(scopes)}{tail}", grants)


def _listed(scopes: Sequence[str]) -> str:
    return ", ".join(scope or "(none)" for scope in scopes) or "no scope at all"
