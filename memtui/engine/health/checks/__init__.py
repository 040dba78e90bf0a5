"""The doctor's checks: each file here is a group of them, its tuple `CHECKS` found by the registry."""
