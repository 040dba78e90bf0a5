"""The stages of capture: small pure functions that several recipes share."""
