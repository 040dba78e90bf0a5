"""memory-core: the index of an agent's Markdown, read from SQLite, and the lines of the files behind its chunks."""
