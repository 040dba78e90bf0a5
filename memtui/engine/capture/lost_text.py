"""Why a sentence became no memory: the gate that stopped it, and the smallest change that would have kept it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memtui.engine.capture.pipeline import capture
from memtui.engine.capture.recipes.base import CaptureContext, CaptureRecipe, CaptureRequest
from memtui.engine.capture.recipes.memtui.likeness import key_of, share
from memtui.engine.capture.recipes.memtui.texts import content_text, masked
from memtui.engine.capture.recipes.registry import capture_recipe
from memtui.engine.capture.trace import KEPT, CaptureCandidate, CaptureText, CaptureTrace, Message
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
        """Return it as the command line prints it."""
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
    verdict: str
    """One of `trace.VERDICTS`, as everywhere."""
    gate: str
    value: Any
    limit: Any
    reason: str
    ladder: tuple[Rung, ...]
    remedies: tuple[Remedy, ...]

    @property
    def kept(self) -> bool:
        """Whether something was made of it."""
        return self.verdict == KEPT

    def as_json(self) -> dict[str, Any]:
        """The document of `memtui capture why-not`."""
        return {
            "schema": "memtui.capture.why-not.v1",
            "text": masked(self.text),
            "verdict": self.verdict,
            "kept": self.kept,
            "gate": self.gate,
            "value": self.value,
            "limit": self.limit,
            "reason": self.reason,
            "ladder": [{"gate": r.gate, "passed": r.passed, "sentence": r.sentence} for r in self.ladder],
            "changes": masked([remedy.as_json() for remedy in self.remedies]),
        }


def place_of(trace: CaptureTrace, wanted: str, request: CaptureRequest | None = None) -> int:
    """The text of the conversation that is meant: the same one, one that holds it, or the likeliest.

    With the `request` a text is found by its secret, too, which the trace has masked. Raises UsageError where
    nothing in the conversation is like it.
    """
    key = key_of(wanted)
    texts = trace.texts
    said = () if request is None else request.messages
    holds = {at for at, message in enumerate(said) if key and key in key_of(content_text(message.content))}
    exact = [at for at, text in enumerate(texts) if key_of(text.text) == key]
    inside = [at for at, text in enumerate(texts) if key and key in key_of(text.text)]
    masked = [at for at, text in enumerate(texts) if text.message in holds]
    if exact or inside or masked:
        return (exact or inside or masked)[0]
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
    at = wanted if isinstance(wanted, int) else place_of(trace, wanted, request)
    text = trace.texts[at]
    made = [candidate for candidate in trace.candidates if at in candidate.texts]
    remedies, later = ([], {}) if text.verdict == KEPT else _remedies(at, text, made, trace, request, fresh)
    reason = text.reason or (made[0].reason if made else "")
    ladder = _ladder(capture_recipe(trace.recipe), text, made, later)
    return CaptureVerdict(
        text.text, text.verdict, text.gate, text.value, text.limit, reason, ladder, tuple(remedies)
    )


def _ladder(
    recipe: CaptureRecipe, text: CaptureText, made: list[CaptureCandidate], later: Mapping[str, CaptureText]
) -> tuple[Rung, ...]:
    """The gates of a text in order, the one that stopped it named with its numbers.

    `later` are gates further on that stopped it in a replay in which it had passed the earlier ones.
    """
    steps = tuple(name for name, _ in recipe.steps)
    stops = {gate: at for at, (_, gates) in enumerate(recipe.steps) for gate in gates}
    other = stops.get("", len(steps) - 1)
    stopped = len(steps) if any(candidate.writes for candidate in made) else stops.get(text.gate, other)
    told = {stops[gate]: text for gate, text in later.items() if stops.get(gate, -1) > stopped}
    rungs = []
    for number, step in enumerate(steps):
        if number < stopped:
            rungs.append(Rung(step, True, "it passed"))
        elif number == stopped:
            rungs.append(Rung(step, False, _said(text)))
        elif number in told:
            rungs.append(Rung(step, False, f"in a replay past the gates before: {_said(told[number])}"))
        else:
            rungs.append(Rung(step, None, "it did not get this far"))
    return tuple(rungs)


def _said(text: CaptureText) -> str:
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
    later: dict[str, CaptureText]

    def settings_of(self, text: CaptureText, changes: Mapping[str, Any], trace: CaptureTrace) -> None:
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
    text: CaptureText,
    made: list[CaptureCandidate],
    trace: CaptureTrace,
    request: CaptureRequest,
    fresh: Callable[[], CaptureContext],
) -> tuple[list[Remedy], dict[str, CaptureText]]:
    trials = _Trials(at, request, fresh, trace.settings, [], {})
    trials.settings_of(text, {}, trace)
    found = trials.found
    number = text.message if text.message is not None else at
    if text.gate in _BY_WORDS and text.role == "user":
        for words in _rephrased(text.text, capture_recipe(trace.recipe)):
            messages = list(request.messages)
            messages[number] = Message("user", words, at_ms=messages[number].at_ms)
            again, asked = trials.replay(replace(request, messages=messages))
            if _kept(at, again):
                found.append(Remedy(_WORDS, text.text, words, confirmed=True, note="said like this"))
                break
            if not asked and at < len(again.texts) and again.texts[at].gate != text.gate:
                trials.later.setdefault(again.texts[at].gate, again.texts[at])
    if text.gate in _BY_TURN:
        alone = replace(request, messages=[request.messages[number]])
        if trials.replay(alone)[0].writes:
            count = len(request.messages)
            found.append(Remedy(_TURN, f"one of {count} messages", "alone", confirmed=True))
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


def _settings_for(text: CaptureText, trace: CaptureTrace) -> list[tuple[str, Any]]:
    """The settings that belong to a gate, the nearest value first."""
    gate, settings = text.gate, trace.settings
    if (own := capture_recipe(trace.recipe).settings_for) is not None:
        return own(text, settings)
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
        return [("maxScannedUserMessages", sum(text.role == "user" for text in trace.texts))]
    if gate == "to-dos of this turn" and isinstance(text.limit, float):
        return [("maxTodoPerTurn", int(text.limit) + 1)]
    if gate == "to-do of the last hours":
        return [("todoDedupeWindowHours", 0)]
    return []


def _rephrased(text: str, recipe: CaptureRecipe) -> list[str]:
    """Wordings that say the same more plainly."""
    from memtui.engine.capture.recipes.memtui.wording import HEDGED

    plain = " ".join(HEDGED.pattern.sub(" ", text).split()).strip(" ,?？")
    bare = text.rstrip("?？ ")
    short = " ".join(text.replace("*", "").split())[:400].rstrip()
    said = [words for words in dict.fromkeys((text.rstrip(), plain, bare, short)) if words]
    return [f"{opening}: {words}" for opening in recipe.openings for words in said]


def _kept(at: int, trace: CaptureTrace) -> bool:
    return any(at in candidate.texts and candidate.writes for candidate in trace.candidates)


def with_remedy(remedy: Remedy, at: int, trace: CaptureTrace, request: CaptureRequest) -> CaptureRequest:
    """The request with a remedy of the text at `at`: said in other words, alone, or under other settings."""
    number = trace.texts[at].message
    place = at if number is None else number
    messages = list(request.messages)
    if remedy.setting == _WORDS:
        messages[place] = Message("user", remedy.after, at_ms=messages[place].at_ms)
        return replace(request, messages=messages)
    if remedy.setting == _TURN:
        return replace(request, messages=[messages[place]])
    changes = remedy.after if isinstance(remedy.before, Mapping) else {remedy.setting: remedy.after}
    config: Mapping[str, Any] = request.config
    for name, value in changes.items():
        config = _set(config, name.split("."), value)
    return replace(request, config=config)


_WORDS, _TURN = "the words", "the turn"


def what_if(settings: Mapping[str, Any], request: CaptureRequest, context: CaptureContext) -> CaptureTrace:
    """The same conversation under other settings: no model is asked anything that it was not asked before."""
    return capture(replace(request, config={**request.config, **settings}), context)
