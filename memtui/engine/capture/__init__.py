"""Capture: a conversation goes in, memories come out, and every step of the way is in a trace."""
