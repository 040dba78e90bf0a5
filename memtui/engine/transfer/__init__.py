"""Bringing memories in and taking them out: readers, a plan, a ledger of what is lost, writers."""
