"""Two recalls side by side: who moved, who left, and what did it."""
