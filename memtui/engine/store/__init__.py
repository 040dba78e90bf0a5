"""The store: an open table, its versions and indexes, and what can be asked of them.

lancedb is imported in this package alone, and what it raises leaves as an error of memtui's. A `Snapshot` is one
version and never changes; opening and reading write nothing. Who writes goes through `changes`, which holds the lock.
"""
