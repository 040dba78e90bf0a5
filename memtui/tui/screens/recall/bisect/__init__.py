"""What changed the rank of one memory: a version of the table, the clock, the settings."""
