"""The outermost door of the command line: whatever fails behind it becomes a sentence and an exit code.

What is foreseen comes as a `MemtuiError`, which says itself what to do. Here is the rest: what the system refuses
wherever it does, and what nobody foresaw. `MEMTUI_TRACEBACK=1` lets the latter through as it is, for a report.
"""

from __future__ import annotations

import errno
import io
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from memtui.cli.output import error
from memtui.engine import Cancelled, MemtuiError, UsageError

INTERRUPTED = 130
"""The exit code of a program that Control-C ended, as shells count."""

TRACEBACK = "MEMTUI_TRACEBACK"

UNEXPECTED = "memtui failed in a way that it does not expect"
"""What is said of a failure that nobody foresaw: a fault of memtui's own."""

_LOOK = "What was changed before it failed, if anything, is listed by: memtui journal."

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_OUTPUT = "<stdout>"

_SHOWN = 80
"""Characters of a name that is shown: it may have thousands."""


def run_guarded(work: Callable[[], int], arguments: Sequence[str]) -> int:
    """Do `work`, the command that `arguments` name, and print what it left to print; return its exit code.

    No failure leaves here but one that `MEMTUI_TRACEBACK` asks to see, and what ends the process on purpose.
    """
    try:
        _name_output()
        _need_text(arguments)
        code = work()
        sys.stdout.flush()
    except SystemExit:
        _flush_quietly()
        raise
    except KeyboardInterrupt:
        sys.stderr.write(
            "memtui: stopped. What was changed before, if anything, is listed by: memtui journal.\n"
        )
        return INTERRUPTED
    except BrokenPipeError:
        _leave_output()
        return 0
    except MemtuiError as failure:
        error(failure)
        return failure.exit_code
    except Cancelled:
        error(MemtuiError("The command was stopped.", fix=_LOOK))
        return INTERRUPTED
    except GeneratorExit:
        raise
    except BaseException as failure:  # a panic of the engine is no Exception
        told = _told(failure)
        if told is None:
            if os.environ.get(TRACEBACK):
                raise
            told = _unforeseen(failure)
        error(told)
        _leave_output()
        return told.exit_code
    return code


def fill_standard_streams() -> None:
    """Give a closed standard stream a place, so that no file that is opened later takes its number.

    Writing to a standard output that was closed fails as any other full or broken one does.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - lives as long as the program
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = _closed()


def _closed() -> TextIO:
    """A text stream of a file that is open for reading only: writing fails, as it does to a closed one."""
    return os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8", closefd=False)


def _need_text(arguments: Sequence[str]) -> None:
    """Raise UsageError for an argument that is no UTF-8, unless it is the name of a file that is there."""
    for given in arguments:
        undecoded = any(
            "\udc80" <= char <= "\udcff" for char in given
        )  # as Python keeps a byte of an argument
        if undecoded and not any(os.path.exists(path) for path in (given, given.partition("=")[2]) if path):
            raise UsageError(
                f"The argument {_short(given)} is not valid UTF-8.",
                fix="Give text as UTF-8; only a file that exists may have another name.",
            )


def failure_of(failure: BaseException) -> MemtuiError:
    """What failed, as a sentence and what to do, whatever it is."""
    return failure if isinstance(failure, MemtuiError) else _told(failure) or _unforeseen(failure)


def _told(failure: BaseException) -> MemtuiError | None:
    """What the system refused, as a sentence; None for what nobody foresaw."""
    if isinstance(failure, OSError):
        return _of_system(failure)
    if isinstance(failure, sqlite3.Error):
        return _of_sqlite(failure)
    if isinstance(failure, MemoryError):
        return MemtuiError("There is not enough memory for this command.", fix=_LOOK)
    if isinstance(failure, RecursionError):
        return MemtuiError("A value is nested too deeply to be read.", fix=_LOOK)
    if isinstance(failure, UnicodeEncodeError):
        return MemtuiError(
            f"A text holds a character that cannot be written as {failure.encoding.upper()}: position "
            f"{failure.start} of {_short(failure.object)}.",
            fix=_LOOK,
        )
    return None


def _of_system(failure: OSError) -> MemtuiError:
    if failure.filename == _OUTPUT:
        return MemtuiError(f"Standard output cannot be written: {failure.strerror}.", fix=_LOOK)
    place = _short(os.fsdecode(failure.filename)) if isinstance(failure.filename, str | bytes) else ""
    why = failure.strerror or str(failure) or "the system refused"
    if failure.errno in _NO_ROOM:
        what = f"{place} cannot be written" if place else "A file cannot be written"
        return MemtuiError(f"{what}: the disk is full.", fix=f"Free some space, then try again. {_LOOK}")
    if failure.errno == errno.ENAMETOOLONG:
        return UsageError(f"The name {place} is too long for the file system.", fix="Check the path.")
    if isinstance(failure, FileNotFoundError):
        return MemtuiError(f"{place or 'A file'} does not exist.", fix=f"Check the path. {_LOOK}")
    if isinstance(failure, PermissionError):
        return MemtuiError(
            f"{place or 'A file'} may not be read or written by this user: {why}.",
            fix=f"Check who may use it. {_LOOK}",
        )
    return MemtuiError(f"{place + ': ' if place else ''}{why}.", fix=_LOOK)


def _of_sqlite(failure: sqlite3.Error) -> MemtuiError:
    said = str(failure)
    if "full" in said:
        return MemtuiError(
            "A database of memtui cannot be written: the disk is full.",
            fix=f"Free some space in memtui's state folder (XDG_STATE_HOME), then try again. {_LOOK}",
        )
    if "locked" in said or "busy" in said:
        return MemtuiError("A database is locked by another program.", fix="Try again when it is done.")
    return MemtuiError(f"A database cannot be used: {said}.", fix=_LOOK)


def _unforeseen(failure: BaseException) -> MemtuiError:
    said = " ".join(str(failure).split())
    return MemtuiError(
        f"{UNEXPECTED}: {_short(said) if said else type(failure).__name__}.",
        fix=f"{_LOOK} To report the failure, run the command again with {TRACEBACK}=1.",
    )


def _name_output() -> None:
    """Let a failure to write standard output name it: by itself such a failure names no file."""
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        return

    def named(act: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            try:
                return act(*given)
            except OSError as failure:
                failure.filename = _OUTPUT
                raise

        return call

    for name in ("write", "flush"):
        setattr(stream, name, named(getattr(stream, name)))


def _flush_quietly() -> None:
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _leave_output()


def _leave_output() -> None:
    """Drop what standard output did not take: the interpreter would complain of it at its end."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (OSError, ValueError):
            return


def _short(text: str) -> str:
    shown = text.encode("utf-8", "backslashreplace").decode()
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
