"""What a filter is evaluated against: the catalog, the clock, and who looks into texts and rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from memtui.engine.core.text import one_line
from memtui.engine.query.ast import TextSpan
from memtui.engine.query.errors import FilterError, NotProvidedError, NotReadyError

if TYPE_CHECKING:
    from memtui.engine.catalog.catalog import Catalog, Mask, MetadataColumns, Positions
    from memtui.engine.core.progress import CancelToken
    from memtui.engine.decay.decay import DecayParams


class TextSearch(Protocol):
    """Finds rows by their text; answers are positions in the catalog (or a mask over it), in any order."""

    def words(self, term: str) -> Positions | Mask:
        """Rows whose text holds the word."""

    def substring(self, text: str) -> Positions | Mask:
        """Rows whose text holds exactly these characters, upper and lower case alike."""

    def regex(self, pattern: str) -> Positions | Mask:
        """Rows whose text the pattern finds, upper and lower case alike.

        In time linear in the text; raises ValueError for a pattern that the engine does not accept.
        """


class RowFacts(Protocol):
    """Decides terms that the catalog cannot: is:noise, is:duplicate, is:secret, has:vector, lang, source."""

    def provides(self) -> frozenset[str]:
        """The terms it can decide, as "is:noise" or, for a field with any values, "lang"."""

    def rows(self, field: str, value: str) -> Positions | Mask:
        """The rows of which `field:value` is true."""

    def values(self, field: str) -> tuple[str, ...]:
        """The values that a field such as "lang" has in this store, empty when they are not known."""


COMPARING = frozenset({"is:duplicate"})
"""Terms whose answer for one row rests on the others."""


@dataclass(frozen=True, slots=True)
class FilterContext:
    """One catalog at one moment. What is None cannot be filtered by, and says so."""

    catalog: Catalog
    now_ms: int
    text: TextSearch | None = None
    facts: RowFacts | None = None
    decay: DecayParams | None = None
    """For is:stale; None means the defaults."""
    cancel: CancelToken | None = None
    veiled: bool = False
    """Whether whoever asks may not read every row: see `ListQuery.veiled`."""

    def provides(self, term: str) -> bool:
        """Whether a provider decides `term` ("is:noise", "lang")."""
        return self.facts is not None and term in self.facts.provides()


# One term at the moment it is evaluated: where it may look, and how it says that it cannot.


@dataclass(frozen=True, slots=True)
class TermContext:
    """A term at `span` of the filter `text`, asked of `context`."""

    context: FilterContext
    text: str
    span: TextSpan

    @property
    def catalog(self) -> Catalog:
        """The catalog asked."""
        return self.context.catalog

    def meta(self, what: str) -> MetadataColumns:
        """The metadata columns, or the error that says why `what` cannot be decided without them."""
        catalog = self.catalog
        if catalog.metadata_pending:
            message = f"{what} cannot be filtered before the metadata is read."
            raise NotReadyError(message, text=self.text, span=self.span, needs="metadata")
        if catalog.meta is None:
            raise self.not_provided(f"This store keeps nothing that could decide {what}.")
        return catalog.meta

    def not_provided(self, message: str, fix: str = "Remove this term.") -> NotProvidedError:
        """The error that nothing here can decide the term."""
        return NotProvidedError(message, text=self.text, span=self.span, fix=fix)

    def provided(self, field: str, value: str, *, whole_field: bool = False) -> Mask:
        """The rows that the context's provider finds for `field:value`."""
        facts = self.context.facts
        term = f"{field}:{value}"
        if self.context.veiled and term in COMPARING:
            raise self.not_provided(f"{term} compares with memories that are not yours to read.")
        if facts is None or (field if whole_field else term) not in facts.provides():
            raise self.not_provided(f"{field if whole_field else term} cannot be filtered yet.")
        return self.mask(facts.rows(field, value))

    def search(self, what: str, ask: Callable[[TextSearch], Positions | Mask]) -> Mask:
        """The rows that a search over the texts finds; a pattern it does not accept is a FilterError."""
        if self.context.text is None:
            raise self.not_provided(f"{what} cannot be filtered yet.")
        try:
            return self.mask(ask(self.context.text))
        except ValueError as error:
            reason = _reason(str(error))
            raise FilterError(
                f"The text search does not accept this: {reason}.",
                text=self.text,
                span=self.span,
                fix="Correct it, or search for words.",
                details=str(error),
            ) from error

    def mask(self, found: Positions | Mask) -> Mask:
        """Positions, or a mask, as a mask: bool [n]."""
        if found.dtype == np.bool_:
            return found.astype(np.bool_, copy=False)
        mask = np.zeros(self.catalog.n, dtype=np.bool_)
        mask[found] = True
        return mask


def _reason(message: str) -> str:
    """The one line of the engine's message that says what is wrong with a pattern."""
    if "CompiledTooBig" in message:
        return "it is too large"
    line = one_line(message.rpartition("error: ")[2])
    return line.removesuffix(")") if line.count(")") > line.count("(") else line
