"""Why a sentence became no memory: the gate that stopped it, and the smallest change that would have kept it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
from memtui.engine.capture.recipes.memtui.likeness import key_of, share
from memtui.engine.capture.trace import Candidate, CaptureTrace, Message, Text
from memtui.engine.errors import UsageError


@dataclass(frozen=True, slots=True)
class Rung:
    """One gate on the way of a text: None for `passed` where it never came so far."""

    gate: str
    passed: bool | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Remedy:
    """One change with which the text would have been kept, and whether a replay has shown it."""

    setting: str
    before: Any
    after: Any
    confirmed: bool
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """For the command line."""
        return {
            "setting": self.setting,
            "before": self.before,
            "after": self.after,
            "confirmed": self.confirmed,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class CaptureVerdict:
    """What became of one text, and what would have kept it."""

    text: str
    kept: bool
    gate: str
    value: Any
    limit: Any
    reason: str
    ladder: tuple[Rung, ...]
    remedies: tuple[Remedy, ...]

    def as_json(self) -> dict[str, Any]:
        """The document of `memtui capture why-not`."""
        return {
            "schema": "memtui.capture.why-not.v1",
            "text": self.text,
            "kept": self.kept,
            "gate": self.gate,
            "value": self.value,
            "limit": self.limit,
            "reason": self.reason,
            "ladder": [{"gate": r.gate, "passed": r.passed, "sentence": r.sentence} for r in self.ladder],
            "changes": [each.as_json() for each in self.remedies],
        }


def place_of(trace: CaptureTrace, wanted: str) -> int:
    """The text of the conversation that is meant: the same one, one that holds it, or the likeliest.

    Raises UsageError where nothing in the conversation is like it.
    """
    key = key_of(wanted)
    texts = trace.texts
    exact = [at for at, text in enumerate(texts) if key_of(text.text) == key]
    inside = [at for at, text in enumerate(texts) if key and key in key_of(text.text)]
    if exact or inside:
        return (exact or inside)[0]
    best = max(
        range(len(texts)),
        key=lambda at: (share(wanted, texts[at].text), texts[at].role == "user"),
        default=-1,
    )
    if best < 0 or share(wanted, texts[best].text) < 0.5:
        raise UsageError(
            "No text of this conversation is like that one.",
            fix="Give it as it stands there, or a part of it.",
        )
    return best


def why_not(
    wanted: str | int,
    trace: CaptureTrace,
    request: CaptureRequest,
    fresh: Callable[[], CaptureContext],
) -> CaptureVerdict:
    """What became of the text `wanted` (or the text at that place), each change tried by running the recipe again.

    `fresh` gives a context over the same store without writes on top; no model is asked anything new.
    """
    at = wanted if isinstance(wanted, int) else place_of(trace, wanted)
    text = trace.texts[at]
    made = [each for each in trace.candidates if at in each.texts]
    kept = any(each.writes for each in made)
    remedies = () if kept else tuple(_remedies(at, text, made, trace, request, fresh))
    reason = text.reason or (made[0].reason if made else "")
    return CaptureVerdict(
        text.text, kept, text.gate, text.value, text.limit, reason, _ladder(text, made), remedies
    )


def _ladder(text: Text, made: list[Candidate]) -> tuple[Rung, ...]:
    """The gates of a text in order, the one that stopped it named with its numbers."""
    steps = ("who said it", "command", "order", "secret", "statement", "sure", "not stored yet")
    stops = {
        "assistant text": 0, "tool output": 0, "system text": 0, "role": 0, "command": 1, "injected block": 1,
        "empty": 1, "order": 2, "secret": 3, "unsure": 5, "duplicate": 6,
    }  # fmt: skip
    stopped = len(steps) if any(each.writes for each in made) else stops.get(text.gate, 4)
    rungs = []
    for number, step in enumerate(steps):
        passed = True if number < stopped else False if number == stopped else None
        numbers = f" ({text.value} of {text.limit})" if text.limit is not None else ""
        sentence = (
            "it passed"
            if passed
            else f"{text.gate}{numbers}: {text.reason}"
            if passed is False
            else "it did not come so far"
        )
        rungs.append(Rung(step, passed, sentence))
    return tuple(rungs)


def _remedies(
    at: int,
    text: Text,
    made: list[Candidate],
    trace: CaptureTrace,
    request: CaptureRequest,
    fresh: Callable[[], CaptureContext],
) -> list[Remedy]:
    found: list[Remedy] = []
    for setting, value in _settings_for(text, trace):
        before = trace.settings.get(setting)
        changed = replace(request, config={**request.config, setting: value})
        if _keeps(at, changed, fresh):
            found.append(Remedy(setting, before, value, confirmed=True))
    if text.gate in _BY_WORDS and text.role == "user":
        for words in _rephrased(text.text):
            messages = list(request.messages)
            number = text.message if text.message is not None else at
            messages[number] = Message("user", words, at_ms=messages[number].at_ms)
            if _keeps(at, replace(request, messages=messages), fresh):
                found.append(Remedy("the words", text.text, words, confirmed=True, note="said like this"))
                break
    if text.gate == "duplicate" and made and made[0].match:
        found.append(
            Remedy(
                "the stored memory",
                made[0].match,
                "edited or forgotten",
                confirmed=False,
                note=made[0].reason,
            )
        )
    return found


_BY_WORDS = (
    "no statement",
    "too short",
    "unsure",
    "passing",
    "request",
    "question",
    "imagined",
    "model",
    "kind",
)


def _settings_for(text: Text, trace: CaptureTrace) -> list[tuple[str, Any]]:
    """The settings that belong to a gate, the nearest value first."""
    gate, settings = text.gate, trace.settings
    if gate == "assistant text":
        return [("captureAssistant", True)]
    if gate == "unsure":
        return [("keepUnsure", True)] if "keepUnsure" in settings else []
    if gate == "too few texts" and isinstance(text.value, float):
        return [("minMessages", int(text.value))]
    if gate == "kind":
        return [("kinds", (*settings["kinds"], text.value))]
    if gate == "too long" and isinstance(text.value, float):
        return [
            (name, int(text.value)) for name in ("captureMaxChars", "maxCharsPerItem") if name in settings
        ]
    if gate == "category off":
        return [(f"capture{str(text.value).capitalize()}", True)]
    if gate == "enough of this turn":
        return [("maxItemsPerTurn", 3)]
    return []


def _rephrased(text: str) -> list[str]:
    """Wordings that say the same more plainly."""
    from memtui.engine.capture.recipes.memtui.wording import HEDGED

    plain = " ".join(HEDGED.sub(" ", text).split()).strip(" ,?？")
    bare = text.rstrip("?？ ")
    return [f"Remember: {words}" for words in dict.fromkeys((text.rstrip(), plain, bare)) if words]


def _keeps(at: int, request: CaptureRequest, fresh: Callable[[], CaptureContext]) -> bool:
    again = capture(request, fresh())
    return any(at in each.texts and each.writes for each in again.candidates)


def what_if(settings: Mapping[str, Any], request: CaptureRequest, context: CaptureContext) -> CaptureTrace:
    """The same conversation under other settings: no model is asked anything that it was not asked before."""
    return capture(replace(request, config={**request.config, **settings}), context)
