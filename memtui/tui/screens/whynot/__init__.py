"""Why a memory does not come back: the gates that it met, and the smallest change that returns it."""
