"""Health: doctor, indexes, versions and configuration."""
