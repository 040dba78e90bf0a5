"""The top-level screens: one folder each; they meet through messages and the app only."""
