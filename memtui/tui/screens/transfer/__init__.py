"""Transfer: memories in, memories out, and another model for all of them."""
