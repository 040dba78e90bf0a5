"""The Browse screen."""
