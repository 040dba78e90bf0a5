"""The ids of a table in 16 bytes a row, and finding one among a million."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


_DASHES = (8, 13, 18, 23)

_LENGTH = 36

_HEX_AT = np.array([at for at in range(_LENGTH) if at not in _DASHES])

_NIBBLE = np.full(256, 255, dtype=np.uint8)

_NIBBLE[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16, dtype=np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class PackedIds:
    """Ids in catalog order. Lower-case UUIDs are the numbers `high` and `low` (first and last 16 hex digits).

    All others are kept as text: `odd_texts[k]` (None is NULL) stands at position `odd_at[k]`, ascending.
    """

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    odd_at: NDArray[np.int64]
    odd_texts: pa.Array
    _by_high: list[NDArray[np.int64]] = field(default_factory=list, repr=False)

    def texts(self, positions: Sequence[int] | NDArray[np.int64]) -> list[str | None]:
        """The ids at `positions` as text; None is a NULL id."""
        at = np.asarray(positions, dtype=np.int64)
        texts: list[str | None] = [
            _uuid_text(high, low)
            for high, low in zip(self.high[at].tolist(), self.low[at].tolist(), strict=True)
        ]
        if self.odd_at.size:
            place = np.minimum(np.searchsorted(self.odd_at, at), self.odd_at.size - 1)
            for k in np.flatnonzero(self.odd_at[place] == at).tolist():
                texts[k] = self.odd_texts[int(place[k])].as_py()
        return texts

    def find(self, id_or_prefix: str) -> NDArray[np.int64]:
        """Positions of the rows with exactly this id, else of those whose id begins with it.

        Exact matches tell upper case from lower case, prefixes do not. An empty text matches nothing.
        """
        if not id_or_prefix:
            return np.empty(0, dtype=np.int64)
        exact = self._odd(id_or_prefix, exact=True)
        if len(id_or_prefix) == _LENGTH:
            exact = np.concatenate([exact, self._uuids(id_or_prefix)])
        if exact.size:
            return np.sort(exact)
        lower = id_or_prefix.lower()
        return np.sort(np.concatenate([self._odd(lower, exact=False), self._uuids(lower)]))

    def ranks(self) -> NDArray[np.float64]:
        """The rank of each id among all [n], equal for equal ids, NaN for NULL.

        In the order of their characters, or as numbers where all are numbers.
        """
        n = len(self.high)
        if not self.odd_at.size:
            order = np.lexsort((self.low, self.high))
            high, low = self.high[order], self.low[order]
            risen = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
            found = np.zeros(n)
            found[order[1:]] = np.cumsum(risen)
            return found
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = self.odd_texts if self.odd_at.size == n else pa.array(self.texts(np.arange(n)), pa.string())
        if pc.all(pc.match_substring_regex(whole, r"\A[0-9]{1,18}\z")).as_py():
            whole = whole.cast(pa.int64())
        ranks: NDArray[np.float64] = pc.rank(whole, tiebreaker="dense").to_numpy().astype(np.float64)
        ranks[whole.is_null().to_numpy(zero_copy_only=False)] = np.nan
        return ranks

    def duplicated(self) -> NDArray[np.bool_]:
        """Which rows share their id with another row: bool [n]. NULL ids are no ids."""
        twice = np.zeros(len(self.high), dtype=np.bool_)
        order = self._order()
        high = self.high[order]
        near = np.flatnonzero(high[1:] == high[:-1])
        rows = order[np.union1d(near, near + 1)]
        rows = rows[~np.isin(rows, self.odd_at)]
        pairs = np.stack([self.high[rows], self.low[rows]], axis=1)
        _, group, sizes = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
        twice[rows[sizes[group.reshape(-1)] > 1]] = True
        texts = np.array([text or "" for text in self.odd_texts.to_pylist()], dtype=object)
        if texts.size:
            _, group, sizes = np.unique(texts, return_inverse=True, return_counts=True)
            twice[self.odd_at[(sizes[group] > 1) & (texts != "")]] = True
        return twice

    def _uuids(self, prefix: str) -> NDArray[np.int64]:
        digits = _hex_digits(prefix)
        if digits is None:
            return np.empty(0, dtype=np.int64)
        first, last = _bounds(digits[:16])
        order = self._order()
        start = np.searchsorted(self.high, np.uint64(first), side="left", sorter=order)
        stop = np.searchsorted(self.high, np.uint64(last), side="right", sorter=order)
        found = order[start:stop]
        if len(digits) > 16:
            first, last = _bounds(digits[16:])
            low = self.low[found]
            found = found[(low >= np.uint64(first)) & (low <= np.uint64(last))]
        return found[~np.isin(found, self.odd_at)] if self.odd_at.size else found

    def _odd(self, text: str, *, exact: bool) -> NDArray[np.int64]:
        import pyarrow.compute as pc

        if not self.odd_at.size:
            return self.odd_at
        if exact:
            hits = pc.equal(self.odd_texts, text)
        else:
            hits = pc.starts_with(self.odd_texts, text, ignore_case=True)
        hit: NDArray[np.bool_] = hits.fill_null(False).to_numpy(zero_copy_only=False)
        return self.odd_at[hit]

    def _order(self) -> NDArray[np.int64]:
        if not self._by_high:
            self._by_high.append(np.argsort(self.high, kind="stable"))
        return self._by_high[0]


def pack(column: Any) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.bool_]]:
    """The ids of an Arrow string array as two halves, and which of them are no lower-case UUID (halves 0)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n = len(column)
    if not pa.types.is_string(column.type):
        column = column.cast(pa.string())
    plain = pc.equal(pc.binary_length(column), _LENGTH).fill_null(False)
    fitting = plain.to_numpy(zero_copy_only=False)
    whole = column if fitting.all() else column.filter(plain)
    packed = np.zeros((2, int(fitting.sum())), dtype=np.uint64)
    good = np.zeros(packed.shape[1], dtype=np.bool_)
    if packed.size:
        start = np.frombuffer(whole.buffers()[1], dtype=np.int32)[whole.offset]
        characters = np.frombuffer(whole.buffers()[2], dtype=np.uint8)
        grid = characters[start : start + _LENGTH * len(whole)].reshape(-1, _LENGTH)
        nibbles = _NIBBLE[grid[:, _HEX_AT]]
        good = (nibbles < 16).all(axis=1) & (grid[:, _DASHES] == ord("-")).all(axis=1)
        octets = np.ascontiguousarray((nibbles[:, 0::2] << 4) | (nibbles[:, 1::2] & 15))
        packed = octets.view(">u8").astype(np.uint64).T * good
    high, low = np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
    high[fitting], low[fitting] = packed
    odd = ~fitting
    odd[fitting] = ~good
    return high, low, odd


def _hex_digits(prefix: str) -> str | None:
    """The hex digits of a UUID's beginning, dashes where they belong or none at all; None for other text."""
    digits = prefix.replace("-", "")
    if not digits or len(digits) > 32 or any(digit not in "0123456789abcdef" for digit in digits):
        return None
    dashes = {at for at, character in enumerate(prefix) if character == "-"}
    expected = {at for at in _DASHES if at < len(prefix)}
    return digits if not dashes or dashes == expected else None


def _bounds(digits: str) -> tuple[int, int]:
    return int(digits.ljust(16, "0"), 16), int(digits.ljust(16, "f"), 16)


def _uuid_text(high: int, low: int) -> str:
    digits = f"{high:016x}{low:016x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
