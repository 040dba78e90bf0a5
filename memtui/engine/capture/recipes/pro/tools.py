"""The plugin's tools that write: what each is given, what it changes, and what it answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtui.engine.access import is_bypass
from memtui.engine.capture.draft import StoredRow
from memtui.engine.capture.recipes.pro.recall import recall_rows
from memtui.engine.capture.recipes.pro.world import World, relation
from memtui.engine.capture.stages.boundary import user_md_exclusive
from memtui.engine.capture.stages.cleaning import strip_envelope
from memtui.engine.core.content_rules import noise_rule
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.javascript import utf16_len, utf16_slice
from memtui.engine.decay.validity import infer_expiry, temporal_type
from memtui.engine.metadata.categories import TEMPORAL_VERSIONED, resolve_input
from memtui.engine.metadata.read import fact_key

NEIGHBOURS, NEIGHBOUR_SCORE = 3, 0.1

DUPLICATE_ABOVE, BAND_ABOVE = 0.98, 0.95

FORGET_ABOVE = 0.9

CANDIDATES = 5

IMPORTANCE = 0.7

MOST_SCANNED = 20_000

_DURABLE = ("profile", "preferences", "events")

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)

_PREFIX = re.compile(r"[0-9a-f]{8}[0-9a-f-]*", re.IGNORECASE)

_MARKDOWN = re.compile(r"mem-md-[0-9]+")

_DOTS = re.compile(r"(?:…|\.\.\.)$")


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool says to the agent: a text, and the same as data."""

    text: str
    details: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Text and details."""
        return {"text": self.text, "details": self.details}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool."""

    agent: str
    workspace: str


def cut(text: str, length: int) -> str:
    """The text, or its beginning and three dots."""
    return text if utf16_len(text) <= length else f"{utf16_slice(text, length)}..."


def denied(scope: str) -> ToolAnswer:
    """The answer to a scope that the agent may not use."""
    return ToolAnswer(
        f"Access denied to scope: {scope}", {"error": "scope_access_denied", "requestedScope": scope}
    )


def scopes_asked(world: World, caller: Caller, params: Mapping[str, Any]) -> list[str] | ToolAnswer | None:
    """The scopes that a call is about: the one it names, or all that its agent may read (None for every one).

    A ToolAnswer where the agent may not use the named one.
    """
    scope = params.get("scope")
    if not (isinstance(scope, str) and scope):
        return world.policy.store_filter(caller.agent)
    return [scope] if world.policy.is_accessible(scope, caller.agent) else denied(scope)


def readable_scopes(
    world: World, caller: Caller, params: Mapping[str, Any]
) -> tuple[list[str] | None, str, dict[str, Any]]:
    """The scopes that a question reads, a line for the answer, and data: one out of reach is passed over and told."""
    scope = params.get("scope")
    if not (isinstance(scope, str) and scope):
        return world.policy.store_filter(caller.agent), "", {}
    if world.policy.is_accessible(scope, caller.agent):
        return [scope], "", {}
    accessible = world.policy.accessible(caller.agent)
    notice = (
        f'Ignored inaccessible scope "{scope}" and searched accessible scopes instead: '
        f"{', '.join(accessible) or '(none)'}.\n"
    )
    return (
        world.policy.store_filter(caller.agent),
        notice,
        {"ignoredScope": scope, "accessibleScopes": accessible},
    )


