"""The recipe `pro` over one conversation: the plugin's capture at the end of a turn, then of the session."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memtui.engine.access import ScopePolicy
from memtui.engine.capture.chat import RecordingChat
from memtui.engine.capture.draft import Write
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRecipe, CaptureRequest
from memtui.engine.capture.recipes.pro.plugin import Plugin
from memtui.engine.capture.recipes.pro.settings import ProSettings, plugin_config
from memtui.engine.capture.recipes.pro.world import Files, World
from memtui.engine.capture.stages.cleaning import message_texts, normalize_capture_text
from memtui.engine.capture.stages.triggers import capture_gate
from memtui.engine.capture.trace import Candidate, CaptureTrace, FileWrite, Neighbour, Text, Verdict

_NO_KEY = "conversation"
_DECISIONS: Mapping[str, Verdict] = {
    "skip": "skip",
    "merge": "merge",
    "supersede": "supersede",
    "support": "support",
    "contextualize": "contextualize",
    "contradict": "contradict",
}


def run(request: CaptureRequest, context: CaptureContext) -> CaptureTrace:
    """The trace of the conversation, as if it had come in one turn and the session had ended after it."""
    given = dict(request.config)
    warnings: list[str] = []
    if context.chat is None and given.get("smartExtraction") is not False:
        given["smartExtraction"] = False
        warnings.append("no language model was named: only the plugin's trigger words are looked for")
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
        records = _play(world, request)
        writes = context.draft.writes[before:]
        files = tuple(
            FileWrite(path.relative_to(folder).as_posix(), text) for path, text in world.files.changed.items()
        )
    texts = _texts(request, settings, records, writes)
    return CaptureTrace(
        "pro",
        settings.as_json(),
        context.now_ms,
        texts,
        _candidates(records, writes),
        tuple(chat.calls) if chat is not None else (),
        files,
        tuple(warnings),
        {"records": records},
    )


def _play(world: World, request: CaptureRequest) -> list[dict[str, Any]]:
    key = request.session or f"agent:{request.agent}:{_NO_KEY}"
    context = {"agentId": request.agent, "sessionKey": key}
    plugin = Plugin(world)
    turn = {
        "do": "agent_end",
        "ctx": context,
        "messages": [message.as_json() for message in request.messages],
    }
    end = {"do": "session_end", "ctx": context, "event": {"reason": "new"}}
    return [record for step in (turn, end) for record in plugin.step(step)["trace"]]


def _texts(
    request: CaptureRequest,
    settings: ProSettings,
    records: Sequence[Mapping[str, Any]],
    writes: Sequence[Write],
) -> tuple[Text, ...]:
    """What became of each text, told from the records of the run."""
    handed = {
        turn["text"] for record in records if record["kind"] == "extract_call" for turn in record["turns"]
    }
    made = any(record["kind"] == "candidates" and record["accepted"] for record in records)
    stored = {write.row.text for write in writes if write.op == "add"}
    roles = ("user", "assistant") if settings.capture_assistant else ("user",)
    found: list[Text] = []
    for number, message in enumerate(request.messages):
        raw = message_texts(message.as_json(), (message.role,))
        for role, text in raw or [(message.role, "")]:
            base = Text(text, role, "dropped", message=number)
            if role not in roles:
                found.append(replace(base, gate="role", reason="captureAssistant is off"))
                continue
            clean = normalize_capture_text(role, text)
            if clean is None:
                found.append(
                    replace(base, gate="envelope", reason="nothing is left without what a channel adds")
                )
            elif settings.smart_extraction:
                if clean in handed:
                    found.append(replace(base, fate="kept" if made else "used"))
                else:
                    found.append(replace(base, gate="noise", reason="noise, low value, or no room"))
            elif clean in stored:
                found.append(replace(base, fate="kept"))
            else:
                gate, value, limit = capture_gate(clean)
                found.append(replace(base, gate=gate or "duplicate or limit", value=value, limit=limit))
    return tuple(found)


def _candidates(records: Sequence[Mapping[str, Any]], writes: Sequence[Write]) -> tuple[Candidate, ...]:
    """Each candidate with its decision and what that writes; a row that stands alone is a candidate of its own."""
    found: list[Candidate] = []
    left = list(writes)
    near = {r["candidate"]: r for r in records if r["kind"] == "dedup_prefilter"}
    audits = {r["candidate"]["abstract"]: r["audit"] for r in records if r["kind"] == "admission"}
    asked = [abstract for abstract, record in near.items() if record["short_circuit"] is None]
    said = [record for record in records if record["kind"] == "dedup_verdict"]
    verdicts = dict(zip(asked, said, strict=False))
    for record in records:
        if record["kind"] != "candidates":
            continue
        for proposal in record["accepted"]:
            candidate = _candidate(proposal, near, verdicts, audits)
            own = [write for write in left if _belongs(write, candidate)]
            left = [write for write in left if write not in own]
            found.append(replace(candidate, writes=tuple(own)))
    merged = [write for write in left if write.op != "add"]
    for write in left:
        if write.op == "add":
            meta = write.row.meta(write.row.timestamp)
            found.append(
                Candidate(meta.memory_category, write.row.text, content=write.row.text, writes=(write,))
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
) -> Candidate:
    abstract = proposal["abstract"]
    record, verdict, audit = near.get(abstract), verdicts.get(abstract), audits.get(abstract)
    base = Candidate(
        proposal["category"],
        abstract,
        proposal["overview"],
        proposal["content"],
        proposal["grounding"],
        proposal["conversationRegister"],
        admission=audit,
        neighbours=tuple(
            Neighbour(hit["id"], hit["score"], "") for hit in (record["similar"] if record else ())
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


def _belongs(write: Write, candidate: Candidate) -> bool:
    if write.op == "add":
        return write.row.text == candidate.abstract
    return candidate.match is not None and write.row.id == candidate.match


RECIPE = CaptureRecipe(
    "pro",
    "memory-lancedb-pro",
    "the plugin's own capture: a language model extracts, judges and merges; without one its trigger words",
    run,
    defaults=plugin_config({}, {}).as_json(),
)
