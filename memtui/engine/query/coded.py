"""Terms over columns with few different values: one decision for each value, spread to the rows by code."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.metadata import SOURCES
from memtui.engine.query.asking import Asking
from memtui.engine.query.ast import Text
from memtui.engine.query.errors import FilterError, nearest, quote
from memtui.engine.query.fields import SMART_CATEGORIES, SMART_SINGULAR, STORAGE_CATEGORIES
from memtui.engine.query.render import literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memtui.engine.store.catalog import Mask


def spread(
    codes: NDArray[np.unsignedinteger], values: Sequence[str | None], wanted: Callable[[str | None], bool]
) -> Mask:
    """The rows whose value is `wanted`: bool [n] over `codes` [n] into `values`."""
    chosen = np.fromiter((wanted(value) for value in values), dtype=np.bool_, count=len(values))
    return chosen[codes] if chosen.size else np.zeros(len(codes), dtype=np.bool_)


def scope_mask(asking: Asking, value: Text) -> Mask:
    """Rows whose scope, exactly as stored, equals the value or fits its glob; an empty value means none.

    A glob never fits a missing scope, so that `-scope:*` finds the rows without one.
    """
    codes, scopes = asking.catalog.scope_codes, asking.catalog.scopes
    if value.glob:
        fits = glob_pattern(value.text).match
        return spread(codes, scopes, lambda scope: scope is not None and bool(fits(scope)))
    return spread(codes, scopes, lambda scope: (scope or "") == value.text)


def glob_pattern(glob: str) -> re.Pattern[str]:
    """`*` any characters, `?` one, all others themselves; matches in linear time."""
    return re.compile(fnmatch.translate(glob.replace("[", "[[]")))


def category_mask(asking: Asking, value: Text) -> Mask:
    """Rows whose stored or smart category is the value, upper and lower case alike.

    The six storage words ask the category column only (no metadata needed); a smart word, or one that
    is neither, asks the metadata too. An empty value finds rows without a category.
    """
    catalog = asking.catalog
    word = value.text.strip().lower()
    mask = spread(catalog.category_codes, catalog.categories, lambda stored: _same(stored, word))
    if word and word not in STORAGE_CATEGORIES and catalog.has_metadata:
        meta, smart = asking.meta(f"cat:{quote(value.text)}"), SMART_SINGULAR.get(word, word)
        mask |= spread(meta.memory_category, meta.memory_categories, lambda stored: _same(stored, smart))
    if word:
        check_known(asking, value, "category", category_words(asking))
    return mask


def category_words(asking: Asking) -> list[str]:
    """Every category word that means something here."""
    catalog = asking.catalog
    words = [*STORAGE_CATEGORIES, *SMART_CATEGORIES, *SMART_SINGULAR, *filter(None, catalog.categories)]
    return words + ([c for c in catalog.meta.memory_categories if c] if catalog.meta is not None else [])


def source_mask(asking: Asking, value: Text) -> Mask:
    """Rows that came from the source, upper and lower case alike."""
    label = asking.catalog.labels.get("source")
    if label is None and asking.catalog.metadata_pending:
        asking.meta("source")
    if label is None:
        return asking.provided("source", value.text, whole_field=True)
    check_known(asking, value, "source", [*SOURCES, *filter(None, label.values)])
    return spread(label.codes, label.values, lambda source: _same(source, value.text))


def metadata_mask(asking: Asking, value: Text) -> Mask:
    """Rows whose metadata has the key, or the value behind its =; a key that no row has is an error."""
    mask = asking.provided("meta", value.text, whole_field=True)
    if not mask.any() and (meta := asking.catalog.meta) is not None:
        key = Text(value.text.partition("=")[0], span=value.span)
        check_known(asking, key, "metadata key", meta.keys)
    return mask


def check_known(asking: Asking, value: Text, what: str, known: Sequence[str]) -> None:
    """Raise FilterError with the nearest of the `known` words when `value` is none of them."""
    if any(_same(each, value.text) for each in known):
        return
    meant = nearest(value.text, known)
    raise FilterError(
        f'No memory here has the {what} "{quote(value.text)}".',
        text=asking.text,
        span=value.span,
        fix=f"Did you mean {quote(meant)}?" if meant else f"There are {', '.join(map(quote, known[:12]))}.",
        nearest=meant and literal(meant),
    )


def _same(stored: str | None, word: str) -> bool:
    return (stored or "").strip().lower() == word.strip().lower()
