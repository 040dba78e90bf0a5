"""Explaining a recall: why not, what if, which is better, what the agent would see."""
