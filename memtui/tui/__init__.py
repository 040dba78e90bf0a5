"""The screens: what a terminal shows, and what its keys do.

A screen keeps a frozen state, asks the engine in a thread and paints with pure functions. It knows the engine by its
faces alone, no store and no other screen; every change goes through `change_request` and is previewed there.
"""