def memory_store(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Store a text: text, importance, category, scope, force."""
    text = str(params.get("text") or "")
    stripped = strip_envelope(text)
    if not stripped:
        return ToolAnswer(
            "Skipped: text is purely envelope metadata with no extractable memory content.",
            {"action": "envelope_metadata_rejected", "text": utf16_slice(text, 60)},
        )
    scope = params.get("scope")
    if not scope and is_bypass(caller.agent):
        return ToolAnswer(
            "Reserved bypass agent IDs must provide an explicit scope for memory_store writes.",
            {"error": "explicit_scope_required", "agentId": caller.agent},
        )
    target = str(scope) if scope else world.write_scope(caller.agent)
    if not world.policy.is_accessible(target, caller.agent):
        return denied(target)
    if noise_rule(text) is not None:
        return ToolAnswer(
            "Skipped: text detected as noise (greeting, boilerplate, or meta-question)",
            {"action": "noise_filtered", "text": utf16_slice(text, 60)},
        )
    if user_md_exclusive(world.settings.exclusive, text=text):
        return ToolAnswer(
            "Skipped: this fact belongs in USER.md, not plugin memory.",
            {"action": "skipped_by_workspace_boundary", "boundary": "user_md_exclusive"},
        )
    category = params.get("category")
    smart, column = resolve_input(category if isinstance(category, str) else "other")
    given = params.get("importance", IMPORTANCE)
    numeric = isinstance(given, int | float) and not isinstance(given, bool)
    importance = min(1, max(0, given)) if numeric else IMPORTANCE
    vector = world.embed(stripped)
    row = _Store(world, caller, text, vector, smart, column, target, importance)
    return row.run(force=params.get("force") is True)


@dataclass(slots=True)
class _Store:
    world: World
    caller: Caller
    text: str
    vector: Any
    smart: str
    column: str
    scope: str
    importance: float

    def run(self, *, force: bool) -> ToolAnswer:
        try:
            hits = self.world.search(self.vector, NEIGHBOURS, NEIGHBOUR_SCORE, [self.scope], active=True)
        except EmbeddingError:
            hits = []
        top = hits[0] if hits else None
        duplicate = top if top is not None and top.score > DUPLICATE_ABOVE else None
        band = self._band(hits)
        manual = self.world.settings.manual_supersede and not force
        if duplicate is not None and not force and not manual:
            return ToolAnswer(
                f'Similar memory already exists: "{duplicate.row.text}"',
                {
                    "action": "duplicate",
                    "existingId": duplicate.row.id,
                    "existingText": duplicate.row.text,
                    "existingScope": duplicate.row.scope,
                    "similarity": duplicate.score,
                },
            )
        targets: list[StoredRow] = []
        similarity = None
        if manual:
            if duplicate is not None:
                targets.append(duplicate.row)
                similarity = duplicate.score
            keyed = self._same_key()
            if keyed is None:
                return ToolAnswer(
                    "Rejected: too many memories to look for the same fact.",
                    {"action": "rejected", "reason": "fact-key-scan-over-bound"},
                )
            targets += [row for row in keyed if all(row.id != target.id for target in targets)]
        if band is not None and all(band.row.id != target.id for target in targets):
            targets.append(band.row)
            similarity = band.score
        if targets:
            return self._superseded(targets, similarity, band is not None)
        return self._created(duplicate if force else None)

    def _band(self, hits: Sequence[Any]) -> Any:
        if self.smart not in TEMPORAL_VERSIONED:
            return None
        return next(
            (
                hit
                for hit in hits
                if BAND_ABOVE < hit.score <= DUPLICATE_ABOVE
                and hit.row.meta(self.world.now_ms).memory_category == self.smart
            ),
            None,
        )

    def _same_key(self) -> list[StoredRow] | None:
        key = fact_key(self.smart, self.text)
        if key is None:
            return []
        rows = self.world.draft.rows([self.scope], vectors=True)
        if len(rows) > MOST_SCANNED:
            return None
        now = self.world.now_ms
        found = []
        for row in rows:
            meta = row.meta(now)
            if meta.fact_key == key and meta.active(now) and not meta.expired(now):
                found.append(row)
        return found

    def _metadata(self, more: Mapping[str, Any]) -> dict[str, Any]:
        world = self.world
        row = StoredRow("", self.text, self.column, self.scope, self.importance, world.now_ms, "{}")
        patch: dict[str, Any] = {
            "l0_abstract": self.text,
            "l1_overview": f"- {self.text}",
            "l2_content": self.text,
            "memory_category": self.smart,
            "memory_temporal_type": temporal_type(self.text),
            "source": "manual",
            "state": "confirmed",
            "memory_layer": "durable" if self.smart in _DURABLE else "working",
            "last_confirmed_use_at": world.now_ms,
            "bad_recall_count": 0,
            "suppressed_until_turn": 0,
        }
        until = infer_expiry(self.text, world.now_ms)
        if until is not None:
            patch["valid_until"] = until
        return world.built_values(row, {**patch, **more})

    def _created(self, forced: Any) -> ToolAnswer:
        row = self._add({})
        details: dict[str, Any] = {"action": "created", **self._details(row)}
        if forced is not None:
            details["duplicateOverride"] = {
                "existingId": forced.row.id,
                "existingText": forced.row.text,
                "existingScope": forced.row.scope,
                "similarity": forced.score,
            }
        return ToolAnswer(f"Stored: \"{cut(self.text, 100)}\" in scope '{self.scope}'", details)

    def _add(self, more: Mapping[str, Any]) -> StoredRow:
        row = self.world.add(
            text=self.text,
            vector=self.vector,
            category=self.column,
            scope=self.scope,
            importance=self.importance,
            metadata=self._metadata(more),
        )
        self.world.mirror(self.text, self.column, self.scope, agent=self.caller.agent, source="memory_store")
        return row

    def _details(self, row: StoredRow) -> dict[str, Any]:
        return {
            "id": row.id,
            "scope": self.scope,
            "category": self.smart,
            "rawCategory": self.column,
            "importance": self.importance,
        }

    def _superseded(self, targets: list[StoredRow], similarity: float | None, banded: bool) -> ToolAnswer:
        world, now = self.world, self.world.now_ms
        first = next((row for row in targets if row.meta(now).memory_category == self.smart), None)
        key = fact_key(self.smart, self.text)
        more: dict[str, Any] = {
            "valid_from": now,
            "supersedes": targets[0].id,
            "relations": [{"type": "supersedes", "targetId": row.id} for row in targets],
        }
        if first is not None:
            old = first.meta(now)
            more["tier"] = old.tier
            key = old.fact_key or key
            if banded:
                more["l1_overview"] = old.l1_overview
        if key:
            more["fact_key"] = key
        row = self._add(more)
        for target in targets:
            end_version(world, target, row.id, target.meta(now).fact_key or key)
        details: dict[str, Any] = {
            "action": "superseded",
            "id": row.id,
            "supersededId": targets[0].id,
            "supersededIds": [target.id for target in targets],
            "scope": self.scope,
            "category": self.smart,
            "rawCategory": self.column,
            "importance": self.importance,
        }
        if similarity is not None:
            details["similarity"] = similarity
        if len(targets) == 1:
            what = f"memory {targets[0].id[:8]}..."
        else:
            what = f"{len(targets)} memories ({', '.join(target.id[:8] for target in targets)})"
        return ToolAnswer(f'Superseded {what} → new version {row.id[:8]}...: "{cut(self.text, 80)}"', details)


def end_version(world: World, old: StoredRow, new_id: str, key: str | None) -> None:
    """A row stops being valid because another takes its place."""
    patch: dict[str, Any] = {
        "invalidated_at": world.now_ms,
        "superseded_by": new_id,
        "relations": relation(old.meta(world.now_ms).values.get("relations"), "superseded_by", new_id),
    }
    if key:
        patch["fact_key"] = key
    world.patch(old.id, patch, why="superseded")


# ---------------------------------------------------------------- references


def find_row(world: World, reference: str, scopes: Sequence[str] | None) -> StoredRow | ToolAnswer:
    """The row that a reference names: an id, or 8 or more of its first characters; else the answer why not."""
    ref = _DOTS.sub("", reference.strip())
    exact = world.get(ref, scopes)
    if exact is not None:
        return exact
    if _UUID.fullmatch(ref) or _MARKDOWN.fullmatch(ref):
        return not_found(ref)
    if not _PREFIX.fullmatch(ref):
        return ToolAnswer(
            f'"{reference}" is not a memory id. Pass a full UUID, an 8+ character id prefix, or search by content'
            " via the query flow.",
            {"error": "invalid_memory_ref", "ref": reference},
        )
    found = [row for row in world.draft.rows(scopes) if row.id.startswith(ref.lower())]
    if not found:
        return not_found(ref)
    if len(found) > 1:
        lines = "\n".join(f"- [{row.id[:8]}] {cut(row.text, 60)}" for row in found)
        return ToolAnswer(
            f'Id prefix "{ref}" matches multiple memories. Use a longer prefix or the full id:\n{lines}',
            {"error": "ambiguous_id_prefix", "prefix": ref},
        )
    return world.draft.get(found[0].id) or not_found(ref)


def not_found(reference: str) -> ToolAnswer:
    """The answer to an id that is not there, or not in reach."""
    return ToolAnswer(
        f"Memory {reference} not found or access denied.", {"error": "not_found", "id": reference}
    )


def memory_update(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Change a memory: memoryId, and at least one of text, importance, category."""
    text, importance, category = params.get("text"), params.get("importance"), params.get("category")
    if not text and importance is None and not category:
        return ToolAnswer(
            "Nothing to update. Provide at least one of: text, importance, category.",
            {"error": "no_updates"},
        )
    row = find_row(world, str(params.get("memoryId") or ""), world.policy.store_filter(caller.agent))
    if isinstance(row, ToolAnswer):
        return row
    if text and noise_rule(str(text)) is not None:
        return ToolAnswer("Skipped: updated text detected as noise", {"action": "noise_filtered"})
    share = None if importance is None else min(1, max(0, importance))
    vector = world.embed(str(text)) if text else None
    meta = row.meta(world.now_ms)
    if text and meta.memory_category in TEMPORAL_VERSIONED:
        return _new_version(world, row, str(text), vector, share)
    return _in_place(world, row, None if not text else str(text), vector, share, category)


def _new_version(
    world: World, row: StoredRow, text: str, vector: Any, importance: float | None
) -> ToolAnswer:
    now, meta = world.now_ms, row.meta(world.now_ms)
    key = meta.fact_key or fact_key(meta.memory_category, text)
    given = row.importance if importance is None else importance
    blank = StoredRow("", text, row.category, row.scope, given, now, "{}")
    patch: dict[str, Any] = {
        "l0_abstract": text,
        "l1_overview": meta.l1_overview,
        "l2_content": text,
        "memory_category": meta.memory_category,
        "tier": meta.tier,
        "access_count": 0,
        "confidence": importance if importance is not None else meta.confidence,
        "valid_from": now,
        "fact_key": key,
        "supersedes": row.id,
        "relations": [{"type": "supersedes", "targetId": row.id}],
    }
    new = world.add(
        text=text,
        vector=vector,
        category=row.category,
        scope=str(row.scope),
        importance=given,
        metadata=world.built_values(blank, patch),
    )
    end_version(world, row, new.id, key)
    return ToolAnswer(
        f'Superseded memory {row.id[:8]}... → new version {new.id[:8]}...: "{cut(text, 80)}"',
        {
            "action": "superseded",
            "oldId": row.id,
            "newId": new.id,
            "category": meta.memory_category,
        },
    )


def _in_place(
    world: World,
    row: StoredRow,
    text: str | None,
    vector: Any,
    importance: float | None,
    category: Any,
) -> ToolAnswer:
    patch: dict[str, Any] = {}
    values: dict[str, Any] = {}
    fields: list[str] = []
    if text is not None:
        fields += ["text", "vector"]
        values |= {"text": text, "vector": vector}
        patch |= {
            "l0_abstract": text,
            "l1_overview": f"- {text}",
            "l2_content": text,
            "memory_temporal_type": temporal_type(text),
            "valid_until": infer_expiry(text, world.now_ms),
        }
    if importance is not None:
        fields.append("importance")
        values["importance"] = importance
        patch["confidence"] = importance
    smart = row.meta(world.now_ms).memory_category
    if isinstance(category, str) and category:
        fields.append("category")
        smart, column = resolve_input(category)
        values["category"] = column
        patch["memory_category"] = smart
    said = text if text is not None else row.meta(world.now_ms).l0_abstract
    if text is not None or category:
        patch["fact_key"] = fact_key(smart, said)
    write = world.draft.change(row.id, "update", **values, metadata=world.built(row, patch))
    after = write.row if write is not None else row
    return ToolAnswer(
        f'Updated memory {row.id[:8]}...: "{cut(after.text, 80)}"',
        {
            "action": "updated",
            "id": row.id,
            "scope": after.scope,
            "category": after.category,
            "importance": after.importance,
            "fieldsUpdated": [*fields, "metadata"],
        },
    )


def memory_forget(world: World, caller: Caller, params: Mapping[str, Any]) -> ToolAnswer:
    """Delete a memory: memoryId, or query where exactly one row answers it well; scope."""
    scopes = scopes_asked(world, caller, params)
    if isinstance(scopes, ToolAnswer):
        return scopes
    reference, query = params.get("memoryId"), params.get("query")
    if reference:
        row = find_row(world, str(reference), scopes)
        if isinstance(row, ToolAnswer):
            return row
        world.draft.delete(row.id, "forgotten")
        return ToolAnswer(f"Memory {row.id} forgotten.", {"action": "deleted", "id": row.id})
    if not query:
        return ToolAnswer(
            "Provide either 'query' to search for memories or 'memoryId' to delete specific memory.",
            {"error": "missing_param"},
        )
    found = recall_rows(world, str(query), limit=CANDIDATES, scopes=scopes, source="manual")
    if not found:
        return ToolAnswer("No matching memories found.", {"found": 0, "query": query})
    if len(found) == 1 and found[0].score > FORGET_ABOVE:
        world.draft.delete(found[0].row.id, "forgotten")
        return ToolAnswer(f'Forgotten: "{found[0].row.text}"', {"action": "deleted", "id": found[0].row.id})
    lines = "\n".join(f"- [{each.row.id[:8]}] {cut(each.row.text, 60)}" for each in found)
    return ToolAnswer(
        f"Found {len(found)} candidates. Specify memoryId to delete:\n{lines}",
        {"action": "candidates", "candidates": [each.as_json(world.now_ms) for each in found]},
    )
