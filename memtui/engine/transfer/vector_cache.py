"""Vectors that were made once, kept until they are in the store: what makes a killed import go on, not begin anew.

A file for each model. Every record is a hash of the text and the vector, appended and never changed, so that a
record cut off by a crash is simply not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.engine.errors import MemtuiError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_KEY = 16
BATCH = 64
"""Texts that are embedded between two writes: so much is lost at most when the program is killed."""


class VectorCache:
    """The vectors of one model, `dims` numbers each, in a file below `folder`."""

    def __init__(self, folder: Path, model: str, dims: int) -> None:
        digest = blake2b(f"{model}\0{dims}".encode(), digest_size=8).hexdigest()
        self._path = folder / f"{digest}.vectors"
        self._dims = dims
        self._size = _KEY + 4 * dims
        self._at: dict[bytes, int] = {}
        self._count = 0
        self._load()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def missing(self, texts: Sequence[str]) -> list[int]:
        """Places of the texts that have no vector yet."""
        return [at for at, text in enumerate(texts) if _key(text) not in self._at]

    def get(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts that all have one: float32 [n, dims]."""
        import numpy as np

        found = np.empty((len(texts), self._dims), dtype=np.float32)
        with self._path.open("rb") as file:
            for row, text in enumerate(texts):
                file.seek(self._at[_key(text)] * self._size + _KEY)
                found[row] = np.frombuffer(file.read(4 * self._dims), dtype="<f4")
        return found

    def put(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep vectors, on the disk when this returns."""
        rows = vectors.astype("<f4")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600), "r+b") as file:
                file.truncate(self._count * self._size)  # what a crash left of a record
                file.seek(0, os.SEEK_END)
                for text, row in zip(texts, rows, strict=True):
                    file.write(_key(text) + row.tobytes())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise MemtuiError(
                f"The vectors made so far cannot be kept in {self._path.parent}: {error.strerror or error}.",
                fix="Make room there; nothing was written to the store.",
            ) from error
        for text in texts:
            self._at[_key(text)] = self._count
            self._count += 1

    def fill(
        self,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], NDArray[np.float32]],
        done: Callable[[int], None],
    ) -> None:
        """Make the vectors that are missing, a batch at a time; `done` hears how many texts have one."""
        for part in _parts(self.missing(texts)):
            batch = list(dict.fromkeys(texts[at] for at in part))
            self.put(batch, embed(batch))
            done(len(part))

    def remove(self) -> None:
        """The vectors are in the store: they need not be kept here."""
        self._path.unlink(missing_ok=True)
        self._at, self._count = {}, 0

    def _load(self) -> None:
        try:
            size = self._path.stat().st_size
        except OSError:
            return
        self._count = size // self._size
        if self._count:
            import numpy as np

            kind = np.dtype([("key", f"V{_KEY}"), ("vector", f"V{4 * self._dims}")])
            keys = np.memmap(self._path, dtype=kind, mode="r", shape=(self._count,))["key"].tobytes()
            self._at = {keys[_KEY * at : _KEY * (at + 1)]: at for at in range(self._count)}


def _parts(places: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(places), BATCH):
        yield places[start : start + BATCH]


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()
