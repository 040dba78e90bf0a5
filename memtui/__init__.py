"""memtui: see, trust and mend what an AI agent remembers."""

from __future__ import annotations

__version__ = "0.1.0"
