"""The recipe `pro` over one conversation: the plugin's capture at the end of a turn, then of the session."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memtui.engine.access import ScopePolicy
from memtui.engine.capture.chat import ModelCall, RecordingChat
from memtui.engine.capture.draft import Write
from memtui.engine.capture.prompts import PRO
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRecipe, CaptureRequest
from memtui.engine.capture.recipes.memtui.texts import without_secrets
from memtui.engine.capture.recipes.pro.gates import FAULTS, STEPS, settings_for
from memtui.engine.capture.recipes.pro.plugin import Plugin
from memtui.engine.capture.recipes.pro.settings import plugin_config
from memtui.engine.capture.recipes.pro.world import Files, World
from memtui.engine.capture.stages.admission import admission_confidence
from memtui.engine.capture.stages.cleaning import message_texts, normalize_capture_text
from memtui.engine.capture.trace import (
    CaptureCandidate,
    CaptureNeighbour,
    CaptureText,
    CaptureTrace,
    FileWrite,
    Verdict,
)
from memtui.engine.core.content_rules import instruction_like

_NO_KEY = "conversation"

SESSION_END = "sessionEnd"
"""A setting of ours beside the plugin's: whether the session ends with the conversation."""

_DECISIONS: Mapping[str, Verdict] = {
    "skip": "skip",
    "merge": "merge",
    "supersede": "supersede",
    "support": "support",
    "contextualize": "contextualize",
    "contradict": "contradict",
}


def run(request: CaptureRequest, context: CaptureContext) -> CaptureTrace:
    """The trace of the conversation, as if it had come in one turn and the session had ended after it.

    With `sessionEnd` false in the settings the session goes on: texts may wait for more.
    """
    given = dict(request.config)
    warnings: list[str] = []
    if context.chat is None and given.get("smartExtraction") is not False:
        given["smartExtraction"] = False
        warnings.append("no language model was named: only the plugin's trigger words are looked for")
    ended = given.pop(SESSION_END, True) is not False
    settings = plugin_config(given)
    chat = None if context.chat is None else RecordingChat(context.chat)
    policy = context.policy if isinstance(context.policy, ScopePolicy) else ScopePolicy()
    with tempfile.TemporaryDirectory(prefix="memtui-capture-") as folder:
        world = World(
            settings=settings,
            draft=context.draft,
            embed_texts=context.embed,
            chat=chat,
            new_id=context.new_id,
            policy=policy,
            files=Files(Path(folder)),
            now_ms=context.now_ms,
            scope=request.scope,
        )
        before = len(context.draft.writes)
        records = _play(world, request, ended)
        writes = context.draft.writes[before:]
        files = tuple(
            FileWrite(path.relative_to(folder).as_posix(), text) for path, text in world.files.changed.items()
        )
    warnings += [f"What needs a vector is lost, as with the plugin. {failure}" for failure in world.failures]
    warnings += _told(records, tuple(chat.calls) if chat is not None else (), writes)
    made = _candidates(records, writes, world.losses)
    texts, candidates = _texts(request, world, ended, records, made)
    return CaptureTrace(
        "pro",
        {**settings.as_json(), SESSION_END: ended},
        context.now_ms,
        texts,
        candidates,
        tuple(chat.calls) if chat is not None else (),
        files,
        tuple(warnings),
        {"records": records},
    )


def _told(
    records: Sequence[Mapping[str, Any]], calls: Sequence[ModelCall], writes: Sequence[Write]
) -> list[str]:
    """What a person should know of a run: calls that failed, replies without a list, rows that should not be."""
    found = [f"{call.purpose}: {call.error}" for call in calls if call.error]
    failed = ("llm_failure", "malformed")
    if any(record["kind"] == "candidates" and record["status"] in failed for record in records):
        found.append(
            "The model's answer has no list of memories: the texts wait, nothing is written of them."
        )
    for write in writes:
        text = write.row.text
        doubt = "holds a secret" if without_secrets(text)[1] else ""
        if order := instruction_like(f"{text}\n{write.row.metadata}"):
            doubt = f"looks like prompt injection ({order})"
        if doubt and write.op != "delete":
            line = without_secrets(" ".join(text.split()))[0]
            found.append(f"The plugin stores what its model says: {line[:80]!r} {doubt}.")
    return list(dict.fromkeys(found))


