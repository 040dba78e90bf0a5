"""Memories that deserve a look: noise, secrets, orders, envelopes; with the rule, and what speaks against it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtui.engine.core.content_rules import false_positive, injection, noise_rule
from memtui.engine.core.envelopes import find_envelopes, without_envelopes
from memtui.engine.core.errors import UsageError
from memtui.engine.core.order_rules import LANGUAGES, RULES
from memtui.engine.core.progress import CancelToken, OnProgress, Progress
from memtui.engine.core.secrets import NOT_RECOGNISED, find_secrets, forms, mask
from memtui.engine.core.text import one_line

if TYPE_CHECKING:
    from memtui.engine.engine import Engine


KINDS = ("noise", "secret", "injection", "envelope")

_SHOWN = 320

_AROUND = 40
"""Characters shown on each side of what was found."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """One reason to look at a memory. `excerpt` never shows a secret."""

    id: str
    kind: str
    rule: str
    """The noise rule, the kind of secret, how it gives orders, or what is left without the envelope."""
    excerpt: str
    doubt: str = ""
    """Why it may be a mistake of the rule; empty when nothing speaks against it."""
    scope: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as the command line prints it."""
        return {
            "id": self.id,
            "kind": self.kind,
            "rule": self.rule,
            "false_positive": self.doubt or None,
            "scope": self.scope,
            "excerpt": self.excerpt,
        }


def find_suspects(
    engine: Engine,
    kinds: Collection[str] | None = None,
    filter: str = "",
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
) -> tuple[Suspect, ...]:
    """The memories that a filter keeps and that deserve a look, newest first; `kinds` are all where it is None.

    Every text is read, on this thread. Raises UsageError for an unknown kind, and for a filter with ~words.
    """
    from memtui.engine.catalog.views import selection_of

    selection = selection_of(engine.view, filter, cancel)
    catalog, chosen = selection.catalog, selection.mask
    kinds = KINDS if kinds is None else kinds
    unknown = sorted(set(kinds) - set(KINDS))
    if unknown:
        raise UsageError(f"Nothing is scanned for {unknown[0]!r}.", fix=f"Scan for {', '.join(KINDS)}.")
    from memtui.engine.catalog.select import positions_of

    pin = engine.store.pin(catalog.version)
    column = pin.dialect.columns.text
    found: list[tuple[int, list[_Reason]]] = []
    looks = [_LOOKS[kind] for kind in KINDS if kind in kinds]
    for n, batch in enumerate(pin.read_through([column])):
        if cancel:
            cancel.check()
        at = positions_of(catalog, batch.column("_rowid").to_numpy())
        for place, text in zip(at.tolist(), batch.column(column).to_pylist(), strict=True):
            if text and chosen[place]:
                reasons = [reason for look in looks for reason in look(text)]
                if reasons:
                    found.append((place, reasons))
        if on_progress:
            on_progress(Progress("Scanning", min(catalog.n, (n + 1) * batch.num_rows), catalog.n))
    found.sort(key=lambda each: each[0])
    ids = catalog.ids.texts([place for place, _ in found])
    suspects = []
    for (place, reasons), memory_id in zip(found, ids, strict=True):
        scope = catalog.scopes[catalog.scope_codes[place]]
        suspects += [
            Suspect(memory_id or "", reason.kind, reason.rule, reason.excerpt, reason.doubt, scope)
            for reason in reasons
        ]
    return tuple(suspects)


@dataclass(frozen=True, slots=True)
class _Reason:
    kind: str
    rule: str
    excerpt: str
    doubt: str = ""


def _noise(text: str) -> Iterator[_Reason]:
    rule = noise_rule(text)
    if rule is not None:
        yield _Reason("noise", rule, _excerpt(text), false_positive(text) or "")


def _secrets(text: str) -> Iterator[_Reason]:
    secrets = find_secrets(text)
    for kind in dict.fromkeys(secret.kind for secret in secrets):
        first = next(secret for secret in secrets if secret.kind == kind)
        around = text[max(0, first.start - _AROUND) : first.start], text[first.end : first.end + _AROUND]
        yield _Reason("secret", kind, one_line(f"{mask(around[0])[0]}••••{mask(around[1])[0]}"))


def _injection(text: str) -> Iterator[_Reason]:
    found = injection(text)
    if found is not None:
        yield _Reason("injection", found.rule, _excerpt(text), found.doubt)


def _envelope(text: str) -> Iterator[_Reason]:
    if find_envelopes(text):
        yield _Reason(
            "envelope", "with a text" if without_envelopes(text) else "nothing else", _excerpt(text)
        )


_LOOKS: dict[str, Callable[[str], Iterator[_Reason]]] = {
    "noise": _noise,
    "secret": _secrets,
    "injection": _injection,
    "envelope": _envelope,
}


def _excerpt(text: str) -> str:
    line = one_line(mask(text[: 4 * _SHOWN])[0])
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def recognised() -> dict[str, Any]:
    """What a scan knows: kinds of secrets with their forms, kinds of orders and their languages, and what it misses."""
    return {
        "secrets": forms(),
        "not_recognised": NOT_RECOGNISED,
        "orders": tuple(name for name, _ in RULES),
        "languages": LANGUAGES,
        "envelopes": "Label (... untrusted ...): with the fence, JSON or text behind it, whatever the label",
    }
