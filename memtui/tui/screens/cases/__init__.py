"""The saved cases of a store: run, compared, searched for better settings."""
