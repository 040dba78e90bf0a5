"""What if: every setting of a recall as a slider, and the list that comes of it."""
