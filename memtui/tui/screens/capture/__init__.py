"""Capture: how a memory comes to be, and why another did not."""
