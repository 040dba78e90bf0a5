"""Colours by meaning: the semantic tokens, and the theme files that give them values."""
