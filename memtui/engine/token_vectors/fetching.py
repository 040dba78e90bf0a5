"""Fetching a model's files, which happens only when a person asks for it and has seen from where and how much."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memtui.engine.core.errors import MemtuiError, UsageError
from memtui.engine.core.progress import CancelToken, OnProgress, Progress

if TYPE_CHECKING:
    import httpx

MODEL_URL = "https://huggingface.co/Xenova/all-MiniLM-L6-v2/resolve/main"
"""all-MiniLM-L6-v2 (Apache-2.0) as ONNX, weights in int8."""

WANTED = (("tokenizer.json", "tokenizer.json"), ("onnx/model_quantized.onnx", "model_quantized.onnx"))
"""Each file below the address, and its name in the folder."""

_BLOCK = 1 << 20

_LARGEST = 2 << 30


@dataclass(frozen=True)
class RemoteFile:
    """A file that would be fetched."""

    url: str
    host: str
    name: str
    bytes: int | None
    """None where the host does not say."""


def look(base: str = MODEL_URL, *, timeout_s: float = 15) -> tuple[RemoteFile, ...]:
    """Ask the host what there is, and how large. UsageError for an address, MemtuiError where it cannot be asked."""
    import httpx

    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{base[:80]} is no web address.", fix="Name a folder: https://host/path.")
    found = []
    with httpx.Client(follow_redirects=True, timeout=timeout_s) as client:
        for path, name in WANTED:
            url = f"{base.rstrip('/')}/{path}"
            try:
                answer = client.head(url)
            except httpx.HTTPError as error:
                raise _unreachable(url, error) from error
            _good(answer, url)
            size = answer.headers.get("content-length", "")
            host = answer.url.host or parts.hostname
            found.append(RemoteFile(url, host, name, int(size) if size.isdigit() else None))
    return tuple(found)


def fetch(
    files: tuple[RemoteFile, ...],
    folder: Path,
    *,
    on_progress: OnProgress | None = None,
    cancel: CancelToken | None = None,
    timeout_s: float = 60,
) -> None:
    """Fetch `files` into `folder`: each is there whole or not at all. MemtuiError where the host fails."""
    import httpx

    folder.mkdir(parents=True, exist_ok=True)
    with httpx.Client(follow_redirects=True, timeout=timeout_s) as client:
        for file in files:
            writing = folder / f".{file.name}.{os.getpid()}"
            try:
                with client.stream("GET", file.url) as answer:
                    _good(answer, file.url)
                    _write(answer, writing, file, on_progress, cancel or CancelToken())
                writing.replace(folder / file.name)
            except httpx.HTTPError as error:
                raise _unreachable(file.url, error) from error
            finally:
                writing.unlink(missing_ok=True)


def _write(
    answer: httpx.Response,
    path: Path,
    file: RemoteFile,
    on_progress: OnProgress | None,
    cancel: CancelToken,
) -> None:
    done = 0
    with path.open("wb") as out:
        for block in answer.iter_bytes(_BLOCK):
            cancel.check()
            done += len(block)
            if done > _LARGEST:
                raise MemtuiError(f"{file.name} is larger than 2 GB.", fix="Name a smaller model.")
            out.write(block)
            if on_progress is not None:
                on_progress(Progress(f"fetching {file.name}", done, file.bytes or 0, "bytes"))
    if file.bytes is not None and done != file.bytes:
        raise MemtuiError(f"{file.name} came with {done:,} of {file.bytes:,} bytes.", fix="Fetch it again.")


def _good(answer: httpx.Response, url: str) -> None:
    if answer.status_code >= 400:
        raise MemtuiError(
            f"{urlsplit(url).hostname} answers {answer.status_code} for {urlsplit(url).path}.",
            fix="Check the address; or put the files into a folder yourself and name it with --model.",
        )


def _unreachable(url: str, error: Exception) -> MemtuiError:
    return MemtuiError(
        f"{urlsplit(url).hostname} cannot be reached ({type(error).__name__}).",
        fix="Try again; or put the files into a folder yourself and name it with --model.",
    )
