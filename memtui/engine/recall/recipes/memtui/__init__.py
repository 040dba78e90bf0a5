"""The recipe `memtui`: our own best recall."""
