"""Formulas of decay, tiers and validity."""
