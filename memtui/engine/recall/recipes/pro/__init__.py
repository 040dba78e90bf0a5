"""The recipes of memory-lancedb-pro."""
