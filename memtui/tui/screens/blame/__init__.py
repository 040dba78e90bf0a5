"""From a wrong answer to its cause: the turn, the suspects, the right memory that did not come."""
