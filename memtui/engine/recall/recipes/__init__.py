"""One folder or file for each way of recalling."""
