"""A program that writes to a journal when it is told to: the other process of the journal's tests.

Two journals on the same file, as a screen has that opened one store twice; they take turns. Every line on the
standard input makes one entry, whose number is answered.
"""

from __future__ import annotations

import sys
from pathlib import Path

from memtui.engine.changes.change_set import Change
from memtui.engine.changes.journal import Journal, RowImages


def write(journal: Journal, text: str) -> int:
    """One applied entry about a memory; its number."""
    entry = journal.intend(
        time_ms=1,
        action="edit",
        title=text,
        changes=[Change(text, "edit", {"text": "a" * 3000}, {"text": "b"})],
        images=RowImages(None, None, None),
        version_before=1,
    )
    journal.applied(entry, 2)
    return entry


def main(path: Path) -> None:
    """Answer every line with the number of the entry that was made of it."""
    journals = [Journal(path), Journal(path)]
    print("ready", flush=True)
    for n, line in enumerate(sys.stdin):
        print(write(journals[n % 2], line.strip()), flush=True)
        if (
            n % 3 == 2
        ):  # a command in a shell is over: whoever is the last to close folds the log and removes it
            for each in journals:
                each.close()
        elif n % 3 == 1:
            journals[1] = Journal(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
