"""The agent's configuration: its problems, plans for it, what they would change, and writing it byte for byte."""
