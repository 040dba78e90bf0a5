"""What waits for a person: unsure statements, pending memories, and what the plugin's admission rejected."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtui.engine.capture.recipes.memtui.likeness import key_of
from memtui.engine.capture.recipes.memtui.rows import new_row
from memtui.engine.capture.recipes.memtui.texts import without_secrets
from memtui.engine.capture.trace import NEEDS_REVIEW, REJECTED, CaptureCandidate, CaptureTrace
from memtui.engine.catalog.types import ListQuery
from memtui.engine.changes.forgetting import plan_forget
from memtui.engine.changes.plan import plan_edit
from memtui.engine.core.errors import MemtuiError, RefusedError, UsageError
from memtui.engine.core.private_file import write_private
from memtui.engine.core.text import counted, one_line

if TYPE_CHECKING:
    from memtui.engine.changes.change_set import ChangeSet
    from memtui.engine.engine import Engine


Kind = Literal["unsure", "pending", "rejected"]

MOST_PENDING, MOST_REJECTED = 500, 500

REJECTED_DAYS = 30

DAY_MS = 86_400_000

_LONGEST_LINE = 1 << 20


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that waits. `why` says what stopped it, with its number; `if_accepted` what `a` would do."""

    id: str
    kind: Kind
    text: str
    why: str
    at_ms: int = 0
    scope: str = ""
    category: str = ""
    said: str = ""
    """The text of the conversation that it was made of."""
    near: str = ""
    near_score: float | None = None

    @property
    def verdict(self) -> str:
        """The verdict that a person sees: rejected or needs review."""
        return REJECTED if self.kind == "rejected" else NEEDS_REVIEW

    @property
    def if_accepted(self) -> str:
        """What accepting does."""
        return "it is confirmed, and recall may use it" if self.kind == "pending" else "a new row"

    @property
    def if_refused(self) -> str:
        """What refusing does."""
        if self.kind == "pending":
            return "it is archived; its undo is in the journal"
        return "nothing is stored; the same sentence is not proposed again"

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {**asdict(self), "verdict": self.verdict}


@dataclass(slots=True)
class Inbox:
    """The inbox of one store. Suggestions and refusals are kept in memtui's own folder, never in the store."""

    engine: Engine
    _memory: dict[str, Any] = field(default_factory=lambda: {"items": [], "done": []})

    # ------------------------------------------------------------------ reading

    def items(self) -> tuple[Item, ...]:
        """All that waits: unsure statements first, then rejected ones, then pending memories; newest first."""
        kept = self._kept()
        done, back = self._worked_off(kept["done"])
        settled = {each["key"] for each in done}
        own = [Item(**each) for each in (*kept["items"], *(each["item"] for each in back))]
        rejected = [item for item in self._rejected() if key_of(item.text) not in settled]
        found = [*own, *rejected, *self._pending()]
        return tuple(sorted(found, key=lambda item: (_ORDER[item.kind], -item.at_ms)))

    def done(self, since_ms: int = 0) -> list[Mapping[str, Any]]:
        """What was worked off, the last first; what was taken back since waits again and is not among it."""
        done, _ = self._worked_off(self._kept()["done"])
        told = [{name: value for name, value in each.items() if name != "item"} for each in reversed(done)]
        return [each for each in told if each["at_ms"] >= since_ms]

    def find(self, name: str) -> Item:
        """The item whose id begins with `name`. Raises UsageError for none and for several."""
        found = [item for item in self.items() if item.id.startswith(name)]
        if len(found) != 1:
            several = (
                f"{counted(len(found), 'item')} begin with {name}"
                if found
                else f"nothing that waits is called {name}"
            )
            raise UsageError(f"{several[0].upper()}{several[1:]}.", fix="See them with: memtui inbox.")
        return found[0]

    def _worked_off(self, done: Sequence[Mapping[str, Any]]) -> tuple[list[Any], list[Any]]:
        """What was worked off and holds, and what waits again as its change was taken back."""
        numbered = any(each.get("entry") is not None for each in done)
        undone = self.engine.write_state.journal.taken_back() if numbered else frozenset()
        holds = [each for each in done if each.get("entry") not in undone]
        back = [each for each in done if each.get("entry") in undone and each.get("item")]
        return holds, back

    def _pending(self) -> Iterator[Item]:
        engine = self.engine
        if not engine.store.dialect.reads_metadata:
            return
        if engine.catalog.metadata_pending:
            engine.load_metadata()
        view = engine.view(ListQuery(filter="state:pending"))
        for memory in engine.page(view, 0, MOST_PENDING):
            text, _ = without_secrets(memory.text)
            yield Item(
                memory.id,
                "pending",
                one_line(text),
                "the agent left it pending",
                memory.timestamp_ms,
                memory.scope or "",
                memory.memory_category or "",
            )

    def _rejected(self) -> Iterator[Item]:
        """The plugin's own audit file beside the store: what its admission kept out, the last first."""
        folder = self.engine.store.folder
        path = None if folder is None else folder.parent / "admission-audit" / "rejections.jsonl"
        if path is None or not path.is_file():
            return
        oldest = self.engine.now_ms - REJECTED_DAYS * DAY_MS
        try:
            lines = path.read_bytes().splitlines()[-MOST_REJECTED:]
        except OSError:
            return
        for line in reversed(lines):
            item = _rejection(line)
            if item is not None and item.at_ms >= oldest:
                yield item

    # ------------------------------------------------------------------ what a run leaves

    def take(self, trace: CaptureTrace) -> int:
        """Keep what a run was not sure of; how many were new. What was refused before is not proposed again."""
        kept = self._kept()
        known = {key_of(item["text"]) for item in kept["items"]} | {each["key"] for each in kept["done"]}
        fresh = [
            item
            for item in (
                _suggestion(trace, candidate) for candidate in trace.candidates if candidate.gate in _WAITS
            )
            if key_of(item.text) not in known
        ]
        unique = {key_of(item.text): item for item in fresh}
        if unique:
            kept["items"] += [asdict(item) for item in unique.values()]
            self._keep(kept)
        return len(unique)

    # ------------------------------------------------------------------ working it off

    def plan_accept(self, item: Item, text: str | None = None) -> ChangeSet:
        """What accepting writes; `text` in place of what is proposed."""
        from memtui.engine.capture.commits import plan

        engine, wanted = self.engine, (text or item.text).strip()
        if without_secrets(wanted)[1]:
            raise RefusedError("It holds a secret.", fix="Take the secret out; nothing was stored.")
        if item.kind == "pending":
            given: dict[str, Any] = {"state": "confirmed"}
            if text is not None and wanted != item.text:
                given["text"] = wanted
            return plan_edit(engine, [item.id], given)
        context = engine.capture_context()
        row = new_row(
            context.new_id(),
            wanted,
            item.category or "entities",
            item.scope or context.policy.writes_to("main") or "global",
            now_ms=context.now_ms,
            vector=context.embed([wanted])[0],
        )
        candidate = CaptureCandidate(
            item.category, wanted, decision="create", writes=(context.draft.add(row, "accepted"),)
        )
        trace = CaptureTrace("memtui", {}, context.now_ms, (), (candidate,))
        return plan(trace, engine.store)

    def plan_refuse(self, item: Item) -> ChangeSet | None:
        """What refusing writes: a pending memory is archived; None where nothing is in the store."""
        return plan_forget(self.engine, [item.id]) if item.kind == "pending" else None

    def settled(self, item: Item, verdict: Literal["accepted", "refused"], entry: int | None = None) -> None:
        """Mark an entry of the inbox as done by `entry` of the journal; taking that back makes it wait again."""
        kept = self._kept()
        kept["items"] = [each for each in kept["items"] if each["id"] != item.id]
        _, back = self._worked_off(kept["done"])
        again = [each for each in back if each["item"]["id"] == item.id]
        kept["done"] = [each for each in kept["done"] if each not in again]
        kept["done"].append(
            {
                "key": key_of(item.text),
                "text": item.text,
                "verdict": verdict,
                "at_ms": self.engine.now_ms,
                "kind": item.kind,
                "entry": entry,
                "item": asdict(item) if item.kind == "unsure" else None,
            }
        )
        self._keep(kept)

    # ------------------------------------------------------------------ the file

    @property
    def _path(self) -> Path | None:
        place = self.engine.state_place
        return None if place is None else place / "inbox.json"

    def _kept(self) -> dict[str, Any]:
        if self._path is None or not self._path.exists():
            return {"items": list(self._memory["items"]), "done": list(self._memory["done"])}
        try:
            value = json.loads(self._path.read_text("utf-8"))
            return {"items": list(value["items"]), "done": list(value["done"])}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise MemtuiError(
                f"The inbox in {self._path} cannot be read.", fix="Move it away; suggestions in it are lost."
            ) from error

    def _keep(self, value: dict[str, Any]) -> None:
        path = self._path
        if path is None:
            self._memory = value
            return
        try:
            write_private(path, json.dumps(value, ensure_ascii=False))
        except OSError as error:
            raise MemtuiError(
                f"The inbox cannot be kept: {(error.strerror or str(error)).lower()}.",
                fix=f"Make {path} writable.",
            ) from error


