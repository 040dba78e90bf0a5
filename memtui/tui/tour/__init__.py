"""The guided first run: a few real key presses on the demo store, from a wrong answer to its undo."""
