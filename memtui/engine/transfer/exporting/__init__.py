"""Writing memories out: the request, the rows, what is lost."""
