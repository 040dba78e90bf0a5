"""A full-text index of version 1, read from its files: its words, and for each word the rows that hold it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memtui.engine.store.agent_words.lance_file import LanceFile, NotReadable

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[Any]]


BLOCK = 128
"""Rows of a packed block of a posting list."""

KEPT = 1_000_000
"""Entries of unpacked posting lists that a part remembers: 8 MB."""

_POSTING, _BLOCKS, _MAX_SCORE, _LENGTH, _POSITIONS, _POSITION_LISTS, _POSITION_BLOCKS = range(7)
"""Columns of an inverted list: the lists, their blocks, the best score, the length, the positions."""


@dataclass(frozen=True)
class Postings:
    """The rows that hold a word, by their number within the part, ascending; how often each holds it."""

    docs: Numbers
    freqs: Numbers
    block_max: tuple[float, ...]
    """Of each block of 128 rows, the best score that the writer saw in it."""
    max_score: float
    token_id: int
    """The word's number, which is its place in the part's files."""


class Part:
    """One part of an index: the files `part_N_tokens`, `part_N_docs` and `part_N_invert`."""

    def __init__(self, folder: Path, number: int, fst: bool) -> None:
        self._inverted = LanceFile(folder / f"part_{number}_invert.lance")
        tokens = LanceFile(folder / f"part_{number}_tokens.lance")
        self._words = Fst(tokens.binary(0)[0]) if fst else _plain_words(tokens)
        docs = LanceFile(folder / f"part_{number}_docs.lance")
        self.row_ids: Numbers = docs.numbers(0, "<u8")
        """Of each row of the part, its row id."""
        self.lengths: Numbers = docs.numbers(1, "<u4")
        """Of each row of the part, its number of words."""
        self._kept: dict[int, Postings] = {}

    def __len__(self) -> int:
        return len(self.row_ids)

    def size(self, word: str) -> int:
        """In how many rows of this part the word stands."""
        at = self._words.get(word.encode())
        return 0 if at is None else int(self._lengths[at])

    def postings(self, word: str) -> Postings | None:
        """The rows that hold the word; None where the part does not have it."""
        at = self._words.get(word.encode())
        if at is None:
            return None
        kept = self._kept.get(at)
        if kept is None:
            if sum(len(each.docs) for each in list(self._kept.values())) > KEPT:
                self._kept.clear()
            kept = self._kept[at] = self._read(at)
        return kept

    def _read(self, at: int) -> Postings:
        length = int(self._lengths[at])
        first = int(self._ends[at - 1]) if at else 0
        blocks = [self._blocks[each] for each in range(first, int(self._ends[at]))]
        docs, freqs, best = unpacked(blocks, length)
        return Postings(docs, freqs, best, float(self._max_scores[at]), at)

    def positions(self, postings: Postings, doc: int) -> Numbers:
        """Where in a row its word stands, by the number of words before it; `doc` is an index into `docs`."""
        lists, items = self._position_ends
        first_list = int(lists[postings.token_id - 1]) if postings.token_id else 0
        place = first_list + doc
        first = int(items[place - 1]) if place else 0
        blocks = [self._position_blocks[each] for each in range(first, int(items[place]))]
        count = int.from_bytes(blocks[0][:4], "little")
        return unpacked_positions(blocks[1:], count)

    @cached_property
    def _lengths(self) -> Numbers:
        return self._inverted.numbers(_LENGTH, "<u4")

    @cached_property
    def _max_scores(self) -> Numbers:
        return self._inverted.numbers(_MAX_SCORE, "<f4")

    @cached_property
    def _ends(self) -> Numbers:
        return self._inverted.list_ends(_POSTING)

    @cached_property
    def _blocks(self) -> Any:
        return self._inverted.binary(_BLOCKS)

    @cached_property
    def _position_ends(self) -> tuple[Numbers, Numbers]:
        return self._inverted.list_ends(_POSITIONS), self._inverted.list_ends(_POSITION_LISTS)

    @cached_property
    def _position_blocks(self) -> Any:
        return self._inverted.binary(_POSITION_BLOCKS)


class PartAmong:
    """What a part holds of some rows, as though it had been made of them alone; rows keep their numbers."""

    def __init__(self, whole: Part, rows: Numbers) -> None:
        import numpy as np

        self._whole = whole
        self._held = np.isin(whole.row_ids, rows)
        self._count = int(np.count_nonzero(self._held))
        self.row_ids, self.lengths = whole.row_ids, np.where(self._held, whole.lengths, 0)
        self._places: dict[int, Numbers] = {}
        """Of each posting list, by its word, where its rows stand in that of the whole part."""

    def __len__(self) -> int:
        return self._count

    def size(self, word: str) -> int:
        """In how many of these rows the word stands."""
        found = self.postings(word)
        return 0 if found is None else len(found.docs)

    def postings(self, word: str) -> Postings | None:
        """The rows of these that hold the word; None where none does."""
        import numpy as np

        found = self._whole.postings(word)
        if found is None:
            return None
        places = self._places[found.token_id] = np.flatnonzero(self._held[found.docs])
        if not len(places):
            return None
        return replace(found, docs=found.docs[places], freqs=found.freqs[places])

    def positions(self, postings: Postings, doc: int) -> Numbers:
        """Where in a row its word stands; `doc` is an index into the `docs` of what `postings` gave."""
        return self._whole.positions(postings, int(self._places[postings.token_id][doc]))


def read_parts(folder: Path) -> list[Part]:
    """The parts of the index in `folder`; raises `NotReadable` for an index of another form."""
    described = LanceFile(folder / "metadata.lance").metadata
    try:
        numbers = json.loads(described["partitions"])
        fst = described.get("token_set_format", "arrow") == "fst"
        return [Part(folder, int(number), fst) for number in numbers]
    except (KeyError, ValueError, TypeError, IndexError, OSError, RecursionError) as error:
        raise NotReadable(f"the index in {folder.name}: {error}") from error


def unpacked(blocks: list[bytes], length: int) -> tuple[Numbers, Numbers, tuple[float, ...]]:
    """The rows, frequencies and best scores of a posting list of `length` rows, from its blocks.

    A full block is: best score (f32), first row (u32), bits, packed differences, bits, packed frequencies; the
    last one, where it is not full: best score, rows, frequencies, all as they are.
    """
    import numpy as np

    docs, freqs, best = [], [], []
    for at, block in enumerate(blocks):
        best.append(float(np.frombuffer(block, "<f4", 1)[0]))
        left = length - at * BLOCK
        if left >= BLOCK:
            rows, used = _sorted_block(block[4:])
            docs.append(rows)
            freqs.append(unpacked_bits(block[5 + used :], block[4 + used]))
        else:
            rest = np.frombuffer(block, "<u4", 2 * left, 4)
            docs.append(rest[:left])
            freqs.append(rest[left:])
    return np.concatenate(docs), np.concatenate(freqs), tuple(best)


def unpacked_positions(blocks: list[bytes], count: int) -> Numbers:
    """`count` ascending positions from their blocks of 128, the last one unpacked."""
    import numpy as np

    parts = []
    for at, block in enumerate(blocks):
        left = count - at * BLOCK
        parts.append(_sorted_block(block)[0] if left >= BLOCK else np.frombuffer(block, "<u4", left))
    return np.concatenate(parts) if parts else np.array([], "<u4")


def _sorted_block(block: bytes) -> tuple[Numbers, int]:
    """128 ascending numbers, and how many bytes they took: the first one, bits, packed differences."""
    import numpy as np

    first, bits = int.from_bytes(block[:4], "little"), block[4]
    differences = unpacked_bits(block[5:], bits)
    return (np.cumsum(differences, dtype=np.uint32) + np.uint32(first)), 5 + 16 * bits


def unpacked_bits(packed: bytes, bits: int) -> Numbers:
    """128 numbers of `bits` bits each, in four interleaved lanes of 32-bit words (BitPacker4x)."""
    import numpy as np

    if not bits:
        return np.zeros(BLOCK, np.uint32)
    words = np.frombuffer(packed, "<u4", 4 * bits).reshape(bits, 4).astype(np.uint64)
    words = np.vstack([words, np.zeros((1, 4), np.uint64)])
    starts = np.arange(BLOCK // 4, dtype=np.uint64) * np.uint64(bits)
    word, shift = (starts >> np.uint64(5)).astype(np.int64), (starts & np.uint64(31))[:, None]
    pair = words[word] | (words[word + 1] << np.uint64(32))
    values: Numbers = (pair >> shift) & np.uint64((1 << bits) - 1)
    return values.astype(np.uint32).ravel()


def _plain_words(tokens: LanceFile) -> dict[bytes, int]:
    """The words of an index that keeps them as a column of text beside their numbers."""
    words, numbers = tokens.binary(0), tokens.numbers(1, "<u4")
    return {words[row]: int(numbers[row]) for row in range(words.rows)}


_COMMON = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHGW"
"""Bytes that a node names by number: the 63 most frequent ones (crate `fst`)."""

_INDEXED = 32
"""A node with more ways on than this has an index over all bytes."""


class Fst:
    """A finite-state transducer of the crate `fst`, version 2 or 3: from byte strings to numbers.

    Nodes are read backwards from their address: a state byte, then sizes, inputs, targets and outputs.
    """

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._version = int.from_bytes(raw[:8], "little")
        if self._version not in (1, 2, 3):
            raise NotReadable(f"words in a transducer of version {self._version}")
        end = len(raw) - (4 if self._version >= 3 else 0)
        self._root = int.from_bytes(raw[end - 8 : end], "little")

    def get(self, key: bytes) -> int | None:
        """The number of `key`, None where it is not there."""
        node, total = self._root, 0
        for byte in key:
            step = self._step(node, byte)
            if step is None:
                return None
            node, output = step
            total += output
        final = self._final(node)
        return None if final is None else total + final

    def _number(self, at: int, size: int) -> int:
        return int.from_bytes(self._raw[at : at + size], "little")

    def _step(self, start: int, byte: int) -> tuple[int, int] | None:
        """Where `byte` leads from the node at `start`, and what it adds; None where it leads nowhere."""
        if start == 0:
            return None
        raw, state = self._raw, self._raw[start]
        if state & 0x80:  # one way on
            common = state & 0x3F
            named = 0 if common else 1
            if (_COMMON[common - 1] if common else raw[start - 1]) != byte:
                return None
            if state & 0x40:  # to the node before
                return start - named - 1, 0
            targets, outputs = divmod(raw[start - named - 1], 16)
            end = start - named - 1 - targets - outputs
            delta = self._number(end + outputs, targets)
            return (end - delta if delta else 0), self._number(end, outputs)
        ways, extra, index = self._ways(start)
        targets, outputs = divmod(raw[start - extra - 1], 16)
        inputs = start - extra - 1 - index - ways
        if index:
            way = raw[start - extra - 1 - index + byte]
            if way >= ways:
                return None
        else:
            place = raw.find(bytes((byte,)), inputs, inputs + ways)
            if place < 0:
                return None
            way = inputs + ways - place - 1
        end = self._end(start)
        delta = self._number(inputs - (way + 1) * targets, targets)
        output = self._number(inputs - ways * targets - (way + 1) * outputs, outputs)
        return (end - delta if delta else 0), output

    def _final(self, start: int) -> int | None:
        """What ending at this node adds, None where nothing ends."""
        if start == 0:
            return 0
        state = self._raw[start]
        if state & 0x80 or not state & 0x40:
            return None
        outputs = self._raw[start - self._ways(start)[1] - 1] % 16
        return self._number(self._end(start), outputs)

    def _ways(self, start: int) -> tuple[int, int, int]:
        """Ways on from a node, bytes that their number takes beside the state, bytes of the index over them."""
        state = self._raw[start]
        ways, extra = state & 0x3F, 0
        if not ways:
            ways, extra = self._raw[start - 1], 1
            ways = 256 if ways == 1 else ways
        if not state & 0x3F and self._raw[start - 1] == 0:
            ways = 0
        return ways, extra, 256 if self._version >= 2 and ways > _INDEXED else 0

    def _end(self, start: int) -> int:
        """The lowest address of a node with several ways on."""
        ways, extra, index = self._ways(start)
        targets, outputs = divmod(self._raw[start - extra - 1], 16)
        final = outputs if self._raw[start] & 0x40 else 0
        return start - extra - 1 - index - ways - ways * targets - ways * outputs - final
