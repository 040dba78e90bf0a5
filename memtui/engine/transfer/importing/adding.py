"""Memories given one by one: the same plan, rules and journal as an import of a file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import RefusedError
from memtui.engine.core.secrets import mask
from memtui.engine.core.text import one_line
from memtui.engine.providers.held_embedder import HeldEmbedder
from memtui.engine.transfer.importing.import_plan import TYPED
from memtui.engine.transfer.importing.planner import ImportPlanner, make_plan
from memtui.engine.transfer.importing.request import ImportRequest
from memtui.engine.transfer.importing.run import made_change_set

if TYPE_CHECKING:
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.engine import Engine
    from memtui.engine.transfer.importing.import_plan import ImportPlan

Fields = dict[str, Any]
"""text, and what is known of it: category, scope, importance, timestamp (milliseconds)."""


ACTION = "add"
"""What the journal calls it."""

_REASONS = {
    "exact": "the same text is in this scope already",
    "near": "a near duplicate exists",
    "conflict": "another memory states something else about the same subject",
    "short": "the text is too short to be a memory",
    "noise": "the text is a greeting, or talk about memory",
    "secret": "the text holds a password or a key",
}

_FIXES = {
    "exact": "Edit that memory, or choose another scope.",
    "near": "Edit that memory, or preview again to add this one, too.",
    "conflict": "Edit that memory.",
    "short": "Write more, or preview again to add it.",
    "noise": "Change the text, or preview again to add it.",
    "secret": "Remove the secret.",
}

NAMED_CHARS = 80
"""Characters by which the memory that is there already is named."""

DISPUTABLE = ("near", "short", "noise")
"""Rules that a person may ignore for one memory, once its reason was shown."""


class KeptOutError(RefusedError):
    """A memory that a rule of the import keeps out; `rule` is its name."""

    def __init__(self, message: str, *, rule: str, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.rule = rule


@contextmanager
def as_source(memories: Sequence[Fields]) -> Iterator[Path]:
    """A source for `ImportRequest` with `memories` in it, until the block ends."""
    with tempfile.TemporaryDirectory(prefix=TYPED) as folder:
        source = Path(folder) / "added.jsonl"
        source.write_text("".join(json.dumps(memory) + "\n" for memory in memories), encoding="utf-8")
        yield source


def plan_memory(
    engine: Engine,
    planner: ImportPlanner,
    fields: Fields,
    rules_off: frozenset[str] = frozenset(),
    cancel: CancelToken | None = None,
) -> ChangeSet:
    """What adding one memory writes, with its vector: the change set of an import of this one record.

    `fields` are those of `as_source`, `rules_off` names rules to ignore (`SWITCHABLE`). Raises `KeptOutError` where a
    rule keeps the memory out (a secret, a copy of one that is there), EmbeddingError where its vector cannot be made.
    """
    held = planner.embedder if isinstance(planner.embedder, HeldEmbedder) else None
    with as_source([fields]) as source:
        request = ImportRequest(
            (source,),
            rules_off=rules_off,
            find_near=held
            is None,  # its vector is made in any case: a look for near copies sends nothing more
            without_embedding=held is not None,
        )
        plan = make_plan(request, planner, None, cancel)
        try:
            if not len(plan.taken()):
                raise _kept_out(engine, plan)
            made = made_change_set(engine, plan, planner, cancel)
        finally:
            plan.close()
    warnings = made.warnings
    if held is not None:  # a preview: what the vector will be is not known
        held.withhold([str(fields["text"])])
        warnings = (*warnings, f"The new vector is not known: {held.sentence}")
    # each plan makes another id; by its group it is known as the one that was agreed to
    changes = tuple(replace(change, group=ACTION) for change in made.changes)
    return replace(made, action=ACTION, changes=changes, warnings=warnings)


def _kept_out(engine: Engine, plan: ImportPlan) -> KeptOutError:
    """Why the one record of a plan is not added, with the memory that it resembles."""
    found = plan.as_json()["rejected"][0]
    rule = str(found.get("group", ""))
    other = engine.memories([found["match"]]).get(found["match"]) if "match" in found else None
    like = f": {one_line(mask(other.title)[0])[:NAMED_CHARS]} ({other.id[:8]})" if other is not None else ""
    return KeptOutError(
        f"Not added: {_REASONS.get(rule, found['why'])}{like}.", rule=rule, fix=_FIXES.get(rule, "")
    )
