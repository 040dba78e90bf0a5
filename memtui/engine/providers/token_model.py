"""A small transformer on this machine that reads a text with the one before it: one vector a word piece.

Optional: it needs `memtui[context]` (onnxruntime) and a model's files, which a person fetched or has. A folder holds
`tokenizer.json` and `model.onnx` (or one of `FILES`), as published for all-MiniLM-L6-v2 and its like.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.engine.core.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


FILES = ("model_qint8.onnx", "model_quantized.onnx", "model.onnx")
"""Names of a model's file, the first that is there counts; looked for in the folder and in its `onnx`."""

TOKENIZER = "tokenizer.json"

TEXT_PIECES, BEFORE_PIECES = 190, 62
"""Word pieces that are read of a text (its beginning) and of the text before it (its end): with marks 256."""

_BATCH = 32

_LONGEST = 20_000
"""Characters that are tokenised: many times what the pieces can hold."""

_MARKS = (("[CLS]", "[SEP]"), ("<s>", "</s>"))

_BEGINS = "\u2581\u0120"
"""What some tokenizers set before the first piece of a word."""


class ReadTokens(NamedTuple):
    """The word pieces of one text as the model read them."""

    tokens: list[str]
    spans: list[tuple[int, int]]
    """Start and end of each piece in the text, in characters."""
    matrix: NDArray[np.float32]
    """[pieces, model's dimensions], rows of length 1."""


class _Loaded(NamedTuple):
    session: Any
    tokenizer: Any
    begin: int
    end: int
    pad: int
    inputs: frozenset[str]
    output: str


def model_file(folder: Path) -> Path:
    """The model's file in `folder`. EmbeddingError when it, or its tokenizer, is not there."""
    if not (folder / TOKENIZER).is_file():
        raise EmbeddingError(
            f"{folder} has no {TOKENIZER}.", fix="Name the folder of a model: tokenizer.json and model.onnx."
        )
    for place in (folder, folder / "onnx"):
        for name in FILES:
            if (place / name).is_file():
                return place / name
    raise EmbeddingError(
        f"{folder} has none of {', '.join(FILES)}.", fix="Name the folder that holds the model's ONNX file."
    )


@lru_cache(maxsize=2)
def _load(folder: Path, file: Path, stamp: tuple[int, int]) -> _Loaded:
    """The model's files, read once a process for as long as the file is the same one (`stamp`: size, time)."""
    try:
        import onnxruntime
    except ImportError as error:
        raise EmbeddingError(
            "Token vectors need onnxruntime, which is not installed.",
            fix="Install memtui[context].",
        ) from error
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # its warnings would go to the terminal
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # both raise plain Exception
        raise EmbeddingError(
            f"The model in {folder} cannot be read.", fix="Fetch it again.", details=str(error)
        ) from error
    marks: tuple[int, int] | None = None
    for begin, end in ((tokenizer.token_to_id(a), tokenizer.token_to_id(b)) for a, b in _MARKS):
        if marks is None and begin is not None and end is not None:
            marks = begin, end
    output = next((output.name for output in session.get_outputs() if len(output.shape) == 3), None)
    names = frozenset(each.name for each in session.get_inputs())
    if marks is None or output is None or not {"input_ids", "attention_mask"} <= names:
        raise EmbeddingError(
            f"The model in {folder} gives no vector for each word piece.",
            fix="Name a BERT-like model exported with its last hidden state.",
        )
    pad = tokenizer.token_to_id("[PAD]")
    return _Loaded(session, tokenizer, marks[0], marks[1], 0 if pad is None else pad, names, output)


@lru_cache(maxsize=2)
def _vocabulary(folder: Path, file: Path, stamp: tuple[int, int]) -> tuple[str, ...]:
    return tuple(piece.lstrip(_BEGINS) for piece in _load(folder, file, stamp).tokenizer.get_vocab())


class TokenModel:
    """The model in `folder`; its files are read at the first use, safe from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = model_file(folder)

    @property
    def name(self) -> str:
        """The file's name with the beginning of its hash: two models never share it."""
        return _named(self._file, _stamp(self._file))

    @property
    def bytes(self) -> int:
        """Size of the model's file."""
        return self._file.stat().st_size

    def vocabulary(self) -> tuple[str, ...]:
        """Its word pieces, without the mark of a word's beginning. EmbeddingError as `read_many`."""
        return _vocabulary(self.folder, self._file, _stamp(self._file))

    def read(self, text: str) -> ReadTokens:
        """The word pieces of a question, read by itself."""
        return self.read_many([("", text)])[0]

    def read_many(self, texts: Sequence[tuple[str, str]]) -> list[ReadTokens]:
        """The word pieces of each (text before, text); those of the text before are read and not returned.

        Raises EmbeddingError when the model or `memtui[context]` is not there, or the model fails.
        """
        loaded = _load(self.folder, self._file, _stamp(self._file))
        order = sorted(range(len(texts)), key=lambda at: len(texts[at][0]) + len(texts[at][1]))
        out: list[ReadTokens | None] = [None] * len(texts)
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]  # alike in length: little is padded
            for at, read in zip(places, _run(loaded, [texts[at] for at in places]), strict=True):
                out[at] = read
        return [each for each in out if each is not None]


def _run(loaded: _Loaded, texts: Sequence[tuple[str, str]]) -> list[ReadTokens]:
    import numpy as np

    def pieces(wanted: list[str]) -> list[Any]:
        found: list[Any] = loaded.tokenizer.encode_batch(wanted, add_special_tokens=False)
        return found

    sound = [(_sound(before)[-_LONGEST:], _sound(text)[:_LONGEST]) for before, text in texts]
    before, own = pieces([each for each, _ in sound]), pieces([each for _, each in sound])
    rows, kinds, starts = [], [], []
    for first, second in zip(before, own, strict=True):
        lead = [*first.ids[-BEFORE_PIECES:], loaded.end] if first.ids else []
        text = second.ids[:TEXT_PIECES]
        rows.append([loaded.begin, *lead, *text, loaded.end])
        kinds.append([0] * (1 + len(lead)) + [int(bool(lead))] * (len(text) + 1))
        starts.append(1 + len(lead))
    width = max(map(len, rows))
    ids = np.full((len(rows), width), loaded.pad, np.int64)
    mask, types = np.zeros_like(ids), np.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, : len(row)], mask[at, : len(row)], types[at, : len(row)] = row, 1, kinds[at]
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    feed = {name: array for name, array in given.items() if name in loaded.inputs}
    try:
        hidden = loaded.session.run([loaded.output], feed)[0]
    except Exception as error:  # onnxruntime raises its own kinds, all plain
        raise EmbeddingError("The model failed.", fix="Try another model.", details=str(error)) from error
    out = []
    for at, second in enumerate(own):
        count = min(len(second.ids), TEXT_PIECES)
        matrix = np.asarray(hidden[at, starts[at] : starts[at] + count], np.float32)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        matrix = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
        out.append(ReadTokens(second.tokens[:count], second.offsets[:count], matrix))
    return out


def _sound(text: str) -> str:
    """A text that the tokenizer takes: a lone surrogate becomes one other character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _stamp(file: Path) -> tuple[int, int]:
    try:
        found = file.stat()
    except OSError as error:
        raise EmbeddingError(f"{file} is gone.", fix="Fetch the model again.") from error
    return found.st_size, found.st_mtime_ns


@lru_cache(maxsize=8)
def _named(file: Path, stamp: tuple[int, int]) -> str:
    with file.open("rb") as read:
        return f"{file.parent.name}/{file.name}@{hashlib.file_digest(read, 'sha256').hexdigest()[:12]}"
