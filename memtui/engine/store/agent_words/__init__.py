"""The keyword search of the engine that owns a plugin's index, reproduced from the index's own files."""
