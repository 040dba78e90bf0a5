"""Why a sentence became no memory: the gate that stopped it, and the smallest change that would have kept it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRequest
from memtui.engine.capture.recipes.memtui.likeness import key_of, share
from memtui.engine.capture.trace import Candidate, CaptureTrace, Message, Text
from memtui.engine.core.errors import UsageError


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
    remedies, later = ([], {}) if kept else _remedies(at, text, made, trace, request, fresh)
    reason = text.reason or (made[0].reason if made else "")
    ladder = _ladder(trace.recipe, text, made, later)
    return CaptureVerdict(text.text, kept, text.gate, text.value, text.limit, reason, ladder, tuple(remedies))


_OWN = ("who said it", "command", "order", "secret", "statement", "sure", "not stored yet")

_LADDERS: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "pro": (
        ("who said it", ("role",)),
        ("something said", ("envelope", "not captured")),
        ("worth and room", ("low value", "compression", "no room")),
        ("no complaint", ("noise",)),
        ("enough texts", ("too few texts", "model failed")),
        ("form", ("too short", "too long", "recalled memories", "markup", "formatted list", "emoji")),
        ("no order", ("talk about the memory itself",)),
        ("trigger or model", ("no trigger word", "not extracted", "too many")),
        ("turn's limit", ("enough of this turn",)),
        ("grounding", ("grounding",)),
        ("boundary", ("boundary",)),
        ("embedded", ("embedding failed",)),
        ("said once", ("said twice",)),
        ("admission", ("admission", "utility veto")),
        ("not stored yet", ("duplicate",)),
    ),
    "memory-lancedb": (
        ("who said it", ("role",)),
        ("length", ("too short", "too long")),
        ("form", ("injected block", "markup", "summary", "emoji")),
        ("no order", ("order",)),
        ("trigger word", ("no trigger",)),
        ("first three", ("after the third",)),
        ("not stored yet", ("duplicate",)),
    ),
    "mem-engine": (
        ("who said it", ("role",)),
        ("scanned", ("not scanned", "empty")),
        ("length", ("too long", "too short")),
        ("no command", ("command",)),
        ("no secret", ("secret",)),
        ("no tool output", ("tool output",)),
        ("trigger word", ("no trigger", "category off")),
        ("turn's limit", ("enough of this turn",)),
        ("said once", ("said twice",)),
        ("to-do's limits", ("to-dos of this turn", "to-do of the last hours")),
        ("embedded", ("embedding failed",)),
        ("not stored yet", ("duplicate",)),
    ),
}
"""The gates of each system in its order, and the names under which a trace tells them."""


def _ladder(recipe: str, text: Text, made: list[Candidate], later: Mapping[str, Text]) -> tuple[Rung, ...]:
    """The gates of a text in order, the one that stopped it named with its numbers.

    `later` are gates further on that stopped it in a replay in which it had passed the earlier ones.
    """
    if recipe in _LADDERS:
        steps = tuple(name for name, _ in _LADDERS[recipe])
        stops = {gate: at for at, (_, gates) in enumerate(_LADDERS[recipe]) for gate in gates}
        other = len(steps) - 1
    else:
        steps, other = _OWN, 4
        stops = {
            "assistant text": 0, "tool output": 0, "system text": 0, "role": 0, "command": 1, "injected block": 1,
            "empty": 1, "order": 2, "secret": 3, "unsure": 5, "duplicate": 6,
        }  # fmt: skip
    stopped = len(steps) if any(each.writes for each in made) else stops.get(text.gate, other)
    told = {stops[gate]: each for gate, each in later.items() if stops.get(gate, -1) > stopped}
    rungs = []
    for number, step in enumerate(steps):
        if number < stopped:
            rungs.append(Rung(step, True, "it passed"))
        elif number == stopped:
            rungs.append(Rung(step, False, _said(text)))
        elif number in told:
            rungs.append(Rung(step, False, f"in a replay past the gates before: {_said(told[number])}"))
        else:
            rungs.append(Rung(step, None, "it did not come so far"))
    return tuple(rungs)


def _said(text: Text) -> str:
    numbers = f" ({text.value} of {text.limit})" if text.limit is not None else ""
    return f"{text.gate}{numbers}: {text.reason}" if text.reason else f"{text.gate}{numbers}"


MOST_CHANGES = 3
"""Settings that are changed together, at most, to keep one text."""


@dataclass(slots=True)
class _Trials:
    """Replays of one conversation under changes, for the text at `at`."""

    at: int
    request: CaptureRequest
    fresh: Callable[[], CaptureContext]
    settings: Mapping[str, Any]
    found: list[Remedy]
    later: dict[str, Text]

    def settings_of(self, text: Text, changes: Mapping[str, Any], trace: CaptureTrace) -> None:
        """Try each setting of the gate that stopped `text`, then those of the gate that stops it next."""
        for setting, value in _settings_for(text, trace):
            if setting in changes:
                continue
            tried = {**changes, setting: value}
            again, asked = self.replay(self.changed(tried))
            stopped = again.texts[self.at] if self.at < len(again.texts) else text
            if _kept(self.at, again):
                self.add(tried, confirmed=True)
            elif asked:
                self.add(tried, confirmed=False, note="not known: it would be a new question to the model")
            elif stopped.gate and stopped.gate != text.gate:
                self.later.setdefault(stopped.gate, stopped)
                if len(tried) < MOST_CHANGES:
                    self.settings_of(stopped, tried, again)

    def add(self, changes: Mapping[str, Any], *, confirmed: bool, note: str = "") -> None:
        names = ", ".join(changes)
        before = {name: _get(self.settings, name) for name in changes}
        one = len(changes) == 1
        self.found.append(
            Remedy(
                names,
                next(iter(before.values())) if one else before,
                next(iter(changes.values())) if one else dict(changes),
                confirmed,
                note,
            )
        )

    def changed(self, changes: Mapping[str, Any]) -> CaptureRequest:
        config: Mapping[str, Any] = self.request.config
        for name, value in changes.items():
            config = _set(config, name.split("."), value)
        return replace(self.request, config=config)

    def replay(self, request: CaptureRequest) -> tuple[CaptureTrace, bool]:
        """The trace, and whether a model would have to be asked something new."""
        context = self.fresh()
        again = capture(request, context)
        return again, bool(getattr(context.chat, "missing", 0))


def _get(settings: Mapping[str, Any], name: str) -> Any:
    found: Any = settings
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _set(config: Mapping[str, Any], names: list[str], value: Any) -> dict[str, Any]:
    inner = config.get(names[0])
    below = inner if isinstance(inner, Mapping) else {}
    return {**config, names[0]: value if len(names) == 1 else _set(below, names[1:], value)}


def _remedies(
    at: int,
    text: Text,
    made: list[Candidate],
    trace: CaptureTrace,
    request: CaptureRequest,
    fresh: Callable[[], CaptureContext],
) -> tuple[list[Remedy], dict[str, Text]]:
    trials = _Trials(at, request, fresh, trace.settings, [], {})
    trials.settings_of(text, {}, trace)
    found = trials.found
    number = text.message if text.message is not None else at
    if text.gate in _BY_WORDS and text.role == "user":
        for words in _rephrased(text.text, trace.recipe):
            messages = list(request.messages)
            messages[number] = Message("user", words, at_ms=messages[number].at_ms)
            again, asked = trials.replay(replace(request, messages=messages))
            if _kept(at, again):
                found.append(Remedy("the words", text.text, words, confirmed=True, note="said like this"))
                break
            if not asked and at < len(again.texts) and again.texts[at].gate != text.gate:
                trials.later.setdefault(again.texts[at].gate, again.texts[at])
    if text.gate in _BY_TURN:
        alone = replace(request, messages=[request.messages[number]])
        if trials.replay(alone)[0].writes:
            count = len(request.messages)
            found.append(Remedy("the turn", f"one of {count} messages", "alone", confirmed=True))
    if text.gate == "duplicate":
        match = made[0].match if made and made[0].match else text.reason
        note = made[0].reason if made else text.reason
        found.append(Remedy("the stored memory", match, "edited or forgotten", confirmed=False, note=note))
    found.sort(key=lambda each: (not each.confirmed, each.setting.count(",")))
    return found, trials.later


_BY_TURN = ("enough of this turn", "after the third", "not scanned", "to-dos of this turn")

_BY_WORDS = (
    "no statement",
    "no trigger",
    "no trigger word",
    "too short",
    "too long",
    "formatted list",
    "summary",
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
    if trace.recipe == "pro":
        return _settings_of_pro(text, settings)
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
    if gate == "enough of this turn" and isinstance(text.limit, float):
        return [("maxItemsPerTurn", int(text.limit) + 1)]
    if gate == "not scanned":
        return [("maxScannedUserMessages", sum(each.role == "user" for each in trace.texts))]
    if gate == "to-dos of this turn" and isinstance(text.limit, float):
        return [("maxTodoPerTurn", int(text.limit) + 1)]
    if gate == "to-do of the last hours":
        return [("todoDedupeWindowHours", 0)]
    return []


def _settings_of_pro(text: Text, settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    gate, value = text.gate, text.value
    number = value if isinstance(value, int | float) else None
    if gate == "role" and text.role == "assistant":
        return [("captureAssistant", True)]
    if gate == "too few texts" and number is not None:
        return [("extractMinMessages", int(number)), ("sessionEnd", True)]
    if gate == "low value":
        return [("extractionThrottle.skipLowValue", False)]
    if gate in ("compression", "no room") and number is not None:
        fits = [("extractMaxChars", int(number))]
        return [*fits, ("sessionCompression.enabled", False)] if gate == "compression" else fits
    if gate == "boundary":
        return [("workspaceBoundary.userMdExclusive.enabled", False)]
    if gate == "utility veto":
        return [("admissionControl.utilityVetoThreshold", 0)]
    if gate == "admission" and number is not None:
        return [("admissionControl.rejectThreshold", number), ("admissionControl.enabled", False)]
    return []


_OPENINGS = ("Remember", "Decision, we will use this", "I prefer this")


def _rephrased(text: str, recipe: str) -> list[str]:
    """Wordings that say the same more plainly."""
    from memtui.engine.capture.recipes.memtui.wording import HEDGED

    plain = " ".join(HEDGED.pattern.sub(" ", text).split()).strip(" ,?？")
    bare = text.rstrip("?？ ")
    short = " ".join(text.replace("*", "").split())[:400].rstrip()
    said = [words for words in dict.fromkeys((text.rstrip(), plain, bare, short)) if words]
    openings = _OPENINGS if recipe in _LADDERS else _OPENINGS[:1]
    return [f"{opening}: {words}" for opening in openings for words in said]


def _kept(at: int, trace: CaptureTrace) -> bool:
    return any(at in each.texts and each.writes for each in trace.candidates)


def what_if(settings: Mapping[str, Any], request: CaptureRequest, context: CaptureContext) -> CaptureTrace:
    """The same conversation under other settings: no model is asked anything that it was not asked before."""
    return capture(replace(request, config={**request.config, **settings}), context)
