"""Every use of a private name of a library, each with its reason."""