def _play(world: World, request: CaptureRequest, ended: bool) -> list[dict[str, Any]]:
    key = request.session or f"agent:{request.agent}:{_NO_KEY}"
    context = {"agentId": request.agent, "sessionKey": key}
    plugin = Plugin(world)
    turn = {
        "do": "agent_end",
        "ctx": context,
        "messages": [message.as_json() for message in request.messages],
    }
    end = {"do": "session_end", "ctx": context, "event": {"reason": "new"}}
    return [record for step in ((turn, end) if ended else (turn,)) for record in plugin.step(step)["trace"]]


def _texts(
    request: CaptureRequest,
    world: World,
    ended: bool,
    records: Sequence[Mapping[str, Any]],
    candidates: Sequence[CaptureCandidate],
) -> tuple[tuple[CaptureText, ...], tuple[CaptureCandidate, ...]]:
    """What became of each text, and the candidates with the texts that they are of.

    Which text a candidate is of, the plugin does not know: it is the one that supports it best by the words that
    they share, as admission measures it.
    """
    settings = world.settings
    roles = ("user", "assistant") if settings.capture_assistant else ("user",)
    handed = {
        turn["text"] for record in records if record["kind"] == "extract_call" for turn in record["turns"]
    }
    told: dict[str, list[CaptureText]] = {}
    for fate in world.fates:
        told.setdefault(fate.text, []).append(fate)
    texts: list[CaptureText] = []
    clean: list[str | None] = []
    for number, message in enumerate(request.messages):
        blocks = message_texts(message.as_json(), (message.role,)) or [(message.role, "")]
        for role, text in blocks:
            base = CaptureText(text, role, "dropped", message=number)
            cleaned = normalize_capture_text(role, text) if role in roles else None
            clean.append(cleaned)
            if role not in roles:
                why = "captureAssistant is off" if role == "assistant" else "only what is said is looked at"
                texts.append(replace(base, gate="role", reason=why))
            elif cleaned is None:
                why = "nothing is left without what a channel adds, or it is a command"
                texts.append(replace(base, gate="envelope", reason=why))
            else:
                texts.append(_fate(base, told.get(cleaned, ()), cleaned in handed, ended))
    read = [at for at, text in enumerate(texts) if text.fate == "used" and clean[at] is not None]
    placed = tuple(
        replace(candidate, texts=_sources(candidate, clean, read, world)) for candidate in candidates
    )
    for at in read if settings.smart_extraction else ():
        texts[at] = _after_reading(texts[at], [candidate for candidate in placed if at in candidate.texts])
    for candidate in placed if not settings.smart_extraction else ():
        for at in candidate.texts:
            if candidate.writes:
                texts[at] = replace(texts[at], fate="kept", gate="", value=None, limit=None, reason="")
    return tuple(texts), placed


def _fate(base: CaptureText, told: Sequence[CaptureText], handed: bool, ended: bool) -> CaptureText:
    """The last gate of a text; one that waits when its session is over is lost."""
    last = told[-1] if told else None
    waited = next((text for text in told if text.gate == "too few texts"), None)
    if handed and (last is None or last.gate == "too few texts"):
        why = f"it waited ({waited.value} of {waited.limit} texts) and was read at the end" if waited else ""
        return replace(base, fate="used", reason=why)
    if last is None:
        return replace(base, gate="not captured", reason=_IGNORED)
    found = replace(
        base, fate=last.fate, gate=last.gate, value=last.value, limit=last.limit, reason=last.reason
    )
    if ended and last.gate == "model failed":
        why = (
            "the model failed or gave no list: it waits while the plugin runs; capture the conversation again"
        )
        return replace(found, reason=why)
    return found


def _sources(
    candidate: CaptureCandidate, clean: Sequence[str | None], read: Sequence[int], world: World
) -> tuple[int, ...]:
    if not world.settings.smart_extraction:
        return tuple(at for at, text in enumerate(clean) if text == candidate.abstract)[:1]
    scores = {
        at: admission_confidence(candidate.abstract, candidate.content, clean[at] or "").score for at in read
    }
    best = max(scores.values(), default=0.0)
    return tuple(at for at, score in scores.items() if score == best and (best > 0.0 or len(read) == 1))[:1]


