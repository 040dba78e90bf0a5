"""Compressed transcripts: one event of a row, and an archive's lines. What a frame says of itself is never trusted."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

LONGEST_EVENT = 32 << 20
"""Bytes of one event; the host keeps none above 4 MiB."""

LONGEST_ARCHIVE = 4 << 30
"""Bytes of an archive that are unpacked; what lies behind them is not read."""


def expand_event(packed: object, size: object) -> bytes:
    """The event of a row whose compressed bytes and size are given. Raises ValueError, in words, where either lies."""
    if not isinstance(packed, bytes) or not packed:
        raise ValueError("it holds no compressed bytes")
    if isinstance(size, bool) or not isinstance(size, int) or not 0 < size <= LONGEST_EVENT:
        raise ValueError(f"its size of {size} bytes is not possible")
    import pyarrow as pa

    try:
        # A frame that is longer or shorter than the size is refused; nothing beyond the size is ever allocated.
        return cast(bytes, pa.decompress(packed, decompressed_size=size, codec="zstd", asbytes=True))
    except (OSError, pa.ArrowException, MemoryError):
        raise ValueError(f"its bytes do not unpack to the {size} that it names") from None


@contextmanager
def open_archive(source: Path | bytes, *, packed: bool) -> Iterator[IO[bytes]]:
    """The lines of an archive: a file or a database's bytes, compressed or not. Raises OSError for a damaged one."""
    if not packed:
        with source.open("rb") if isinstance(source, Path) else io.BytesIO(source) as plain:
            yield plain
        return
    import pyarrow as pa

    given = pa.OSFile(str(source), "rb") if isinstance(source, Path) else pa.BufferReader(source)
    with given, pa.CompressedInputStream(given, "zstd") as stream:
        yield cast("IO[bytes]", io.BufferedReader(_Bounded(stream)))


class _Bounded(io.RawIOBase):
    """A stream that ends, with an error, where an archive would unpack to more than anybody wrote."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.left = stream, LONGEST_ARCHIVE

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self.stream.read(len(view))
        self.left -= len(data)
        if self.left < 0:
            raise OSError(None, "it unpacks to more than 4 GiB")
        view[: len(data)] = data
        return len(data)
