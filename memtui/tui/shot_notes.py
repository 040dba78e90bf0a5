"""A file of notes that the picture of the import wizard imports: new ones, copies, and some that say otherwise."""

from __future__ import annotations

import json
from pathlib import Path

NAME = "mango-notes.jsonl"
_OTHERWISE = (
    (
        "custom:oncall",
        "On-call rota: Samir, Priya, Tomas, Ines, Leonie for support hours; hand-over Tuesday 11:30 in #red.",
    ),
    (
        "global",
        "Starter plan price: 34 euro a month with 300 parcels; shops from before the change keep 29 for a year.",
    ),
    (
        "global",
        "Scan events are kept for 12 months, then the partition is archived and no longer searchable.",
    ),
    (
        "project:atlas",
        "The idempotency key of POST /v2/scans is kept for 48 hours; after that a resend creates a second scan.",
    ),
    ("agent:main", "Prefers terse commit messages in the imperative mood, subject below 50 characters."),
)
_COPIES = (
    ("global", "Freeze: no deploy between 18 December and 6 January except for incidents."),
    ("global", "Write dates as 14 October or 2025-10-14 in the team's notes, never 10/14."),
)
_NEW = (
    "The {} screen of mango loads in {} ms since the images are cached on the device.",
    "Crash rate goal for {} in build {} is half a percent.",
)
_SCREENS = ("parcel", "map", "inbox", "settings", "returns", "scan", "login", "depot", "history", "label")
_REST = (
    "ok",
    "Hello!",
    "Do you remember what I said?",
    "The api key is sk-proj-abcdefghijklmnopqrstuvwx12345",
)


def write_notes(folder: Path) -> None:
    """Put the file into `folder`."""
    rows = [
        {"text": text, "scope": scope, "created_at": "2026-08-30"} for scope, text in (*_OTHERWISE, *_COPIES)
    ]
    rows += [
        {
            "text": line.format(screen, 180 + 35 * number),
            "scope": "project:mango",
            "created_at": f"2026-08-{number + 10}",
        }
        for number, screen in enumerate(_SCREENS)
        for line in _NEW
    ]
    rows += [{"text": text, "scope": "project:mango", "created_at": "2026-08-30"} for text in _REST]
    (folder / NAME).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
