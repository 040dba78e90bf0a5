"""What keeps a file from being read though it may be sound: rights, locks, time-outs, a failing device.

Such a file is never called damaged: nothing is known of what it holds, and nothing that moves or removes it is offered.
"""

from __future__ import annotations

import errno
import re

from memtui.engine.core.errors import MemtuiError

_BY_NUMBER = {
    number: words
    for words, numbers in {
        "this user has no right to read it": (errno.EACCES, errno.EPERM),
        "another program holds it": (errno.EAGAIN, errno.EBUSY, errno.ETXTBSY, errno.EDEADLK, errno.ENOLCK),
        "it did not answer in time": (errno.ETIMEDOUT, errno.EINTR),
        "too many files are open": (errno.EMFILE, errno.ENFILE),
        "its disk does not answer": (errno.EIO, errno.ENXIO, errno.ENODEV, errno.ESTALE, errno.EREMOTEIO),
        "its disk is out of reach": (errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENOTCONN),
        "there is no memory left to read it": (errno.ENOMEM,),
    }.items()
    for number in numbers
}

_GONE = frozenset((errno.ENOENT, errno.ENOTDIR))

_OS_ERROR = re.compile(r"\(os error (\d+)\)")

_BY_WORDS = (
    (re.compile(r"Permission ?denied|Operation not permitted", re.IGNORECASE), errno.EACCES),
    (re.compile(r"timed out|deadline has elapsed", re.IGNORECASE), errno.ETIMEDOUT),
    (re.compile(r"Resource temporarily unavailable|would block|resource busy", re.IGNORECASE), errno.EAGAIN),
)


def hindrance(error: BaseException) -> str:
    """Why the file could not be read, where that says nothing about its state; empty for any other failure."""
    if isinstance(error, PermissionError):
        return _BY_NUMBER[errno.EACCES]
    if isinstance(error, OSError) and error.errno is not None:
        return _BY_NUMBER.get(error.errno, "")
    text = str(error)
    if found := _OS_ERROR.search(text):
        return _BY_NUMBER.get(int(found[1]), "")
    return next((_BY_NUMBER[number] for words, number in _BY_WORDS if words.search(text)), "")


def unreadable(path: object, why: str, details: str = "") -> MemtuiError:
    """The error of a file or folder that cannot be read now."""
    fix = (
        "Check the permissions of its files and folders"
        if why == _BY_NUMBER[errno.EACCES]
        else "Try again when that has passed"
    )
    return MemtuiError(
        f"{path} cannot be read: {why}.", fix=f"{fix}; whether it is damaged is not known.", details=details
    )


def absent(error: OSError) -> bool:
    """Whether an error says that a file or folder is not there; every other one hides what is."""
    return error.errno in _GONE


def must_be_absent(path: object, error: OSError) -> None:
    """Raise MemtuiError for a file or folder that is there, or may be, and cannot be read."""
    if not absent(error):
        raise unreadable(path, hindrance(error) or error.strerror or str(error), str(error)) from error
