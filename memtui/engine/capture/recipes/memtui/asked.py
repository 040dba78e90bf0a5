"""Our own recipe with a model: it proposes and compares; what it says is checked before anything comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtui.engine.capture.chat import NoReplyError, RecordingChat
from memtui.engine.capture.recipes.base import CaptureContext
from memtui.engine.capture.recipes.memtui import rows
from memtui.engine.capture.recipes.memtui.decide import NEAR, NEAREST, SHOWN, Decider, find_near
from memtui.engine.capture.recipes.memtui.likeness import all_words, key_of, same, words_of
from memtui.engine.capture.recipes.memtui.statements import identifiers
from memtui.engine.capture.recipes.memtui.texts import (
    ReadTexts,
    Statement,
    fate_of,
    reason_of,
    without_secrets,
)
from memtui.engine.capture.trace import CaptureCandidate, CaptureNeighbour, CaptureText, CaptureTrace
from memtui.engine.core.content_rules import instruction_like
from memtui.engine.core.errors import EmbeddingError
from memtui.engine.core.text import counted
from memtui.engine.metadata.categories import normalise_category
from memtui.engine.providers.reply_json import read_object

BATCH = 10

LARGEST = 8_000
"""Characters of a conversation in one question."""

SHORTEST, LONGEST = 5, 400

_ALONE: Mapping[str, Any] = {"decision": "create"}
"""Of a memory without neighbours: no model is asked about it."""

_DECISIONS = ("skip", "create", "merge", "supersede")


@dataclass(slots=True)
class _Proposed:
    """A memory that the model proposed and that passed every check."""

    text: str
    category: str
    places: tuple[int, ...]
    sure: bool
    vector: Any = None
    hits: tuple[Any, ...] = ()
    raw: Any = None


def by_model(trace: CaptureTrace, read: ReadTexts, decider: Decider, context: CaptureContext) -> CaptureTrace:
    """The trace of one conversation with a model that proposes and compares."""
    assert context.chat is not None
    chat = RecordingChat(context.chat)
    run = _Run(trace, read, decider, context, chat)
    return run.trace_of()


class _Run:
    def __init__(
        self,
        trace: CaptureTrace,
        read: ReadTexts,
        decider: Decider,
        context: CaptureContext,
        chat: RecordingChat,
    ) -> None:
        self.trace, self.read, self.decider, self.context, self.chat = trace, read, decider, context, chat
        self.warnings: list[str] = []
        self.failed: dict[int, str] = {}
        self.candidates: list[CaptureCandidate] = []

    def trace_of(self) -> CaptureTrace:
        proposed = [each for part in self._parts() for each in self._extracted(part)]
        self._embed(proposed)
        self._decide(proposed)
        made: dict[int, list[CaptureCandidate]] = {}
        for candidate in self.candidates:
            for place in candidate.texts:
                made.setdefault(place, []).append(candidate)
        texts: list[CaptureText] = []
        for place, text in enumerate(self.read.texts):
            if place in made:
                texts.append(fate_of(text, made[place]))
            elif place in self.failed:
                texts.append(replace(text, fate="deferred", gate="model failed", reason=self.failed[place]))
            elif text.gate in ("", "unsure", "no statement") and place in self.read.sendable:
                texts.append(
                    replace(
                        text, fate="used", gate="model", value=None, reason="the model found nothing in it"
                    )
                )
            else:
                texts.append(text)
        return replace(
            self.trace,
            texts=tuple(texts),
            candidates=tuple(self.candidates),
            calls=tuple(self.chat.calls),
            warnings=tuple(self.warnings),
        )

    # ------------------------------------------------------------------ what the model finds

    def _parts(self) -> list[list[int]]:
        """Places of texts, so many to a question as fit into it."""
        parts: list[list[int]] = []
        size = LARGEST
        for place in self.read.sendable:
            length = len(self.read.texts[place].text)
            if size + length > LARGEST:
                parts.append([])
                size = 0
            parts[-1].append(place)
            size += length
        return parts

    def _extracted(self, places: Sequence[int]) -> list[_Proposed]:
        messages = [{"number": at + 1, "text": self.read.texts[at].text[:LARGEST]} for at in places]
        try:
            reply = self.chat("extract", {"messages": messages})
        except NoReplyError as error:
            return self._lost(places, str(error))
        value = read_object(reply.text or reply.reasoning)
        listed = value.get("memories") if value is not None else None
        if not isinstance(listed, list):
            return self._lost(places, "the model's answer has no list of memories")
        found: list[_Proposed] = []
        for item in listed:
            checked = self._checked(item, places)
            if isinstance(checked, CaptureCandidate):
                self.candidates.append(checked)
            elif checked is not None:
                found.append(checked)
        return found

    def _lost(self, places: Sequence[int], why: str) -> list[_Proposed]:
        """Nothing is lost: the texts wait, and it is told."""
        waiting = [at for at in places if self.read.texts[at].gate in ("", "unsure", "no statement")]
        self.failed |= dict.fromkeys(waiting, why)
        self.warnings.append(
            f"{why.rstrip('.')}. {counted(len(waiting), 'text waits', 'texts wait')}: capture again, or without the model; "
            "nothing was written of them."
        )
        return []

    def _checked(self, value: Any, places: Sequence[int]) -> _Proposed | CaptureCandidate | None:
        """A proposal that may become a memory, or the candidate that says why it may not."""
        if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
            return CaptureCandidate(
                "", "", decision="drop", gate="malformed", reason="it is no memory", raw=value
            )
        text = " ".join(value["text"].split())
        category = normalise_category(value.get("category")) or ""
        named = value.get("from")
        sources = tuple(
            at for at in places if isinstance(named, list) and any(each == at + 1 for each in named)
        )
        masked, secrets = without_secrets(text)
        base = CaptureCandidate(
            category, masked, content=masked, texts=sources, raw=None if secrets else value
        )

        def dropped(gate: str, reason: str) -> CaptureCandidate:
            return replace(base, decision="drop", gate=gate, reason=reason)

        if secrets:
            return dropped("secret", reason_of("secret"))
        if instruction_like(text):
            return dropped("order", reason_of("order"))
        if not SHORTEST <= len(text) <= LONGEST:
            return dropped("length", f"{len(text)} characters; {SHORTEST} to {LONGEST} are kept")
        if not category:
            return dropped("category", f"{value.get('category')!r} is none of the six categories")
        if not sources:
            return dropped("not said", "it names no message of this conversation")
        if value.get("real") is False:
            return dropped("imagined", reason_of("imagined"))
        if missing := _unsaid(text, [self.read.texts[at].text for at in sources]):
            return dropped("not said", f"{missing} does not stand in the messages that it names")
        return _Proposed(text, category, sources, value.get("sure") is not False, raw=value)

    def _embed(self, proposed: Sequence[_Proposed]) -> None:
        if not proposed:
            return
        try:
            vectors = self.context.embed([each.text for each in proposed])
        except EmbeddingError as error:
            self.warnings.append(rows.bare_words(self.context.draft, error))
            return
        for each, vector in zip(proposed, vectors, strict=True):
            each.vector = vector

    # ------------------------------------------------------------------ what becomes of it

    def _decide(self, proposed: Sequence[_Proposed]) -> None:
        asked: list[_Proposed] = []
        taken: list[_Proposed] = []
        for each in proposed:
            self._find_hits(each)
            if not each.sure:
                self._put(each, "reject", gate="unsure", reason="uncertain wording: needs review")
            elif (known := self._known(each, taken)) is not None:
                self._put(each, "skip", gate="duplicate", match=known or None, reason="it is said already")
            else:
                taken.append(each)
                asked.append(each)
        near = [each for each in asked if each.hits]
        verdicts: dict[int, Mapping[str, Any] | str] = {}
        for start in range(0, len(near), BATCH):
            verdicts |= self._verdicts(near[start : start + BATCH])
        for each in asked:
            self._settle(each, verdicts.get(id(each)) if each.hits else _ALONE)

    def _find_hits(self, each: _Proposed) -> None:
        if each.vector is None or not each.vector.any():
            return
        scopes = [self.decider.scope] if self.context.draft.store.dialect.columns.scope else None
        each.hits = tuple(
            self.context.draft.search(
                each.vector, limit=NEAREST, min_score=NEAR, scopes=scopes, active_at=self.context.now_ms
            )
        )

    def _known(self, each: _Proposed, taken: Sequence[_Proposed]) -> str | None:
        for hit in each.hits:
            if same(each.text, hit.row.text, hit.cosine):
                return str(hit.row.id)
        if any(same(each.text, other.text) for other in taken):
            return ""
        statement = Statement(each.text, "fact", each.category, each.places[0])
        stored = find_near(self.context.draft, [statement], None, self.decider.scope).exact.get(
            key_of(each.text)
        )
        return None if stored is None else stored.id

    def _verdicts(self, items: Sequence[_Proposed]) -> dict[int, Mapping[str, Any] | str]:
        parts = {
            "items": [
                {
                    "index": number,
                    "category": item.category,
                    "text": item.text,
                    "neighbours": [
                        {"number": at, "text": without_secrets(hit.row.text)[0]}
                        for at, hit in enumerate(item.hits[:SHOWN], 1)
                    ],
                }
                for number, item in enumerate(items, 1)
            ]
        }
        try:
            reply = self.chat("dedup", parts)
        except NoReplyError as error:
            wait = counted(len(items), "memory waits", "memories wait")
            self.warnings.append(f"{str(error).rstrip('.')}. {wait} for a decision.")
            return {id(item): str(error) for item in items}
        value = read_object(reply.text or reply.reasoning)
        results = value.get("results") if value is not None else None
        found: dict[int, Mapping[str, Any] | str] = {}
        for result in results if isinstance(results, list) else ():
            index = result.get("index") if isinstance(result, Mapping) else None
            if isinstance(index, int) and 1 <= index <= len(items):
                found.setdefault(id(items[index - 1]), result)
        lost = [item for item in items if id(item) not in found]
        if lost:
            asked = counted(len(items), "memory", "memories")
            wait = "it waits" if len(lost) == 1 else "they wait"
            self.warnings.append(
                f"The model decided nothing about {len(lost)} of {asked}: {wait} for a person."
            )
        return found

    def _settle(self, each: _Proposed, verdict: Mapping[str, Any] | str | None) -> None:
        if not isinstance(verdict, Mapping):
            why = verdict or "the model's answer has no decision about it"
            self._put(each, "reject", gate="model failed", reason=why)
            return
        decision = verdict.get("decision")
        decision = decision.strip().lower() if isinstance(decision, str) else ""
        match = verdict.get("match")
        shown = each.hits[:SHOWN]
        hit = shown[match - 1] if isinstance(match, int) and 1 <= match <= len(shown) else None
        reason = str(verdict.get("reason") or "")
        if decision not in _DECISIONS or (decision != "create" and hit is None):
            why = (
                f"the model answered {decision or 'nothing'!r} about neighbour {match!r}, which says nothing"
            )
            self._put(each, "reject", gate="model failed", reason=why, raw=verdict)
        elif decision == "skip":
            assert hit is not None
            self._put(each, "skip", gate="duplicate", match=hit.row.id, reason=reason, raw=verdict)
        elif decision == "merge" and hit is not None and self._merged(each, hit, reason, verdict):
            return
        elif decision == "supersede" and hit is not None and self.decider.supersedes:
            writes = rows.supersede(self.context.draft, hit.row, self._row(each), self.context.now_ms)
            self._put(each, "supersede", match=hit.row.id, reason=reason, writes=writes, raw=verdict)
        else:
            if decision != "create":
                reason = f"{reason} (a row of its own: it could not be done)".strip()
            write = self.context.draft.add(self._row(each), each.category)
            told = each.raw if verdict is _ALONE else verdict
            self._put(each, "create", reason=reason or "nothing says the same", writes=(write,), raw=told)

    def _merged(self, each: _Proposed, hit: Any, reason: str, verdict: Mapping[str, Any]) -> bool:
        """Make one row of two; False where that failed: then it becomes a row of its own."""
        stored = self.context.draft.get(hit.row.id)
        if stored is None:
            return False
        parts = {"stored": without_secrets(stored.text)[0], "new": each.text}
        try:
            reply = self.chat("merge", parts)
        except NoReplyError as error:
            self.warnings.append(f"{str(error).rstrip('.')}. Two memories stay two rows.")
            return False
        value = read_object(reply.text or reply.reasoning)
        text = value.get("text") if value is not None else None
        text = " ".join(text.split()) if isinstance(text, str) else ""
        both = [stored.text, each.text]
        sound = (
            SHORTEST <= len(text) <= 2 * LONGEST
            and not _unsaid(text, both)
            and not _forgotten(text, each.text)
        )
        if not sound or without_secrets(text)[1] or instruction_like(text):
            self.warnings.append("The model's merged text says something else: two memories stay two rows.")
            return False
        try:
            vector = self.context.embed([text])[0]
        except EmbeddingError:
            return False
        write = rows.merge(self.context.draft, stored, text, each.category, vector, self.context.now_ms)
        if write is None:
            return False
        self._put(each, "merge", match=stored.id, reason=reason, writes=(write,), raw=verdict)
        return True

    def _row(self, each: _Proposed) -> Any:
        at_ms = None
        number = self.read.texts[each.places[0]].message
        times = [s.at_ms for s in self.read.statements if s.place == each.places[0] and s.at_ms]
        if number is not None and times:
            at_ms = times[0]
        return rows.new_row(
            self.context.new_id(),
            each.text,
            each.category,
            self.decider.scope,
            now_ms=self.context.now_ms,
            at_ms=at_ms,
            session=self.decider.session,
            vector=each.vector,
        )

    def _put(self, each: _Proposed, decision: Any, **known: Any) -> None:
        known.setdefault("raw", each.raw)
        self.candidates.append(
            CaptureCandidate(
                each.category,
                each.text,
                content=each.text,
                texts=each.places,
                decision=decision,
                neighbours=tuple(CaptureNeighbour(h.row.id, h.score, h.row.text) for h in each.hits[:SHOWN]),
                **known,
            )
        )


def _unsaid(text: str, sources: Sequence[str]) -> str:
    """What a proposed memory says and its messages do not: a number, an address, or nearly everything."""
    said = " ".join(sources).lower()
    for found in identifiers(text):
        if found.lower().strip(".,;") not in said:
            return repr(found)
    for word in words_of(text):
        if any(char.isdigit() for char in word) and word not in said:
            return repr(word)
    own = words_of(text)
    if own and not own & all_words(sources):
        return "what it says"
    return ""


def _forgotten(text: str, source: str) -> str:
    """A number or address of `source` that a merged text lost."""
    lower = text.lower()
    return next(
        (identifier for identifier in identifiers(source) if identifier.lower().strip(".,;") not in lower), ""
    )
