"""What a service's refusal means, and the sentence for it."""

from __future__ import annotations

import re
from enum import Enum

from memtui.engine.embed.settings import EmbeddingSettings
from memtui.engine.errors import EmbeddingError
from memtui.engine.post import PostError, Reply, excerpt


class Refusal(Enum):
    """What to do about an answer that is not 2xx."""

    RATE = "another key may help, or waiting"
    LENGTH = "a shorter text may help"
    PASSING = "the same request may succeed"
    FINAL = "nothing helps but a person"


class TooLongError(EmbeddingError):
    """The service finds the input too long for its model."""


_QUOTA = re.compile(r"rate.?limit|quota|too many requests|insufficient.{0,20}(credit|balance)", re.IGNORECASE)
_LENGTH = re.compile(
    r"context.{0,30}(length|limit|window|size)|too (long|large|many tokens)"
    r"|max\w*.{0,20}(token|length|size)|exceed.{0,25}(token|length|limit)",
    re.IGNORECASE,
)
_PASSING = (408, 500, 502, 504)


def kind_of(reply: Reply) -> Refusal:
    """Sort an answer that is not 2xx; its text counts where the status says little."""
    if reply.status in (429, 503) or _QUOTA.search(reply.text):
        return Refusal.RATE
    if reply.status == 413 or (reply.status not in (401, 403, 404) and _LENGTH.search(reply.text)):
        return Refusal.LENGTH
    return Refusal.PASSING if reply.status in _PASSING else Refusal.FINAL


def refused(settings: EmbeddingSettings, reply: Reply) -> EmbeddingError:
    """The error for an answer that is not 2xx, a TooLongError where a shorter text may help.

    The service's own words are quoted with every key masked.
    """
    host, said = settings.host, excerpt(reply.text, settings.api_keys)
    kind = kind_of(reply)
    if kind is Refusal.RATE:
        keys = len(settings.api_keys)
        who = f"all {keys} API keys at {host} are" if keys > 1 else f"{host} is"
        return EmbeddingError(
            f"No vector: {who} rate limited, out of quota or overloaded ({reply.status}).",
            fix="Wait a moment, or add an API key with quota left.",
            details=said,
        )
    fix = "Check the embedding settings (model, baseURL, dimensions)."
    if reply.status in (401, 403):
        fix = f"Check embedding.apiKey for {host}."
    elif reply.status == 404:
        fix = f"Check embedding.baseURL, and that {host} has the model {settings.model}."
    elif kind is Refusal.LENGTH:
        fix = "Set embedding.maxInputChars to what the model takes."
        return TooLongError(
            f"No vector: the text is too long for {settings.model} at {host}: {said}", fix=fix
        )
    elif kind is Refusal.PASSING:
        fix = f"Try again; if it stays, look at the log of {host}."
    return EmbeddingError(f"No vector: {host} answered {reply.status}: {said}", fix=fix)


def unanswered(settings: EmbeddingSettings, error: PostError, budget_s: float) -> EmbeddingError:
    """The error for a request that got no answer."""
    host = settings.host
    if error.kind == "timeout":
        return EmbeddingError(
            f"No vector: {host} did not answer within {budget_s:g} s.",
            fix="Check that the service is up, or give it more time.",
            details=str(error),
        )
    return EmbeddingError(
        f"No vector: {host} cannot be asked: {error}.",
        fix=f"Check embedding.baseURL and that a service runs at {host}.",
        details=error.kind,
    )
