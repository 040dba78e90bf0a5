"""Every use of a private name of a library, each with its reason.

One file for one repair: what the library does, what of it is replaced, and why. A file goes when the library has mended
it; a new one is the last resort, after the library's public ways.
"""
