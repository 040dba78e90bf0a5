"""The Lifecycle screen."""
