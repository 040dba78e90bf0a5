"""The recipes of capture: how each memory system makes memories of a conversation."""
