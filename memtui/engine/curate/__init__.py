"""Changing a store with a preview, a journal and an undo: nothing is written that cannot be taken back."""
