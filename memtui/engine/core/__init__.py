"""What every part of the engine uses: memories, errors, progress, text, secrets.

Here stands what at least two packages need and what knows none of them: plain values and functions, no store, no
configuration. `Memory`, the errors and what becomes a secret are read by other programs: their fields and words may
grow, not change. What is masked here is masked everywhere, so nothing above prints a text past these functions.
"""