_ORDER: Mapping[str, int] = {"unsure": 0, "rejected": 1, "pending": 2}

_WAITS = ("unsure", "model failed")


def _suggestion(trace: CaptureTrace, candidate: CaptureCandidate) -> Item:
    said = " / ".join(trace.texts[at].text for at in candidate.texts[:2])
    near = candidate.neighbours[0] if candidate.neighbours else None
    key = f"{trace.facts.get('scope')}\n{candidate.abstract}".encode("utf-8", "surrogatepass")
    return Item(
        f"s-{blake2b(key, digest_size=5).hexdigest()}",
        "unsure",
        candidate.abstract,
        candidate.reason or candidate.gate,
        trace.now_ms,
        str(trace.facts.get("scope") or ""),
        candidate.category,
        said,
        near.text if near else "",
        near.score if near else None,
    )


def _rejection(line: bytes) -> Item | None:
    if len(line) > _LONGEST_LINE:
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    candidate = value.get("candidate") if isinstance(value, Mapping) else None
    if not isinstance(candidate, Mapping) or not isinstance(candidate.get("abstract"), str):
        return None
    audit = value.get("audit")
    audit = audit if isinstance(audit, Mapping) else {}
    score, limits = audit.get("score"), audit.get("thresholds")
    least = limits.get("reject") if isinstance(limits, Mapping) else None
    why = "its admission rejected it"
    if isinstance(score, int | float) and isinstance(least, int | float):
        why = f"admission {score:.2f} < {least:.2f}"
    text, _ = without_secrets(candidate["abstract"])
    at = value.get("rejected_at")
    excerpt = value.get("conversation_excerpt")
    return Item(
        f"r-{blake2b(line, digest_size=5).hexdigest()}",
        "rejected",
        one_line(text),
        why,
        _moment(at),
        str(value.get("target_scope") or ""),
        str(candidate.get("category") or ""),
        one_line(without_secrets(excerpt)[0])[-300:] if isinstance(excerpt, str) else "",
    )


def _moment(value: Any) -> int:
    from memtui.engine.witness.session import moment_of

    return moment_of(value)


def shown(items: Sequence[Item]) -> dict[str, int]:
    """Count the items of each kind that wait."""
    return {kind: sum(item.kind == kind for item in items) for kind in _ORDER}
