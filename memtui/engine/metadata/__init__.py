"""The JSON that a row carries: read, patched and classified.

What is read here is what the programs read, mistakes of type included. A patch changes the keys that it names and
keeps every other one, known or not, byte for byte.
"""
