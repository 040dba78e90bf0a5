"""Painters of a recall that five screens share: stages, ledger, results, rules in words."""
