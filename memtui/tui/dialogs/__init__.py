"""Overlays: help, palette, and small choosers."""
