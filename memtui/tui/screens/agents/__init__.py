"""Screen 0: who is connected, and what they do."""
