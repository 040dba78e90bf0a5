"""Whether a store is well: the doctor's checks, indexes and versions, and the maintenance that mends a table."""
