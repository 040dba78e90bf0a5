"""Places on disk, as a person writes them."""

from __future__ import annotations

import os


def tilde(place: str) -> str:
    """`place` with the home folder as `~`; URIs and other folders unchanged."""
    home = os.path.expanduser("~")
    inside = home not in ("", "/") and (place == home or place.startswith(home + os.sep))
    return "~" + place[len(home) :] if inside else place
