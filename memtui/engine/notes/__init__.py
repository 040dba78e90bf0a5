"""memory-core's index of an agent, read from SQLite, and the Markdown behind its chunks."""
