"""What the engine's bare exceptions mean, and what a person can do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.engine.core.errors import (
    DamagedStoreError,
    MemtuiError,
    RefusedError,
    StoreNotFoundError,
    UsageError,
)
from memtui.engine.store.hindrance import hindrance, unreadable
from memtui.engine.store.locate import RESTORE
from memtui.engine.store.service_errors import explain_service, refuse_page_at

_RUST_SOURCE = re.compile(r",? (?:location: )?/\S+\.rs:\d+:\d+")

_FILE = re.compile(r"Not found: (?!Wrapped)(?:.*\.lance/)?([^\s,]+)")  # the folder may have blanks and commas

_CUT = {"file size is too small": "cut short", "Invalid range 0..0": "empty"}

_ERRORS = (ValueError, RuntimeError, OSError, NotImplementedError)

_NO_DICTIONARY = re.compile(r"Invalid directory path: (.+?)(?: for full text search index.*)?$", re.DOTALL)

_NO_TOKENIZER = re.compile(
    r"(?:Failed to build tokenizer: |unknown base tokenizer )(.+?)(?: for full text search index.*)?$",
    re.DOTALL,
)

_PANICS = ("RustPanic", "PanicException")
"""What the engine's own faults are called in Python; the second is not even an Exception."""


@contextmanager
def explained(where: str, newest: str = "") -> Iterator[None]:
    """Turn the engine's `ValueError`, `RuntimeError` and `OSError`, and its panics, into errors with a remedy.

    `where` is the place of the table, `newest` the name of its newest version file where that is known.
    """
    try:
        yield
    except MemtuiError:
        raise
    except BaseException as error:
        if not is_engines(error):
            raise
        raise explain(error, where, newest) from error


def is_engines(error: BaseException) -> bool:
    """Whether an exception comes from the engine, and not from us or the person who stops the program."""
    return isinstance(error, _ERRORS) or type(error).__name__ in _PANICS


def explain(error: BaseException, where: str, newest: str = "") -> MemtuiError:
    """The error of ours that says what `error` means for the table at `where`."""
    text = _RUST_SOURCE.sub("", str(error)).strip()
    if "://" not in where and (why := hindrance(error)):
        return unreadable(where, why, text)
    if type(error).__name__ in _PANICS and "://" in where:
        return MemtuiError(
            f"The engine gave up on what {where} answered.",
            fix="Try again; memtui doctor says whether a file is damaged.",
            details=text,
        )
    if type(error).__name__ in _PANICS:
        return DamagedStoreError(
            f"A file of {where} is damaged: the engine gave up on it.", fix=RESTORE, details=text
        )
    for sign, state in _CUT.items():
        if sign in text:
            return DamagedStoreError(
                f"{where}: its newest version file {newest or '(in _versions)'} is {state}.",
                fix="Move that file out of _versions to open the version before it (its change is lost).",
                details=text,
            )
    if remote := explain_service(text, where):
        return remote
    if "no longer exists" in text:
        return MemtuiError(
            f"That version of {where} is gone.", fix="Reload; another program has cleaned up.", details=text
        )
    if "://" in where and "Not found" in text:
        refuse_page_at(where)
    if why := _unsplit(text):
        return MemtuiError(
            f"The full-text index of {where} cannot be searched here: {why}.",
            fix="Put the dictionary there, or make the index anew: memtui doctor --fix D5.",
            details=text,
        )
    if "_indices/" in text and "Not found" in text:
        return DamagedStoreError(
            f"The files of the full-text index of {where} are missing.",
            fix="Search by meaning, or have the agent's program rebuild its index.",
            details=text,
        )
    if found := _FILE.search(text):
        return DamagedStoreError(f"A file of {where} is missing: {found[1]}.", fix=RESTORE, details=text)
    if "failed to fill whole buffer" in text or "corrupt" in text or "invalid utf-8" in text:
        return DamagedStoreError(f"A data file of {where} is damaged.", fix=RESTORE, details=text)
    if "was not found" in text:
        return StoreNotFoundError(f"There is no table at {where}.", fix="Check the path.", details=text)
    if "position is not found" in text:
        return MemtuiError(
            "The full-text index has no positions, so it cannot find a phrase.",
            fix="Leave the quotes out, or rebuild the index.",
            details=text,
        )
    return MemtuiError(f"{where} could not be read: {_first_line(text)}.", details=text)


def _unsplit(text: str) -> str:
    """Why the index cannot split a question into words; empty where that is not what failed."""
    if found := _NO_DICTIONARY.search(text):
        return f"it splits words by a dictionary that is not at {found[1]}"
    found = _NO_TOKENIZER.search(text)
    return f"what it splits words by cannot be had ({found[1]})" if found else ""


def need_version_number(version: int | None) -> None:
    """Raise UsageError for what cannot be the number of a version: the engine counts from 1 in 64 bits."""
    if version is not None and not 0 < version < 2**63:
        raise UsageError(
            f"{version} is no version of a table: versions are counted from 1.", fix="See: memtui versions."
        )


def _first_line(text: str) -> str:
    lines = text.splitlines()
    return (lines[0] if lines else "no reason given").rstrip(".")


# The one handle that changes a table: rows are read at its newest version and written in one commit.

_NO_ROOM = ("No space left", "StorageFull", "os error 28", "File too large", "os error 27", "Disk quota")


class CommitConflictError(MemtuiError):
    """Another program committed at the same moment: nothing was written, and it is safe to try again."""


@contextmanager
def writing(where: str) -> Iterator[None]:
    """Turn the engine's errors of a write into errors with a remedy."""
    try:
        yield
    except MemtuiError:
        raise
    except BaseException as error:
        if not is_engines(error):
            raise
        text = str(error)
        if "Retryable commit conflict" in text or "Too many concurrent writers" in text:
            raise CommitConflictError(
                f"Another program keeps writing to {where}.", fix="Try again in a moment.", details=text
            ) from error
        if any(sign in text for sign in _NO_ROOM):
            raise MemtuiError(
                f"There is no room left on the disk of {where}.",
                fix="Make room, then look at the journal: it says whether the change is there.",
                details=text,
            ) from error
        if isinstance(error, PermissionError) or "Permission denied" in text or "Read-only file" in text:
            raise RefusedError(
                f"{where} may not be written by this user.",
                fix="Check the permissions of the folder; nothing was changed.",
                details=text,
            ) from error
        raise explain(error, where) from error
