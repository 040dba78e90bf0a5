"""Our own recipe: with a model or without, never an order, never a secret, one row for one statement."""
