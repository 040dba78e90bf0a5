"""Pure painters: values in, plain strings out. They know neither Textual nor the rest of the screen."""
