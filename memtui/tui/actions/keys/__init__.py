"""The actions of each place, as rows of the table."""
