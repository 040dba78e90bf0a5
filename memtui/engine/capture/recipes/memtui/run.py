"""Our own recipe, from messages to a trace: rules and the store's own vectors, or a model where one is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memtui.engine.capture.recipes.base import CaptureContext, CaptureRecipe, CaptureRequest
from memtui.engine.capture.recipes.memtui.asked import by_model
from memtui.engine.capture.recipes.memtui.decide import Decider
from memtui.engine.capture.recipes.memtui.rows import bare_words
from memtui.engine.capture.recipes.memtui.texts import ReadTexts, Statement, fate_of, read_texts
from memtui.engine.capture.trace import CaptureCandidate, CaptureText, CaptureTrace
from memtui.engine.core.errors import EmbeddingError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


DEFAULTS: Mapping[str, Any] = {
    "captureAssistant": False,
    "kinds": ("preference", "decision", "fact", "identifier", "correction"),
    "keepUnsure": False,
    "minMessages": 1,
}

NO_MODEL = (
    "No model was asked: statements were found by rules. They cannot tell fiction from fact, nor make one memory of "
    "two; uncertain wording needs review."
)


def run(request: CaptureRequest, context: CaptureContext) -> CaptureTrace:
    """The trace of one conversation. Nothing is written."""
    settings = resolved(request.config)
    read = read_texts(request.messages, assistant=bool(settings["captureAssistant"]))
    scope = request.scope or context.policy.writes_to(request.agent) or "global"
    decider = Decider(
        context.draft,
        scope,
        context.now_ms,
        context.new_id,
        request.session,
        supersedes=context.draft.store.dialect.reads_metadata,
    )
    trace = CaptureTrace("memtui", settings, context.now_ms, read.texts, facts={"scope": scope})
    said = sum(text.role == "user" and bool(text.text) for text in read.texts)
    if said < int(settings["minMessages"]):
        return _too_few(trace, said, int(settings["minMessages"]))
    if context.chat is not None:
        return by_model(trace, read, decider, context)
    statements = _wanted(read, settings)
    vectors, warnings = embedded(context, [statement.text for statement in statements])
    candidates = decider.all(statements, vectors)
    texts = _fates(read, candidates, statements, settings)
    return replace(
        trace,
        texts=texts,
        candidates=tuple(candidates),
        warnings=(*warnings, NO_MODEL) if statements else warnings,
    )


def resolved(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with defaults. Raises UsageError for one that is not known."""
    unknown = sorted(set(config) - set(DEFAULTS) - {"model"})
    if unknown:
        raise UsageError(
            f"The recipe memtui has no setting {unknown[0]}.", fix=f"It has {', '.join(DEFAULTS)}."
        )
    return {**DEFAULTS, **config}


def embedded(
    context: CaptureContext, texts: Sequence[str]
) -> tuple[NDArray[np.float32] | None, tuple[str, ...]]:
    """The vectors of the texts; without an embedder none, and a warning that says what that means."""
    if not texts:
        return None, ()
    try:
        return context.embed(texts), ()
    except EmbeddingError as error:
        return None, (bare_words(context.draft, error),)


def _wanted(read: ReadTexts, settings: Mapping[str, Any]) -> list[Statement]:
    kinds = set(settings["kinds"])
    kept = [statement for statement in read.statements if statement.kind in kinds]
    return [replace(statement, sure=True) for statement in kept] if settings["keepUnsure"] else kept


def _too_few(trace: CaptureTrace, said: int, least: int) -> CaptureTrace:
    texts = tuple(
        replace(text, fate="deferred", gate="too few texts", value=float(said), limit=float(least))
        if text.role == "user"
        else text
        for text in trace.texts
    )
    return replace(trace, texts=texts)


def _fates(
    read: ReadTexts,
    candidates: Sequence[CaptureCandidate],
    statements: Sequence[Statement],
    settings: Mapping[str, Any],
) -> tuple[CaptureText, ...]:
    """The texts with what their statements came to."""
    made: dict[int, list[CaptureCandidate]] = {}
    for candidate in candidates:
        for place in candidate.texts:
            made.setdefault(place, []).append(candidate)
    kinds: dict[int, str] = {}
    for statement in read.statements:
        kinds.setdefault(statement.place, statement.kind)
    texts = []
    for place, text in enumerate(read.texts):
        if place in made:
            texts.append(fate_of(text, made[place]))
        elif place in kinds:
            texts.append(
                replace(
                    text, fate="dropped", gate="kind", value=kinds[place], reason="this kind is not wanted"
                )
            )
        else:
            texts.append(text)
    return tuple(texts)


PROTOCOL = 1

RECIPE = CaptureRecipe(
    "memtui",
    "memtui",
    "our own: statements by rules in eight languages or by a model; one row for one statement, in its scope only",
    run,
    defaults=DEFAULTS,
    steps=(
        ("who said it", ("assistant text", "tool output", "system text", "role")),
        ("command", ("command", "injected block", "empty")),
        ("order", ("order", "private")),
        ("secret", ("secret",)),
        ("statement", ("",)),
        ("sure", ("unsure",)),
        ("not stored yet", ("duplicate",)),
    ),
    openings=("Remember",),
)
