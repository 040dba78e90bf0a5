"""What every part of the engine uses: memories, errors, progress, text, secrets."""
