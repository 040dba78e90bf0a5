"""memtui: see, trust and mend what an AI agent remembers."""

__version__ = "0.1.0"
