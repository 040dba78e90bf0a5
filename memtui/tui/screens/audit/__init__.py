"""Audit: who got what, who may read what, what crossed, and how far one memory reached."""
