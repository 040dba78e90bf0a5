"""The settings that a question would be asked with, before it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memtui.engine.recall.request import RecallRequest
    from memtui.engine.recall.run import Bench

Resolved = tuple[Mapping[str, Any], tuple[str, ...]]
"""The configuration as resolved, secrets masked; and what a person should know of it."""
ANY_QUESTION = "?"


def settings(request: RecallRequest, bench: Bench) -> Resolved:
    """What `request` resolves to over the store's own settings; the question may still be empty.

    Raises UsageError or ConfigError for a recipe, source or setting that does not exist.
    """
    if request.recipe == "memtui":
        from memtui.engine.recall.own.settings import BLOCK, resolve_own

        own, findings = resolve_own(request.config, bundled=bench.bundled, question=request.query)
        return {BLOCK: own.as_block()}, findings
    if request.recipe == "mem-engine":
        from memtui.engine.recall.mem_engine.settings import BLOCK as ENGINE
        from memtui.engine.recall.mem_engine.settings import resolve_engine

        rules, findings = resolve_engine(request.config)
        return {ENGINE: rules.as_block()}, findings
    plan = bench.plan(request if request.query.strip() else replace(request, query=ANY_QUESTION))
    return plan.config_block(), plan.findings()
