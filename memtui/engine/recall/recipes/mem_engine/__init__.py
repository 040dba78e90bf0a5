"""The recipe `mem-engine`: openclaw-mem-engine's policy-tiered recall."""
