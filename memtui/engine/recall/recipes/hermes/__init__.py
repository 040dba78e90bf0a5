"""The recall of LanceDB's plugin for Hermes."""
