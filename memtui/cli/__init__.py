"""The command line: a file a command, found by `main`.

A command reads its arguments, asks one face of the engine and prints what came back, as lines or with `--json`. What
it computes itself belongs into the engine. Nothing heavy is imported before a command needs it.
"""