def _after_reading(text: CaptureText, made: Sequence[CaptureCandidate]) -> CaptureText:
    """The fate of a text that the model has read, by the candidates that are of it."""
    if any(candidate.writes for candidate in made):
        return replace(text, fate="kept")
    if not made:
        return replace(text, gate="not extracted", reason=text.reason or "the model made nothing of it")
    first = made[0]
    if first.decision == "reject" and first.admission is not None:
        limits = first.admission["thresholds"]
        vetoed = first.admission["score"] >= limits["reject"]
        value = first.admission["feature_scores"]["utility"] if vetoed else first.admission["score"]
        limit = limits["utilityVeto"] if vetoed else limits["reject"]
        gate = "utility veto" if vetoed else "admission"
        return replace(text, fate="dropped", gate=gate, value=value, limit=limit, reason=first.reason)
    if first.decision == "drop":
        return replace(text, fate="dropped", gate=first.gate, reason=first.reason)
    return replace(
        text,
        fate="known",
        gate="duplicate",
        value=first.neighbours[0].score if first.neighbours else None,
        reason=f"{first.decision}: {first.reason}",
    )


_IGNORED = "the plugin looks at no turn of this agent or session, or capture is switched off"


def _candidates(
    records: Sequence[Mapping[str, Any]], writes: Sequence[Write], losses: Sequence[CaptureCandidate]
) -> tuple[CaptureCandidate, ...]:
    """Each candidate with its decision and what that writes; a row that stands alone is a candidate of its own."""
    found: list[CaptureCandidate] = []
    left = list(writes)
    near = {r["candidate"]: r for r in records if r["kind"] == "dedup_prefilter"}
    audits = {r["candidate"]["abstract"]: r["audit"] for r in records if r["kind"] == "admission"}
    asked = [abstract for abstract, record in near.items() if record["short_circuit"] is None]
    said = [record for record in records if record["kind"] == "dedup_verdict"]
    verdicts = dict(zip(asked, said, strict=False))
    lost = {loss.abstract: loss for loss in losses}
    for record in records:
        if record["kind"] != "candidates":
            continue
        for proposal in record["accepted"]:
            candidate = _candidate(proposal, near, verdicts, audits)
            if (loss := lost.pop(candidate.abstract, None)) is not None:
                found.append(replace(candidate, decision="drop", gate=loss.gate, reason=loss.reason))
                continue
            own = [write for write in left if _belongs(write, candidate)]
            left = [write for write in left if write not in own]
            found.append(replace(candidate, writes=tuple(own)))
    found += lost.values()
    merged = [write for write in left if write.op != "add"]
    for write in left:
        if write.op == "add":
            meta = write.row.meta(write.row.timestamp)
            found.append(
                CaptureCandidate(
                    meta.memory_category, write.row.text, content=write.row.text, writes=(write,)
                )
            )
    if merged and found:
        last = found[-1]
        found[-1] = replace(last, writes=(*last.writes, *merged))
    return tuple(found)


def _candidate(
    proposal: Mapping[str, Any],
    near: Mapping[str, Mapping[str, Any]],
    verdicts: Mapping[str, Mapping[str, Any]],
    audits: Mapping[str, Mapping[str, Any]],
) -> CaptureCandidate:
    abstract = proposal["abstract"]
    record, verdict, audit = near.get(abstract), verdicts.get(abstract), audits.get(abstract)
    base = CaptureCandidate(
        proposal["category"],
        abstract,
        proposal["overview"],
        proposal["content"],
        proposal["grounding"],
        proposal["conversationRegister"],
        admission=audit,
        neighbours=tuple(
            CaptureNeighbour(hit["id"], hit["score"], "") for hit in (record["similar"] if record else ())
        ),
    )
    if audit is not None and audit["decision"] == "reject":
        return replace(base, decision="reject", gate="admission", reason=audit["reason"])
    if verdict is not None:
        return replace(
            base,
            decision=_DECISIONS.get(verdict["decision"], "create"),
            match=verdict["match_id"],
            reason=verdict["reason"],
            context=verdict["context_label"],
            raw=verdict["raw"],
        )
    reason = record["short_circuit"]["reason"] if record and record["short_circuit"] else ""
    return replace(base, reason=reason)


def _belongs(write: Write, candidate: CaptureCandidate) -> bool:
    if write.op == "add":
        return write.row.text == candidate.abstract
    return candidate.match is not None and write.row.id == candidate.match


PROTOCOL = 1

RECIPE = CaptureRecipe(
    "pro",
    "memory-lancedb-pro",
    "the plugin's own capture: a language model extracts, judges and merges; without one its trigger words",
    run,
    defaults={**plugin_config({}, {}).as_json(), SESSION_END: True},
    steps=STEPS,
    settings_for=settings_for,
    faults=FAULTS,
    prompts=PRO,
    model_setting="smartExtraction",
    recorded=("extractMinMessages", "smartExtraction"),
    by_steps=True,
)
