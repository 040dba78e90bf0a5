"""Terms over columns with few different values: one decision for each value, spread to the rows by code."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from memtui.engine.query.asking import Asking
from memtui.engine.query.ast import Text
from memtui.engine.query.errors import FilterError, nearest, quote
from memtui.engine.query.fields import SMART_CATEGORIES, SMART_SINGULAR, STORAGE_CATEGORIES

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
    if value.glob:
        fits = glob_pattern(value.text).match
        return spread(
            asking.catalog.scope_codes, asking.catalog.scopes, lambda s: s is not None and bool(fits(s))
        )
    return spread(asking.catalog.scope_codes, asking.catalog.scopes, lambda s: (s or "") == value.text)


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
    stored = spread(catalog.category_codes, catalog.categories, lambda c: (c or "").strip().lower() == word)
    if not word or word in STORAGE_CATEGORIES or not catalog.has_metadata:
        _check_category(asking, value, word)
        return stored
    meta = asking.meta(f"cat:{quote(value.text)}")
    smart = SMART_SINGULAR.get(word, word)
    _check_category(asking, value, word)
    return stored | spread(
        meta.memory_category, meta.memory_categories, lambda c: (c or "").strip().lower() == smart
    )


def category_words(asking: Asking) -> list[str]:
    """Every category word that means something here."""
    catalog = asking.catalog
    words = [*STORAGE_CATEGORIES, *SMART_CATEGORIES, *SMART_SINGULAR, *filter(None, catalog.categories)]
    return words + ([c for c in catalog.meta.memory_categories if c] if catalog.meta is not None else [])


def _check_category(asking: Asking, value: Text, word: str) -> None:
    known = category_words(asking)
    if not word or any(word == each.strip().lower() for each in known):
        return
    meant = nearest(word, known)
    raise FilterError(
        f'No memory here has the category "{quote(value.text)}".',
        text=asking.text,
        span=value.span,
        fix=f"Did you mean {quote(meant)}?" if meant else f"It takes one of {', '.join(STORAGE_CATEGORIES)}.",
        nearest=meant,
    )
