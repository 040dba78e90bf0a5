"""The Journal: every change that was made through memtui, and the way back from each."""
