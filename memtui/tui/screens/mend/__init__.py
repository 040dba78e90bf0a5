"""Mend: duplicates, noise, secrets and orders, and the trash; each found in a thread, looked at, and acted on."""
