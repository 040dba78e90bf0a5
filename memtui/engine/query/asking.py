"""One term at the moment it is evaluated: where it may look, and how it says that it cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.clean import one_line
from memtui.engine.query.ast import Span
from memtui.engine.query.context import FilterContext, TextSearch
from memtui.engine.query.errors import FilterError, NotProvidedError, NotReadyError

if TYPE_CHECKING:
    from memtui.engine.store.catalog import Catalog, Mask, Meta, Positions


@dataclass(frozen=True, slots=True)
class Asking:
    """A term at `span` of the filter `text`, asked of `context`."""

    context: FilterContext
    text: str
    span: Span

    @property
    def catalog(self) -> Catalog:
        """The catalog asked."""
        return self.context.catalog

    def meta(self, what: str) -> Meta:
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
