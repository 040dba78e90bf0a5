"""The Recall screen."""
