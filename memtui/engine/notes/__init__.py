"""memory-core's index of an agent, read from SQLite, the Markdown behind its chunks, and how it ranks them.

What memory-core does stands here once, for the recipe that recalls with it and for the documents beside other stores.
Notes are people's files: an edit replaces the lines that it means and keeps every other byte.
"""
