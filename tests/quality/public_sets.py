"""Public sets of questions about long conversations, read from a folder that a person fetched; nothing is shipped.

- LoCoMo (`locomo10.json`, snap-research/locomo): by turns, categories 1 to 4; 5 is adversarial and left out.
- REALTALK (`Chat_*.json`, danny911kr/REALTALK): by turns, the same form with `clean_text`.
- LongMemEval-S (`longmemeval_s*.json`, xiaowu0162/LongMemEval): by sessions, each question in its own haystack;
  abstentions (ids that end in `_abs`) are left out.

Questions without evidence that the conversation has are left out, and counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.quality.dialogues import Turn
from tests.quality.tuning import Asked

DAY_MS = 86_400_000
MINUTE_MS = 60_000

_SESSION = re.compile(r"session_(\d+)")

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
"""One turn that answers; some labels hold several, some a colon or a zero too many."""

_DATES = (
    "%I:%M %p on %d %B, %Y",
    "%I:%M %p on %d %b, %Y",
    "%Y/%m/%d (%a) %H:%M",
    "%Y/%m/%d %H:%M",
    "%d.%m.%Y, %H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%m/%d/%Y, %H:%M:%S",
)

_FIRST_MS = int(datetime(2023, 1, 1, tzinfo=UTC).timestamp() * 1000)
"""Where a session has no date that can be read: one a day from here on."""

ADVERSARIAL = 5


@dataclass(frozen=True)
class PublicSet:
    """Memories, questions with the memories that answer them, and how many questions were left out, and why."""

    name: str
    unit: str
    memories: Sequence[Turn]
    questions: Sequence[Asked]
    left_out: Mapping[str, int] = field(default_factory=dict)


def read_public_sets(folder: Path) -> list[PublicSet]:
    """Every set that lies in a folder or below; raises ValueError for a file that has another form."""
    found: list[PublicSet] = []
    locomo = sorted(folder.rglob("locomo10.json"))
    if locomo:
        found.append(_dialogues("LoCoMo", _json(locomo[0])))
    chats = sorted(folder.rglob("Chat_*.json"))
    if chats:
        found.append(_dialogues("REALTALK", [{"sample_id": path.stem, **_json(path)} for path in chats]))
    haystacks = sorted(folder.rglob("longmemeval_s*.json"))
    if haystacks:
        found.append(_haystacks(_json(haystacks[0])))
    return found


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _dialogues(name: str, samples: Any) -> PublicSet:
    """Conversations between two people, by turns."""
    if not isinstance(samples, list) or not samples:
        raise ValueError(f"{name}: a list of conversations was expected.")
    memories: list[Turn] = []
    questions: list[Asked] = []
    left_out = {"adversarial": 0, "no evidence": 0}
    for number, sample in enumerate(samples):
        scope = f"{name}/{sample.get('sample_id', number)}"
        turns = list(_turns(scope, sample.get("conversation", sample)))
        if not turns:
            raise ValueError(f"{scope}: no turns under session_1, session_2, ...")
        memories += turns
        ids, last = {turn.id for turn in turns}, max(turn.timestamp_ms for turn in turns)
        for asked in sample.get("qa", ()):
            labels = asked.get("evidence") or ()
            told = " ".join(map(str, [labels] if isinstance(labels, str) else labels))
            cited = {f"{scope}/D{int(a)}:{int(b)}" for a, b in _EVIDENCE.findall(told)}
            if asked.get("category") == ADVERSARIAL:
                left_out["adversarial"] += 1
            elif not cited & ids:
                left_out["no evidence"] += 1
            else:
                questions.append(Asked(asked["question"], scope, frozenset(cited & ids), last + DAY_MS))
    return PublicSet(name, "turns", memories, questions, left_out)


def _turns(scope: str, conversation: Mapping[str, Any]) -> Iterator[Turn]:
    """The turns of one conversation, session after session."""
    numbers = sorted(int(match[1]) for key in conversation if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        session = conversation[f"session_{number}"]
        told = conversation.get(f"session_{number}_date_time", "")
        start = _time_ms(told, _FIRST_MS + number * DAY_MS)
        for place, turn in enumerate(session):
            text = turn.get("clean_text") or turn.get("text") or ""
            if caption := turn.get("blip_caption"):
                text = f"{text} [shares {caption}]".strip()
            match = _EVIDENCE.fullmatch(str(turn.get("dia_id", "")))
            name = f"D{int(match[1])}:{int(match[2])}" if match else f"D{number}:{place + 1}"
            at = _time_ms(str(turn.get("date_time", "")), start + place * MINUTE_MS)
            yield Turn(f"{scope}/{name}", scope, turn["speaker"], text, f"{scope}/s{number}", at)


def _haystacks(items: Any) -> PublicSet:
    """Questions about one's own chats with an assistant, by sessions, each in its own haystack."""
    if not isinstance(items, list) or not items or "haystack_sessions" not in items[0]:
        raise ValueError("LongMemEval-S: a list of questions with haystack_sessions was expected.")
    memories: list[Turn] = []
    questions: list[Asked] = []
    left_out = {"abstention": 0, "no evidence": 0}
    for item in items:
        scope = f"LongMemEval-S/{item['question_id']}"
        if item["question_id"].endswith("_abs"):
            left_out["abstention"] += 1
            continue
        ids = item["haystack_session_ids"]
        relevant = {f"{scope}/{name}" for name in item["answer_session_ids"] if name in ids}
        if not relevant:
            left_out["no evidence"] += 1
            continue
        parts = zip(ids, item["haystack_sessions"], item["haystack_dates"], strict=True)
        for number, (name, session, date) in enumerate(parts):
            text = "\n".join(f"{turn['role']}: {turn['content']}" for turn in session)
            at = _time_ms(date, _FIRST_MS + number * DAY_MS)
            memories.append(Turn(f"{scope}/{name}", scope, "", text, f"{scope}/{name}", at))
        last = max(memory.timestamp_ms for memory in memories if memory.scope == scope)
        asked_at = max(_time_ms(item.get("question_date", ""), 0), last + MINUTE_MS)
        questions.append(Asked(item["question"], scope, frozenset(relevant), asked_at))
    return PublicSet("LongMemEval-S", "sessions", memories, questions, left_out)


def _time_ms(told: str, otherwise: int) -> int:
    """A date as the sets write it, in milliseconds; `otherwise` where it has another form."""
    for form in _DATES:
        try:
            at = datetime.strptime(told.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return int((at - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))
    return otherwise
