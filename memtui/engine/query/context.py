"""What a filter is evaluated against: the catalog, the clock, and who looks into texts and rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memtui.engine.lifecycle.decay import DecayParams
    from memtui.engine.progress import CancelToken
    from memtui.engine.store.catalog import Catalog, Mask, Positions


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

    def provides(self, term: str) -> bool:
        """Whether a provider decides `term` ("is:noise", "lang")."""
        return self.facts is not None and term in self.facts.provides()
