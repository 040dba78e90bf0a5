"""Several API keys of one service, used in turn."""

from __future__ import annotations

import threading


class KeyRing:
    """Hands out each key once per round, every round beginning one key further. Safe from any thread."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        # Keys are pasted with line ends; the service without keys is asked once, without one.
        self.keys = tuple(key.strip() for key in keys if key.strip()) or ("",)
        self._turn = 0
        self._lock = threading.Lock()

    def round(self) -> tuple[str, ...]:
        """All keys in the order in which this request shall try them."""
        with self._lock:
            start = self._turn
            self._turn = (start + 1) % len(self.keys)
        return self.keys[start:] + self.keys[:start]
