"""Services that a person names: how they are asked, and what they cost."""
