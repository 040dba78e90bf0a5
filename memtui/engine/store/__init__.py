"""The store: an open table, its catalog, and what can be asked of both."""
