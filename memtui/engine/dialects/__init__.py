"""What a table means: which program made it, what its columns hold, and what may be changed in it.

A file a dialect, with `recognise`, and a line in `registry`. A table that no dialect knows is opened read only, its
columns listed; a dialect never guesses, and what it does not name it leaves as it is.
"""
