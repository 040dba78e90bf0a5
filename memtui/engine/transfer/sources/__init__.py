"""Reading files of unknown origin: paths, archives, encodings, values."""
